package stage

import (
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
