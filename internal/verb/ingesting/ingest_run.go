package ingesting

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/verb"
)

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
