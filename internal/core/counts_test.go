package core_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// TestKinds compares counts with those of a walk over every record, before and after a change.
func TestKinds(t *testing.T) {
	ctx := context.Background()
	r := must.Get(care.New(ctx, mem.New(), repokit.By, core.Options{}))(t)
	defer func() { must.OK(t, r.Close()) }()
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, `{"node":{"key":"n%d","type":"T%d","summary":"s%d"}}`+"\n", i, i%3, i)
		if i > 0 {
			fmt.Fprintf(&lines, `{"edge":{"type":"e%d","src":"n%d","dst":"n%d"}}`+"\n", i%2, i, i-1)
		}
	}
	repokit.CommitBy(t, r, repokit.By, "all", lines.String())
	repokit.CommitBy(t, r, repokit.By, "more", `{"remove":{"node":"n3"}}
{"mark":{"node":"n5","state":"stale"}}
{"mark":{"node":"n6","state":"forgotten"}}
{"mark":{"node":"n7","state":"stale"}}
`)
	s := repokit.Head(t, r)
	want := state.KindCounts{
		Nodes: map[string]int{}, Edges: map[string]int{},
		Marks: map[graph.State]int{"stale": 2, "forgotten": 1},
	}
	for e, err := range s.Nodes(ctx, graph.ID{}) {
		must.OK(t, err)
		want.Nodes[e.Node.Type]++
	}
	for e, err := range s.Edges(ctx, graph.ID{}) {
		must.OK(t, err)
		want.Edges[e.Edge.Type]++
	}
	last := 0
	got := must.Get(s.Kinds(ctx, func(done int) { last = done }))(t)
	must.Same(t, *got, want, "counts")
	must.Equal(t, last, 39+37+3, "reported")
}
