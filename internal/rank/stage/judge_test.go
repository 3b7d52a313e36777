package stage

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// TestNeighboursOfWords: what was written beside an item says nothing if no words are asked for.
func TestNeighboursOfWords(t *testing.T) {
	november := graph.From(time.Date(2023, 11, 1, 0, 0, 0, 0, time.UTC))
	m := says("a", "b", "c", "d")
	for i, day := range []graph.Time{10, 9, 20, 11} {
		m.nodes[num(i)].Created = november + day*dayLength
	}
	m.nodes[num(0)].ValidFrom = graph.At(november + 29*dayLength)
	req := retrieve.Request{Text: "what happened in November 2023", Intent: retrieve.IntentWhy}
	if got := m.bandsOf(t, req); got != "0 answer, 2 answer, 3 answer, 1 answer" {
		t.Errorf("by a date alone: %s", got)
	}
	m = says("a", "b", "c", "d")
	for i, created := range []graph.Time{10, 20, 9, 11} {
		m.nodes[num(i)].Created = created * dayLength
	}
	m.nodes[num(0)].Updated = graph.At(30 * dayLength)
	if got := m.bandsOf(t, retrieve.Request{Intent: retrieve.IntentWhy}); got != "0 answer, 1 answer, 3 answer, 2 answer" {
		t.Errorf("the newest: %s", got)
	}
}

// timeless is a memory whose index has no times.
type timeless struct{ evenMemory }

func (m timeless) Times(_ context.Context, ids []graph.ID) ([]source.Times, []bool, error) {
	return make([]source.Times, len(ids)), make([]bool, len(ids)), m.fail("Times")
}

// TestNeighboursWithoutTimes adds none if the index does not know when the best item was written, and
// passes on what fails.
func TestNeighboursWithoutTimes(t *testing.T) {
	m := failureDays()
	req := retrieve.Request{Text: "failure", Intent: retrieve.IntentWhy,
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}}
	for i := range m.nodes { // beside the time 0
		m.nodes[i].Created %= 5 * dayLength
	}
	a, err := Run(t.Context(), m, timeless{m}, testCommit, req)
	if err != nil || !slices.Equal(ids(a), []graph.ID{num(0)}) {
		t.Errorf("%v, %v", order(a), err)
	}
	for _, method := range []string{"Times", "ByTime", "Node"} {
		m.failOn = method
		if _, err := Run(t.Context(), m, m, testCommit, req); err == nil {
			t.Errorf("%s fails, and no error", method)
		}
	}
}

// typeless is a memory whose index does not know types, as that of an earlier version may not.
type typeless struct{ evenMemory }

func (m typeless) Types(_ context.Context, ids []graph.ID) ([]string, error) {
	return make([]string, len(ids)), nil
}

// TestNamesOfUnknownType are no items either, and have no band in the place of one.
func TestNamesOfUnknownType(t *testing.T) {
	m := says("zorb x", "zorb y")
	m.add(graph.Node{Key: "entity/part", Type: "Entity", Summary: "zorb zorb name", Created: 1})
	a, err := Run(t.Context(), m, typeless{m}, testCommit, retrieve.Request{Text: "zorb plim grak",
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
	if err != nil || !slices.Equal(ids(a), []graph.ID{num(0), num(1)}) || a.Items[1].Band != retrieve.BandMaybe {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestBalanceIsTraced has the weights of lanes that a trace tells, which are those that were used.
func TestBalanceIsTraced(t *testing.T) {
	const one = 1 << 16
	m := sparseShelf()
	m.add(graph.Node{ID: num(90), Summary: "part", Created: 1})
	m.embed(num(90), "m", 1)
	vectors, sparse := vectorOf("m", 1), sparseOf("s", graph.Term{Term: "y", Weight: 2})
	for name, c := range map[string]struct {
		req  retrieve.Request
		want map[retrieve.Lane]int64
	}{
		"vectors": {retrieve.Request{Vectors: vectors}, map[retrieve.Lane]int64{retrieve.LaneText: 4 * one, "dense:m": one}},
		"sparse":  {retrieve.Request{Sparse: sparse}, map[retrieve.Lane]int64{retrieve.LaneText: 4 * one, "sparse:s": one}},
		"both":    {retrieve.Request{Vectors: vectors, Sparse: sparse}, map[retrieve.Lane]int64{retrieve.LaneText: 4 * one, "dense:m": one / 2, "sparse:s": one / 2}},
		"no vectors": {retrieve.Request{RewriteOptions: retrieve.RewriteOptions{Rewrites: []string{"part"}}},
			map[retrieve.Lane]int64{retrieve.LaneText: one / 2, "text:1": one / 2}},
		"other ways":  {retrieve.Request{Vectors: vectors, Fusion: retrieve.ScoreNorm}, map[retrieve.Lane]int64{retrieve.LaneText: one, "dense:m": one / 2}},
		"own weights": {retrieve.Request{Vectors: vectors, Weights: []retrieve.LaneWeight{{Lane: retrieve.LaneText, Weight: 3 * one}}}, map[retrieve.Lane]int64{retrieve.LaneText: 3 * one, "dense:m": one / 2}},
	} {
		c.req.Text = "part"
		trace := new(Trace)
		if _, err := (Runner{Trace: trace}).Run(t.Context(), m, m, testCommit, c.req); err != nil {
			t.Fatal(err)
		}
		got := make(map[retrieve.Lane]int64)
		for _, l := range trace.Lanes {
			if l.Found > 0 {
				got[l.Lane] = l.Weight
			}
		}
		if d := diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
