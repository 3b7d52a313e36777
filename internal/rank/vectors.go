package rank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/dense"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/retrieve"
)

// Dense ranks the nodes that have a dense embedding of the query's model.
func (v indexView) Dense(
	ctx context.Context, q retrieve.QueryVector, accept source.Accept, k int,
	list source.Shortlist,
) (source.DenseResult, error) {
	x, err := v.s.Dense(ctx)
	if err != nil || x == nil {
		return source.DenseResult{None: true}, err
	}
	got, err := x.Search(ctx, dense.Query{
		Model: q.Model, Values: q.Values, Accept: v.acceptID(ctx, accept), K: k,
		Shortlist: list.Most, Near: list.Near,
		Peers: dense.Peers{Most: list.Peers, Ease: list.Ease},
	})
	res := source.DenseResult{Hits: got.Hits, Own: got.Own, Other: got.Other, None: got.None}
	if err == nil && got.None {
		res.Models, err = x.Models(ctx, source.MaxModelsNamed)
	}
	return res, err
}

// Sparse ranks the nodes that have a sparse embedding of the query's model. Vectors that are in
// memory are scanned there; the first query of a model at a commit reads them all, and where they
// are more than the cache may hold so does every one.
func (v indexView) Sparse(
	ctx context.Context, q retrieve.SparseVector, accept source.Accept, k int,
) (source.SparseResult, error) {
	st := v.s.State
	set, err := v.s.Repo.Vectors.Vectors(ctx, st, q.Model)
	if err != nil {
		return source.SparseResult{}, err
	}
	search := index.NewSparseSearch(q.Terms, v.acceptID(ctx, accept), k)
	if set.Sparse != nil {
		err := set.Sparse.Search(ctx, search)
		return source.SparseResult{
			Hits: search.Hits(), None: set.Sparse.Rows() == 0, Models: set.Models,
		}, err
	}
	err = view.EachSparse(ctx, st, q.Model, search.Offer)
	return source.SparseResult{Hits: search.Hits()}, err
}

// acceptID asks a filter about the document of a node; a node that is none was erased.
func (v indexView) acceptID(ctx context.Context, accept source.Accept) func(graph.ID) (bool, error) {
	find := v.Finder(ctx)
	return func(id graph.ID) (bool, error) {
		d, ok, err := find.Doc(id)
		if err != nil || !ok {
			return false, err
		}
		ok, err = accept(d)
		return ok, cmp.Or(err, d.Err())
	}
}

// Embedding returns the embedding of a node by a model.
func (v indexView) Embedding(ctx context.Context, id graph.ID, model string) (*graph.Embedding, error) {
	item, ok, err := v.s.State.Vectors.Get(ctx, graph.EmbeddingKey(id, model))
	var e *graph.Embedding
	if err == nil && ok {
		e, err = view.Embedding(ctx, v.s.State, item)
	}
	if err == nil && e == nil { // a purge has just erased it: the retrieval begins again
		err = fmt.Errorf("embedding of %s by %q: %w", id, model, source.ErrNoNode)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

const (
	// walkedNodes is the largest memory in which Unembedded looks up the vector of every node.
	walkedNodes = 256
	// sampledNodes is how many nodes without a vector Unembedded examines in a larger memory.
	sampledNodes = 16
)

// Unembedded returns how many nodes of a memory lack a vector by a model, and the number of all nodes. A node without a
// text needs no vector. If there are more than walkedNodes nodes, it examines only the first sampledNodes without a
// vector: if none of these has a text the result is 0, else it is an upper bound. Its cost does not grow with the memory.
func Unembedded(ctx context.Context, s *core.Snapshot, model string) (lack, of int, err error) {
	if !s.Id.Defined() {
		return 0, 0, nil
	}
	err = s.WithIndex(ctx, func(x *index.Index) error {
		of = int(x.Stats().Nodes)
		return nil
	})
	if err != nil {
		return 0, of, err
	}
	x, err := s.Dense(ctx)
	if err != nil {
		return 0, of, err
	}
	lack = of
	if x != nil {
		rows, err := x.Rows(ctx, model)
		if err != nil {
			return 0, of, err
		}
		lack = max(0, of-rows)
	}
	if lack == 0 {
		return 0, of, nil
	}
	bare, textless, err := withoutVectors(ctx, s, model, lack)
	switch {
	case err != nil:
		return 0, of, err
	case bare >= lack:
		lack = bare - textless
	case bare > 0 && textless == bare:
		lack = 0
	}
	return lack, of, nil
}

// withoutVectors examines the nodes without a vector by a model; there are lack of them. It returns how many it found
// and how many of these have no text. In a large memory with vectors by several models it finds none.
func withoutVectors(ctx context.Context, s *core.Snapshot, model string, lack int) (bare, textless int, err error) {
	look := func(id graph.ID) error {
		has, err := graphView{State: s.State, s: s}.hasText(ctx, id)
		if bare++; !has {
			textless++
		}
		return err
	}
	st := s.State
	switch {
	case st.Nodes.Len() <= walkedNodes:
		for kv, err := range st.Nodes.Scan(ctx, nil, nil) {
			if err != nil {
				return bare, textless, err
			}
			id := graph.ID(kv.Key)
			_, has, err := st.Vectors.Get(ctx, graph.EmbeddingKey(id, model))
			if err == nil && !has {
				err = look(id)
			}
			if err != nil {
				return bare, textless, err
			}
		}
	case st.Nodes.Len() == st.Vectors.Len()+uint64(lack):
		err = eachGap(ctx, s, look)
	}
	return bare, textless, err
}

// hasText reports whether a node has a text that can be embedded. An erased node has none.
func (g graphView) hasText(ctx context.Context, id graph.ID) (bool, error) {
	n, _, err := g.Node(ctx, id)
	if errors.Is(err, source.ErrNoNode) {
		return false, nil
	}
	return err == nil && (n.Content != nil || strings.TrimSpace(graph.EmbedText(n, "")) != ""), err
}

// eachGap passes the first sampledNodes nodes without a vector to look, if all vectors are by one model. It halves ranges
// of nodes that have fewer vectors than nodes.
func eachGap(ctx context.Context, s *core.Snapshot, look func(graph.ID) error) error {
	nodes, left := s.State.Nodes, sampledNodes
	var halve func(from, to uint64, first, end []byte) error // end is the key of node to, nil after the last
	halve = func(from, to uint64, first, end []byte) error {
		n, err := s.State.Vectors.Count(ctx, first, end)
		if err != nil || left == 0 || n >= to-from {
			return err
		}
		if to-from == 1 {
			left--
			return look(graph.ID(first))
		}
		middle, _, err := nodes.At(ctx, (from+to)/2)
		if err == nil {
			err = halve(from, (from+to)/2, first, middle.Key)
		}
		if err == nil {
			err = halve((from+to)/2, to, middle.Key, end)
		}
		return err
	}
	first, _, err := nodes.At(ctx, 0)
	if err != nil {
		return err
	}
	return halve(0, nodes.Len(), first.Key, nil)
}
