package repo

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
)

// Following says what HEAD is for one caller, in place of what the repository keeps for all: a branch that something
// outside of the repository names, as the branch of a git work tree.
type Following struct {
	// Branch is what HEAD is on, "" for what the repository's own HEAD is on. It need not exist: before its first
	// commit it is where From is, and that commit makes it from there.
	Branch string
	// From are the branches that Branch came from, the nearest first: the first that exists counts, and where none
	// does, the repository's own HEAD.
	From []string
	// ReadOnly is why nothing may be written to the branch that HEAD is on, "" where it may.
	ReadOnly string
}

type followingKey struct{}

// Follow returns a context for which HEAD is what f says, nil for what the repository keeps. What is about the
// repository as a whole, as export, import, undo and fsck, is about its own HEAD still.
func Follow(ctx context.Context, f *Following) context.Context {
	return context.WithValue(ctx, followingKey{}, f)
}

// FollowingOf returns what Follow put into a context, nil for nothing.
func FollowingOf(ctx context.Context) *Following {
	f, _ := ctx.Value(followingKey{}).(*Following)
	return f
}

// ReadOnlyError is returned by a write to the branch HEAD is on, where that is followed and is not to be written
// now. errors.Is(err, ErrInvalid) holds.
type ReadOnlyError struct{ Why string }

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("the branch that HEAD is on cannot be written now: %s", e.Why)
}

// Is reports whether target is ErrInvalid.
func (e *ReadOnlyError) Is(target error) bool { return target == ErrInvalid }

// FollowedError is returned where HEAD would be moved for all while it is followed.
type FollowedError struct{ Branch string }

func (e *FollowedError) Error() string {
	return fmt.Sprintf("HEAD follows the git work tree, which is on %q", e.Branch)
}

// Is reports whether target is ErrInvalid.
func (e *FollowedError) Is(target error) bool { return target == ErrInvalid }

// get returns one ref as the caller sees it, and whether it exists.
func (v *view) get(ctx context.Context, name graph.RefName) (Ref, bool, error) {
	f := v.following
	if f == nil || f.Branch == "" {
		return v.stored(ctx, name)
	}
	branch := graph.BranchRef(f.Branch)
	if name == graph.Head {
		return Ref{Name: name, Symbolic: branch}, true, nil
	}
	ref, ok, err := v.stored(ctx, name)
	if ok || err != nil || name != branch {
		return ref, ok, err
	}
	for _, from := range f.From {
		if ref, ok, err = v.stored(ctx, graph.BranchRef(from)); ok || err != nil {
			break
		}
	}
	if !ok && err == nil {
		ref, ok, err = v.ownHead(ctx)
	}
	if !ok || err != nil {
		return Ref{}, false, err
	}
	return Ref{Name: name, Target: ref.Target}, true, nil
}

// ownHead returns what the repository's own HEAD leads to.
func (v *view) ownHead(ctx context.Context) (Ref, bool, error) {
	own := *v
	own.following = nil
	return own.resolve(ctx, graph.Head)
}

// unmoved refuses to move the repository's own HEAD for a caller who follows another one.
func (v *view) unmoved() error {
	if f := v.following; f != nil {
		return &FollowedError{f.Branch}
	}
	return nil
}

// SharedHeadError is what verbs return where HEAD would be moved for the clients of all machines.
type SharedHeadError struct{}

func (*SharedHeadError) Error() string {
	return "HEAD is the same for all clients of a repository in a database"
}

// Is reports whether target is ErrInvalid.
func (*SharedHeadError) Is(target error) bool { return target == ErrInvalid }

// Followed tells whether the branch that HEAD is on by Follow exists yet, and if not the name of the branch whose
// memory it has until then, or in its place: one of From, or what the repository's own HEAD is on, "" for none.
func (r *Repo) Followed(ctx context.Context) (exists bool, from string, err error) {
	v, err := r.current(ctx)
	if err != nil || v.following == nil {
		return false, "", err
	}
	for i, name := range append([]string{v.following.Branch}, v.following.From...) {
		if name == "" {
			break
		}
		if _, ok, err := v.stored(ctx, graph.BranchRef(name)); ok || err != nil {
			return i == 0, name, err
		}
	}
	own, _, err := v.ownHead(ctx)
	return false, branchName(own.Name), err
}

// found makes a branch that is followed where it does not exist yet: what is written is about it.
func (t *tx) found(ctx context.Context, branch graph.RefName) error {
	ref, ok, err := t.view.get(ctx, branch)
	if err != nil || !ok {
		return err
	}
	if _, stored, err := t.view.stored(ctx, branch); stored || err != nil {
		return err
	}
	t.setRef(branch, ref.Target)
	return nil
}
