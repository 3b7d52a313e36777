package stage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// sparseMemory is a memory with sparse embeddings.
type sparseMemory struct {
	*memory
	sparse map[string]map[graph.ID]fakeSparse
}

type fakeSparse struct {
	terms []graph.Term
	text  [sha256.Size]byte
}

// Sparse scores by the product of weights, which is all that is asked of a fake.
func (m sparseMemory) Sparse(
	_ context.Context, q retrieve.SparseVector, accept source.Accept, k int,
) (source.SparseResult, error) {
	res := source.SparseResult{None: len(m.sparse[q.Model]) == 0}
	for model := range m.sparse {
		if res.None {
			res.Models = append(res.Models, model)
		}
	}
	slices.Sort(res.Models)
	for id, v := range m.sparse[q.Model] {
		var score int64
		for _, a := range v.terms {
			for _, b := range q.Terms {
				if a.Term == b.Term {
					score += a.Weight * b.Weight
				}
			}
		}
		ok, err := accept(source.NodeDocument(m.nodes[id]))
		if err != nil {
			return res, err
		}
		if ok && score > 0 {
			res.Hits = append(res.Hits, source.Hit{ID: id, Score: score})
		}
	}
	res.Hits = m.cut(res.Hits, k)
	return res, m.fail("Sparse")
}

func (m sparseMemory) Embedding(ctx context.Context, id graph.ID, model string) (*graph.Embedding, error) {
	if v, ok := m.sparse[model][id]; ok {
		return &graph.Embedding{Model: model, Text: v.text}, m.fail("Embedding")
	}
	return m.memory.Embedding(ctx, id, model)
}

// sparseShelf is the shelf with sparse vectors by the model s.
func sparseShelf() sparseMemory {
	m := sparseMemory{shelf(), map[string]map[graph.ID]fakeSparse{"s": {}}}
	for i, terms := range [][]graph.Term{{{Term: "x", Weight: 3}, {Term: "y", Weight: 1}},
		{{Term: "y", Weight: 9}}, {{Term: "z", Weight: 1}}} {
		n := m.nodes[num(i+1)]
		m.sparse["s"][n.ID] = fakeSparse{terms, graph.TextHash(n, "")}
	}
	return m
}

// TestSparseAlone is by the sparse vector alone: no recency lane, and its scores as they are.
func TestSparseAlone(t *testing.T) {
	m := sparseShelf()
	req := retrieve.Request{Text: " ", Sparse: sparseOf("s", graph.Term{Term: "y", Weight: 2}),
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}}
	a, err := Run(t.Context(), m, m, testCommit, req)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff([]graph.ID{num(2), num(1)}, ids(a)); d != "" {
		t.Fatal(d)
	}
	if d := diff([]retrieve.LaneHit{{Lane: "sparse:s", Rank: 1, Score: 18}}, a.Items[0].Lanes); d != "" ||
		a.Items[0].Score != 18 || len(a.Warnings) != 0 {
		t.Errorf("%s, %+v", d, a)
	}
}

// TestSparseFuses weighs a dense and a sparse lane like two dense ones: half of the text's weight
// together.
func TestSparseFuses(t *testing.T) {
	m := sparseShelf()
	req := retrieve.Request{Text: "c", Vectors: vectorOf("m", 0, 1),
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		Sparse:           sparseOf("s", graph.Term{Term: "x", Weight: 1}), Ranking: retrieve.PlainRanking}
	a, err := Run(t.Context(), m, m, testCommit, req)
	if err != nil {
		t.Fatal(err)
	}
	const one, quarter = 1 << 16, 1 << 14
	want := map[graph.ID]int64{
		num(1): 2 * quarter * one / (one + 2*quarter), // best in both
		num(2): quarter * (one / 2) / (one + 2*quarter),
		num(3): one * one / (one + 2*quarter),
	}
	for _, item := range a.Items {
		if item.Score != want[item.ID] {
			t.Errorf("%s: %d, want %d", item.ID, item.Score, want[item.ID])
		}
	}
	if len(a.Items) != 3 {
		t.Errorf("%d items", len(a.Items))
	}
}

