package retrieve

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
)

// termSet is the set of terms of a text.
func termSet(t *testing.T, s string) map[string]bool {
	analyser, err := text.New(Language)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, term := range analyser.Terms(s) {
		set[term] = true
	}
	return set
}

// likeness is the similarity of two texts in Q16 from sets of their terms.
func likeness(a, b map[string]bool) int64 {
	both, either := 0, len(b)
	for term := range a {
		if b[term] {
			both++
		} else {
			either++
		}
	}
	if either == 0 {
		return 0
	}
	return int64(both * 65_536 / either)
}

// naiveMMR orders items, which are all candidates by rank, as clause 11.4 says.
func naiveMMR(t *testing.T, m *memory, items []Item, lambda int64) []graph.ID {
	sets := map[graph.ID]map[string]bool{}
	for _, item := range items {
		sets[item.ID] = termSet(t, m.nodes[item.ID].Summary)
	}
	like := map[graph.ID]int64{} // the most to one in out
	window := slices.Clone(items[:min(100, len(items))])
	top := int64(0)
	var out []graph.ID
	pick := func(picked graph.ID) {
		out = append(out, picked)
		for id, set := range sets {
			like[id] = max(like[id], likeness(set, sets[picked]))
		}
	}
	for _, item := range window {
		if item.Tier == 0 {
			top = max(top, item.Score)
		} else {
			pick(item.ID)
		}
	}
	window = slices.DeleteFunc(window, func(i Item) bool { return i.Tier > 0 })
	for len(window) > 0 {
		best, value := 0, (*big.Int)(nil)
		for i, item := range window {
			rel := new(big.Int)
			if top > 0 {
				rel.Div(rel.Mul(big.NewInt(item.Score), big.NewInt(65_536)), big.NewInt(top))
			}
			v := rel.Mul(rel, big.NewInt(lambda))
			v.Sub(v, big.NewInt((65_536-lambda)*like[item.ID]))
			if value == nil || v.Cmp(value) > 0 {
				best, value = i, v
			}
		}
		pick(window[best].ID)
		window = slices.Delete(window, best, best+1)
	}
	for _, item := range items[min(100, len(items)):] {
		out = append(out, item.ID)
	}
	return out
}

func TestMMROracle(t *testing.T) {
	rng := seeded(t)
	moved := 0
	for range 20 {
		m := notes(rng.IntN, 70+rng.IntN(60))
		m.scores = map[graph.ID]int64{}
		for id := range m.nodes {
			m.scores[id] = 1 + rng.Int64N(1<<rng.IntN(53))
		}
		for i := range 3 {
			n := note(1000+i, "web closes "+strings.Repeat("late ", i))
			n.Key = "key" + string(rune('0'+i))
			m.add(n)
		}
		lambda := rng.IntN(65_537)
		req := Request{Text: []string{"web `key1`", "key2", "web", ""}[rng.IntN(4)],
			Limit: new(0), Budget: new(0), Expand: new(rng.IntN(2))}
		all := m.ask(t, req)
		req.MMR = &lambda
		got := m.ask(t, req)
		if d := diff(naiveMMR(t, m, all.Items, int64(lambda)), ids(got)); d != "" {
			t.Fatalf("%q, lambda %d: %s", req.Text, lambda, d)
		}
		if !slices.Equal(ids(all), ids(got)) {
			moved++
		}
		for i, item := range got.Items {
			if item.Rank != i+1 {
				t.Fatalf("item %d has rank %d", i, item.Rank)
			}
		}
		// A limit only cuts, and relevance alone is the order by rank.
		req.Limit = new(7)
		if short := ids(m.ask(t, req)); !slices.Equal(short, ids(got)[:len(short)]) {
			t.Fatal("a limit changes the order")
		}
		req.Limit, req.MMR = new(0), new(65_536)
		if d := diff(ids(all), ids(m.ask(t, req))); d != "" {
			t.Fatalf("lambda 1: %s", d)
		}
	}
	if moved == 0 {
		t.Error("no case moved an item")
	}
}
