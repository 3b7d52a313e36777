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
	reftable = "refs/heads/.invalid" // content of the file HEAD in a repository with a reftable
)

// Operations that a work tree may be in the middle of.
const (
	Rebase = "rebase"
	Bisect = "bisect"
)

// How 'git branch' describes a detached HEAD.
const (
	saysRebase = "(no branch, rebasing "
	saysBisect = "(no branch, bisect started on "
)

// Head is the position of a work tree's HEAD.
type Head struct {
	Branch   string // the branch it is on, or was on last; "" if that is not known
	Detached bool   // whether it is on none
	At       string // the commit of a HEAD that is on no branch, or a ref outside of refs/heads
	Doing    string // Rebase or Bisect, "" for neither; then Branch is the branch that this is about
}

// Head reads the position of HEAD. It runs git unless HEAD is a file that names a branch. If git fails it returns
// what is known with the error, and nil if the file HEAD is invalid.
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
			return nil, badFile(path, err.Error())
		}
		return h, t.lastBranch(ctx, h)
	case !symbolic && !isObject(text):
		return nil, badFile(path, `neither "ref: refs/heads/NAME" nor the id of a commit`)
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

// headAt returns the position of a HEAD that names a ref. Git itself calls one outside of refs/heads detached.
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

// ask asks git for the position of HEAD.
func (t *Tree) ask(ctx context.Context, h *Head) error {
	// A branch named HEAD is listed after the requested line.
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
		if ok && isBranch(branch) { // otherwise it began on a commit
			h.Branch, h.Doing, h.Detached = branch, doing, false
		}
	}
	if !isObject(h.At) {
		h.At, err = t.Tip(ctx, "HEAD")
	}
	return err
}

// lastBranch completes a detached HEAD with the branch that it was on last, if the log has it.
func (t *Tree) lastBranch(ctx context.Context, h *Head) error {
	if !h.Detached {
		return nil
	}
	list, err := t.log(ctx, "HEAD")
	h.Branch = leftBefore(list)
	return err
}

// isObject reports whether a text is an object id, of SHA-1 or SHA-256.
func isObject(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && (len(text) == 40 || len(text) == 64)
}

func isBranch(name string) bool { return !isObject(name) && check(name) == nil }

// check refuses names that git does not allow for branches: the name becomes a path.
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
