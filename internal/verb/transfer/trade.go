package transfer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/ingest/vault"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
)

type exportRequest struct {
	Rev     string `op:",arg,remote" doc:"a branch, tag, CID or any other revision, or a range A..B"`
	Output  string `op:",short=o" doc:"the {FILE} to write, or \"-\" for standard output; required"`
	Format  string `op:"" not:"all session receipt selector" enum:"car jsonl markdown" doc:"write one commit as {FORMAT}: car, with its history, jsonl, as change lines, or markdown, as a directory of notes" note:" (default: car)"`
	All     bool   `op:",remote" doc:"every branch, tag and session"`
	Session string `op:",remote" complete:"session" doc:"the session {NAME} with its commits and receipts"`
	Receipt string `op:",remote" doc:"the receipt {CID} with its commit"`
	// Selector is DAG-JSON.
	Selector string `op:",remote,wide" doc:"the blocks of the commit that the IPLD {SELECTOR}, in DAG-JSON, reaches, for other tools"`
	verb.Params
}

// Exported is the result of an export.
type Exported struct {
	File string `json:"file"`
	exchange.ExportResult
	Lines    *exchange.LinesResult `json:"lines,omitempty"`    // of change lines
	Markdown *vault.Result         `json:"markdown,omitempty"` // of a directory of notes
}

// Export writes commits, sessions or receipts to one file.
var Export = verb.Define(verb.Spec{
	Command: "export", Right: verb.NoRight, Confined: true, Usage: "[REV|REV..REV] -o FILE|-|DIR", Args: "[REV|REV..REV]", Group: "trade",
	Effect: verb.Reads, Complete: "rev", Fixed: []string{"--output=" + verb.Itself}, Answer: operation.MediaCAR,
	Title: "Export commits, sessions or receipts to one file",
	Doc: "Write a commit with its whole history to a CARv1 file, which 'mnem import' and other IPLD tools\n" +
		"read: the branch HEAD is on, another revision, with A..B what B has and A does not, with --all\n" +
		"every branch, tag and session, as 'mnem clone FILE' reads them; or one session or receipt with the\n" +
		"commits it is about. Signatures, marks and embeddings go along; stages, indexes and the log of\n" +
		"operations do not. The same commits give the same bytes on every machine. A new file is for its user\n" +
		"alone, mode 0600; one that is replaced keeps its mode.\n\n" +
		"With --format jsonl write the nodes, edges and marks of one commit as change lines, which 'mnem\n" +
		"commit' makes the same graph of in an empty repository. What lines cannot say is counted: vectors,\n" +
		"the times of last changes, what was erased.\n\n" +
		"With --format markdown write one commit as a directory of notes for Obsidian and other editors: a note\n" +
		"for each memory, with front matter, a link for each edge, and the documents. The directory is missing,\n" +
		"empty, or an earlier export. 'mnem ingest DIR' reads it back. Forgotten and erased nodes are left out and\n" +
		"counted. If the export would replace a file that no export wrote, or that was changed since, nothing\n" +
		"is written.\n\n" +
		"With --selector write the blocks that an IPLD selector reaches from one commit, in the order of\n" +
		"its walk, at most 4096 names and positions away. The file has the commit as its root and is for\n" +
		"other IPLD tools: it is not the whole memory, and 'mnem import' refuses it.",
	Example: "  mnem export -o memory.car\n" +
		"  mnem export --all -o backup.car\n" +
		"  mnem export HEAD~1..HEAD -o news.car\n" +
		"  mnem export --session review -o review.car\n" +
		"  mnem export --format jsonl -o memory.jsonl\n" +
		"  mnem export --format markdown -o notes\n" +
		"  mnem export --selector '{\"f\":{\"f>\":{\"graph\":{\".\":{}}}}}' -o graph.car",
}, export)

// OutputName is the file that is written.
func (q *exportRequest) OutputName() string {
	if q.Format == formatNotes {
		return ""
	}
	return q.Output
}