func TestSparseWarnings(t *testing.T) {
	y := graph.Term{Term: "y", Weight: 1}
	stale := sparseShelf()
	stale.nodes[num(2)].Summary = "changed"
	for _, c := range []struct {
		name string
		m    sparseMemory
		req  retrieve.Request
		want []retrieve.Code
	}{
		{"no vectors", sparseShelf(), retrieve.Request{Sparse: sparseOf("n", y)}, []retrieve.Code{retrieve.NoSparse}},
		{"dense ones only", sparseShelf(), retrieve.Request{Sparse: sparseOf("m", y)}, []retrieve.Code{retrieve.NoSparse}},
		{"sparse ones only", sparseShelf(), retrieve.Request{Vectors: vectorOf("s", 1)}, []retrieve.Code{retrieve.NoVectors}},
		{"stale", stale, retrieve.Request{Sparse: sparseOf("s", y)}, []retrieve.Code{retrieve.StaleVectors}},
		{"not asked", stale, retrieve.Request{Text: "a", Sparse: sparseOf("n", y),
			Weights: []retrieve.LaneWeight{{Lane: "sparse:n", Weight: 0}}}, nil},
	} {
		a, err := Run(t.Context(), c.m, c.m, testCommit, c.req)
		if err != nil {
			t.Fatal(err)
		}
		if got := codes(a); !slices.Equal(got, append([]retrieve.Code{}, c.want...)) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	m := sparseShelf()
	a, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Sparse: sparseOf("n", y)})
	if err != nil || !strings.HasSuffix(a.Warnings[0].Remedy(), `there are: "s"`) {
		t.Error(a, err)
	}
}

func TestSparseErrors(t *testing.T) {
	req := retrieve.Request{Sparse: sparseOf("s", graph.Term{Term: "y", Weight: 1})}
	for _, method := range []string{"Sparse", "Embedding"} {
		m := sparseShelf()
		m.failOn = method
		if _, err := Run(t.Context(), m, m, testCommit, req); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", method, err)
		}
	}
	m := shelf()
	if _, err := Run(t.Context(), m, m, testCommit, req); err == nil ||
		!strings.Contains(err.Error(), "no sparse vectors") {
		t.Error(err)
	}
}

func TestParseSparseJSON(t *testing.T) {
	base := retrieve.Request{Text: "x", Sparse: sparseOf("old", manyTerms(1, 5)...)}
	q, err := complete.ParseRequestJSON(parsed(t, `{"sparse":{"m":{"tide":0.5,"a":1},"b":{"c":2e-5}}}`), base)
	want := []retrieve.SparseVector{{Model: "b", Terms: []graph.Term{{Term: "c", Weight: 1}}},
		{Model: "m", Terms: []graph.Term{{Term: "a", Weight: 1 << 16}, {Term: "tide", Weight: 1 << 15}}}}
	if d := diff(want, q.Request.Resolve().Sparse); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, bad := range []string{`[]`, `null`, `{"m":[1]}`, `{"m":{}}`, `{"m":{"a":0}}`,
		`{"m":{"a":-1}}`, `{"m":{"a":"1"}}`, `{"m":{"a":1e-9}}`, `{"m":{"a":1e9}}`, `{"":{"a":1}}`,
		`{"m":{"":1}}`, `{"m":{"a":null}}`} {
		var re *retrieve.RequestError
		_, err := complete.ParseRequestJSON(parsed(t, `{"sparse":`+bad+`}`), base)
		if !errors.As(err, &re) || re.Param != "sparse" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestSparseReceipt keeps vectors of either kind, and fits where they are the largest there may be.
func TestSparseReceipt(t *testing.T) {
	req := retrieve.Request{Text: "a"}
	models := slices.Repeat([]string{strings.Repeat("x", 255)}, source.MaxModelsNamed)
	a := &retrieve.Answer{Commit: testCommit, Engine: retrieve.CurrentEngine(), Candidates: 1000}
	for i := range retrieve.MaxVectors {
		model := strings.Repeat("\"", 254) + fmt.Sprint(i)
		req.Vectors = append(req.Vectors, retrieve.QueryVector{Model: model, Values: slices.Repeat([]int8{1}, graph.MaxDims)})
		req.Sparse = append(req.Sparse, retrieve.SparseVector{Model: model, Terms: manyTerms(retrieve.MaxSparseTerms, 8)})
		for _, code := range []retrieve.Code{retrieve.NoVectors, retrieve.NoSparse} {
			a.Warnings = append(a.Warnings, noVectors(code, model, models))
		}
	}
	for i := range 1000 {
		a.Items = append(a.Items, retrieve.Item{ID: num(i), Node: testCommit, Score: graph.MaxCount})
		req.Exclude = append(req.Exclude, num(i))
	}
	req.Settled = true
	a.Request = req.Resolve()
	*a.Request.Limit, *a.Request.Budget = 0, 0
	r, query := a.Receipt()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d bytes", len(r.Encode()), ipld.MaxBlock)
	decoded, err := retrieve.DecodeReceipt(r.Encode())
	if err != nil {
		t.Fatal(err)
	}
	again, err := decoded.Request(string(query))
	if d := diff(a.Request, again); d != "" || err != nil {
		t.Error(d, err)
	}
}
