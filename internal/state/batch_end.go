package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

func (b *Batch) remove(r *graph.Removal) error {
	switch {
	case r.Edge != nil:
		return b.removeEdgeRef(r.Edge)
	case r.Mark != nil:
		on, id := r.Mark.Target()
		return b.removeExisting(b.Marks, graph.MarkKey(on, id), "mark on "+string(on), id.String())
	case r.Embedding != nil:
		id := r.Embedding.Node.Target()
		key := graph.EmbeddingKey(id, r.Embedding.Model)
		delete(b.embeds, string(key))
		return b.removeExisting(b.Vectors, key, "embedding of node", r.Embedding.Node.String()+" by "+r.Embedding.Model)
	default:
		return b.RemoveNode(r.Node)
	}
}

// removeExisting removes an entry that must be there.
func (b *Batch) removeExisting(tree *overlay, key []byte, what, name string) error {
	ok, err := tree.Has(b.Ctx, key)
	if err == nil && !ok {
		err = graph.Fieldf("remove", "no %s %q", what, name)
	}
	tree.Remove(key)
	return err
}

// RemoveNode removes a node with its edges, embeddings and marks.
func (b *Batch) RemoveNode(ref graph.Ref) error {
	id := ref.Target()
	if err := b.removeExisting(b.Nodes, id[:], "node", ref.String()); err != nil {
		return err
	}
	b.Marks.Remove(graph.MarkKey(graph.OnNode, id))
	edges, err := b.edgesOf(id)
	if err != nil {
		return err
	}
	for _, edge := range edges {
		if err := b.RemoveEdge(edge); err != nil {
			return err
		}
	}
	for key, err := range b.Vectors.baseKeys(b.Ctx, id[:]) {
		if err != nil {
			return err
		}
		b.Vectors.Remove(key)
	}
	for _, model := range b.embedded[id] {
		key := graph.EmbeddingKey(id, model)
		delete(b.embeds, string(key))
		b.Vectors.Remove(key)
	}
	delete(b.embedded, id)
	return nil
}

// nearEdges returns the edges at a node that the batch set, including those removed since. They are indexed by node
// only from the first removal on: most batches remove nothing.
func (b *Batch) nearEdges(id graph.ID) ([]graph.ID, error) {
	if b.near == nil {
		b.near = make(map[graph.ID][]graph.ID)
		for e, err := range b.Out.Each() {
			if err != nil {
				return nil, err
			}
			if e.Value == nil {
				continue
			}
			src, n, err := adjacency.Parse(e.Key, e.Value)
			if err != nil {
				return nil, fmt.Errorf("read adjacency of the batch: %w", err)
			}
			b.setNear(n.Edge, src, n.Other)
		}
	}
	return b.near[id], nil
}

func (b *Batch) setNear(edge, src, dst graph.ID) {
	b.near[src] = append(b.near[src], edge)
	if dst != src {
		b.near[dst] = append(b.near[dst], edge)
	}
}

// edgesOf returns the ids of a node's edges, each once: those of the base's buckets, and those this batch added.
func (b *Batch) edgesOf(id graph.ID) ([]graph.ID, error) {
	var ids []graph.ID
	for _, tree := range []*overlay{b.Out, b.In} {
		for key, err := range tree.baseKeys(b.Ctx, id[:]) {
			if err != nil {
				return nil, err
			}
			ids = append(ids, graph.ID(key[len(key)-graph.IDLen:]))
		}
	}
	near, err := b.nearEdges(id)
	if err != nil {
		return nil, err
	}
	ids = append(ids, near...)
	slices.SortFunc(ids, graph.ID.Compare)
	return slices.Compact(ids), nil
}

// RemoveEdge removes an edge, if it exists, with its mark.
func (b *Batch) RemoveEdge(id graph.ID) error {
	e, err := b.FindEdge(id)
	if err != nil || e == nil {
		return err
	}
	b.Edges.Remove(id[:])
	b.Out.Remove(adjacency.OutKey(e))
	b.In.Remove(adjacency.InKey(e))
	b.Marks.Remove(graph.MarkKey(graph.OnEdge, id))
	return nil
}

