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

// linkMaker computes the index entries of nodes.
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

// entry returns an edge as the index has it.
func (m *linkMaker) entry(e adjacency.Entry) (links.HalfEdge, error) {
	out := links.HalfEdge{Type: e.Type, Other: e.Other, Weight: e.Weight}
	if !m.marks {
		return out, nil
	}
	_, ok, err := m.s.Marks.Get(m.ctx, graph.MarkKey(graph.OnEdge, e.Edge))
	out.Marked = ok
	return out, err
}

// bucket reads one of a node's buckets.
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
		ids, err := relinked(ctx, from, to)
		var m *linkMaker
		if err == nil {
			m, err = newLinkMaker(ctx, to)
		}
		for _, id := range ids {
			if err != nil {
				break
			}
			c := links.Change{Node: links.Node{ID: id}}
			if c.Known, err = hasLinks(ctx, from, id); err == nil {
				c.Out, err = m.bucket(id, adjacency.Out)
			}
			if err == nil {
				c.In, err = m.bucket(id, adjacency.In)
			}
			if err == nil && !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(links.Change{}, fmt.Errorf("links that changed: %w", err))
		}
	}
}

func hasLinks(ctx context.Context, s *state.State, id graph.ID) (bool, error) {
	for _, side := range []adjacency.Direction{adjacency.Out, adjacency.In} {
		n, err := s.Adjacency().Degree(ctx, id, side, "")
		if n > 0 || err != nil {
			return true, err
		}
	}
	return false, nil
}

// relinked returns the nodes whose links differ between two states, ascending.
func relinked(ctx context.Context, from, to *state.State) (ids []graph.ID, err error) {
	add := func(id graph.ID) {
		if len(ids) == 0 || ids[len(ids)-1] != id { // a hub that was filled is one node
			ids = append(ids, id)
		}
	}
	for _, trees := range [][2]*prolly.Map{{from.Out, to.Out}, {from.In, to.In}} {
		for c, err := range prolly.Diff(ctx, trees[0], trees[1]) {
			if err != nil {
				return nil, err
			}
			add(graph.ID(c.Key))
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
			add(e.Src)
			add(e.Dst)
		}
	}
	slices.SortFunc(ids, graph.ID.Compare)
	return slices.Compact(ids), nil
}

// newLinks yields nodes as changes to an empty index.
func newLinks(nodes iter.Seq2[links.Node, error]) iter.Seq2[links.Change, error] {
	return func(yield func(links.Change, error) bool) {
		for n, err := range nodes {
			if !yield(links.Change{Node: n}, err) || err != nil {
				return
			}
		}
	}
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
		out, in := newBucketScan(m, scan(ctx, s.Out)), newBucketScan(m, scan(ctx, s.In))
		defer out.stop()
		defer in.stop()
		for {
			var n links.Node
			err := out.read()
			if err == nil {
				err = in.read()
			}
			if err != nil {
				yield(n, err)
				return
			}
			if !out.ok && !in.ok {
				return
			}
			if n.ID = out.id; !out.ok || in.ok && in.id.Compare(out.id) < 0 {
				n.ID = in.id
			}
			n.Out, n.In = out.take(n.ID), in.take(n.ID)
			if !yield(n, nil) {
				return
			}
		}
	}
}

// bucketScan walks a tree bucket by bucket.
type bucketScan struct {
	m    *linkMaker
	next func() (prolly.Entry, error, bool)
	stop func()

	key, value []byte // of the first entry that is not read yet
	more       bool
	begun      bool

	id     graph.ID
	ok     bool // whether bucket belongs to id and was not taken yet
	bucket links.Bucket
	room   []links.HalfEdge
}

func newBucketScan(m *linkMaker, entries iter.Seq2[prolly.Entry, error]) *bucketScan {
	b := &bucketScan{m: m}
	b.next, b.stop = iter.Pull2(entries)
	return b
}

func (b *bucketScan) step() error {
	kv, err, ok := b.next()
	b.key, b.value, b.more = kv.Key, kv.Value, ok
	return err
}

// read reads the next bucket, unless one waits to be taken.
func (b *bucketScan) read() error {
	if b.ok {
		return nil
	}
	if !b.begun {
		b.begun = true
		if err := b.step(); err != nil {
			return err
		}
	}
	b.bucket, b.room = links.Bucket{}, b.room[:0]
	for b.more && (!b.ok || bytes.HasPrefix(b.key, b.id[:])) {
		id, e, err := adjacency.Parse(b.key, b.value)
		if err != nil {
			return err
		}
		b.id, b.ok = id, true
		if b.bucket.Degree++; b.bucket.Whole() {
			link, err := b.m.entry(e)
			if err != nil {
				return err
			}
			b.room = append(b.room, link)
		}
		if err := b.step(); err != nil {
			return err
		}
	}
	if b.bucket.Whole() {
		b.bucket.Entries = b.room
	}
	return nil
}

// take returns the waiting bucket if it belongs to a node, else an empty one.
func (b *bucketScan) take(id graph.ID) links.Bucket {
	if !b.ok || b.id != id {
		return links.Bucket{}
	}
	b.ok = false
	return b.bucket
}
