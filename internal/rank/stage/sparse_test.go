package stage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

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
	must.OK(t, r.Validate())
	t.Logf("%d of %d bytes", len(r.Encode()), ipld.MaxBlock)
	decoded := must.Get(retrieve.DecodeReceipt(r.Encode()))(t)
	again, err := decoded.Request(string(query))
	must.Equal(t, diff(a.Request, again), "")
	must.OK(t, err)
}
