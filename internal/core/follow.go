package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Following says what HEAD is for one caller, in place of what the repository keeps for all: a branch that something
// outside of the repository names, as the branch of a git work tree.
type Following struct {
	// Branch is the branch that HEAD is on, "" for that of the repository's own HEAD. It need not exist: until its
	// first commit it reads as From, and that commit creates it from there.
	Branch string
	// From are the branches that Branch came from, the nearest first: the first that exists counts, and if none
	// does, the repository's own HEAD.
	From []string
	// ReadOnly is why nothing may be written to the branch that HEAD is on, "" if it may.
	ReadOnly string
	// Unknown is whether Branch is not known, or, until it exists, From; ReadOnly is why. Then HEAD is not read either.
	Unknown bool

	at ipld.CID // that HEAD is at, on no branch; undefined if it is on one
}

type followingKey struct{}

// Follow returns a context in which HEAD is as f says; nil restores the stored HEAD. Operations on the whole
// repository, such as export, import, undo and fsck, use the stored HEAD regardless.
func Follow(ctx context.Context, f *Following) context.Context {
	return context.WithValue(ctx, followingKey{}, f)
}

// FollowingOf returns what Follow put into a context, nil for nothing.
func FollowingOf(ctx context.Context) *Following {
	f, _ := ctx.Value(followingKey{}).(*Following)
	return f
}

// ReadOnlyError is returned by a write to the current branch if Follow set it and it must not be written now.
// errors.Is(err, ErrInvalid) holds.
type ReadOnlyError struct{ Why string }

// Error gives the reason.
func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("the branch that HEAD is on cannot be written now: %s", e.Why)
}

// Is reports whether target is ErrInvalid.
func (e *ReadOnlyError) Is(target error) bool { return target == state.ErrInvalid }

// UnknownHeadError is returned if HEAD is read or written while it is followed and what it is at is not known.
// errors.Is(err, ErrInvalid) holds.
type UnknownHeadError struct{ Why string }

// Error gives the reason.
func (e *UnknownHeadError) Error() string {
	return "the branch that HEAD follows is not known: " + e.Why
}

// Is reports whether target is ErrInvalid.
func (e *UnknownHeadError) Is(target error) bool { return target == state.ErrInvalid }

// MayWrite returns why nothing is written to the branch that HEAD is on.
func (f *Following) MayWrite() error {
	switch {
	case f == nil || f.ReadOnly == "":
		return nil
	case f.Unknown:
		return &UnknownHeadError{f.ReadOnly}
	}
	return &ReadOnlyError{f.ReadOnly}
}

// FollowedError is returned if HEAD would be moved for all while it is followed.
type FollowedError struct{ Branch string }

// Error names the branch that HEAD follows.
func (e *FollowedError) Error() string {
	return fmt.Sprintf("HEAD follows the git work tree, which is on %q", e.Branch)
}

// Is reports whether target is ErrInvalid.
func (e *FollowedError) Is(target error) bool { return target == state.ErrInvalid }

// Get returns one ref as the caller sees it, and whether it exists.
func (v *View) Get(ctx context.Context, name graph.RefName) (Ref, bool, error) {
	f := v.following
	switch {
	case f == nil || f.Branch == "" && !f.at.Defined() && !f.Unknown:
		return v.Stored(ctx, name)
	case f.Branch == "" && f.Unknown:
		if name == graph.Head {
			return Ref{}, false, &UnknownHeadError{f.ReadOnly}
		}
		return v.Stored(ctx, name)
	case f.at.Defined() && name == graph.Head:
		return Ref{Name: name, Target: f.at}, true, nil
	case f.at.Defined():
		return v.Stored(ctx, name)
	}
	branch := graph.BranchRef(f.Branch)
	if name == graph.Head {
		return Ref{Name: name, Symbolic: branch}, true, nil
	}
	ref, ok, err := v.Stored(ctx, name)
	if ok || err != nil || name != branch {
		return ref, ok, err
	}
	if f.Unknown {
		return Ref{}, false, &UnknownHeadError{f.ReadOnly}
	}
	for _, from := range f.From {
		if ref, ok, err = v.Stored(ctx, graph.BranchRef(from)); ok || err != nil {
			break
		}
	}
	if !ok && err == nil {
		ref, ok, err = v.OwnHead(ctx)
	}
	if !ok || err != nil {
		return Ref{}, false, err
	}
	return Ref{Name: name, Target: ref.Target}, true, nil
}

