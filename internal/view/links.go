package view

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/links"
	"github.com/mnem-project/mnem/ipld"
)

// LinksOf returns the inputs of the index of a state's links.
func LinksOf(s *state.State) links.Of {
	return links.Of{Out: s.Out.Root(), In: s.In.Root(), Marks: s.Marks.Root()}
}

// linksKey is the key of the cell that names the derived block with the index of some trees' links. Other formats have
// other keys.
func linksKey(of links.Of) ipld.CID {
	b := fmt.Appendf(nil, "mnem:links:%d:", links.Format.Version)
	for _, c := range []ipld.CID{of.Out, of.In, of.Marks} {
		b = c.Append(b)
	}
	return ipld.Sum(ipld.Raw, b)
}

type linkMaker struct {
	ctx   context.Context
	s     *state.State
	marks bool // whether any edge has one
}

func newLinkMaker(ctx context.Context, s *state.State) (*linkMaker, error) {
	prefix := edgeMarks()
	n, err := s.Marks.Count(ctx, prefix, prolly.PrefixEnd(prefix))
	return &linkMaker{ctx, s, n > 0}, err
}

// edgeMarks returns the prefix of the keys of marks on edges.
func edgeMarks() []byte {
	key := graph.MarkKey(graph.OnEdge, graph.ID{})
	return key[:len(key)-graph.IDLen]
}

func (m *linkMaker) entry(e adjacency.Entry) (links.HalfEdge, error) {
	out := links.HalfEdge{Type: e.Type, Other: e.Other, Weight: e.Weight}
	if !m.marks {
		return out, nil
	}
	_, ok, err := m.s.Marks.Get(m.ctx, graph.MarkKey(graph.OnEdge, e.Edge))
	out.Marked = ok
	return out, err
}

func (m *linkMaker) bucket(id graph.ID, side adjacency.Direction) (b links.Bucket, err error) {
	trees := m.s.Adjacency()
	for e, err := range trees.Bucket(m.ctx, id, side, "", nil) {
		if err != nil {
			return b, err
		}
		if b.Degree++; !b.Whole() {
			n, err := trees.Degree(m.ctx, id, side, "")
			return links.Bucket{Degree: int(n)}, err
		}
		link, err := m.entry(e)
		if err != nil {
			return b, err
		}
		b.Entries = append(b.Entries, link)
	}
	return b, nil
}

// linkChanges yields the nodes whose links differ between two states, as they are in to.
func linkChanges(ctx context.Context, from, to *state.State) iter.Seq2[links.Change, error] {
	return func(yield func(links.Change, error) bool) {
		nodes, err := relinked(ctx, from, to)
		var m *linkMaker
		if err == nil {
			m, err = newLinkMaker(ctx, to)
		}
		for _, n := range nodes {
			if err != nil {
				break
			}
			c := links.Change{Node: links.Node{ID: n.id}}
			c.Out, err = m.bucket(n.id, adjacency.Out)
			if err == nil {
				c.In, err = m.bucket(n.id, adjacency.In)
			}
			c.Known = c.Out.Degree+c.In.Degree > n.more
			if err == nil && !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(links.Change{}, fmt.Errorf("links that changed: %w", err))
		}
	}
}

// A relinkedNode is a node whose links differ between two states.
type relinkedNode struct {
	id   graph.ID
	more int // edges than before, on both sides
}

// relinked returns the nodes whose links differ between two states, ascending.
func relinked(ctx context.Context, from, to *state.State) (nodes []relinkedNode, err error) {
	add := func(id graph.ID, more int) {
		if last := len(nodes) - 1; last >= 0 && nodes[last].id == id { // a hub that was filled is one node
			nodes[last].more += more
		} else {
			nodes = append(nodes, relinkedNode{id, more})
		}
	}
	for _, trees := range [][2]*prolly.Map{{from.Out, to.Out}, {from.In, to.In}} {
		for c, err := range prolly.Diff(ctx, trees[0], trees[1]) {
			if err != nil {
				return nil, err
			}
			more := 0
			if c.Old == nil {
				more = 1
			} else if c.New == nil {
				more = -1
			}
			add(graph.ID(c.Key), more)
		}
	}
	prefix := edgeMarks()
	for c, err := range prolly.Diff(ctx, from.Marks, to.Marks) {
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(c.Key, prefix) || c.Old != nil && c.New != nil {
			continue // the mark has not changed
		}
		_, id, err := graph.ParseMarkKey(c.Key)
		var e *graph.Edge
		if err == nil {
			e, _, err = to.Edge(ctx, id)
		}
		if err != nil {
			return nil, err
		}
		if e != nil {
			add(e.Src, 0)
			add(e.Dst, 0)
		}
	}
	slices.SortFunc(nodes, func(a, b relinkedNode) int { return a.id.Compare(b.id) })
	all := nodes
	nodes = nodes[:0]
	for _, n := range all {
		add(n.id, n.more)
	}
	return nodes, nil
}

// scanner yields all entries of a tree in their order.
type scanner func(context.Context, *prolly.Map) iter.Seq2[prolly.Entry, error]

// linked yields all nodes that have edges, in id order, in one pass over both trees, which a scanner reads. The
// entries of a node are valid until the next.
func linked(ctx context.Context, s *state.State, scan scanner) iter.Seq2[links.Node, error] {
	return func(yield func(links.Node, error) bool) {
		m, err := newLinkMaker(ctx, s)
		if err != nil {
			yield(links.Node{}, err)
			return
		}
		var next [2]func() (nodeBucket, error, bool)
		for i, tree := range []*prolly.Map{s.Out, s.In} {
			pull, stop := iter.Pull2(m.buckets(scan(ctx, tree)))
			defer stop()
			next[i] = pull
		}
		var at [2]nodeBucket // the next of each tree; without edges if it was yielded, and at the end
		for {
			for i := range at {
				if at[i].Degree == 0 {
					if at[i], err, _ = next[i](); err != nil {
						yield(links.Node{}, err)
						return
					}
				}
			}
			n := links.Node{ID: at[0].id}
			switch {
			case at[0].Degree == 0 && at[1].Degree == 0:
				return
			case at[0].Degree == 0 || at[1].Degree > 0 && at[1].id.Compare(n.ID) < 0:
				n.ID = at[1].id
			}
			for i, b := range []*links.Bucket{&n.Out, &n.In} {
				if at[i].id == n.ID {
					*b, at[i] = at[i].Bucket, nodeBucket{}
				}
			}
			if !yield(n, nil) {
				return
			}
		}
	}
}

// nodeBucket is a bucket with its node.
type nodeBucket struct {
	id graph.ID
	links.Bucket
}

// buckets yields the buckets of a tree. The entries of one are valid until the next.
func (m *linkMaker) buckets(entries iter.Seq2[prolly.Entry, error]) iter.Seq2[nodeBucket, error] {
	return func(yield func(nodeBucket, error) bool) {
		var b nodeBucket
		var room []links.HalfEdge
		end := func() bool {
			if b.Whole() {
				b.Entries = room
			}
			return b.Degree == 0 || yield(b, nil)
		}
		for kv, err := range entries {
			var id graph.ID
			var e adjacency.Entry
			if err == nil {
				id, e, err = adjacency.Parse(kv.Key, kv.Value)
			}
			if err == nil && id != b.id {
				if !end() {
					return
				}
				b, room = nodeBucket{id: id}, room[:0]
			}
			if b.Degree++; err == nil && b.Whole() {
				var link links.HalfEdge
				link, err = m.entry(e)
				room = append(room, link)
			}
			if err != nil {
				yield(nodeBucket{}, err)
				return
			}
		}
		end()
	}
}
