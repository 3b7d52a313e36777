package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// PushOptions say what is pushed.
type PushOptions struct {
	TransferOptions
	Refs   []graph.RefName // branches and tags of this repository
	Remove []graph.RefName // branches and tags of the remote
	// Redactions requests that data erased here is erased there too, in what branches, tags and sessions reach.
	Redactions bool
	// GrownSessions omits sessions that have not changed since the last fetch or push found them at the remote: one
	// that is missing there now was removed there.
	GrownSessions bool
	// Force allows replacing a ref's history if the ref is where the last fetch or push found it. Without it
	// branches only move forward, and tags not at all.
	Force bool
}

// Pushed is the result of a push.
type Pushed struct {
	Remote string           `json:"remote"`
	Refs   []core.RefChange `json:"refs"`   // of the remote
	Bytes  int64            `json:"bytes"`  // of the pack
	Erased int              `json:"erased"` // blocks that were erased there
	// Untold reports that more was erased here since the remote was last informed: the remote may still have it.
	Untold bool `json:"untold"`
	DryRun bool `json:"dry_run"`
}

// Push sends refs to another repository, all or nothing, and records their new positions under refs/remotes/NAME.
// It returns an error that wraps state.ErrConflict if the remote has commits that this repository lacks, or moved
// during the push: then fetch and merge first.
func Push(ctx context.Context, here, to Side, opt PushOptions) (out *Pushed, err error) {
	if err := graph.ValidateImport(opt.Name); err != nil {
		return nil, fmt.Errorf("%w: remote: %w", state.ErrInvalid, err)
	}
	err = settle(ctx, func() error {
		out, err = opt.push(ctx, here, to)
		return err
	})
	return out, err
}

func (opt *PushOptions) push(ctx context.Context, here, to Side) (*Pushed, error) {
	st, err := to.Look(ctx, Question{Sessions: opt.Sessions})
	if err != nil {
		return nil, err
	}
	if len(st.Refs) > MaxRefs {
		return nil, ErrTooLarge
	}
	mine, err := here.Look(ctx, Question{Tracking: true, Sessions: opt.Sessions})
	if err != nil {
		return nil, err
	}
	common, err := opt.common(ctx, here, mine, st)
	if err != nil {
		return nil, err
	}
	refs, list, err := opt.updates(mine, st, common)
	if err != nil {
		return nil, err
	}
	out := &Pushed{Remote: opt.Name, DryRun: opt.DryRun}
	switch {
	case opt.DryRun:
		out.Refs = changes(list)
		return out, nil
	case len(list) == 0:
		return out, opt.tell(ctx, here, to, mine.Redactions, st.Redactions, out)
	case len(refs) == 0:
		var taken *Taken
		if taken, err = to.Take(ctx, News{Updates: list}); err == nil {
			out.Refs = taken.Refs
		}
	default:
		err = opt.locked(ctx, "push", func() error { return opt.send(ctx, here, to, Want{refs, common}, list, out) })
	}
	if err != nil {
		return nil, err
	}
	if err := opt.track(ctx, here, refs, out.Refs, mine); err != nil {
		return nil, err
	}
	return out, opt.tell(ctx, here, to, mine.Redactions, st.Redactions, out)
}

// updates returns the refs to pack and the changes to request.
func (opt *PushOptions) updates(mine, st *State, common []ipld.CID) (
	refs []core.Ref, list []exchange.RefUpdate, err error,
) {
	here, there := mine.Targets(), st.Targets()
	has := setOf(common)
	for _, name := range opt.Refs {
		at, from := here[name], there[name]
		if opt.Force {
			from = here[Tracking(opt.Name, name)]
		}
		switch {
		case !travels(name):
			return nil, nil, fmt.Errorf("%w: %s is no branch or tag", state.ErrInvalid, name)
		case !at.Defined():
			return nil, nil, &state.NotFoundError{What: "ref", Name: string(name)}
		case at == there[name]:
			continue
		case opt.Force && from != there[name]:
			return nil, nil, &exchange.RefError{Ref: name, Want: from, Have: there[name]}
		case !opt.Force && from.Defined() && strings.HasPrefix(string(name), graph.Tags):
			return nil, nil, &exchange.RefError{Ref: name, Have: from}
		case !opt.Force && from.Defined() && !has[from]:
			branch, _ := name.Branch()
			return nil, nil, &exchange.ForwardError{Branch: branch, From: from, To: at}
		}
		refs = append(refs, core.Ref{Name: name, Target: at})
		list = append(list, exchange.RefUpdate{Ref: name, To: at, From: &from, Forward: !opt.Force})
	}
	for _, name := range opt.Remove {
		from := there[name]
		if !from.Defined() {
			return nil, nil, &state.NotFoundError{What: "ref of the remote", Name: string(name)}
		}
		list = append(list, exchange.RefUpdate{Ref: name, From: &from})
	}
	if opt.Sessions {
		newest := make(map[ipld.CID]bool)
		for _, ref := range st.Refs {
			newest[ref.Target] = true
		}
		for _, ref := range mine.Refs {
			if opt.GrownSessions && strings.HasPrefix(string(ref.Name), Prefix(opt.Name)+"sessions/") {
				newest[ref.Target] = true
			}
		}
		for _, ref := range mine.Refs {
			if isSession(ref.Name) && !newest[ref.Target] {
				refs = append(refs, ref)
				list = append(list, exchange.RefUpdate{Ref: ref.Name, To: ref.Target, Place: true})
			}
		}
	}
	return refs, list, nil
}

