package merging

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// newest returns for each conflict of a merge which side changed the item last: by the time of the side's newest
// commit that set it to its current version. Equal times are decided by the greater CID, so that the direction of
// the merge does not matter.
func newest(
	ctx context.Context, t *core.Tx, list []*commit.Conflict, ours, theirs ipld.CID,
) (map[graph.Item]graph.Take, error) {
	mine, err := setters(ctx, t, list, ours, theirs)
	if err != nil {
		return nil, err
	}
	other, err := setters(ctx, t, list, theirs, ours)
	if err != nil {
		return nil, err
	}
	out := make(map[graph.Item]graph.Take, len(list))
	for _, c := range list {
		a, b := mine[c.Item], other[c.Item]
		out[c.Item] = graph.TakeOurs
		if a.time < b.time || a.time == b.time && a.cid.Compare(b.cid) < 0 {
			out[c.Item] = graph.TakeTheirs
		}
	}
	return out, nil
}

// setter is the commit that set an item.
type setter struct {
	time graph.Time
	cid  ipld.CID
}

// setters finds, for each item, the newest commit that only this side has and that set the item to a version that
// none of its parents has. For an item that none set, it is the side's newest commit.
func setters(
	ctx context.Context, t *core.Tx, list []*commit.Conflict, side, but ipld.CID,
) (map[graph.Item]setter, error) {
	found := make(map[graph.Item]setter, len(list))
	var first setter
	for e, err := range commit.Between(ctx, t.Stage, []ipld.CID{side}, []ipld.CID{but}) {
		if err != nil {
			return nil, err
		}
		by := setter{e.Commit.Time, e.CID}
		if !first.cid.Defined() {
			first = by
		}
		states, err := family(ctx, t, e)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if _, ok := found[c.Item]; ok {
				continue
			}
			set, err := sets(ctx, c.Item, states)
			if err != nil {
				return nil, fmt.Errorf("find who changed %s: %w", c.Item, err)
			}
			if set {
				found[c.Item] = by
			}
		}
		if len(found) == len(list) {
			return found, nil
		}
	}
	for _, c := range list {
		if _, ok := found[c.Item]; !ok {
			found[c.Item] = first
		}
	}
	return found, nil
}

// family returns the states of a commit and of its parents.
func family(ctx context.Context, t *core.Tx, e commit.LogEntry) ([]*state.State, error) {
	var out []*state.State
	for _, c := range append([]ipld.CID{e.CID}, e.Commit.Parents...) {
		s, err := t.At(ctx, c)
		if err != nil {
			return nil, err
		}
		out = append(out, s.State)
	}
	return out, nil
}

// sets reports whether the first state has a version of an item that none of the others has.
func sets(ctx context.Context, item graph.Item, states []*state.State) (bool, error) {
	var at ipld.CID
	for i, s := range states {
		c, err := itemAt(ctx, s, item)
		switch {
		case errors.Is(err, store.ErrRedacted):
			return false, nil // the former version is unknown
		case err != nil:
			return false, err
		case i == 0:
			at = c
		case c == at:
			return false, nil
		}
	}
	return len(states) > 1 || at.Defined(), nil
}

// itemAt returns the CID of an item's record, undefined if there is none.
func itemAt(ctx context.Context, s *state.State, item graph.Item) (ipld.CID, error) {
	switch item.Kind {
	case graph.NodeItem:
		return state.Lookup(ctx, s.Nodes, item.ID[:])
	case graph.EdgeItem:
		return state.Lookup(ctx, s.Edges, item.ID[:])
	case graph.NodeMarkItem:
		return state.Lookup(ctx, s.Marks, graph.MarkKey(graph.OnNode, item.ID))
	case graph.EdgeMarkItem:
		return state.Lookup(ctx, s.Marks, graph.MarkKey(graph.OnEdge, item.ID))
	}
	return s.Profile, nil
}
