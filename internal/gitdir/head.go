package gitdir

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/internal/base/regular"
)

const (
	heads  = "refs/heads/"
	isRef  = "ref: "
	binary = "refs/heads/.invalid" // what HEAD has where refs are in git's binary format
	// maxPacked bounds what is read of packed refs, in bytes.
	maxPacked = 256 << 20
	// maxFrom is the most branches that Head.From names.
	maxFrom = 16
)

// What a work tree is in the middle of.
const (
	Rebase = "rebase"
	Bisect = "bisect"
)

// Head is what HEAD of a work tree is at.
type Head struct {
	Branch   string // the branch it is on, or was on last; "" where that is not known
	Detached bool   // whether it is on none: at a commit
	At       string // the commit of a HEAD that is on no branch
	Doing    string // Rebase or Bisect, "" for neither; then Branch is the branch that this is about
	// From are the branches that Branch came from, the nearest first, as far as git's logs tell.
	From []string
}

// Head reads what HEAD is at.
func (t *Tree) Head(ctx context.Context) (*Head, error) {
	h, err := t.head(ctx)
	if err != nil {
		return nil, err
	}
	if h.At != "" && h.Doing == "" {
		if h.Branch, err = t.lastBranch(ctx); err != nil {
			return nil, err
		}
		h.Detached = true
	}
	h.From, err = t.origins(ctx, h.Branch)
	return h, err
}

// head reads HEAD, and of a HEAD that is at a commit what the work tree is in the middle of.
func (t *Tree) head(ctx context.Context) (*Head, error) {
	path := filepath.Join(t.Dir, "HEAD")
	text, err := t.headLine(path)
	if err != nil {
		return nil, err
	}
	ref, symbolic := strings.CutPrefix(text, isRef)
	if symbolic && strings.TrimSpace(ref) == binary {
		if ref, symbolic, err = t.askHead(ctx); err != nil {
			return nil, err
		}
		text = ref
	}
	if branch, ok := strings.CutPrefix(strings.TrimSpace(ref), heads); ok && symbolic {
		if err := check(branch); err != nil {
			return nil, &Error{path, err.Error()}
		}
		return &Head{Branch: branch}, nil
	}
	if symbolic && strings.HasPrefix(ref, "refs/") {
		return &Head{At: ref}, nil // as refs/remotes/…: what git itself calls detached
	}
	if !isObject(text) {
		return nil, &Error{path, `neither "ref: refs/heads/NAME" nor the id of a commit`}
	}
	h := &Head{At: text}
	return h, t.doing(h)
}

// headLine returns what HEAD holds. Old versions of git made it a symbolic link.
func (t *Tree) headLine(path string) (string, error) {
	if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, heads) {
		return isRef + to, nil
	}
	text, err := t.line(path)
	if err == nil && text == "" {
		err = &Error{path, "missing or empty"}
	}
	return text, err
}

// doing finds the branch that is rebased, or that a bisection began on.
func (t *Tree) doing(h *Head) error {
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		path := filepath.Join(t.Dir, dir, "head-name")
		name, err := t.line(path)
		if err != nil {
			return err
		}
		if branch, ok := strings.CutPrefix(name, heads); ok { // else "detached HEAD"
			if err := check(branch); err != nil {
				return &Error{path, err.Error()}
			}
			h.Branch, h.Doing = branch, Rebase
			return nil
		}
	}
	path := filepath.Join(t.Dir, "BISECT_START")
	name, err := t.line(path)
	name = strings.TrimPrefix(name, heads)
	if err != nil || name == "" || isObject(name) {
		return err
	}
	if err := check(name); err != nil {
		return &Error{path, err.Error()}
	}
	h.Branch, h.Doing = name, Bisect
	return nil
}

// check refuses what git does not allow for the name of a branch: it becomes a path.
func check(name string) error {
	switch {
	case name == "" || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, "."),
		strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{"),
		strings.ContainsAny(name, " ~^:?*[\\\x7f"),
		strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }):
		return fmt.Errorf("%.200q is no name of a branch", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return fmt.Errorf("%.200q is no name of a branch", name)
		}
	}
	return nil
}

// isObject reports whether a text is the id of an object, of SHA-1 or SHA-256.
func isObject(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && (len(text) == 40 || len(text) == 64)
}

// Tip returns the id of the commit that a ref is at, "" where there is no such ref.
func (t *Tree) Tip(ctx context.Context, ref string) (string, error) {
	if t.binary {
		out, ok, err := t.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref)
		if !ok || err != nil {
			return "", err
		}
		return strings.TrimSpace(out), nil
	}
	path := filepath.Join(t.Common, filepath.FromSlash(ref))
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return t.packed(ref) // which has a name that others begin with
	}
	text, err := t.line(path)
	if err != nil {
		return "", err
	}
	if text == "" {
		return t.packed(ref)
	}
	if !isObject(text) {
		return "", &Error{path, "not the id of a commit"}
	}
	return text, nil
}

// packed looks for a ref in the file that has many.
func (t *Tree) packed(ref string) (id string, err error) {
	t.reads++
	path := filepath.Join(t.Common, "packed-refs")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxPacked) {
		return "", &Error{path, fmt.Sprintf("not a file of at most %d bytes", int64(maxPacked))}
	}
	if err != nil {
		return "", fmt.Errorf("read git file: %w", err)
	}
	f, err := regular.Open(path)
	if err != nil {
		return "", fmt.Errorf("read git file: %w", err)
	}
	defer func() { _ = f.Close() }() // only read from
	lines := bufio.NewScanner(io.LimitReader(f, maxPacked))
	lines.Buffer(make([]byte, maxPath), maxPath)
	for lines.Scan() {
		if object, name, ok := strings.Cut(lines.Text(), " "); ok && name == ref && isObject(object) {
			return object, nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", &Error{path, err.Error()}
	}
	return "", nil
}
