package gitdir

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
)

const (
	heads    = "refs/heads/"
	isRef    = "ref: "
	reftable = "refs/heads/.invalid" // what the file HEAD names in a repository with a reftable
)

// What a work tree is in the middle of.
const (
	Rebase = "rebase"
	Bisect = "bisect"
)

// How 'git branch' describes a HEAD that is on no branch.
const (
	saysRebase = "(no branch, rebasing "
	saysBisect = "(no branch, bisect started on "
)

// Head is what HEAD of a work tree is at.
type Head struct {
	Branch   string // the branch it is on, or was on last; "" if that is not known
	Detached bool   // whether it is on none
	At       string // the commit of a HEAD that is on no branch, or a ref outside of refs/heads
	Doing    string // Rebase or Bisect, "" for neither; then Branch is the branch that this is about
}

// Head reads what HEAD is at. It asks git unless HEAD is on a branch and in a file. If git fails it returns what is
// known with the error, and nil if the file HEAD is not as git writes it.
func (t *Tree) Head(ctx context.Context) (*Head, error) {
	path := filepath.Join(t.Dir, "HEAD")
	text, err := line(path)
	if err != nil {
		return nil, err
	}
	ref, symbolic := strings.CutPrefix(text, isRef)
	ref = strings.TrimSpace(ref)
	switch {
	case symbolic && ref != reftable:
		h, err := headAt(ref)
		if err != nil {
			return nil, &Error{path, err.Error()}
		}
		return h, t.lastBranch(ctx, h)
	case !symbolic && !isObject(text):
		return nil, &Error{path, `neither "ref: refs/heads/NAME" nor the id of a commit`}
	}
	h := &Head{At: text, Detached: true}
	if err = t.ask(ctx, h); err == nil {
		err = t.lastBranch(ctx, h)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return h, err
}

// headAt returns what a HEAD that names a ref is at. Git itself calls one outside of refs/heads detached.
func headAt(ref string) (*Head, error) {
	branch, ok := strings.CutPrefix(ref, heads)
	switch {
	case ok:
		return &Head{Branch: branch}, check(branch)
	case strings.HasPrefix(ref, "refs/"):
		return &Head{At: ref, Detached: true}, nil
	}
	return nil, fmt.Errorf("%.200q is no ref", ref)
}

// ask asks git what HEAD is at.
func (t *Tree) ask(ctx context.Context, h *Head) error {
	// A branch of the name HEAD is listed after what is asked for.
	out, _, err := t.Git(ctx, "branch", "--list", "--no-column", "--no-color", "--format=%(refname)", "HEAD")
	if err != nil {
		return err
	}
	said, _, _ := strings.Cut(out, "\n")
	if !strings.HasPrefix(said, "(") {
		ref, _, err := t.Git(ctx, "symbolic-ref", "HEAD")
		if err != nil {
			return err
		}
		at, err := headAt(strings.TrimSpace(ref))
		if err == nil {
			*h = *at
		}
		return err
	}
	for doing, begins := range map[string]string{Rebase: saysRebase, Bisect: saysBisect} {
		branch, ok := strings.CutPrefix(strings.TrimSuffix(said, ")"), begins)
		if ok && isBranch(branch) { // else it began on a commit
			h.Branch, h.Doing, h.Detached = branch, doing, false
		}
	}
	if !isObject(h.At) {
		h.At, err = t.Tip(ctx, "HEAD")
	}
	return err
}

// lastBranch completes a HEAD that is on no branch with the one that it was on last, if the log tells.
func (t *Tree) lastBranch(ctx context.Context, h *Head) error {
	if !h.Detached {
		return nil
	}
	list, err := t.log(ctx, "HEAD")
	h.Branch = leftBefore(list)
	return err
}

// isObject reports whether a text is the id of an object, of SHA-1 or SHA-256.
func isObject(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && (len(text) == 40 || len(text) == 64)
}

// isBranch reports whether what git names may be a branch.
func isBranch(name string) bool { return !isObject(name) && check(name) == nil }

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
