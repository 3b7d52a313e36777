package exchange

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// RefUpdate is a requested change of one ref, applied together with others.
type RefUpdate struct {
	Ref graph.RefName
	To  ipld.CID // undefined to remove it
	// From, if set, is its required current target, undefined for none.
	From *ipld.CID
	// Forward allows a move to a descendant only. Sessions always require this.
	Forward bool
	// Place means that To is the newest record of a session to be stored next to the local sessions, under a ref to
	// be determined: Ref is its name at the other side.
	Place bool
}

// RefError is returned when a ref does not have the target that an update expects. errors.Is(err,
// state.ErrConflict) holds.
type RefError struct {
	Ref        graph.RefName
	Want, Have ipld.CID
}

// Error names the ref's actual and expected commits.
func (e *RefError) Error() string {
	at := func(c ipld.CID) string {
		if !c.Defined() {
			return "not there"
		}
		return "at " + c.String()
	}
	return fmt.Sprintf("%s is %s; expected: %s", e.Ref, at(e.Have), at(e.Want))
}

// Is reports whether target is state.ErrConflict.
func (e *RefError) Is(target error) bool { return target == state.ErrConflict }

// Receive imports a pack of size bytes like Import does a file: completely or not at all. It checks every block and
// every commit that no ref reaches yet before one operation changes the refs. Blocks that were erased there and are
// missing here become gaps, which another pack or a commit may fill. The targets of updates must be refs of the pack. A
// nil pack allows only removing refs. It returns a *RefError or a *ForwardError if a ref does not allow its update. The
// names in opt are not used.
func Receive(
	ctx context.Context, r *core.Repo, pack io.ReaderAt, size int64, updates []RefUpdate, opt ImportOptions,
) (*ImportResult, error) {
	place := func(im *Importer, v *core.View, res *ImportResult) error {
		im.open = true // another repository erases nothing here
		return im.update(v, updates, res)
	}
	if opt.untold = true; opt.Progress == nil {
		opt.Progress = func(string, int) {}
	}
	var res *ImportResult
	var err error
	if pack != nil {
		res, err = takeIn(ctx, r, pack, size, opt, place)
	} else {
		res, err = removeRefs(ctx, r, updates, opt)
	}
	if err != nil {
		if isFormat(err) {
			err = fmt.Errorf("%w: %w", state.ErrInvalid, err)
		}
		return nil, fmt.Errorf("receive: %w", err)
	}
	return res, nil
}

// removeRefs applies updates that need no blocks.
func removeRefs(ctx context.Context, r *core.Repo, updates []RefUpdate, opt ImportOptions) (*ImportResult, error) {
	res := &ImportResult{}
	im := &Importer{Ctx: ctx, Repo: r}
	if opt.DryRun {
		v, err := r.Current(ctx)
		if err == nil {
			err = im.update(v, updates, res)
		}
		return res, err
	}
	_, err := r.TransactOnce(ctx, opt.Stamp, func(t *core.Tx) error {
		t.Foreign = true
		err := im.update(t.View, updates, res)
		change(t, res.Refs)
		return err
	})
	return res, err
}

func change(t *core.Tx, list []core.RefChange) {
	for _, c := range list {
		if c.To.Defined() {
			t.SetRef(c.Ref, c.To)
		} else {
			t.RemoveRef(c.Ref)
		}
	}
}

// update fills in what updates change.
func (im *Importer) update(v *core.View, list []RefUpdate, res *ImportResult) error {
	im.Placed = make(map[string]*session.Placed) // for each view
	packed := make(map[ipld.CID]bool)
	for _, ref := range im.refs {
		packed[ref.Target] = true
	}
	for _, u := range list {
		ref, ok, err := v.Stored(im.Ctx, u.Ref)
		if err == nil && u.To.Defined() {
			err = im.mayName(u, packed)
		} else if err == nil {
			err = im.mayRemove(v, u)
		}
		if err == nil && u.Place {
			if res.Refs, err = im.PlaceSession(v, u.To, res.Refs); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		if u.From != nil && ref.Target != *u.From {
			return &RefError{Ref: u.Ref, Want: *u.From, Have: ref.Target}
		}
		if ref.Target == u.To {
			continue
		}
		if ok && u.To.Defined() {
			if err := im.mayMove(u, ref.Target); err != nil {
				return err
			}
		}
		res.Refs = append(res.Refs, core.RefChange{Ref: u.Ref, From: ref.Target, To: u.To})
	}
	return nil
}

// mayMove refuses an update that would leave a history that must be continued, or drop session records.
func (im *Importer) mayMove(u RefUpdate, from ipld.CID) (err error) {
	ahead := true
	if ns, _ := u.Ref.Split(); ns == graph.Sessions {
		ahead, err = im.grows(from, u.To)
	} else if u.Forward {
		ahead, err = commit.IsAncestor(im.Ctx, im.Over.Facts(), from, u.To)
	}
	if err == nil && !ahead {
		err = &ForwardError{Branch: core.BranchName(u.Ref), From: from, To: u.To}
	}
	return err
}

// mayName refuses an invalid ref name, a target that the pack lacks, and a target of the wrong kind for the ref,
// here or at the remote.
func (im *Importer) mayName(u RefUpdate, packed map[ipld.CID]bool) error {
	if err := graph.ValidateRef(u.Ref); err != nil {
		return state.Invalidf("%w", err)
	}
	if !packed[u.To] {
		return state.Invalidf("%s is to be at %s, which is not in the pack", u.Ref, u.To)
	}
	at := u.Ref
	if rest, tracked := strings.CutPrefix(string(at), graph.Remotes); tracked { // at the remote
		_, rest, _ = strings.Cut(rest, "/")
		at = graph.RefName("refs/" + rest)
	}
	as := im.roleOf(u.To)
	ok := as == state.RoleCommit
	switch ns, _ := at.Split(); ns {
	case graph.Tags:
		ok = ok || as == state.RoleTag
	case graph.Sessions:
		ok = as == state.RoleSession
	}
	if !ok || u.Place && as != state.RoleSession {
		return state.Invalidf("%s cannot be at a %s", u.Ref, as)
	}
	return nil
}

// mayRemove refuses to remove sessions, and the branch that HEAD is on.
func (im *Importer) mayRemove(v *core.View, u RefUpdate) error {
	head, _, err := v.Stored(im.Ctx, graph.Head)
	if err == nil && head.Symbolic == u.Ref {
		err = &core.InUseError{Branch: core.BranchName(u.Ref), Why: "HEAD is on it"}
	}
	if ns, _ := u.Ref.Split(); err == nil && ns == graph.Sessions {
		err = state.Invalidf("%s: other repositories remove no session", u.Ref)
	}
	return err
}