func (b *Batch) removeEdgeRef(r *graph.EdgeRef) error {
	if !r.All {
		id := r.Target()
		if ok, err := b.Edges.Has(b.Ctx, id[:]); err != nil {
			return err
		} else if !ok {
			return graph.Fieldf("remove.edge", "no edge %q", edgeName(r))
		}
		return b.RemoveEdge(id)
	}
	src, dst := r.Src.Target(), r.Dst.Target()
	near := append(adjacency.Prefix(src, r.Type), dst[:]...)
	var ids []graph.ID
	for key, err := range b.Out.baseKeys(b.Ctx, near) {
		if err != nil {
			return err
		}
		ids = append(ids, graph.ID(key[len(key)-graph.IDLen:]))
	}
	added, err := b.nearEdges(src)
	if err != nil {
		return err
	}
	for _, id := range added {
		e, err := b.FindEdge(id)
		if err != nil {
			return err
		}
		if e != nil && e.Src == src && e.Dst == dst && e.Type == r.Type {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return graph.Fieldf("remove.edge", "no edge %q", edgeName(r))
	}
	for _, id := range ids {
		if err := b.RemoveEdge(id); err != nil {
			return err
		}
	}
	return nil
}

func edgeName(r *graph.EdgeRef) string {
	if !r.ID.IsZero() {
		return r.ID.String()
	}
	name := fmt.Sprintf("%s -%s-> %s", r.Src, r.Type, r.Dst)
	if r.Key != "" {
		name += " " + r.Key
	}
	return name
}

// makeEmbeddings writes the batch's embeddings, with the text their nodes have now.
func (b *Batch) makeEmbeddings() error {
	for _, key := range slices.Sorted(maps.Keys(b.embeds)) {
		p := b.embeds[key]
		if err := b.makeEmbedding([]byte(key), p); err != nil {
			return &graph.LineError{File: p.file, Line: p.line, Err: err}
		}
	}
	return nil
}

func (b *Batch) makeEmbedding(key []byte, p pendingEmbedding) error {
	n, err := b.findNode(p.node)
	if err != nil {
		return err
	}
	if n == nil {
		return graph.Fieldf("embedding.node", "no node %q", p.ref)
	}
	text, err := ContentText(b.Ctx, b.Stage, n.Content)
	if err != nil {
		return err
	}
	if p.err != nil {
		return p.err
	}
	e := p.made
	e.Text = graph.TextHash(n, text)
	b.Unchanged += p.repeats
	if p.onBase != nil {
		p.onBase.Text = e.Text
		c := ipld.Sum(ipld.DagCBOR, p.onBase.Encode())
		if base, _, err := b.Vectors.base.Get(b.Ctx, key); err != nil {
			return err
		} else if old, err := LinkItem(base); err == nil && old == c {
			b.Unchanged++
		}
	}
	return b.put(b.Vectors, key, e.Encode())
}

// checkCites checks that everything the batch's lines reference exists now. The error names the first line whose
// reference does not.
func (b *Batch) checkCites() error {
	var first cite
	var reason error
	for key, at := range b.cites { // in any order: the first line wins
		if reason != nil && first.order < at.order {
			continue
		}
		missing, err := b.missing(key, at)
		if err != nil {
			return err
		}
		if missing != nil {
			first, reason = at, missing
		}
	}
	if reason == nil {
		return nil
	}
	return &graph.LineError{File: first.file, Line: first.line, Err: reason}
}

// missing returns an error about a reference of a cited item that does not exist, or nil if the item itself was
// removed.
func (b *Batch) missing(key string, at cite) (reason, err error) {
	tree := b.Edges
	what := "edge"
	switch {
	case strings.HasPrefix(key, "mark"):
		tree, what = b.Marks, "mark"
	case strings.HasPrefix(key, "embedding"):
		tree, what = b.Vectors, "embedding"
	}
	if ok, err := tree.Has(b.Ctx, []byte(strings.TrimPrefix(key, what))); err != nil || !ok {
		return nil, err
	}
	for _, n := range at.needs {
		if n.On == "" {
			continue
		}
		on := b.Nodes
		if n.On == graph.OnEdge {
			on = b.Edges
		}
		if ok, err := on.Has(b.Ctx, n.Id[:]); err != nil {
			return nil, err
		} else if !ok {
			return graph.Fieldf(n.field, "no %s %q", n.On, n.name()), nil
		}
	}
	return nil, nil
}

// checkCircles refuses a batch that closes a cycle of nodes that supersede each other. The error names the last
// line that set one of the marks.
func (b *Batch) checkCircles(next *State) error {
	found, err := Circles(b.Ctx, b.Marks.base, next)
	if err != nil || len(found) == 0 {
		return err
	}
	var last cite
	for _, id := range found[0] {
		key := graph.MarkKey(graph.OnNode, id)
		if at, ok := b.cites["mark"+string(key)]; ok && at.order > last.order {
			last = at
		}
	}
	return &graph.LineError{File: last.file, Line: last.line, Err: &CircleError{found[0]}}
}
