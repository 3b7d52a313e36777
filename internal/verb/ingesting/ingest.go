// Package ingesting has the verbs that bring in files and conversations, and embed what they hold.
package ingesting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/chats"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// IngestRequest asks for files to be kept.
type IngestRequest struct {
	Paths   []string `op:",arg,required"`
	From    string   `op:"" not:"name project keep" enum:"claude-code codex gemini opencode cursor copilot copilot-cli cline chatgpt claude server-memory mem0 mnem" doc:"take in what another program, {NAME}, wrote: its conversations or memories"`
	Name    string   `op:"" doc:"the {PATH} that standard input is kept as; its ending says how it is read"`
	Project string   `op:"" doc:"what files outside the directory of the repository are kept as, {NAME}" note:" (default: the name of their directory)"`
	Map     []string `op:",comma" not:"from" doc:"what the columns of CSV and JSON Lines are: {FIELD=COLUMN} of text, title, id, time"`
	Keep    bool     `op:"" doc:"hide documents whose files are gone instead of removing them"`
	Watch   bool     `op:"" not:"from name dry-run expect" doc:"go on, with a commit of each change once it has settled, until interrupted"`
	Message string   `op:",short=m" doc:"what the commit is about; default: what was done"`
	Expect  string   `op:"" doc:"the {CID} of the commit that the branch must be at, or \"none\" for a branch without one; else exit code 5"`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Params
	verb.Secrets
	verb.Trial
}

func (q *IngestRequest) Into(w *verb.Writing) { w.Message, w.Expect = q.Message, q.Expect }

func (q *IngestRequest) Check() error {
	stdin := slices.Contains(q.Paths, verb.Itself)
	switch {
	case q.From != "" && q.From != ofMnem && !slices.Contains(chats.Formats(), q.From):
		return verb.Bad("from", "no format %q: want one of %s, %s", q.From, strings.Join(chats.Formats(), ", "), ofMnem)
	case q.From == ofMnem && (stdin || len(q.Paths) != 1):
		return verb.Usagef("an export of mnem is one directory")
	case stdin && len(q.Paths) > 1:
		return verb.Usagef("- is standard input, and is given alone")
	case q.From == "" && stdin != (q.Name != ""):
		return verb.Between("%s and - need each other", "name")
	}
	if len(q.Map) > 0 {
		if _, err := parse.ParseColumns(q.Map); err != nil {
			return verb.Bad("map", "%w", err)
		}
	}
	return nil
}

// InputName is the input that is read, "" if all are files.
func (q *IngestRequest) InputName() string {
	if slices.Contains(q.Paths, verb.Itself) {
		return verb.Itself
	}
	return ""
}

// Ingested describes the result for files.
type Ingested struct {
	editing.Committed
	Documents DocumentCounts `json:"documents"`
	Records   *ingest.Taken  `json:"records,omitempty"` // of another program
	Files     []IngestedFile `json:"files"`             // those that are not as they were
}

// DocumentCounts count files by what became of them.
type DocumentCounts struct {
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Renamed   int `json:"renamed"`
	Restored  int `json:"restored"`
	Removed   int `json:"removed"`
	Retired   int `json:"retired"`
	Unchanged int `json:"unchanged"`
	Skipped   int `json:"skipped"`
	Failed    int `json:"failed"`
	Empty     int `json:"empty"`  // files that say nothing; an empty note is a document
	Others    int `json:"others"` // files in directories whose format is not known, tables included
	Tables    int `json:"tables"` // tables among these whose columns have no meaning yet
}

// IngestedFile describes the result for one file.
type IngestedFile struct {
	Path     string `json:"path"`
	Project  string `json:"project,omitempty"`
	Action   string `json:"action" shape:"added|changed|renamed|restored|removed|retired|skipped|damaged|failed"`
	From     string `json:"from,omitempty"` // of a file that was renamed
	Chunks   int    `json:"chunks,omitempty"`
	Redacted int    `json:"redacted,omitempty"` // credentials that were taken out
	Left     string `json:"left,omitempty"`     // parts left out, by kind
	Why      string `json:"why,omitempty"`      // it was skipped or failed
}

// Ingest keeps files.
var Ingest = verb.Define(verb.Spec{
	Command: "ingest", Right: verb.OwnRight,
	Usage: "PATH…|-", Group: "change", Effect: verb.Writes, Idempotent: true, Local: true,
	Title: "Import files as documents, or records of other programs",
	Doc: "Keep what files say: each becomes a document of sections and chunks of 200 to 400 tokens, which\n" +
		"retrieval finds, in one commit. Of a directory all files are taken whose format is known, but for\n" +
		"what .gitignore and .mnemignore leave out; what is binary or larger than 16 MiB is skipped.\n\n" +
		"Given again, only what changed is changed: a document keeps its id where its file is renamed, and\n" +
		"a chunk its key where half of its words stay. Files that did not change are not read, and where\n" +
		"none did no commit is made. Documents whose files are gone from a directory that is given are\n" +
		"removed, or hidden with --keep.\n\n" +
		"Links in Markdown, also [[wiki links]], and imports become edges; front matter gives a title,\n" +
		"tags and aliases. A declaration of a source file is a section of its own.\n\n" +
		"Of a notebook Markdown, code and printed text are kept, of a page its main part. What a file of CSV or\n" +
		"JSON Lines says needs --map text=COLUMN, which is kept with it; each record is a section.\n\n" +
		"Credentials are replaced by [secret:RULE:xxxx]; --allow-secret RULE leaves them. A file that cannot\n" +
		"be read is named and the others are kept; the exit code is 1 then.\n\n" +
		"With --from, take in conversations of Claude Code, Codex, Gemini CLI, OpenCode, Cursor, GitHub Copilot (VS\n" +
		"Code or CLI), Cline, ChatGPT or Claude, each a node, or memories of the MCP server memory or mem0. Given\n" +
		"again, a file adds what is new. What is left out is counted by its kind; the exit code is 9 if records\n" +
		"could not be read or have an unknown kind.\n\n" +
		"A directory that 'mnem export --format markdown' wrote restores its memories, and changes to its notes\n" +
		"change them; nothing is removed.\n\n" +
		"With --watch, directories are watched, also those that appear: what changes is kept as soon as\n" +
		"nothing changes for a moment, one commit each time. Other programs may use the repository.\n\n" +
		"Paths are kept as they are from the directory of the repository. Files outside of it are kept as\n" +
		"those of a project. docs/files.md tells what nodes and edges are made.",
	Example: "  mnem ingest docs README.md\n  mnem ingest . --dry-run\n" +
		"  mnem ingest - --name notes/today.md <today.md\n  mnem ingest --from claude-code session.jsonl",
}, ingestFiles)

