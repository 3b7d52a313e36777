package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// newest returns for each conflict of a merge which side changed the item last: by the time of the newest
// commit of the side that set the item as the side has it, and by the greater CID where the times are the
// same, so that it does not matter which side merges.
func (t *tx) newest(
	ctx context.Context, list []*commit.Conflict, ours, theirs ipld.CID,
) (map[graph.Item]graph.Take, error) {
	mine, err := t.setters(ctx, list, ours, theirs)
	if err != nil {
		return nil, err
	}
	other, err := t.setters(ctx, list, theirs, ours)
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

// setters finds the newest commits of a side, which are not of the other one, that set items: after them the
// item is what none of their parents has. Of an item that none set it is the side's newest commit.
func (t *tx) setters(
	ctx context.Context, list []*commit.Conflict, side, but ipld.CID,
) (map[graph.Item]setter, error) {
	found := make(map[graph.Item]setter, len(list))
	var first setter
	for e, err := range commit.Between(ctx, t.stage, []ipld.CID{side}, []ipld.CID{but}) {
		if err != nil {
			return nil, err
		}
		by := setter{e.Commit.Time, e.CID}
		if !first.cid.Defined() {
			first = by
		}
		states, err := t.family(ctx, e)
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
func (t *tx) family(ctx context.Context, e commit.LogEntry) ([]*state, error) {
	var out []*state
	for _, c := range append([]ipld.CID{e.CID}, e.Commit.Parents...) {
		s, err := t.at(ctx, c)
		if err != nil {
			return nil, err
		}
		out = append(out, s.state)
	}
	return out, nil
}

// sets reports whether the first of states has an item as none of the others has it.
func sets(ctx context.Context, item graph.Item, states []*state) (bool, error) {
	var at ipld.CID
	for i, s := range states {
		c, err := s.itemAt(ctx, item)
		switch {
		case errors.Is(err, store.ErrRedacted):
			return false, nil // nobody can tell what it was
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

// itemAt returns the CID of an item's record, undefined where there is none.
func (s *state) itemAt(ctx context.Context, item graph.Item) (ipld.CID, error) {
	switch item.Kind {
	case graph.NodeItem:
		return lookup(ctx, s.nodes, item.ID[:])
	case graph.EdgeItem:
		return lookup(ctx, s.edges, item.ID[:])
	case graph.NodeMarkItem:
		return lookup(ctx, s.marks, graph.MarkKey(graph.OnNode, item.ID))
	case graph.EdgeMarkItem:
		return lookup(ctx, s.marks, graph.MarkKey(graph.OnEdge, item.ID))
	}
	return s.profile, nil
}
