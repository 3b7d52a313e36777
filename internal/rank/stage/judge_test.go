package stage

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// TestBandsOfNewest: of a blank request all items are answers, however many.
func TestBandsOfNewest(t *testing.T) {
	m := says(map[string]int64{})
	for i := range maxBanded + 5 {
		m.add(graph.Node{ID: num(i), Summary: "part x", Created: 1})
	}
	a, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Limit: new(0), Budget: new(0), Floor: retrieve.FloorAnswer})
	if err != nil || len(a.Items) != maxBanded+5 {
		t.Errorf("%d answers, %v", len(a.Items), err)
	}
}

func TestBandsOfNothing(t *testing.T) {
	m := says(map[string]int64{"part": 1 << 16}, "part x")
	if got := m.bandsOf(t, retrieve.Request{Text: "zeppelin"}); got != "" {
		t.Error(got)
	}
}

// TestBandsCertain has questions that something but the first candidate's words makes certain.
func TestBandsCertain(t *testing.T) {
	for known, want := range map[int64]string{two.sure: "0 rest, 1 answer", two.sure - 1: "0 maybe, 1 maybe"} {
		m := says(map[string]int64{"main": known, "each": 100}, "each x", "main y")
		m.scores = map[graph.ID]int64{num(0): 100, num(1): 99}
		if got := m.bandsOf(t, retrieve.Request{Text: "main each filler", Floor: retrieve.FloorRest}); got != want {
			t.Errorf("the second is known %d: %s, want %s", known, got, want)
		}
	}
	for text, want := range map[string]retrieve.Band{"part filler of `boat`": retrieve.BandAnswer, "part filler of boat": retrieve.BandMaybe} {
		m := says(map[string]int64{"part": two.each, "boat": 1}, "part x", "part y")
		m.add(graph.Node{Key: "boat", Summary: "none", Created: 1})
		a, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: text, Expand: new(0), Floor: retrieve.FloorRest})
		if err != nil || len(a.Items) < 2 {
			t.Fatalf("%s: %+v, %v", text, a, err)
		}
		for _, it := range a.Items {
			if it.Tier == tierNone && it.Band != want {
				t.Errorf("%s: %s is of %s, want %s", text, it.ID, it.Band, want)
			}
		}
	}
}

// TestOutdatedWords compares each term once, whatever the order of the words.
func TestOutdatedWords(t *testing.T) {
	for name, c := range map[string]struct {
		said []string
		want string
	}{
		"other order":    {[]string{"yard zone dock anchor", "dock now anchor zone yard"}, "1 0<1"},
		"the same twice": {[]string{"boat dock dock", "dock dock now"}, "0 1"},
		"past others":    {[]string{"dock dock dock tea", "boat dock north", "boat dock south now"}, "0 2 1<2"},
	} {
		if got := toldAt(c.said...).outdated(t, retrieve.Request{Text: "dock"}); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestOutdatedPastNames looks past nodes that are only a name, which a question for a date finds.
func TestOutdatedPastNames(t *testing.T) {
	at := graph.From(time.Date(2023, 11, 5, 0, 0, 0, 0, time.UTC))
	m := says(map[string]int64{})
	for i := range 26 { // some of their ids are before those of the others
		name := string(rune('a' + i))
		m.add(graph.Node{Key: "entity/" + name, Type: "Entity", Summary: name, Created: at})
	}
	m.add(graph.Node{Key: "old", Summary: "boat dock north", Created: at})
	m.add(graph.Node{Key: "new", Summary: "boat dock south now", Created: at + 1})
	a, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "what happened in November 2023", Limit: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, it := range a.Items {
		keys = append(keys, it.Key)
		if it.Outdated.IsZero() == (it.Key == "old") {
			t.Errorf("%s is outdated by %s", it.Key, it.Outdated)
		}
	}
	if fmt.Sprint(keys) != "[new old]" {
		t.Errorf("items %v", keys)
	}
}

// TestNeighboursOfWords: what was written beside an item says nothing where no words are asked for.
func TestNeighboursOfWords(t *testing.T) {
	november := graph.From(time.Date(2023, 11, 1, 0, 0, 0, 0, time.UTC))
	m := says(map[string]int64{}, "a", "b", "c", "d")
	for i, day := range []graph.Time{10, 9, 20, 11} {
		m.nodes[num(i)].Created = november + day*dayLength
	}
	m.nodes[num(0)].ValidFrom = graph.At(november + 29*dayLength)
	req := retrieve.Request{Text: "what happened in November 2023", Intent: retrieve.IntentWhy}
	if got := m.bandsOf(t, req); got != "0 answer, 2 answer, 3 answer, 1 answer" {
		t.Errorf("by a date alone: %s", got)
	}
	m = says(map[string]int64{}, "a", "b", "c", "d")
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

// TestNeighboursWithoutTimes adds none where the index does not know when the best item was written, and
// passes on what fails.
func TestNeighboursWithoutTimes(t *testing.T) {
	m := failureDays()
	req := retrieve.Request{Text: "failure", Intent: retrieve.IntentWhy, Expand: new(0)}
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

// TestBandsOfReadings: what a word of the text is read as is known, by it.
func TestBandsOfReadings(t *testing.T) {
	m := says(map[string]int64{"part": two.sure}, "part x", "part y", "part z")
	for spelling, want := range map[retrieve.Spelling]string{
		retrieve.SpellingOn: "0 answer, 1 answer, 2 answer", retrieve.SpellingOff: "",
	} {
		if got := m.bandsOf(t, retrieve.Request{Text: "partq filler", Spelling: spelling}); got != want {
			t.Errorf("spelling %s: %s, want %s", spelling, got, want)
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
	m := says(map[string]int64{"part": 1}, "part x", "part y")
	m.add(graph.Node{Key: "entity/part", Type: "Entity", Summary: "part part name", Created: 1})
	a, err := Run(t.Context(), m, typeless{m}, testCommit, retrieve.Request{Text: "part filler", Expand: new(0)})
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
		"vectors":     {retrieve.Request{Vectors: vectors}, map[retrieve.Lane]int64{retrieve.LaneText: 4 * one, "dense:m": one}},
		"sparse":      {retrieve.Request{Sparse: sparse}, map[retrieve.Lane]int64{retrieve.LaneText: 4 * one, "sparse:s": one}},
		"both":        {retrieve.Request{Vectors: vectors, Sparse: sparse}, map[retrieve.Lane]int64{retrieve.LaneText: 4 * one, "dense:m": one / 2, "sparse:s": one / 2}},
		"no vectors":  {retrieve.Request{Rewrites: []string{"part"}}, map[retrieve.Lane]int64{retrieve.LaneText: one, "text:1": 2 * one}},
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