// OwnHead returns what the repository's own HEAD leads to.
func (v *View) OwnHead(ctx context.Context) (Ref, bool, error) {
	own := *v
	own.following = nil
	return own.Resolve(ctx, graph.Head)
}

// unmoved refuses to move HEAD for a caller who follows another one.
func unmoved(ctx context.Context) error {
	if f := FollowingOf(ctx); f != nil {
		return &FollowedError{f.Branch}
	}
	return nil
}

// askedBy gives a view what is the caller's own: what HEAD is, and in a shared store the client's merges.
func (r *Repo) askedBy(ctx context.Context, v *View) {
	v.only, v.client = r.only, r.Client()
	if r.only != "" {
		return
	}
	v.following = FollowingOf(ctx)
	if r.SharedStore == nil {
		return
	}
	if at := r.SharedStore.Place(); v.following == nil && at != (store.Place{}) {
		v.following = &Following{Branch: at.Branch, at: at.Commit}
	}
}

// moveHead has HEAD lead elsewhere: in a shared store the client's own.
func (t *Tx) moveHead(to Ref) {
	t.Edits[graph.Head] = EncodeRef(to)
	t.apart = t.Repo.SharedStore != nil
}

// finishApart is finish for a transaction that moves the client's own HEAD, which is not in the view.
func (t *Tx) finishApart(ctx context.Context, by state.Stamp) (c ipld.CID, durable func() error, err error) {
	to, err := decodeSide(graph.Head, t.Edits[graph.Head])
	own, _, ownErr := t.View.Stored(ctx, graph.Head)
	if err = errors.Join(err, ownErr); err != nil {
		return ipld.CID{}, nil, err
	}
	delete(t.Edits, graph.Head)
	place := store.Place{Branch: BranchName(to.Symbolic), Commit: to.Target}
	if to.Symbolic != "" && to.Symbolic == own.Symbolic {
		place = store.Place{}
	}
	wait := isDurable
	if len(t.Edits) > 0 {
		if c, wait, err = t.finish(ctx, by); err != nil {
			return ipld.CID{}, nil, err
		}
	}
	return c, func() error {
		if err := wait(); err != nil {
			return err
		}
		return t.Repo.SharedStore.SetPlace(ctx, place)
	}, nil
}

// Followed tells whether the branch that HEAD is on by Follow exists yet, and if not the name of the branch whose
// memory it has until then, or in its place: one of From, or what the repository's own HEAD is on, "" for none.
func (r *Repo) Followed(ctx context.Context) (exists bool, from string, err error) {
	v, err := r.Current(ctx)
	if err != nil || v.following == nil {
		return false, "", err
	}
	for i, name := range append([]string{v.following.Branch}, v.following.From...) {
		if name == "" {
			break
		}
		if _, ok, err := v.Stored(ctx, graph.BranchRef(name)); ok || err != nil {
			return i == 0, name, err
		}
	}
	if v.following.Unknown {
		return false, "", &UnknownHeadError{v.following.ReadOnly}
	}
	own, _, err := v.OwnHead(ctx)
	return false, BranchName(own.Name), err
}

// found makes a branch that is followed if it does not exist yet: what is written is about it.
func (t *Tx) found(ctx context.Context, branch graph.RefName) error {
	ref, ok, err := t.View.Get(ctx, branch)
	if err != nil || !ok {
		return err
	}
	if _, stored, err := t.View.Stored(ctx, branch); stored || err != nil {
		return err
	}
	t.SetRef(branch, ref.Target)
	return nil
}
