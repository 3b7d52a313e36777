package index

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestTermsAreRemembered asks twice for terms: each is read once, and the answer is the same.
func TestTermsAreRemembered(t *testing.T) {
	blocks := mem.New().Derived()
	const nodes = 100
	var list []*Document
	for i := range nodes {
		summary := "harbour"
		for j := range 40 { // more terms than a part of the dictionary has
			summary += fmt.Sprintf(" w%dx%d", i, j)
		}
		list = append(list, node(graph.Node{ID: numberedID(i), Type: "T", Summary: summary}))
	}
	m := build(t, blocks, collect(list...), UpdateOptions{})
	read := &counter{Getter: blocks, got: map[ipld.CID]int{}}
	x := must.Get(Open(t.Context(), read, m, nil))(t)
	for term, want := range map[string]int64{"harbour": nodes, "w77x7": 1, "w77x": 0} {
		for ask := range 2 {
			clear(read.got)
			df := must.Get(x.TermStats(t.Context(), term))(t, term)
			must.Equal(t, df, want, term)
			must.Check(t, ask != 1 || len(read.got) <= 0, "%s: read a second time", term)
		}
	}
}