// maxMoved is how often a run starts over because the documents changed concurrently.
const maxMoved = 5

func ingestFiles(ctx context.Context, s *verb.Service, q *IngestRequest) (*Ingested, error) {
	if q.From == "" && isExport(s, q) {
		if q.Project != "" || len(q.Map) > 0 || q.Keep {
			return nil, verb.Between("an export of mnem is read without %s, %s and %s", "project", "map", "keep")
		}
		q.From = ofMnem
	}
	if q.From != "" {
		return ingestChats(ctx, s, q)
	}
	run, err := newIngestRun(ctx, s, q)
	if err != nil {
		return nil, err
	}
	defer run.close()
	for range maxMoved {
		if err = run.read(ctx); err != nil {
			return nil, err
		}
		var res *core.CommitResult
		var plan *ingest.Plan
		res, err = s.Repo.Decide(ctx, core.DecideOptions{CommitOptions: s.Commit, Long: true},
			func(snap *core.Snapshot) (*core.Decision, error) {
				var err error
				if plan, err = run.plan(ctx, snap); err != nil {
					return nil, err
				}
				return &core.Decision{Changes: plan.Changes, Message: ingestMessage(plan)}, nil
			})
		if errors.Is(err, ingest.ErrMoved) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !s.DryRun {
			if err := run.stats.save(); err != nil {
				return nil, err
			}
		}
		return run.answer(ctx, s, res, plan)
	}
	return nil, fmt.Errorf("%w: %w", store.ErrBusy, err)
}

func ingestMessage(p *ingest.Plan) string {
	counts := map[ingest.Action]int{}
	for _, r := range p.Results {
		counts[r.Action]++
	}
	var parts []string
	for _, a := range []ingest.Action{
		ingest.Added, ingest.Changed, ingest.Renamed, ingest.Restored, ingest.Removed, ingest.Retired,
	} {
		if counts[a] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[a], a))
		}
	}
	if len(p.Results) == 1 {
		return fmt.Sprintf("ingest %s: %s", p.Results[0].Path, p.Results[0].Action)
	}
	return "ingest " + plain.Plural(len(p.Results), "file") + ": " + strings.Join(parts, ", ")
}

func (run *ingestRun) answer(
	ctx context.Context, s *verb.Service, res *core.CommitResult, plan *ingest.Plan,
) (*Ingested, error) {
	committed, err := editing.CommittedOf(ctx, s, res)
	if err != nil {
		return nil, err
	}
	out := &Ingested{Committed: *committed, Files: run.left}
	n := &out.Documents
	n.Others, n.Tables, n.Empty = run.others+run.unmapped, run.unmapped, run.empty
	counts := map[string]*int{
		"skipped": &n.Skipped, "failed": &n.Failed, string(ingest.Added): &n.Added,
		string(ingest.Changed): &n.Changed, string(ingest.Renamed): &n.Renamed,
		string(ingest.Restored): &n.Restored, string(ingest.Removed): &n.Removed,
		string(ingest.Retired): &n.Retired,
	}
	read := make(map[ingest.Path]*ingest.File, len(run.files))
	for _, f := range run.files {
		read[f.Path] = f
	}
	touched := 0
	for _, r := range plan.Results {
		f := IngestedFile{
			Path: r.Path.Name, Project: r.Path.Project, Action: string(r.Action), From: r.From.Name,
			Chunks: r.Chunks,
		}
		if r.Action != ingest.Removed && r.Action != ingest.Retired {
			if file := read[r.Path]; file != nil {
				f.Redacted, f.Left = file.Redacted, leftOut(file.Left())
			}
			touched++
		}
		out.Files = append(out.Files, f)
	}
	for _, f := range out.Files {
		*counts[f.Action]++
	}
	n.Unchanged = run.known + len(run.files) - touched
	slices.SortStableFunc(out.Files, func(a, b IngestedFile) int {
		return strings.Compare(a.Project+"\x00"+a.Path, b.Project+"\x00"+b.Path)
	})
	if n.Failed > 0 {
		return out, &verb.News{Outcome: operation.Invalid}
	}
	return out, nil
}

func leftOut(kinds map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%d %s", kinds[kind], kind))
	}
	return strings.Join(parts, ", ")
}

func readAll(in *verb.File) ([]byte, error) {
	if in.Size > ingest.MaxFile {
		return nil, fmt.Errorf("%w: standard input has more than %d bytes", graph.ErrInvalid, ingest.MaxFile)
	}
	return io.ReadAll(io.NewSectionReader(in, 0, in.Size))
}

func branchSnapshot(ctx context.Context, s *verb.Service) (*core.Snapshot, error) {
	info, err := verb.TargetBranch(ctx, s.From, s.Commit.Branch)
	if err != nil {
		return nil, err
	}
	return s.From.At(ctx, info.Commit)
}
