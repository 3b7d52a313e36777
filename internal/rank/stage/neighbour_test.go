package stage

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// failureDays is a memory of what was written in the days about a failure.
func failureDays() evenMemory {
	m := says()
	for i, at := range []graph.Time{10, 9, 11, 8, 12, 10} { // days
		s := "nothing alike"
		if i == 0 {
			s = "a failure"
		}
		m.add(graph.Node{ID: num(i), Summary: s, Created: at * dayLength})
	}
	return m
}

// TestNeighbours puts what was written right before and right after the best item behind it, in its band.
func TestNeighbours(t *testing.T) {
	const both = "0 answer, 1 answer, 2 answer"
	for name, c := range map[string]struct {
		change func(m evenMemory)
		req    retrieve.Request
		want   string
	}{
		"both":    {nil, retrieve.Request{}, both},
		"alone":   {nil, retrieve.Request{Floor: retrieve.FloorAnswer}, both},
		"plain":   {nil, retrieve.Request{Ranking: retrieve.PlainRanking}, "0 "},
		"general": {nil, retrieve.Request{Intent: retrieve.IntentGeneral}, "0 answer"},
		"limit":   {nil, retrieve.Request{Limit: new(2)}, "0 answer, 1 answer"},
		"filtered": {nil, retrieve.Request{Exclusions: retrieve.Exclusions{Exclude: []graph.ID{num(1), num(2)}}},
			"0 answer, 3 answer, 4 answer"},
		"none before": {nil, retrieve.Request{TimeFilter: retrieve.TimeFilter{CreatedFrom: graph.At(10 * dayLength)}},
			"2 answer, 0 answer"},
		"before, clearly nearer": {func(m evenMemory) {
			m.nodes[num(1)].Created, m.nodes[num(2)].Created = 10*dayLength-dayLength/4*3, 11*dayLength
		}, retrieve.Request{}, "1 answer, 0 answer, 2 answer"},
		"before, hardly nearer": {func(m evenMemory) {
			m.nodes[num(1)].Created, m.nodes[num(2)].Created = 10*dayLength-dayLength/4*3-1, 11*dayLength
		}, retrieve.Request{}, both},
		"a turn": {func(m evenMemory) {
			for i := range m.nodes {
				m.nodes[i].Type = "Turn"
			}
			m.nodes[num(1)].Created, m.nodes[num(2)].Created = 9*dayLength, 10*dayLength+1
		}, retrieve.Request{}, "0 answer, 2 answer, 1 answer"},
		"after, clearly nearer, and explained": {func(m evenMemory) {
			m.nodes[num(0)].Summary += " because of rain"
			m.nodes[num(1)].Created, m.nodes[num(2)].Created = 9*dayLength, 10*dayLength+1
		}, retrieve.Request{}, "0 answer, 2 answer, 1 answer"},
		"a week": {func(m evenMemory) {
			m.nodes[num(1)].Created, m.nodes[num(3)].Created = 3*dayLength, 2*dayLength
		}, retrieve.Request{}, "2 answer, 0 answer, 1 answer"},
		"above a week": {func(m evenMemory) {
			m.nodes[num(1)].Created, m.nodes[num(3)].Created = 3*dayLength-1, 2*dayLength
		}, retrieve.Request{}, "2 answer, 0 answer"},
		"names are passed by": {func(m evenMemory) {
			m.add(graph.Node{Key: "entity/x", Type: "Entity", Summary: "x", Created: 10*dayLength - 1})
		}, retrieve.Request{}, both},
		"a name at the top": {func(m evenMemory) {
			m.add(graph.Node{Key: "entity/failure", Type: "Entity", Summary: "failure failure failure",
				Created: 30 * dayLength})
		}, retrieve.Request{}, both},
		"a candidate moves": {func(m evenMemory) {
			m.nodes[num(2)].Summary, m.nodes[num(3)].Summary = "its failure", "our failure"
			m.scores = map[graph.ID]int64{num(0): 9, num(3): 8, num(2): 7}
		}, retrieve.Request{}, both + ", 3 answer"},
		"of a maybe, as one": {func(m evenMemory) {
			m.nodes[num(4)].Summary = "a failure"
		}, retrieve.Request{Floor: retrieve.FloorRest}, "0 maybe, 1 maybe, 2 maybe, 4 maybe"},
	} {
		m := failureDays()
		if c.change != nil {
			c.change(m)
		}
		if c.req.Intent == "" {
			c.req.Intent = retrieve.IntentWhy
		}
		c.req.Text = "failure"
		if name == "of a maybe, as one" {
			c.req.Text += " zorb plim"
		}
		if got := m.bandsOf(t, c.req); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestNeighboursFew reads the nearest nodes alone to find one that is no name.
func TestNeighboursFew(t *testing.T) {
	for names, want := range map[int]bool{neighbourRead - 1: true, neighbourRead: false} {
		m := says()
		m.add(graph.Node{ID: num(0), Summary: "a failure", Created: dayLength})
		m.add(graph.Node{ID: num(1), Summary: "nothing alike", Created: 0})
		for i := range names {
			key := string(rune('a' + i))
			m.add(graph.Node{Key: "tag/" + key, Type: "Tag", Summary: key, Created: graph.Time(dayLength - 1 - i)})
		}
		a, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "failure", Intent: retrieve.IntentWhy,
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
		if err != nil || slices.Contains(ids(a), num(1)) != want {
			t.Errorf("%d names: %v, %v", names, order(a), err)
		}
	}
}
