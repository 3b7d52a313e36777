// Package ingesting has the verbs that bring in files and conversations, and embed what they hold.
package ingesting

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/regular"
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

type ingestRun struct {
	service *verb.Service
	asked   *IngestRequest
	own     *os.Root // the directory that holds the repository
	roots   []*os.Root
	found   []ingestFile
	scopes  []ingest.Path // directories that were searched completely, except for those in unread
	unread  []unreadDir
	others  int
	stats   *fileStats
	redact  *ingest.Redactor

	files    []*ingest.File // that were read
	present  map[ingest.Path]*ingest.Sum
	known    int            // files that are as the memory has them
	empty    int            // files that say nothing
	unmapped int            // tables in directories without meanings for their columns
	left     []IngestedFile // that are skipped or failed
}

type unreadDir struct {
	path ingest.Path
	err  error
}

type ingestFile struct {
	path   ingest.Path
	format parse.Format
	named  bool        // named itself, and not only by its directory
	info   fs.FileInfo // nil for standard input
	read   func() ([]byte, error)
}

func newIngestRun(ctx context.Context, s *verb.Service, q *IngestRequest) (*ingestRun, error) {
	own, err := s.Host.OpenRoot("")
	if err != nil {
		return nil, err
	}
	run := &ingestRun{service: s, asked: q, own: own, roots: []*os.Root{own}}
	dir := filepath.Join(own.Name(), core.DirName)
	run.redact = &ingest.Redactor{Allow: q.AllowSecret, Key: redactKey(dir, s.DryRun)}
	if run.stats, err = readFileStats(dir); err == nil {
		err = run.find(ctx)
	}
	if err != nil {
		run.close()
		return nil, err
	}
	return run, nil
}

func (run *ingestRun) close() {
	for _, root := range run.roots {
		_ = root.Close() // only read
	}
}

func (run *ingestRun) find(ctx context.Context) error {
	if run.asked.Name != "" {
		return run.stdin(ctx)
	}
	seen := map[ingest.Path]bool{}
	for _, arg := range run.asked.Paths {
		list, err := run.named(ctx, arg)
		if err != nil {
			return err
		}
		for _, f := range list {
			if !seen[f.path] {
				seen[f.path] = true
				run.found = append(run.found, f)
			}
		}
	}
	return nil
}

func (run *ingestRun) stdin(ctx context.Context) error {
	in, err := run.service.Host.Read(ctx, verb.Itself)
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := readAll(in)
	if err != nil {
		return err
	}
	f := ingestFile{
		path:  ingest.Path{Project: run.asked.Project, Name: filepath.ToSlash(run.asked.Name)},
		named: true,
		read:  func() ([]byte, error) { return data, nil },
	}
	if err := f.path.Check(); err != nil {
		return verb.Bad("name", "%w", err)
	}
	f.format = formatOf(f.path.Name)
	run.found = []ingestFile{f}
	return nil
}

// formatOf is how a file is read that was named: as text where its format is not known.
func formatOf(name string) parse.Format {
	if f := parse.FormatOf(name); f != "" {
		return f
	}
	return parse.Text
}

func (run *ingestRun) named(ctx context.Context, arg string) ([]ingestFile, error) {
	root, base, err := openPath(run.service.Host, arg)
	if err != nil {
		return nil, err
	}
	run.roots = append(run.roots, root)
	at := ingest.Path{Name: base}
	if rel, inside := within(run.own.Name(), root.Name()); inside {
		root, at.Name = run.own, filepath.ToSlash(filepath.Join(rel, base))
	} else if at.Project, err = run.project(root.Name()); err != nil {
		return nil, err
	}
	if slices.Contains(strings.Split(at.Name, "/"), core.DirName) {
		return nil, verb.Usagef("%s is a part of a repository, with its keys", arg)
	}
	if base == "." {
		return run.walk(ctx, root, at)
	}
	info, err := root.Stat(filepath.FromSlash(at.Name))
	if err != nil {
		return nil, err
	}
	one := regularFile(root, at, formatOf(at.Name), info)
	one.named = true
	return []ingestFile{one}, nil
}

// openPath opens a directory, or the directory of a file: base is "." or the name of the file.
func openPath(host verb.Host, arg string) (root *os.Root, base string, err error) {
	if root, err = host.OpenRoot(arg); err == nil {
		return root, ".", nil
	}
	root, upErr := host.OpenRoot(filepath.Dir(arg))
	if upErr != nil {
		return nil, "", err
	}
	base = filepath.Base(arg)
	switch info, statErr := root.Stat(base); {
	case statErr != nil || info.IsDir():
		err = fmt.Errorf("%s: no such file or directory", arg)
	default:
		err = regular.Check(arg, info)
	}
	if err != nil {
		return nil, "", errors.Join(err, root.Close())
	}
	return root, base, nil
}

