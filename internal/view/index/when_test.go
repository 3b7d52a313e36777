package index

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/differ"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// byAge is a score of times that uses all of them and gives some documents nothing.
func byAge(t Times) int64 {
	return int64(t.Created+2*t.Updated.Time+3*t.ValidFrom.Time+5*t.ValidTo.Time)%97 - 10
}

func timesOf(n *graph.Node) Times {
	return Times{Created: n.Created, Updated: n.Updated, ValidFrom: n.ValidFrom, ValidTo: n.ValidTo}
}

// checkTimes compares what an index says of times with the documents.
func checkTimes(
	t *testing.T, x *Index, docs collection, accept Accept, filter func(*Document) bool, k int,
) {
	t.Helper()
	var want []Hit
	for id, d := range docs {
		if s := byAge(timesOf(d.Node)); s > 0 && (filter == nil || filter(d)) {
			want = append(want, Hit{ID: id, Score: s})
		}
	}
	got := must.Get(x.ByTime(context.Background(), byAge, accept, k))(t)
	must.Equal(t, differ.Diff(best(want, k), got, equateEmpty), "", "best ", k, " by time")
	ids := append(slices.Collect(maps.Keys(docs)), graph.ID{0xFF}, graph.ID{})
	times, ok, err := x.Times(context.Background(), ids)
	must.OK(t, err)
	for i, id := range ids {
		if d := docs[id]; ok[i] != (d != nil) || d != nil && times[i] != timesOf(d.Node) {
			t.Fatalf("times of %s are %+v, %v", id, times[i], ok[i])
		}
	}
	types := must.Get(x.Types(context.Background(), ids))(t)
	for i, id := range ids {
		want := ""
		if d := docs[id]; d != nil {
			want = d.Node.Type
		}
		must.Equal(t, types[i], want, id, " is a")
	}
}

func TestByTimeErrors(t *testing.T) {
	docs := collect(node(graph.Node{Summary: "alpha", Created: 5}))
	blocks := mem.New().Derived()
	x := must.Get(Open(context.Background(), blocks, build(t, blocks, docs, UpdateOptions{}), nil))(t)
	broken := errors.New("broken")
	one := func(Times) int64 { return 1 }
	accept := func(Doc) (bool, error) { return false, broken }
	_, err := x.ByTime(context.Background(), one, accept, 0)
	must.Fail(t, err, broken)
	none := func(Times) int64 { return 0 } // what has no score is not asked about
	if hits, err := x.ByTime(context.Background(), none, accept, 0); err != nil || len(hits) > 0 {
		t.Errorf("by time: %v, %v", hits, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = x.ByTime(ctx, one, nil, 0)
	must.Fail(t, err, context.Canceled)
}
