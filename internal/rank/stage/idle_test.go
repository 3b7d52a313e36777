package stage

import (
	"fmt"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

func TestTrace(t *testing.T) {
	m := warned()
	m.add(graph.Node{Key: "c", Type: "C", Summary: "alpha", Created: 1})
	m.add(graph.Node{Key: "d", Type: "A", Summary: "alpha", Created: 99})
	m.add(graph.Node{Key: "e", Type: "A", Summary: "alpha alpha", Created: 1})
	now := time.Duration(0)
	trace := &Trace{Clock: func() time.Duration { now += time.Second; return now }}
	req := retrieve.Request{Text: "alpha", Types: []string{"A", "B"},
		TimeFilter: retrieve.TimeFilter{CreatedTo: graph.At(50)},
		Exclusions: retrieve.Exclusions{Exclude: []graph.ID{graph.NodeID("the")}}}
	plain := m.ask(t, req)
	for range 2 { // a trace may be used again
		a := must.Get(Runner{Trace: trace}.Run(t.Context(), m, m, testCommit, ofAll(req)))(t)
		must.Equal(t, diff(plain, a), "")
		want := []LaneTrace{{Lane: retrieve.LaneText, Weight: 1 << 16, Passed: 1, Found: 1, Best: 2, Worst: 2, Whole: 2,
			LeftOut: source.LeftOut{Exclude: 1, Types: 1, Times: 1, Marks: 1}}}
		must.Equal(t, diff(want, trace.Lanes), "")
		stages := fmt.Sprint(trace.Stages)
		must.Equal(t, stages, "[{lanes 1000000} {fuse 1000000} {expand 1000000} {arrange 1000000} {pack 1000000}]")
	}
	l := LaneTrace{Best: 8, Worst: 4, Whole: 8}
	for f, want := range map[retrieve.Fusion]int64{retrieve.Convex: 49_152, retrieve.ScoreNorm: 32_768, retrieve.RRF: 1 << 32 / 63} {
		must.Equal(t, l.Share(f, retrieve.LaneHit{Rank: 3, Score: 6}), want, f, ": share")
	}
}