func (q *exportRequest) Check() error {
	if err := verb.AtMostOne(q, "all", "session", "receipt"); err != nil {
		return err
	}
	if q.Format == formatNotes && q.Output == "" {
		q.Rev, q.Output = "", q.Rev // as in "mnem export --format markdown DIR"
	}
	switch {
	case q.Rev != "" && (q.All || q.Session != "" || q.Receipt != ""):
		return verb.Between("give a revision or one of %s, %s and %s, not both", "all", "session", "receipt")
	case q.Selector != "" && (q.All || q.Session != "" || q.Receipt != "" || strings.Contains(q.Rev, "..")):
		return verb.Between("%s goes with one revision and with none of %s, %s and %s", "selector", "all", "session", "receipt")
	case q.Format != "" && q.Format != "car" && q.Format != formatLines && q.Format != formatNotes:
		return verb.Bad("format", "%q: want car, jsonl or markdown", q.Format)
	case q.Format == formatNotes && (q.Output == verb.Itself || q.Output == ""):
		return verb.Usagef("no directory: name one with -o DIR")
	case (q.Format == formatLines || q.Format == formatNotes) && strings.Contains(q.Rev, ".."):
		return verb.Between("%s writes one revision, not a range", "format")
	case q.Output == "":
		return verb.Usagef("no file: name one with -o FILE, or \"-\" for standard output")
	}
	return nil
}

func export(ctx context.Context, s *verb.Service, q *exportRequest) (*Exported, error) {
	if q.Output == verb.Itself && !s.Human {
		return nil, verb.Usagef("-o - and --json exclude each other: both write to standard output")
	}
	progress, done := s.Host.Progress()
	defer done()
	if q.Format == formatNotes || q.Format == formatLines {
		return exportOne(ctx, s, q, progress)
	}
	var res *exchange.ExportResult
	err := s.Host.Create(ctx, q.Output, func(w io.Writer) (err error) {
		res, err = exchange.Export(ctx, s.Repo, w, exchange.ExportOptions{
			Rev: q.Rev, All: q.All, Session: q.Session, Receipt: q.Receipt, Selector: q.Selector,
			Progress: func(blocks int, _ int64) { progress("blocks written:", blocks, 0) },
		})
		return err
	})
	if err != nil {
		return nil, verb.CommitHint(err)
	}
	return &Exported{File: q.Output, ExportResult: *res}, nil
}

const (
	formatLines = "jsonl"
	formatNotes = "markdown"
)

// exportOne writes one commit as change lines, or as a directory of notes.
func exportOne(
	ctx context.Context, s *verb.Service, q *exportRequest, progress func(string, int, int),
) (*Exported, error) {
	snap, err := s.From.Snapshot(ctx, cmp.Or(q.Rev, "HEAD"))
	if err != nil {
		return nil, verb.CommitHint(err)
	}
	out := &Exported{File: q.Output}
	out.Roots, out.Refs, out.Objects, out.Since = []ipld.CID{}, []core.Ref{}, []ipld.CID{}, []ipld.CID{}
	if q.Format == formatLines {
		err = s.Host.Create(ctx, q.Output, func(w io.Writer) (err error) {
			out.Lines, err = exchange.ExportLines(ctx, snap, w)
			return err
		})
		return out, err
	}
	root, err := openNotes(s, q.Output)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // what is in it is closed
	out.Markdown, err = vault.Export(ctx, snap, root, vault.WriteOptions{Progress: progress})
	if errors.Is(err, vault.ErrForeign) {
		err = verb.Hint(err, "take changed notes in with 'mnem ingest "+q.Output+"' and move other files away, or name "+
			"another directory", "")
	}
	return out, err
}

// openNotes opens the directory to write to, and makes it if only it is missing.
func openNotes(s *verb.Service, dir string) (*os.Root, error) {
	dir = filepath.Clean(dir) // without a slash at the end
	root, err := s.Host.OpenRoot(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return root, err
	}
	up, err := s.Host.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	err = up.Mkdir(filepath.Base(dir), 0o700)
	if err = errors.Join(err, up.Close()); err != nil {
		return nil, err
	}
	return s.Host.OpenRoot(dir)
}

