package ingest

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/ingest/parse"
)

// ignoreFiles are the names of ignore files; what the later one says goes before.
var ignoreFiles = []string{".gitignore", ".mnemignore"}

// maxIgnoreFile is the longest ignore file that is read.
const maxIgnoreFile = 1 << 20

// passedDirs are directories that are never entered unless they are named: of version control, and what
// others made. A directory with a dot before its name is passed too, unless it has what agents read.
var (
	passedDirs = []string{"node_modules", "__pycache__", "CVS"}
	dotDirs    = []string{".cursor", ".claude", ".github"}
)

// Found is a file that a walk found.
type Found struct {
	Name   string // from the root, with slashes
	Format parse.Format
	Info   fs.FileInfo
}

// Walked is what a walk found, and how many files it passed since no format is known for them.
type Walked struct {
	Files  []Found
	Others int
}

// Walk finds the files below a directory, "." for the root, that no ignore file from the root on leaves out.
// Symbolic links are not followed. Names come in order, directory by directory.
func Walk(ctx context.Context, fsys fs.FS, start string) (*Walked, error) {
	w := &walker{ctx: ctx, fsys: fsys}
	var ignore *Ignore
	dir := "."
	for {
		var err error
		if ignore, err = w.ignoreIn(ignore, dir); err != nil {
			return nil, err
		}
		if dir == start {
			break
		}
		rest := start
		if dir != "." {
			rest = strings.TrimPrefix(start, dir+"/")
		}
		next, _, _ := strings.Cut(rest, "/")
		dir = path.Join(dir, next)
	}
	return &w.found, w.dir(start, ignore)
}

type walker struct {
	ctx   context.Context
	fsys  fs.FS
	found Walked
}

// ignoreIn adds the ignore files of a directory.
func (w *walker) ignoreIn(up *Ignore, dir string) (*Ignore, error) {
	for _, name := range ignoreFiles {
		info, err := fs.Stat(w.fsys, path.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
			continue // mostly there is none
		}
		data, err := fs.ReadFile(w.fsys, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		up = up.Below(dir, string(data))
	}
	return up, nil
}

func (w *walker) dir(dir string, ignore *Ignore) error {
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		name := path.Join(dir, e.Name())
		if ignore.Ignores(name, e.IsDir()) {
			continue
		}
		switch {
		case e.IsDir():
			if passed(e.Name()) {
				continue
			}
			below, err := w.ignoreIn(ignore, name)
			if err == nil {
				err = w.dir(name, below)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		case !e.Type().IsRegular():
		case parse.FormatOf(name) == "":
			if e.Name()[0] != '.' { // settings
				w.found.Others++
			}
		default:
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			}
			if err != nil {
				return err
			}
			w.found.Files = append(w.found.Files, Found{name, parse.FormatOf(name), info})
		}
	}
	return nil
}

func passed(name string) bool {
	return slices.Contains(passedDirs, name) || strings.HasPrefix(name, ".") && !slices.Contains(dotDirs, name)
}
