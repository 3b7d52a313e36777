package gitdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/internal/base/filestate"
)

const (
	dotGit = ".git"
	// maxPath bounds a file that holds a path or the name of a ref, in bytes.
	maxPath = 8 << 10
)

// ErrNone is returned if a directory is not in a git work tree.
var ErrNone = errors.New("no git work tree")

// badFile returns the error for a file in a form that git does not write.
func badFile(path, why string) error { return fmt.Errorf("git file %s: %s", path, why) }

// Tree is a git work tree. Not safe for concurrent use.
type Tree struct {
	Work   string // the directory that holds .git
	Dir    string // the work tree's own files: HEAD, its log
	Common string // files shared by work trees: branches

	logs map[string][]entry // by ref
}

// Find returns the nearest work tree from a directory upward, or an error that wraps ErrNone.
func Find(dir string) (*Tree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find git work tree: %w", err)
	}
	for at := abs; ; at = filepath.Dir(at) {
		path := filepath.Join(at, dotGit)
		switch info, err := os.Stat(path); {
		case err == nil && info.IsDir():
			if _, err := os.Stat(filepath.Join(path, "HEAD")); err == nil { // an empty .git is passed over, as git does
				return (&Tree{Work: at, Dir: path}).withCommon()
			}
		case err == nil:
			return linked(at, path)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("find git work tree: %w", err)
		}
		if at == filepath.Dir(at) {
			return nil, fmt.Errorf("%w in %s or above", ErrNone, abs)
		}
	}
}

// linked returns the work tree in a directory whose .git is a file.
func linked(work, path string) (*Tree, error) {
	t := &Tree{Work: work}
	text, err := line(path)
	if err != nil {
		return nil, err
	}
	dir, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok || dir == "" {
		return nil, badFile(path, `want "gitdir: PATH"`)
	}
	t.Dir = from(work, dir)
	if info, err := os.Stat(t.Dir); err != nil || !info.IsDir() {
		return nil, badFile(path, fmt.Sprintf("%q is not a directory", dir))
	}
	return t.withCommon()
}

// withCommon determines the directory shared with other work trees.
func (t *Tree) withCommon() (*Tree, error) {
	path := filepath.Join(t.Dir, "commondir")
	dir, err := line(path)
	if err != nil {
		return nil, err
	}
	if t.Common = t.Dir; dir != "" {
		t.Common = from(t.Dir, dir)
		if info, err := os.Stat(t.Common); err != nil || !info.IsDir() {
			return nil, badFile(path, fmt.Sprintf("%q is not a directory", dir))
		}
	}
	return t, nil
}

// Main returns the directory of the main work tree, "" if there is none, as in a bare repository.
func (t *Tree) Main() string {
	if filepath.Base(t.Common) != dotGit {
		return ""
	}
	return filepath.Dir(t.Common)
}

// Linked reports whether the work tree was added to a main one.
func (t *Tree) Linked() bool { return t.Dir != t.Common }

// Mutual reports whether the main work tree's git directory names this linked work tree, as git has both name each
// other.
func (t *Tree) Mutual() bool {
	back, err := line(filepath.Join(t.Dir, "gitdir"))
	if err != nil || back == "" {
		return false
	}
	a, errA := os.Stat(from(t.Dir, back))
	b, errB := os.Stat(filepath.Join(t.Work, dotGit))
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// Same reports whether two work trees share their branches.
func (t *Tree) Same(other *Tree) bool {
	if t.Common == other.Common {
		return true
	}
	a, errA := os.Stat(t.Common)
	b, errB := os.Stat(other.Common)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// from resolves a path relative to a directory.
func from(dir, path string) string {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// line returns the single line of a file, "" if the file does not exist.
func line(path string) (string, error) {
	data, err := filestate.Read(path, maxPath)
	if errors.Is(err, filestate.ErrUnfit) {
		return "", badFile(path, fmt.Sprintf("not a file of at most %d bytes", maxPath))
	}
	if err != nil {
		return "", fmt.Errorf("read git file: %w", err)
	}
	text := strings.TrimRight(string(data), "\r\n")
	if strings.ContainsAny(text, "\x00\n\r") {
		return "", badFile(path, "more than one line")
	}
	return text, nil
}
