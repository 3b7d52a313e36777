package stage

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// embed gives a node a vector of its text as it is now.
func (m *memory) embed(id graph.ID, model string, values ...int8) {
	if m.vectors[model] == nil {
		m.vectors[model] = map[graph.ID]fakeVector{}
	}
	n := m.nodes[id]
	content := ""
	if n.Content != nil {
		content = n.Content.Text
	}
	m.vectors[model][id] = fakeVector{values, graph.TextHash(n, content)}
}

// fakeVector is an embedding.
type fakeVector struct {
	values []int8
	text   [sha256.Size]byte
}

// Dense scores by the dot product, which is all that is asked of a fake.
func (m *memory) Dense(
	_ context.Context, q retrieve.QueryVector, accept source.Accept, k int, _ source.Shortlist,
) (source.DenseResult, error) {
	res := source.DenseResult{None: len(m.vectors[q.Model]) == 0}
	for model := range m.vectors {
		if res.None {
			res.Models = append(res.Models, model)
		}
	}
	slices.Sort(res.Models)
	for id, v := range m.vectors[q.Model] {
		if len(v.values) != len(q.Values) {
			res.Other++
			continue
		}
		var score int64
		for i, x := range v.values {
			score += int64(x) * int64(q.Values[i])
		}
		if score <= 0 { // as an index: only what would be found is asked about
			continue
		}
		ok, err := accept(source.NodeDocument(m.nodes[id]))
		if err != nil {
			return res, err
		}
		if ok {
			res.Hits = append(res.Hits, source.Hit{ID: id, Score: score})
		}
	}
	res.Hits = m.cut(res.Hits, k)
	return res, m.fail("Dense")
}

func (m *memory) Embedding(_ context.Context, id graph.ID, model string) (*graph.Embedding, error) {
	v := m.vectors[model][id]
	e := &graph.Embedding{Model: model, DType: graph.Int8, Dims: len(v.values), Text: v.text}
	for _, x := range v.values {
		e.Data = append(e.Data, byte(x))
	}
	return e, m.fail("Embedding")
}

// shelf is three nodes: two with the word a, all with vectors by the model m.
func shelf() *memory {
	m := newMemory()
	m.add(graph.Node{ID: num(1), Summary: "a a a a", Created: 1})
	m.add(graph.Node{ID: num(2), Summary: "a b", Created: 2})
	m.add(graph.Node{ID: num(3), Summary: "c", Created: 3})
	m.embed(num(1), "m", 1, 2)
	m.embed(num(2), "m", 10, 1)
	m.embed(num(3), "m", 40, 0)
	return m
}
