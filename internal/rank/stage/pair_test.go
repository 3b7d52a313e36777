package stage

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

func (m *memory) markBy(id graph.ID, s graph.State, by graph.ID) {
	m.marks[id] = &graph.Mark{On: graph.OnNode, ID: id, State: s, By: by, Actor: "tester"}
}

func keysOf(a *retrieve.Answer) (keys string) {
	for _, it := range a.Items {
		keys += it.Key
	}
	return keys
}

// TestContradictedOnce puts many into one ring: each is packed once.
func TestContradictedOnce(t *testing.T) {
	rng := seeded(t)
	for range 50 {
		m := randomMemory(rng, 40, 60)
		var all []graph.ID
		for id := range m.nodes {
			all = append(all, id)
		}
		slices.SortFunc(all, graph.ID.Compare)
		for _, id := range all {
			if rng.IntN(2) == 0 {
				m.markBy(id, graph.Contradicted, all[rng.IntN(len(all))])
			}
		}
		a := m.ask(t, retrieve.Request{Text: "a b", Limit: new(rng.IntN(20)), Budget: new(rng.IntN(2) * 500)})
		seen := map[graph.ID]bool{}
		for _, it := range a.Items {
			if seen[it.ID] {
				t.Fatalf("%s comes twice", it.ID)
			}
			seen[it.ID] = true
		}
		if rec, _ := a.Receipt(); rec.Validate() != nil {
			t.Fatal(rec.Validate())
		}
	}
}
