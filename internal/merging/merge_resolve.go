package merging

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// resolver builds the full state of a merge with conflicts, once each is decided.
type resolver struct {
	*history.Restorer
	ours, theirs *state.State
	conflicts    map[graph.Item]*commit.Conflict
	records      map[graph.Item]ipld.CID // the resolution of each conflict, undefined for absent
	takes        map[graph.Item]graph.Take
}

// resolve returns the state of a merge with each conflict resolved, and how many more embeddings match no node. The
// order of the conflicts does not matter.
func resolve(
	ctx context.Context, t *core.Tx, m *merge3.Merged, ours, theirs *state.State, by state.Stamp,
	choice func(graph.Item) (commit.Resolution, bool),
) (*state.State, int, error) {
	r := &resolver{
		Restorer: history.NewRestorer(state.NewBatch(ctx, t.Stage, t.Scratch, m.State, by)), ours: ours, theirs: theirs,
		conflicts: make(map[graph.Item]*commit.Conflict),
		records:   make(map[graph.Item]ipld.CID),
		takes:     make(map[graph.Item]graph.Take),
	}
	for _, c := range m.Conflicts {
		res, ok := choice(c.Item)
		if !ok {
			return nil, 0, state.Invalidf("%s is not resolved", c.Item)
		}
		r.conflicts[c.Item], r.takes[c.Item] = c, res.Take
		rec, err := r.decide(c, res)
		if err != nil {
			return nil, 0, err
		}
		r.records[c.Item] = rec
	}
	r.Decided = func(i graph.Item) bool { return r.conflicts[i] != nil }
	r.Gone = func(id graph.ID) string {
		item := graph.Item{Kind: graph.NodeItem, ID: id}
		if r.conflicts[item] != nil && !r.records[item].Defined() {
			return "was resolved as removed"
		}
		return ""
	}
	steps := []func() error{r.resolveNodes, r.resolveEdges, r.resolveMarks, r.resolveProfile}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, 0, err
		}
	}
	dropped, err := r.Settle(ours, theirs)
	if err != nil {
		return nil, 0, err
	}
	next, err := r.Flush()
	return next, dropped, err
}

// decide returns the record that a resolution selects, undefined for none.
func (r *resolver) decide(c *commit.Conflict, res commit.Resolution) (ipld.CID, error) {
	switch {
	case res.Take == "":
		return res.Record, nil
	case c.Item.Kind == graph.ProfileItem:
		return r.decideProfile(c, res.Take)
	case c.Cause == graph.DeleteModify || c.Cause == graph.EndRemoved || c.Cause == graph.Circle:
		return graph.Pick(res.Take, c.Base, c.Ours, c.Theirs), nil
	}
	var v graph.Versions
	for _, side := range []struct {
		c  ipld.CID
		to *[]byte
	}{{c.Base, &v.Base}, {c.Ours, &v.Ours}, {c.Theirs, &v.Theirs}} {
		if !side.c.Defined() {
			continue
		}
		var err error
		*side.to, err = r.Read(side.c)
		if side.to == &v.Base && res.Take != graph.TakeBase && errors.Is(err, store.ErrRedacted) {
			continue
		}
		if err != nil && side.to != &v.Base {
			*side.to, err = commit.Left(err)
		}
		if err != nil {
			return ipld.CID{}, fmt.Errorf("read %s: %w", c.Item, err)
		}
	}
	m, err := mergeItem(c, v, res.Take)
	if err != nil {
		return ipld.CID{}, fmt.Errorf("%s: %w: %w", c.Item, store.ErrCorrupt, err)
	}
	return r.PutRecord(m.Record)
}

func mergeItem(c *commit.Conflict, v graph.Versions, take graph.Take) (graph.MergedRecord, error) {
	if c.Base.Defined() && v.Base == nil {
		return graph.MergeErased(c.Item.Kind, v, take)
	}
	switch c.Item.Kind {
	case graph.NodeItem:
		return graph.MergeNode(v, take)
	case graph.EdgeItem:
		return graph.MergeEdge(v, take)
	}
	return graph.MergeMark(v, take)
}

// side returns the state that an item's resolution comes from: the side it names, or the one that has the item.
func (r *resolver) side(item graph.Item) *state.State {
	switch take := r.takes[item]; {
	case take == graph.TakeOurs:
		return r.ours
	case take == graph.TakeTheirs, !r.conflicts[item].Ours.Defined():
		return r.theirs
	}
	return r.ours
}

func (r *resolver) each(kinds []graph.ItemKind, fn func(graph.Item, ipld.CID) error) error {
	for _, item := range history.SortedItems(r.conflicts) {
		for _, kind := range kinds {
			if item.Kind != kind {
				continue
			}
			if err := fn(item, r.records[item]); err != nil {
				return fmt.Errorf("resolve %s: %w", item, err)
			}
		}
	}
	return nil
}

// resolveNodes restores all nodes first, so that the edges between them come back too.
func (r *resolver) resolveNodes() error {
	nodes := []graph.ItemKind{graph.NodeItem}
	err := r.each(nodes, func(item graph.Item, c ipld.CID) error {
		if c.Defined() {
			return r.SetNode(item.ID, c, r.side(item))
		}
		there, err := r.Nodes.Has(r.Ctx, item.ID[:])
		if err != nil || !there {
			return err
		}
		return r.RemoveNode(graph.Ref{ID: item.ID})
	})
	if err != nil {
		return err
	}
	return r.each(nodes, func(item graph.Item, c ipld.CID) error {
		if !c.Defined() || r.conflicts[item].Cause != graph.DeleteModify {
			return nil
		}
		return r.Around(r.side(item), item.ID)
	})
}