// ImportRequest asks for what an export wrote to be taken in.
type ImportRequest struct {
	File          string `op:",arg,required"`
	Name          string `op:",remote" doc:"the {NAME} in refs/imported/NAME/…, also for a repository without commits"`
	As            string `op:"branch,remote" complete:"branch" doc:"the local {BRANCH} to make, or to move forward, to the imported one"`
	RequireSigned bool   `op:",remote" doc:"refuse commits that no key you trust has signed" note:" (MNEM_REQUIRE_SIGNED; config: require-signed)"`
	DryRun        bool   `op:",remote" doc:"check everything and write nothing"`
	verb.Actor
	verb.OnHead
}

func (q *ImportRequest) Into(w *verb.Writing) { w.DryRun = q.DryRun }

// Imported is the result of an import.
type Imported struct {
	exchange.ImportResult
	NoChange bool             `json:"no_change"`
	DryRun   bool             `json:"dry_run"`
	Warnings editing.Warnings `json:"warnings,omitempty"`
}

// Import takes in what an export wrote.
var Import = verb.Define(verb.Spec{
	Command: "import", Right: verb.OwnRight, Usage: "FILE|-", Group: "trade", Effect: verb.Writes, Idempotent: true,
	Body:  operation.MediaCAR,
	Title: "Import an exported file",
	Doc: "Take in a CARv1 file, or the one in a CARv2 file, whose index is ignored, all or nothing: every\n" +
		"block is verified, every link must lead to a block of the file or of the repository, and every\n" +
		"commit is checked as 'mnem fsck' would, before anything is written. A damaged file is refused with\n" +
		"what is wrong with it and where.\n\n" +
		"Into a repository without commits branches, tags and sessions come under their own names, and\n" +
		"HEAD is on the branch it was on where they are from. Into any other they come as\n" +
		"refs/imported/NAME/heads/… and so on, which can be read with --at, merged, and replayed, and\n" +
		"replace what came under that name before; no branch moves but the one that --branch names, and that\n" +
		"forward only. NAME is the file's name without its ending unless --name gives another.",
	Example: "  mnem import memory.car --name laptop\n" +
		"  mnem import memory.car --name laptop --branch laptop\n" +
		"  mnem import --dry-run - <memory.car",
}, importFile)

// InputName is the file that is read.
func (q *ImportRequest) InputName() string { return q.File }

func importFile(ctx context.Context, s *verb.Service, q *ImportRequest) (*Imported, error) {
	verify, err := s.Host.Require("import", q.RequireSigned)
	if err != nil {
		return nil, err
	}
	in, err := s.Host.Read(ctx, q.File)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	progress, done := s.Host.Progress()
	defer done()
	res, err := exchange.Import(ctx, s.From, in, in.Size, exchange.ImportOptions{
		Stamp: s.Commit.Stamp, Name: q.Name, Fallback: nameOfFile(q.File), As: q.As, DryRun: q.DryRun,
		Verify: verify, Progress: func(what string, n int) { progress(what+":", n, 0) },
	})
	if errors.As(err, new(*exchange.ForwardError)) {
		return nil, verb.Hint(err, "import it without --branch, then 'mnem merge' the refs/imported/… it prints, "+
			"or give --branch another name", "import it without branch, then merge the refs/imported/… it answers "+
			"with, or give as another name")
	}
	if err != nil {
		return nil, err
	}
	return &Imported{
		ImportResult: *res, NoChange: len(res.Refs) == 0, DryRun: q.DryRun, Warnings: editing.WarningsOf(res.Secrets),
	}, nil
}

func nameOfFile(file string) string {
	name := filepath.Base(file)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	if file == verb.Itself || graph.ValidateImport(name) != nil {
		return "import"
	}
	return name
}