// send packs refs into a file and has the other side receive it.
func (opt *PushOptions) send(
	ctx context.Context, here, to Side, want Want, list []exchange.RefUpdate, out *Pushed,
) (err error) {
	old, err := filepath.Glob(filepath.Join(opt.Dir, "push-*"))
	if err != nil {
		return err
	}
	for _, name := range old {
		_ = os.Remove(name) // of a push that was killed
	}
	f, err := os.CreateTemp(opt.Dir, "push-*")
	if err != nil {
		return err
	}
	defer func() {
		rmErr := os.Remove(f.Name())
		if errors.Is(rmErr, fs.ErrNotExist) { // a purge removes packs
			rmErr = nil
		}
		err = errors.Join(err, f.Close(), rmErr)
	}()
	pack := &Counted{To: f, what: "packed", tell: opt.Progress}
	if err := here.Send(ctx, pack, want, 0); err != nil {
		return moved(err)
	}
	out.Bytes = pack.Bytes
	taken, err := to.Take(ctx, News{Pack: io.NewSectionReader(f, 0, pack.Bytes), Updates: list})
	if err == nil {
		out.Refs = taken.Refs
	}
	return err
}

// common returns commits of the remote, and session records, that are here: first the targets of the pushed refs
// there, then those that this side built on, and last what both refs have.
func (opt *PushOptions) common(ctx context.Context, here Side, mine, st *State) (out []ipld.CID, err error) {
	pushed := setOf(opt.Refs)
	ours := make(map[ipld.CID]bool)
	for _, ref := range mine.Refs {
		if travels(ref.Name) || isSession(ref.Name) {
			ours[ref.Target] = true
		}
	}
	var order [3][]ipld.CID
	for _, ref := range st.Refs {
		_, branch := ref.Name.Branch()
		switch {
		case !branch && !isSession(ref.Name):
		case pushed[ref.Name]:
			order[0] = append(order[0], ref.Target)
		case !ours[ref.Target]:
			order[1] = append(order[1], ref.Target)
		default:
			order[2] = append(order[2], ref.Target)
		}
	}
	ask := exchange.Distinct(slices.Concat(order[:]...))
	for len(ask) > 0 {
		n := min(len(ask), MaxAsked)
		known, err := here.Look(ctx, Question{Commits: ask[:n]})
		if err != nil {
			return nil, err
		}
		out, ask = append(out, known.Known...), ask[n:]
	}
	return out[:min(len(out), MaxAsked)], nil
}

// track records the remote's refs after a push. Their commits are here, so no pack is needed. Refs that moved
// concurrently are left to the next fetch. Sessions are recorded under the names the remote gave them.
func (opt *PushOptions) track(ctx context.Context, here Side, refs []core.Ref, put []core.RefChange, mine *State) error {
	at, placed := mine.Targets(), make(map[ipld.CID][]exchange.RefUpdate)
	for _, c := range put {
		if isSession(c.Ref) {
			placed[c.To] = append(placed[c.To], exchange.RefUpdate{Ref: Tracking(opt.Name, c.Ref), To: c.To})
		}
	}
	var gone []exchange.RefUpdate
	for _, name := range opt.Remove {
		if ref := Tracking(opt.Name, name); at[ref].Defined() {
			gone = append(gone, exchange.RefUpdate{Ref: ref})
		}
	}
	for part := range slices.Chunk(refs, MaxAsked) { // limit of what one pack can exclude
		want, updates := Want{Refs: part}, gone
		gone = nil
		for _, ref := range part {
			session := isSession(ref.Name)
			if _, branch := ref.Name.Branch(); branch || session {
				want.Have = append(want.Have, ref.Target)
			}
			if session {
				updates = append(updates, placed[ref.Target]...)
				delete(placed, ref.Target)
			} else {
				updates = append(updates, exchange.RefUpdate{Ref: Tracking(opt.Name, ref.Name), To: ref.Target})
			}
		}
		if len(updates) == 0 {
			continue
		}
		var b bytes.Buffer
		if err := here.Send(ctx, &b, want, 0); err != nil {
			return ignoreMoved(err)
		}
		pack := io.NewSectionReader(bytes.NewReader(b.Bytes()), 0, int64(b.Len()))
		if _, err := here.Take(ctx, News{Pack: pack, Updates: updates, Tracking: opt.Name}); err != nil {
			return ignoreMoved(err)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	_, err := here.Take(ctx, News{Updates: gone, Tracking: opt.Name})
	return ignoreMoved(err)
}

func ignoreMoved(err error) error {
	if errors.Is(err, state.ErrConflict) {
		return nil
	}
	return err
}
