package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// budget is the largest size of the program in bytes, stripped, for linux/amd64. A change that makes it larger adds a
// line here:
//
//	29,430,000  what there is: 10 MB machine code, 10 MB tables of functions, 4 MB constants
//	    25,000  JSON with comments by hujson
//	   275,000  paths over blocks by go-ipld-prime's link system
//	   620,000  verbs declared once: their requests, answers and documentation, next to the old way
//	 1,090,000  all of them, and between processes: a request, an answer and their JSON for each
//	    60,000  bands and cues
//	   450,000  ingest: documents and conversations
//	   300,000  the parser of Go, for source files
//	   250,000  kindred words
//	   350,000  schema, cues, titles, proposals, predicates on edges, and names of memories
//	   200,000  hooks: a spool, transcripts read on, and what agents are told
//	   200,000  pages, notebooks and tables; of that 120,000 the tokenizer of HTML, with its names of characters
//	   850,000  sharing: clone, fetch, push, pull and sync, by directories, servers and ssh, and the verbs of servers
//	   250,000  the page for browsers and what serves it
//	   200,000  what agents were given last, turns that are retired, review
//	   100,000  rules for agents, and looking for the programs that run them
//	    80,000  fsnotify, to keep files as they change
//	    80,000  what was purged elsewhere
//	   120,000  following the branch of a git work tree
//	    40,000  OpenCode and Continue, and memories that are kept for the user
//	    40,000  the graph of the page, a pager, lines between commits and differences by words
//	   680,000  digests: tries, summaries, four verbs and answers from an altitude
//	   160,000  buckets of S3 as remotes, and what fills memories since
//	  -600,000  go-ipld-prime and go-cid are for tests alone, exports by IPLD selectors are not
//	 1,180,000  repositories in PostgreSQL: its protocol by pgconn, without the rest of pgx, and 400,000 of that the
//	            tables by which passwords are prepared (x/text/secure/precis)
//	   170,000  pipes with deadlines, reads that begin again during a purge, and rooms of their own for transfers
//	   130,000  an index of columns, one bound of caches, receipts written together, fsck on all processors
//	    85,000  servers that answer for all repositories of a database
//	    45,000  which of two alike is shown first, digests in answers by what was asked
//	    40,000  MCP servers of the folder that a client has open
//	    60,000  the page's map, and erasures that remotes report as a verb
//	-1,140,000  what runs a verb is no code of each verb
//	   115,000  texts of digests that models write, kept in commits, and chat models that are asked for them
//	    60,000  sessions next to those of other machines
//	    95,000  what each client of a database has of its own, and look-ups that wait their turn
//	  -205,000  metrics as text alone; of that 100,000 back for what this machine alone does, declared as verbs are
//	    80,000  digests ranked by their text, communities as scopes, batches that analyse a text once
//	   150,000  digests found by their hashes, fsck that reads no record twice, what questions keep for the next
//	    60,000  large commits: sorted runs and drafts outside the database, merged into trees and indexes
//	   120,000  mentions that are remembered, answers that take turns, fsck and gc that read all once
//	    90,000  purges that reach every file of a repository, and take titles
//	   400,000  full disks told ahead, files opened without waiting, credentials in every record, rights before work
//	23,330,000  the weights of a sentence model
//	   170,000  its tokenizer and kernels, kinds of records of each importer
//	   300,000  notes in Markdown out and in again, records of four more programs, pairs to decide, signatures between runs
//	 1,000,000  encrypted remotes by age with keys of ssh, zones of days, emoji, databases of Cursor and OpenCode, remotes
//	            that are synced by themselves
const budget = 62_500_000

// TestSize builds the program as it is published. Megabytes more usually come from text/template or from reflection by
// method name: with either the linker keeps every exported method.
func TestSize(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("other systems have other sizes")
	}
	program := filepath.Join(t.TempDir(), "mnem")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	must.Get(cmd.CombinedOutput())(t)
	info := must.Get(os.Stat(program))(t)
	if info.Size() > budget {
		t.Errorf("%d bytes, budget %d: see go tool nm -size -sort size", info.Size(), budget)
	}
	t.Logf("%d bytes, %d left", info.Size(), budget-info.Size())
}

// TestDearPackages names what must not come back into the program.
func TestDearPackages(t *testing.T) {
	out := must.Get(exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output())(t)
	linked := strings.Fields(string(out))
	must.Require(t, len(linked) >= 100, "only %d packages", len(linked))
	for _, pkg := range []string{
		"github.com/tiktoken-go/tokenizer/codec",      // vocabularies as code: 8 MB
		"github.com/mnem-project/mnem/internal/bench", // a program of its own
		"github.com/mnem-project/mnem/internal/evaluate", "github.com/mnem-project/mnem/internal/synth",
		"github.com/mnem-project/mnem/ipld/prime", "github.com/klauspost/cpuid/v2", // dear at each start
	} {
		must.True(t, !slices.Contains(linked, pkg), "%s is linked", pkg)
	}
}
