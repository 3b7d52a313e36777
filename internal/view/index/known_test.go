package index

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestTermsAreRemembered asks twice for terms: what many nodes have is read once, and the answer is the same.
func TestTermsAreRemembered(t *testing.T) {
	blocks := mem.New().Derived()
	var list []*Document
	for i := range 2 * memoNodes {
		summary := "harbour"
		for j := range 40 { // more terms than a part of the dictionary has
			summary += fmt.Sprintf(" w%dx%d", i, j)
		}
		list = append(list, node(graph.Node{ID: numberedID(i), Type: "T", Summary: summary}))
	}
	m := build(t, blocks, collect(list...), UpdateOptions{})
	read := &counter{Getter: blocks, got: map[ipld.CID]int{}}
	x, err := Open(t.Context(), read, m, nil)
	must.OK(t, err)
	for term, want := range map[string]struct {
		df    int64
		again bool // whether it is read a second time
	}{"harbour": {2 * memoNodes, false}, "w77x7": {1, true}, "w77x": {0, true}} {
		for ask := range 2 {
			clear(read.got)
			df, err := x.TermStats(t.Context(), term)
			if err != nil || df != want.df {
				t.Errorf("%s: %d, %v, want %d", term, df, err, want.df)
			}
			if reads := len(read.got) > 0; ask == 1 && reads != want.again {
				t.Errorf("%s: read a second time: %v, want %v", term, reads, want.again)
			}
		}
	}
}
