// Package gitdir determines which branch a git work tree is on and whether branches were merged or removed, and
// maps names of git's branches to names of memory branches.
//
//	Find     the work tree that a directory is in
//	Head     the branch that HEAD is on
//	Origin   the branch that a branch came from
//	Merged   how a branch was merged into HEAD
//	Branch   the memory branch of a git branch; GitBranch is its inverse
//
// Every command calls Find and Head, and starting git for each would be slow. They read four files:
//
//	.git               a directory, or a file "gitdir: PATH" (linked work tree, submodule)
//	GITDIR/commondir   the path of the directory that work trees share
//	GITDIR/HEAD        "ref: refs/heads/NAME", or the id of a commit
//	GITDIR/logs/HEAD   the end of it, only while HEAD is on a branch without commits: git prints no log then
//
// Everything else comes from git commands: the position of a detached HEAD or one in a reftable, logs, refs,
// commits. These files and git's output are untrusted, so each is read up to a limit; a file in an unexpected form
// is refused with an error that names it.
package gitdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/ipld"
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

const hexDigits = "0123456789ABCDEF"

// Branch returns the name of the memory branch for a git branch: the same name, with each byte that is invalid
// there in a memory branch, and each %, written as % and two digits. It is injective; GitBranch is its inverse. It
// returns an error for a name that is too long, or that git does not allow.
func Branch(name string) (string, error) {
	if err := check(name); err != nil {
		return "", err
	}
	if !strings.Contains(name, "%") && valid(name) {
		return name, nil
	}
	var b strings.Builder
	escape := func(part string) {
		for i := range len(part) {
			b.WriteByte('%')
			b.WriteByte(hexDigits[part[i]>>4])
			b.WriteByte(hexDigits[part[i]&15])
		}
	}
	whole := name == "HEAD" || name == "@" || isCID(name)
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		part := name[i : i+n]
		last := i+n == len(name) || name[i+n] == '/'
		switch {
		case r == utf8.RuneError && n == 1, r == '%', r < 0x20, r >= 0x7f && r < 0xa0,
			i == 0 && (r == '-' || whole), r == '.' && last:
			escape(part)
		default:
			b.WriteString(part)
		}
		i += n
	}
	if err := graph.ValidateName(b.String()); err != nil {
		return "", fmt.Errorf("git branch %q has no memory branch: %w", name, err)
	}
	return b.String(), nil
}

// GitBranch returns the git branch for a memory branch, and false if there is none.
func GitBranch(name string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", false
		}
		high, low := strings.IndexByte(hexDigits, name[i+1]), strings.IndexByte(hexDigits, name[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b.WriteByte(byte(high<<4 | low))
		i += 2
	}
	again, err := Branch(b.String())
	return b.String(), err == nil && again == name
}

// valid reports whether a memory branch may have a name.
func valid(name string) bool { return graph.ValidateName(name) == nil && !isCID(name) }

func isCID(name string) bool {
	_, err := ipld.ParseCID(name)
	return err == nil
}