func (r *resolver) resolveEdges() error {
	return r.each([]graph.ItemKind{graph.EdgeItem}, func(item graph.Item, c ipld.CID) error {
		if !c.Defined() {
			return r.RemoveEdge(item.ID)
		}
		from := r.side(item)
		if err := r.NeedEnds(from, c); err != nil {
			return err
		}
		there, err := r.Edges.Has(r.Ctx, item.ID[:])
		if err != nil {
			return err
		}
		if err := r.SetEdge(item.ID, c); err != nil || there {
			return err
		}
		return r.MarkOf(from, graph.OnEdge, item.ID)
	})
}

func (r *resolver) resolveMarks() error {
	kinds := []graph.ItemKind{graph.NodeMarkItem, graph.EdgeMarkItem}
	return r.each(kinds, func(item graph.Item, c ipld.CID) error {
		on, _ := item.Mark()
		key := graph.MarkKey(on, item.ID)
		if !c.Defined() {
			r.Marks.Remove(key)
			return nil
		}
		if err := r.needTarget(r.side(item), on, item.ID); err != nil {
			return err
		}
		r.Marks.SetLink(key, c)
		return nil
	})
}

// needTarget restores the target of a mark.
func (r *resolver) needTarget(from *state.State, on graph.Target, id graph.ID) error {
	if on == graph.OnNode {
		return r.NeedNode(from, id)
	}
	there, err := r.Edges.Has(r.Ctx, id[:])
	if err != nil || there {
		return err
	}
	if r.Decided(graph.Item{Kind: graph.EdgeItem, ID: id}) {
		return state.Invalidf("needs edge %s, which was resolved as removed", id)
	}
	c, err := state.Lookup(r.Ctx, from.Edges, id[:])
	if err == nil && !c.Defined() {
		err = state.Invalidf("needs edge %s, which does not exist", id)
	}
	if err != nil {
		return err
	}
	if err := r.NeedEnds(from, c); err != nil {
		return err
	}
	return r.SetEdge(id, c)
}

// lineRecord applies change lines about one item to a state and returns its new record, undefined if they remove it.
func lineRecord(
	ctx context.Context, t *core.Tx, at *state.State, item graph.Item, changes state.Changes, by state.Stamp,
) (ipld.CID, error) {
	b := state.NewBatch(ctx, t.Stage, t.Scratch, at, by)
	for p := range state.Prepare(ctx, changes, b.Now) {
		if p.Err != nil {
			return ipld.CID{}, p.Err
		}
		if got, ok := changeItem(&p.Change); !ok || got != item {
			return ipld.CID{}, p.At(state.Invalidf("the change is not about %s", item))
		}
		if err := b.Change(p); err != nil {
			return ipld.CID{}, err
		}
	}
	if b.Count == 0 {
		return ipld.CID{}, state.Invalidf("no change of %s", item)
	}
	if err := b.Secrets.Verdict(b.Count); err != nil {
		return ipld.CID{}, err
	}
	tree, key := b.Nodes, item.ID[:]
	if on, ok := item.Mark(); ok {
		tree, key = b.Marks, graph.MarkKey(on, item.ID)
	} else if item.Kind == graph.EdgeItem {
		tree = b.Edges
	}
	value, err := tree.Get(ctx, key)
	if err != nil {
		return ipld.CID{}, err
	}
	return state.LinkItem(value)
}

// changeItem returns the item that a change is about, if it is about one item.
func changeItem(c *graph.Change) (graph.Item, bool) {
	switch {
	case c.Node != nil:
		return graph.Item{Kind: graph.NodeItem, ID: c.Node.Target()}, true
	case c.Edge != nil:
		return graph.Item{Kind: graph.EdgeItem, ID: c.Edge.Target()}, true
	case c.Mark != nil:
		return graph.MarkItem(c.Mark.On.Target()), true
	case c.Remove == nil:
		return graph.Item{}, false
	}
	switch r := c.Remove; {
	case r.Edge != nil:
		return graph.Item{Kind: graph.EdgeItem, ID: r.Edge.Target()}, !r.Edge.All
	case r.Mark != nil:
		return graph.MarkItem(r.Mark.Target()), true
	case r.Embedding != nil:
		return graph.Item{}, false
	default:
		return graph.Item{Kind: graph.NodeItem, ID: r.Node.Target()}, true
	}
}

// decideProfile resolves profiles in conflict by taking a side.
func (r *resolver) decideProfile(c *commit.Conflict, take graph.Take) (ipld.CID, error) {
	v, err := merge3.ReadProfileVersions(r.Ctx, [3]merge3.ProfileAt{
		{Get: r.Stage, CID: c.Base}, {Get: r.Stage, CID: c.Ours}, {Get: r.Stage, CID: c.Theirs},
	})
	if err != nil {
		return ipld.CID{}, err
	}
	merged, _ := retrieve.MergeProfiles(v, take)
	return merge3.PutMerged(r.Ctx, r.Stage, merged)
}

// resolveProfile sets the profiles to their resolution.
func (r *resolver) resolveProfile() error {
	item := graph.Item{Kind: graph.ProfileItem}
	if r.conflicts[item] != nil {
		r.Profile = r.records[item]
	}
	return nil
}