// project returns the project name for files of a directory outside.
func (run *ingestRun) project(dir string) (string, error) {
	name := run.asked.Project
	if name == "" {
		name = strings.Trim(strings.Map(func(c rune) rune {
			switch {
			case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
				return c
			case c >= 'A' && c <= 'Z':
				return c - 'A' + 'a'
			}
			return '-'
		}, filepath.Base(dir)), "-._")
	}
	if err := (ingest.Path{Project: name, Name: "x"}).Check(); err != nil || name == "" {
		return "", verb.Bad("project", "%q: want 1 to 64 of a-z, 0-9, ., _, -, the first a letter or digit", name)
	}
	if run.asked.Project == "" {
		if other := run.stats.called(name, filepath.Clean(dir)); other != "" {
			return "", verb.Bad("project", "files of %s are kept as %q: name another project for %s", other, name, dir)
		}
	}
	return name, nil
}

// within returns the path of a directory inside of another one, with slashes.
func within(outer, inner string) (string, bool) {
	for _, real := range []bool{false, true} {
		if real {
			if o, err := filepath.EvalSymlinks(outer); err == nil {
				outer = o
			}
			if i, err := filepath.EvalSymlinks(inner); err == nil {
				inner = i
			}
		}
		rel, err := filepath.Rel(outer, inner)
		if err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

func (run *ingestRun) walk(ctx context.Context, root *os.Root, at ingest.Path) ([]ingestFile, error) {
	found, err := ingest.Walk(ctx, regular.FS(root), at.Name)
	if err != nil {
		return nil, err
	}
	run.scopes = append(run.scopes, at)
	for _, u := range found.Unread {
		run.unread = append(run.unread, unreadDir{ingest.Path{Project: at.Project, Name: u.Name}, u.Err})
	}
	run.others += found.Others
	list := make([]ingestFile, len(found.Files))
	for i, f := range found.Files {
		list[i] = regularFile(root, ingest.Path{Project: at.Project, Name: f.Name}, f.Format, f.Info)
	}
	return list, nil
}

func regularFile(root *os.Root, at ingest.Path, format parse.Format, info fs.FileInfo) ingestFile {
	return ingestFile{path: at, format: format, info: info, read: func() ([]byte, error) {
		f, err := regular.OpenIn(root, filepath.FromSlash(at.Name))
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(f, ingest.MaxFile+1))
		if err = errors.Join(err, f.Close()); err == nil && len(data) > ingest.MaxFile {
			err = fmt.Errorf("grew beyond %d bytes", ingest.MaxFile)
		}
		return data, err
	}}
}

// gone reports whether a file would have been found if it were there.
func (run *ingestRun) gone(p ingest.Path) bool {
	below := func(dir ingest.Path) bool {
		return dir.Project == p.Project &&
			(dir.Name == "." || dir.Name == p.Name || strings.HasPrefix(p.Name, dir.Name+"/"))
	}
	return slices.ContainsFunc(run.scopes, below) &&
		!slices.ContainsFunc(run.unread, func(u unreadDir) bool { return below(u.path) })
}

// read reads the files that are not as the memory has them.
func (run *ingestRun) read(ctx context.Context) error {
	snap, err := branchSnapshot(ctx, run.service)
	if err != nil {
		return err
	}
	cat, err := ingest.Open(ctx, snap, run.projects())
	if err != nil {
		return err
	}
	run.files, run.left, run.known, run.unmapped, run.empty = nil, nil, 0, 0, 0
	run.present = make(map[ingest.Path]*ingest.Sum)
	set, done := run.service.Host.Progress()
	defer done()
	run.forget()
	for i := range run.unread {
		run.leave(run.unread[i].path, "failed", run.unread[i].err.Error())
	}
	for i := range run.found {
		if err := ctx.Err(); err != nil {
			return err
		}
		set("files:", i, len(run.found))
		f := &run.found[i]
		if err := run.readOne(cat, f); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	return nil
}

func (run *ingestRun) forget() {
	there := make(map[ingest.Path]bool, len(run.found))
	for i := range run.found {
		there[run.found[i].path] = true
	}
	run.stats.drop(func(p ingest.Path) bool { return run.gone(p) && !there[p] })
}

// readOne reads a file, or finds that it needs no reading. It records errors of the file.
func (run *ingestRun) readOne(cat *ingest.Catalogue, f *ingestFile) error {
	columns, err := run.columns(cat, f)
	if err != nil || f.format.Mapped() && columns == nil && !f.named {
		run.unmapped++
		run.present[f.path] = nil
		return err
	}
	unchanged := func(sum ingest.Sum) (bool, error) {
		same, err := cat.Same(f.path, sum, run.redact)
		return same && slices.Equal(cat.Columns(f.path).List(), columns.List()), err
	}
	if sum, sure := run.stats.sum(f); sure {
		same, err := unchanged(sum)
		if err != nil || same {
			run.keep(f, &sum)
			return err
		}
	}
	if f.info != nil && f.info.Size() > ingest.MaxFile {
		run.leave(f.path, "skipped", fmt.Sprintf("%d bytes, limit %d", f.info.Size(), ingest.MaxFile))
		run.present[f.path] = nil
		return nil
	}
	data, err := f.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed since the listing
	}
	if err != nil {
		run.fail(f, err)
		return nil
	}
	sum := ingest.Sum(sha256.Sum256(data))
	run.stats.note(f, sum)
	same, err := unchanged(sum)
	if err != nil || same {
		run.keep(f, &sum)
		return err
	}
	file, err := ingest.Read(f.path, f.format, data, columns, run.redact)
	switch {
	case errors.Is(err, ingest.ErrEmpty):
		run.empty++
	case errors.Is(err, parse.ErrBinary):
		run.leave(f.path, "skipped", err.Error())
	case err != nil:
		run.fail(f, err)
	default:
		run.files = append(run.files, file)
	}
	return nil
}

// columns returns the columns of a table: the caller's, or those of the last reading.
func (run *ingestRun) columns(cat *ingest.Catalogue, f *ingestFile) (*parse.Columns, error) {
	switch {
	case !f.format.Mapped():
		return nil, nil
	case len(run.asked.Map) > 0:
		return parse.ParseColumns(run.asked.Map)
	}
	return cat.Columns(f.path), nil
}

func (run *ingestRun) keep(f *ingestFile, sum *ingest.Sum) {
	run.present[f.path] = sum
	run.known++
}

func (run *ingestRun) leave(p ingest.Path, action, why string) {
	run.left = append(run.left, IngestedFile{Path: p.Name, Project: p.Project, Action: action, Why: why})
}

// fail records that a file cannot be read: its stored nodes stay.
func (run *ingestRun) fail(f *ingestFile, err error) {
	why := err.Error()
	if columns := (*parse.ColumnsError)(nil); errors.As(err, &columns) {
		why += "; say --map text=COLUMN"
	}
	run.leave(f.path, "failed", why)
	run.present[f.path] = nil
}

// projects returns the projects of all files that were found or may be gone.
func (run *ingestRun) projects() []string {
	names := map[string]bool{}
	for _, s := range run.scopes {
		names[s.Project] = true
	}
	for i := range run.found {
		names[run.found[i].path.Project] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// plan makes the changes of a snapshot, which may be later than what read saw.
func (run *ingestRun) plan(ctx context.Context, snap *core.Snapshot) (*ingest.Plan, error) {
	cat, err := ingest.Open(ctx, snap, run.projects())
	if err != nil {
		return nil, err
	}
	return cat.Plan(ctx, &ingest.Input{
		Files: run.files, Present: run.present, Gone: run.gone, Keep: run.asked.Keep, Sums: run.redact,
	})
}

// WatchedDirs returns the directories in which a change may be one of what ingest keeps of paths: each that it
// reads, and those of files that are named. own is the directory that holds the repository. What cannot be
// read is left out: ingest says so.
func WatchedDirs(ctx context.Context, own string, paths []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			out = append(out, dir)
		}
	}
	for _, arg := range paths {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			add(filepath.Dir(arg))
			continue
		}
		root, start := arg, "."
		if rel, inside := within(own, arg); inside {
			root, start = own, rel // where ignore files above it hold too
		}
		found, err := walkDir(ctx, root, start)
		if err != nil {
			return nil, err
		}
		for _, dir := range found.Dirs {
			add(filepath.Join(root, filepath.FromSlash(dir)))
		}
	}
	return out, nil
}

