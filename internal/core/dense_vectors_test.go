package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/internal/view"
)

// TestDenseVectors reads the vectors of many nodes at once, of several also if they have the same one.
func TestDenseVectors(t *testing.T) {
	const n = 400
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"node":{"key":"n%d","type":"T"}}`+"\n", i)
		fmt.Fprintf(&lines, `{"embedding":{"node":"n%d","model":"m","vector":[127,%d]}}`+"\n", i, i%100)
	}
	lines.WriteString(`{"embedding":{"node":"n0","model":"s","sparse":{"a":1}}}`)
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, lines.String())
	s := repokit.Head(t, r).State
	var ids []graph.ID
	for _, count := range []int{0, 1, 64, 65, n} {
		ids = ids[:0]
		for i := range count {
			ids = append(ids, graph.NodeID(fmt.Sprintf("n%d", n-1-i)))
		}
		got, err := view.DenseVectors(t.Context(), s, "m", ids)
		must.Require(t, err == nil && len(got) == count, "%d vectors of %d: %v", len(got), count, err)
		for i, v := range got {
			must.Same(t, v, []int8{127, int8((n - 1 - i) % 100)}, "vector ", i, " of ", count)
		}
	}
	for name, c := range map[string]struct {
		model string
		id    graph.ID
	}{"sparse": {"s", graph.NodeID("n0")}, "none": {"m", graph.NodeID("ghost")}, "of no model": {"x", ids[0]}} {
		got, err := view.DenseVectors(t.Context(), s, c.model, append(ids[:3:3], c.id))
		must.Fail(t, err, store.ErrCorrupt, name, ": ", got)
	}
}
