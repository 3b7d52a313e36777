package repo

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// restorer brings items of another state into a batch's, record by record as they were.
type restorer struct {
	*batch
	decided func(graph.Item) bool    // what is left alone: others decide about it
	touched map[graph.ID]*state      // nodes that came back, and where from
	gone    func(id graph.ID) string // why a node may not come back, "" where it may
}

// read returns a block that a tree links to.
func (r *restorer) read(c ipld.CID) ([]byte, error) { return r.stage.Get(r.ctx, c) }

// setNode puts a node's record in place, unless it was erased.
func (r *restorer) setNode(id graph.ID, c ipld.CID, from *state) error {
	if _, err := r.read(c); err != nil {
		return fmt.Errorf("node %s: %w", id, err)
	}
	r.nodes.setLink(id[:], c)
	r.touched[id] = from
	return nil
}

// noneErased returns an error that wraps store.ErrRedacted where next has an erased node that
// prev does not have.
func noneErased(ctx context.Context, prev, next *state) error {
	for c, err := range prolly.Diff(ctx, prev.nodes, next.nodes) {
		if err != nil {
			return err
		}
		if c.New == nil {
			continue
		}
		id, err := linkItem(c.New)
		if err != nil {
			return err
		}
		if _, err := next.get.Get(ctx, id); err != nil {
			return fmt.Errorf("node %s: %w", graph.ID(c.Key), err)
		}
	}
	return nil
}

// around brings back what goes with a node: its mark, and its edges to nodes that exist.
func (r *restorer) around(from *state, id graph.ID) error {
	if err := r.markOf(from, graph.OnNode, id); err != nil {
		return err
	}
	for _, tree := range []*prolly.Map{from.out, from.in} {
		for kv, err := range tree.ScanPrefix(r.ctx, id[:]) {
			if err != nil {
				return err
			}
			_, e, err := adjacency.Parse(kv.Key, kv.Value)
			if err != nil {
				return err
			}
			other, err := r.nodes.has(r.ctx, e.Other[:])
			if err != nil {
				return err
			}
			if !other || r.decided(graph.Item{Kind: graph.EdgeItem, ID: e.Edge}) {
				continue
			}
			if err := r.edgeOf(from, e.Edge); err != nil {
				return err
			}
		}
	}
	return nil
}

// edgeOf brings an edge back with its mark, unless it is there.
func (r *restorer) edgeOf(from *state, id graph.ID) error {
	there, err := r.edges.has(r.ctx, id[:])
	if err != nil || there {
		return err
	}
	c, err := lookup(r.ctx, from.edges, id[:])
	if err != nil {
		return err
	}
	if err := r.setEdge(id, c); err != nil {
		return err
	}
	return r.markOf(from, graph.OnEdge, id)
}

// markOf brings the mark of a node or edge back, unless it has one.
func (r *restorer) markOf(from *state, on graph.Target, id graph.ID) error {
	key := graph.MarkKey(on, id)
	there, err := r.marks.has(r.ctx, key)
	if err != nil || there || r.decided(graph.MarkItem(on, id)) {
		return err
	}
	item, _, err := from.marks.Get(r.ctx, key)
	if err == nil && item != nil {
		r.marks.set(key, item)
	}
	return err
}

// setEdge puts an edge's record in place, and its entries of the adjacency trees.
func (r *restorer) setEdge(id graph.ID, c ipld.CID) error {
	e, err := commit.ReadEdge(r.ctx, r.stage, c)
	if err != nil {
		return err
	}
	old, err := r.findEdge(id)
	if err != nil {
		return err
	}
	if old != nil {
		r.out.remove(adjacency.OutKey(old))
		r.in.remove(adjacency.InKey(old))
	}
	r.edges.setLink(id[:], c)
	r.out.set(adjacency.OutKey(e), adjacency.Value(e))
	r.in.set(adjacency.InKey(e), adjacency.Value(e))
	return nil
}

// needEnds brings back the ends of an edge that are missing, with what goes with them.
func (r *restorer) needEnds(from *state, c ipld.CID) error {
	e, err := commit.ReadEdge(r.ctx, r.stage, c)
	if err != nil {
		return err
	}
	for _, end := range []graph.ID{e.Src, e.Dst} {
		if err := r.needNode(from, end); err != nil {
			return fmt.Errorf("edge %s: %w", e.ID, err)
		}
	}
	return nil
}

func (r *restorer) needNode(from *state, id graph.ID) error {
	there, err := r.nodes.has(r.ctx, id[:])
	if err != nil || there {
		return err
	}
	if why := r.gone(id); why != "" {
		return invalidf("needs node %s, which %s", id, why)
	}
	c, err := lookup(r.ctx, from.nodes, id[:])
	if err == nil && !c.Defined() {
		err = invalidf("needs node %s, which does not exist", id)
	}
	if err != nil {
		return err
	}
	if err := r.setNode(id, c, from); err != nil {
		return err
	}
	return r.around(from, id)
}

// settle gives the nodes that were touched the embeddings of the sides that belong to them, and
// returns how many belong to none.
func (r *restorer) settle(sides ...*state) (dropped int, err error) {
	ours, theirs := sides[0], sides[len(sides)-1]
	f := fitter{r.ctx, r.stage, ours, theirs, func(id []byte) ([]byte, error) {
		return r.nodes.get(r.ctx, id)
	}}
	for id := range r.touched { // each alone: the order does not matter
		keys, err := vectorKeys(r.ctx, id, sides...)
		if err != nil {
			return 0, err
		}
		for _, key := range keys {
			var items [2][]byte
			for i, side := range []*state{ours, theirs} {
				if items[i], _, err = side.vectors.Get(r.ctx, key); err != nil {
					return 0, err
				}
			}
			item, err := f.choose(key, items[0], items[1])
			if err != nil {
				return 0, err
			}
			if item == nil {
				dropped++
			}
			r.vectors.set(key, item)
		}
	}
	return dropped, nil
}

// newRestorer returns a restorer of a state in a transaction, which leaves nothing alone.
func newRestorer(b *batch) *restorer {
	return &restorer{
		batch: b, touched: make(map[graph.ID]*state),
		decided: func(graph.Item) bool { return false },
		gone:    func(graph.ID) string { return "" },
	}
}

// putRecord stages a record and returns its CID, undefined for none.
func (r *restorer) putRecord(block []byte) (ipld.CID, error) {
	if block == nil {
		return ipld.CID{}, nil
	}
	b := store.NewBlock(ipld.DagCBOR, block)
	return b.CID, r.stage.Put(r.ctx, b)
}

// sortedItems returns the items of a map in the order of their names.
func sortedItems[T any](m map[graph.Item]T) []graph.Item {
	items := make([]graph.Item, 0, len(m))
	for item := range m {
		items = append(items, item)
	}
	slices.SortFunc(items, compareItems)
	return items
}