func walkDir(ctx context.Context, dir, start string) (*ingest.Walked, error) {
	root, err := regular.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	return ingest.Walk(ctx, regular.FS(root), start)
}

const (
	// statsFile is the file next to the store that records the sums of files: if it is lost all files are read again.
	statsFile  = "ingest.json"
	maxStats   = 256 << 20
	statsV     = 2
	keyFile    = "redact.key"
	redactSize = 32
	// doubtful is how coarse the times of files are taken to be: of a file that was changed just before it was
	// looked at, a later change may leave time and size as they are.
	doubtful = 2 * time.Second
)

// fileStats are the sums of files as they were seen last.
type fileStats struct {
	file    string
	at      int64 // of the last look, by the clock of the file system; 0 for none
	begun   int64 // before any file is looked at
	known   map[ingest.Path]fileStat
	dirs    map[string]string // of projects that were called by their directory
	changed bool
}

// fileStat has a file as it was seen. Times are in nanoseconds.
type fileStat struct {
	Project, Name string
	Sum           string // in hexadecimal
	Size          int64
	Time          int64
	Changed       int64 // its contents or attributes, as the system says: tools set the other one back
	Seen          int64 // before it was read, by our clock
}

type fileStatsJSON struct {
	V     int
	Dirs  map[string]string `json:",omitempty"`
	Files []fileStat
}

