package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Restorer copies items of another state into a batch's, with their original records.
type Restorer struct {
	*state.Batch
	Decided func(graph.Item) bool     // items not to touch, because they are decided elsewhere
	touched map[graph.ID]*state.State // restored nodes, and their source
	Gone    func(id graph.ID) string  // the reason why a node must not be restored, "" if it may
}

// Read returns a block that a tree links to.
func (r *Restorer) Read(c ipld.CID) ([]byte, error) { return r.Stage.Get(r.Ctx, c) }

// SetNode puts a node's record in place, unless it was erased.
func (r *Restorer) SetNode(id graph.ID, c ipld.CID, from *state.State) error {
	if _, err := r.Read(c); err != nil {
		return fmt.Errorf("node %s: %w", id, err)
	}
	r.Nodes.SetLink(id[:], c)
	r.touched[id] = from
	return nil
}

// NoneErased returns an error that wraps store.ErrRedacted if next has an erased node that prev does not have.
func NoneErased(ctx context.Context, prev, next *state.State) error {
	for c, err := range prolly.Diff(ctx, prev.Nodes, next.Nodes) {
		if err != nil {
			return err
		}
		if c.New == nil {
			continue
		}
		id, err := state.LinkItem(c.New)
		if err != nil {
			return err
		}
		if _, err := next.Get.Get(ctx, id); err != nil {
			return fmt.Errorf("node %s: %w", graph.ID(c.Key), err)
		}
	}
	return nil
}

// Around restores what belongs to a node: its mark, and its edges to existing nodes.
func (r *Restorer) Around(from *state.State, id graph.ID) error {
	if err := r.MarkOf(from, graph.OnNode, id); err != nil {
		return err
	}
	for _, tree := range []*prolly.Map{from.Out, from.In} {
		for kv, err := range tree.ScanPrefix(r.Ctx, id[:]) {
			if err != nil {
				return err
			}
			_, e, err := adjacency.Parse(kv.Key, kv.Value)
			if err != nil {
				return err
			}
			other, err := r.Nodes.Has(r.Ctx, e.Other[:])
			if err != nil {
				return err
			}
			if !other || r.Decided(graph.Item{Kind: graph.EdgeItem, ID: e.Edge}) {
				continue
			}
			if err := r.edgeOf(from, e.Edge); err != nil {
				return err
			}
		}
	}
	return nil
}

// edgeOf restores an edge with its mark, unless it exists.
func (r *Restorer) edgeOf(from *state.State, id graph.ID) error {
	there, err := r.Edges.Has(r.Ctx, id[:])
	if err != nil || there {
		return err
	}
	c, err := state.Lookup(r.Ctx, from.Edges, id[:])
	if err != nil {
		return err
	}
	if err := r.SetEdge(id, c); err != nil {
		return err
	}
	return r.MarkOf(from, graph.OnEdge, id)
}

// MarkOf restores the mark of a node or edge, unless it has one.
func (r *Restorer) MarkOf(from *state.State, on graph.Target, id graph.ID) error {
	key := graph.MarkKey(on, id)
	there, err := r.Marks.Has(r.Ctx, key)
	if err != nil || there || r.Decided(graph.MarkItem(on, id)) {
		return err
	}
	item, _, err := from.Marks.Get(r.Ctx, key)
	if err == nil && item != nil {
		r.Marks.Set(key, item)
	}
	return err
}

// SetEdge puts an edge's record in place, and its entries of the adjacency trees.
func (r *Restorer) SetEdge(id graph.ID, c ipld.CID) error {
	e, err := commit.ReadEdge(r.Ctx, r.Stage, c)
	if err != nil {
		return err
	}
	old, err := r.FindEdge(id)
	if err != nil {
		return err
	}
	if old != nil {
		r.Out.Remove(adjacency.OutKey(old))
		r.In.Remove(adjacency.InKey(old))
	}
	r.Edges.SetLink(id[:], c)
	r.Out.Set(adjacency.OutKey(e), adjacency.Value(e))
	r.In.Set(adjacency.InKey(e), adjacency.Value(e))
	return nil
}

// NeedEnds restores the missing ends of an edge, with what belongs to them.
func (r *Restorer) NeedEnds(from *state.State, c ipld.CID) error {
	e, err := commit.ReadEdge(r.Ctx, r.Stage, c)
	if err != nil {
		return err
	}
	for _, end := range []graph.ID{e.Src, e.Dst} {
		if err := r.NeedNode(from, end); err != nil {
			return fmt.Errorf("edge %s: %w", e.ID, err)
		}
	}
	return nil
}

// NeedNode restores a missing node as it is in from, with what belongs to it. The error wraps state.ErrInvalid if
// Gone gives a reason or from does not have the node.
func (r *Restorer) NeedNode(from *state.State, id graph.ID) error {
	there, err := r.Nodes.Has(r.Ctx, id[:])
	if err != nil || there {
		return err
	}
	if why := r.Gone(id); why != "" {
		return state.Invalidf("needs node %s, which %s", id, why)
	}
	c, err := state.Lookup(r.Ctx, from.Nodes, id[:])
	if err == nil && !c.Defined() {
		err = state.Invalidf("needs node %s, which does not exist", id)
	}
	if err != nil {
		return err
	}
	if err := r.SetNode(id, c, from); err != nil {
		return err
	}
	return r.Around(from, id)
}

// Settle gives the restored nodes the matching embeddings of the sides, and returns how many match no node.
func (r *Restorer) Settle(sides ...*state.State) (dropped int, err error) {
	ours, theirs := sides[0], sides[len(sides)-1]
	f := merge3.Fitter{Ctx: r.Ctx, Get: r.Stage, Ours: ours, Theirs: theirs, Node: func(id []byte) ([]byte, error) {
		return r.Nodes.Get(r.Ctx, id)
	}}
	for id := range r.touched { // each alone: the order does not matter
		keys, err := merge3.VectorKeys(r.Ctx, id, sides...)
		if err != nil {
			return 0, err
		}
		for _, key := range keys {
			var items [2][]byte
			for i, side := range []*state.State{ours, theirs} {
				if items[i], _, err = side.Vectors.Get(r.Ctx, key); err != nil {
					return 0, err
				}
			}
			item, err := f.Choose(key, items[0], items[1])
			if err != nil {
				return 0, err
			}
			if item == nil {
				dropped++
			}
			r.Vectors.Set(key, item)
		}
	}
	return dropped, nil
}

// NewRestorer returns a restorer of a state in a transaction, without excluded items.
func NewRestorer(b *state.Batch) *Restorer {
	return &Restorer{
		Batch: b, touched: make(map[graph.ID]*state.State),
		Decided: func(graph.Item) bool { return false },
		Gone:    func(graph.ID) string { return "" },
	}
}

// PutRecord stages a record and returns its CID, undefined for none.
func (r *Restorer) PutRecord(block []byte) (ipld.CID, error) {
	if block == nil {
		return ipld.CID{}, nil
	}
	b := store.NewBlock(ipld.DagCBOR, block)
	return b.CID, r.Stage.Put(r.Ctx, b)
}

// SortedItems returns the items of a map in the order of their names.
func SortedItems[T any](m map[graph.Item]T) []graph.Item {
	items := make([]graph.Item, 0, len(m))
	for item := range m {
		items = append(items, item)
	}
	slices.SortFunc(items, core.CompareItems)
	return items
}
