package stage

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestExcludeIsFilter compares --exclude with a filter that the same nodes fail.
func TestExcludeIsFilter(t *testing.T) {
	rng := seeded(t)
	for range 60 {
		m := randomMemory(rng, 60, 150)
		req := retrieve.Request{Text: []string{"a b", "a", "", "c `key3`"}[rng.IntN(4)],
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(rng.IntN(4))}, Budget: new(0), Limit: new(0),
			OutputOptions: retrieve.OutputOptions{Adjacency: rng.IntN(3)}}
		all := m.ask(t, req)
		var out []graph.ID
		for _, item := range all.Items {
			if rng.IntN(3) == 0 {
				out = append(out, item.ID)
			}
		}
		for id, n := range m.nodes {
			n.Props = []ipld.Entry{{Key: "in", Value: ipld.BoolValue(!slices.Contains(out, id))}}
		}
		byWhere, byID := req, req
		byWhere.Where = []retrieve.Predicate{{Name: "in", Op: retrieve.Equal, Value: ipld.BoolValue(true)}}
		byID.Exclude = out
		want, got := m.ask(t, byWhere), m.ask(t, byID)
		want.Request, got.Request = retrieve.Request{}, retrieve.Request{}
		if d := diff(want, got); d != "" {
			t.Fatal(d)
		}
	}
}

func TestUnresolved(t *testing.T) {
	m := library()
	for param, req := range map[string]retrieve.Request{
		"exclude": {Exclusions: retrieve.Exclusions{ExcludeNames: []string{"alice"}}},
		"unseen":  {Exclusions: retrieve.Exclusions{Unseen: true}},
	} {
		_, err := Runner{}.Run(t.Context(), m, m, testCommit, req)
		var re *retrieve.RequestError
		if !errors.As(err, &re) || re.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
}

func TestLambda(t *testing.T) {
	for x, want := range map[float64]int{0: 0, 1: 65_536, 0.5: 32_768, 0.7: 45_875,
		1.0 / 131_072: 0, 3.0 / 131_072: 2} {
		if got, ok := retrieve.Lambda(x); !ok || got != want {
			t.Errorf("%v: %d, want %d", x, got, want)
		}
	}
	for _, x := range []float64{-0.1, 1.0000001, math.NaN(), math.Inf(1)} {
		if got, ok := retrieve.Lambda(x); ok {
			t.Errorf("%v: %d", x, got)
		}
	}
}

// note returns a node of the given text, which is no more than one.
func note(i int, text string) graph.Node {
	return graph.Node{ID: num(i), Type: "Note", Summary: text, Created: graph.Time(i)}
}

// noteWords make texts; some repeat others.
var noteWords = strings.Fields("web shop opens at dawn and closes late when not Alice Bob 7 or 8 says so")

// notes is a memory of texts; many repeat others.
func notes(pick func(n int) int, count int) *memory {
	m := newMemory()
	for i := range count {
		words := append([]string{}, noteWords...)
		for range pick(4) {
			words[pick(len(words))] = noteWords[pick(len(noteWords))]
		}
		n := note(i, strings.Join(words, " "))
		n.Type = []string{"Note", "Task"}[pick(8)/7]
		m.add(n)
	}
	return m
}

// TestDedupOracle compares --dedup with a naive walk over all candidates, and runs it again without
// what it dropped: then nothing is dropped any more.
func TestDedupOracle(t *testing.T) {
	rng := seeded(t)
	dropped := 0
	for range 30 {
		m := notes(rng.IntN, 50)
		req := retrieve.Request{Text: "web shop", Limit: new(0), Budget: new(0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}}
		all := m.ask(t, req)
		r := &request{g: m}
		var kept, out []graph.ID
		var said []*features
		for _, item := range all.Items {
			p, err := r.features(t.Context(), m.nodes[item.ID], nil)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(said, p.repeats) {
				out = append(out, item.ID)
				continue
			}
			kept, said = append(kept, item.ID), append(said, p)
		}
		req.Dedup = true
		got := m.ask(t, req)
		if d := diff(kept, ids(got)); d != "" {
			t.Fatal(d)
		}
		checkDropped(t, got, out)
		dropped += len(out)
		req.Exclude = out
		if again := m.ask(t, req); again.Dropped != 0 || diff(ids(got), ids(again)) != "" {
			t.Fatalf("again: %d dropped", again.Dropped)
		}
	}
	if dropped == 0 {
		t.Error("no case had a duplicate")
	}
}

func checkDropped(t *testing.T, a *retrieve.Answer, want []graph.ID) {
	t.Helper()
	if a.Dropped != len(want) || len(a.DroppedItems) != len(want) {
		t.Fatalf("%d dropped, %d named, want %d", a.Dropped, len(a.DroppedItems), len(want))
	}
	for i, d := range a.DroppedItems {
		if d.ID != want[i] || d.Reason != retrieve.ReasonDuplicate || d.Tokens == 0 ||
			!slices.Contains(ids(a), d.Repeats) {
			t.Fatalf("dropped %+v, want %s", d, want[i])
		}
	}
}