// readFileStats reads the sums. A file that is damaged is as good as none.
func readFileStats(dir string) (*fileStats, error) {
	s := &fileStats{
		file: filepath.Join(dir, statsFile), known: make(map[ingest.Path]fileStat), begun: time.Now().UnixNano(),
		dirs: make(map[string]string),
	}
	info, err := os.Stat(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := filestate.Read(s.file, maxStats)
	var in fileStatsJSON
	if err != nil || json.Unmarshal(data, &in) != nil || in.V != statsV {
		return s, nil
	}
	s.at = info.ModTime().UnixNano()
	if in.Dirs != nil {
		s.dirs = in.Dirs
	}
	for _, f := range in.Files {
		s.known[ingest.Path{Project: f.Project, Name: f.Name}] = f
	}
	return s, nil
}

// sum returns the sum that a file has where its size and time say so surely.
func (s *fileStats) sum(f *ingestFile) (ingest.Sum, bool) {
	have, ok := s.known[f.path]
	sum, err := hex.DecodeString(have.Sum)
	if !ok || err != nil || len(sum) != len(ingest.Sum{}) || f.info == nil || have.Size != f.info.Size() ||
		have.Time != f.info.ModTime().UnixNano() || have.Changed != filestate.Changed(f.info).UnixNano() {
		return ingest.Sum{}, false
	}
	last := max(have.Time, have.Changed) + int64(doubtful)
	return ingest.Sum(sum), last < s.at && last < have.Seen
}

// note keeps the sum of a file that was read. Of one that is doubtful again nothing is gained by it.
func (s *fileStats) note(f *ingestFile, sum ingest.Sum) {
	if f.info == nil {
		return
	}
	s.known[f.path] = fileStat{f.path.Project, f.path.Name, hex.EncodeToString(sum[:]), f.info.Size(),
		f.info.ModTime().UnixNano(), filestate.Changed(f.info).UnixNano(), s.begun}
	s.changed = true
}

// called notes that a project has the name of a directory, unless another directory that is still there has it:
// then that is returned.
func (s *fileStats) called(project, dir string) (other string) {
	have, ok := s.dirs[project]
	if ok && have != dir {
		if info, err := os.Stat(have); err == nil && info.IsDir() {
			return have
		}
	}
	s.changed = s.changed || have != dir
	s.dirs[project] = dir
	return ""
}

func (s *fileStats) drop(gone func(ingest.Path) bool) {
	had := len(s.known)
	maps.DeleteFunc(s.known, func(p ingest.Path, _ fileStat) bool { return gone(p) })
	s.changed = s.changed || len(s.known) < had
}

func (s *fileStats) save() error {
	if !s.changed {
		return nil
	}
	out := fileStatsJSON{V: statsV, Dirs: s.dirs, Files: slices.AppendSeq([]fileStat{}, maps.Values(s.known))}
	data, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return filestate.Replace(s.file, 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// redactKey returns a function that reads the key by which credentials are told apart. The key belongs to one copy of
// the repository; if there is none it is made, in a dry run only for that run.
func redactKey(dir string, dryRun bool) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		file := filepath.Join(dir, keyFile)
		key, err := readKey(file)
		if err != nil || key != nil {
			return key, err
		}
		key = make([]byte, redactSize)
		_, _ = rand.Read(key) // it never fails
		if dryRun {
			return key, nil
		}
		err = filestate.Create(file, []byte(hex.EncodeToString(key)+"\n"))
		if errors.Is(err, fs.ErrExist) {
			if key, err = readKey(file); err == nil && key == nil {
				err = fmt.Errorf("%w: %s was removed at the same time", store.ErrBusy, file)
			}
		}
		return key, err
	})
}

func readKey(file string) ([]byte, error) {
	data, err := filestate.Read(file, 4*redactSize)
	if err != nil || data == nil {
		return nil, err
	}
	key, err := hex.DecodeString(string(data[:max(0, len(data)-1)]))
	if err != nil || len(key) != redactSize {
		return nil, fmt.Errorf("%w: %s is no key", store.ErrCorrupt, file)
	}
	return key, nil
}
