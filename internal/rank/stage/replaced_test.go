package stage

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
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

func TestReplacedFollow(t *testing.T) {
	for _, c := range []struct {
		name string
		req  retrieve.Request
		want string
	}{
		{"behind what holds now, the last first", retrieve.Request{Text: "billing runs nodes"}, "cba"},
		{"left out", retrieve.Request{Text: "billing runs nodes", Current: true}, "c"},
		{"only if it matched", retrieve.Request{Text: "noon meeting"}, "y"},
		{"brings what holds now", retrieve.Request{Text: "standup nine"}, "yx"},
		{"no room", retrieve.Request{Text: "billing runs nodes", Limit: new(2)}, "cb"},
		{"the past in the order of time", retrieve.Request{Text: "how many nodes did billing run before"}, "abc"},
		{"another language", retrieve.Request{Text: "früher billing runs nodes"}, "abc"},
		{"what holds now is filtered", retrieve.Request{Text: "billing runs nodes", TimeFilter: retrieve.TimeFilter{CreatedTo: graph.At(50 * replacedDay)}}, ""},
		{"what was replaced is filtered", retrieve.Request{Text: "billing runs nodes", TimeFilter: retrieve.TimeFilter{CreatedFrom: graph.At(20 * replacedDay)}}, "cb"},
		{"excluded", retrieve.Request{Text: "billing runs nodes", Exclusions: retrieve.Exclusions{Exclude: []graph.ID{graph.NodeID("b")}}}, "ca"},
		{"let through as items of their own", retrieve.Request{Text: "billing runs nodes",
			Marks: []graph.State{graph.Superseded}, Current: true}, "cba"},
		{"the newest", retrieve.Request{}, "dcy"},
	} {
		c.req.Expand = new(0)
		a := replacedMemory().ask(t, c.req)
		got := keysOf(a)
		if len(c.req.Marks) > 0 { // in any order
			letters := strings.Split(got, "")
			slices.Sort(letters)
			slices.Reverse(letters)
			got = strings.Join(letters, "")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if err := receiptOf(a); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func receiptOf(a *retrieve.Answer) error {
	r, _ := a.Receipt()
	return r.Validate()
}

// TestReplacedIsSaid looks at how a replaced memory is shown.
func TestReplacedIsSaid(t *testing.T) {
	a := replacedMemory().ask(t, retrieve.Request{Text: "billing runs nodes", ExpansionOptions: noExpansion, OutputOptions: brief})
	if len(a.Items) != 3 {
		t.Fatalf("%d items", len(a.Items))
	}
	b, c := a.Items[1], a.Items[0]
	if c.Replaced != nil || b.Replaced == nil || b.Replaced.By != c.ID || b.Replaced.Actor != "ana" || b.Band != c.Band {
		t.Errorf("%+v after %+v", b, c)
	}
	line := "] fact · replaced 1970-03-02 by [" + c.ID.String()[:8] + "] (ana): billing runs on four nodes\n"
	if !strings.HasSuffix(b.Rendered, line) || strings.Count(b.Rendered, "\n") != 1 {
		t.Errorf("%q, want one line that ends with %q", b.Rendered, line)
	}
	past := replacedMemory().ask(t, retrieve.Request{Text: "billing nodes before", ExpansionOptions: noExpansion, OutputOptions: brief})
	if len(past.Items) == 0 || !strings.Contains(past.Items[0].Rendered, "(ana)\n  billing runs on two nodes\n") {
		t.Errorf("%+v", past.Items)
	}
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
	if i < 0 {
		t.Fatal("not shown")
	}
	got := a.Items[i].Rendered
	if strings.Count(got, "\n") != 1 || strings.Count(got, " · ") != 1 || strings.Count(got, "[") != 2 || len(got) > 600 {
		t.Errorf("%q", got)
	}
}

// TestReplacedIsNeverKnown asks for what only a replaced memory says.
func TestReplacedIsNeverKnown(t *testing.T) {
	a := replacedMemory().ask(t, retrieve.Request{Text: "standup nine", ExpansionOptions: noExpansion})
	if a.Verdict == retrieve.Known {
		t.Errorf("%s: %s", a.Verdict, a.Because)
	}
}

// TestReplacedInCircles has marks that no writer makes.
func TestReplacedInCircles(t *testing.T) {
	m := replacedMemory()
	m.markBy(graph.NodeID("c"), graph.Superseded, graph.NodeID("a"))
	if got := keysOf(m.ask(t, retrieve.Request{Text: "billing runs nodes", ExpansionOptions: noExpansion})); got != "" {
		t.Errorf("%s", got)
	}
	m.markBy(graph.NodeID("c"), graph.Superseded, num(99))
	if got := keysOf(m.ask(t, retrieve.Request{Text: "billing runs nodes", ExpansionOptions: noExpansion})); got != "" {
		t.Errorf("replaced by nothing that is there: %s", got)
	}
}

// TestReplacedAtItsTime asks about times when a memory held, and when it did not.
func TestReplacedAtItsTime(t *testing.T) {
	now := graph.At(graph.Time(100) * replacedDay)
	for text, want := range map[string]string{
		"billing runs nodes in January 1970":    "abc",
		"billing runs nodes since January 1970": "abc",
		"billing runs nodes in April 1970":      "cba",
	} {
		got := keysOf(replacedMemory().ask(t, retrieve.Request{Text: text, Now: now, ExpansionOptions: noExpansion}))
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
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
