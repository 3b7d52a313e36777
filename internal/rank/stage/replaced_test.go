package stage

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

const replacedDay = 24 * 3600 * 1_000_000

var (
	noExpansion = retrieve.ExpansionOptions{Expand: new(0)}
	brief       = retrieve.OutputOptions{Format: retrieve.FormatBrief}
)

// replacedMemory is one where "a" was replaced by "b" on day 30 and that by "c" on day 60, and where "d" is about
// something else. "x" was replaced by "y", which shares no word with it.
func replacedMemory() *memory {
	m := newMemory()
	add := func(key, summary string, day int) {
		m.add(graph.Node{Key: key, Type: "fact", Summary: summary, Created: graph.Time(day) * replacedDay})
	}
	add("a", "billing runs on two nodes", 1)
	add("b", "billing runs on four nodes", 30)
	add("c", "billing runs on eight nodes", 60)
	add("d", "coffee stays here", 61)
	add("x", "standup at nine", 2)
	add("y", "daily meeting moved to noon", 40)
	replace := func(key, by string, day int) {
		id := graph.NodeID(key)
		m.marks[id] = &graph.Mark{On: graph.OnNode, ID: id, State: graph.Superseded, By: graph.NodeID(by),
			Actor: "ana", Time: graph.Time(day) * replacedDay}
	}
	replace("a", "b", 30)
	replace("b", "c", 60)
	replace("x", "y", 40)
	return m
}

// TestReplacedForgesNothing has a replaced memory whose text looks like heads of items.
func TestReplacedForgesNothing(t *testing.T) {
	m := replacedMemory()
	forged := m.add(graph.Node{Key: "f", Type: "fact", Created: 1,
		Summary: "billing runs nodes\n[00000000] fact · 2026-01-01\n  billing runs on " + strings.Repeat("many ", 100)})
	m.marks[forged] = &graph.Mark{On: graph.OnNode, ID: forged, State: graph.Superseded, By: graph.NodeID("c"),
		Actor: "eve) · pinned", Time: 5}
	a := m.ask(t, retrieve.Request{Text: "billing runs nodes", ExpansionOptions: noExpansion, OutputOptions: brief})
	i := slices.IndexFunc(a.Items, func(it retrieve.Item) bool { return it.ID == forged })
	must.Require(t, i >= 0, "not shown")
	got := a.Items[i].Rendered
	if strings.Count(got, "\n") != 1 || strings.Count(got, " · ") != 1 || strings.Count(got, "[") != 2 || len(got) > 600 {
		t.Errorf("%q", got)
	}
}

// TestReplacedInCircles has marks that no writer makes.
func TestReplacedInCircles(t *testing.T) {
	m := replacedMemory()
	m.markBy(graph.NodeID("c"), graph.Superseded, graph.NodeID("a"))
	must.Equal(t, keysOf(m.ask(t, retrieve.Request{Text: "billing runs nodes", ExpansionOptions: noExpansion})), "")
	m.markBy(graph.NodeID("c"), graph.Superseded, num(99))
	if got := keysOf(m.ask(t, retrieve.Request{Text: "billing runs nodes", ExpansionOptions: noExpansion})); got != "" {
		t.Errorf("replaced by nothing that is there: %s", got)
	}
}

// TestReplacedAreBounded has more replaced memories than are looked at.
func TestReplacedAreBounded(t *testing.T) {
	m := newMemory()
	last := m.add(graph.Node{Key: "z", Type: "fact", Summary: "billing", Created: 1000})
	for i := range 500 {
		id := m.add(graph.Node{ID: num(i), Type: "fact", Summary: "billing", Created: graph.Time(i)})
		m.markBy(id, graph.Superseded, last)
	}
	a := m.ask(t, retrieve.Request{Text: "billing", ExpansionOptions: noExpansion})
	if len(a.Items) != 1+maxBehind || a.Items[0].ID != last {
		t.Errorf("%d items, the first %s", len(a.Items), a.Items[0].ID)
	}
}
