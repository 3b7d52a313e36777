package stage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

var errBroken = errors.New("broken")

// library is a small memory with a bit of everything.
func library() *memory {
	m := newMemory()
	alice := m.add(graph.Node{Key: "alice", Type: "Person", Summary: "Alice leads infra", Created: 10})
	bob := m.add(graph.Node{Key: "bob", Type: "Person", Summary: "Bob leads web web", Created: 20})
	billing := m.add(graph.Node{Key: "svc/billing", Type: "Service", Summary: "Billing", Created: 30})
	web := m.add(graph.Node{Key: "svc/web", Type: "Service", Summary: "The web shop", Created: 40})
	m.link(alice, "owns", billing, 65_536)
	m.link(bob, "owns", web, 32_768)
	m.link(billing, "feeds", web, 65_536)
	return m
}

func TestRunText(t *testing.T) {
	a := library().ask(t, retrieve.Request{Text: "web", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
	want := []graph.ID{graph.NodeID("bob"), graph.NodeID("svc/web")}
	if diff := diff(want, ids(a)); diff != "" {
		t.Error(diff)
	}
	first := a.Items[0]
	if first.Score != 2 || first.Key != "bob" || first.Type != "Person" || first.Tier != 0 {
		t.Errorf("first item %+v", first)
	}
	lanes := []retrieve.LaneHit{{Lane: retrieve.LaneText, Rank: 1, Score: 2}}
	if diff := diff(lanes, first.Lanes); diff != "" {
		t.Error(diff)
	}
	used := a.Items[0].Tokens + a.Items[1].Tokens
	if a.TokensUsed != used || a.TokensBudget != retrieve.DefaultBudget || a.Candidates != 2 {
		t.Errorf("used %d of %d, %d candidates", a.TokensUsed, a.TokensBudget, a.Candidates)
	}
	if a.Commit != testCommit || a.Engine != retrieve.CurrentEngine() || len(a.Warnings) != 0 {
		t.Errorf("commit %v, engine %v, warnings %v", a.Commit, a.Engine, a.Warnings)
	}
}

func TestRunRecency(t *testing.T) {
	m := library()
	m.nodes[graph.NodeID("alice")].Updated = graph.At(35)
	for _, blank := range []string{"", " \t\r\n"} {
		a := m.ask(t, retrieve.Request{Text: blank, Limit: new(3)})
		want := []graph.ID{graph.NodeID("svc/web"), graph.NodeID("alice"),
			graph.NodeID("svc/billing")}
		if diff := diff(want, ids(a)); diff != "" {
			t.Error(diff)
		}
		if got := a.Items[1].Lanes; len(got) != 1 || got[0] != (retrieve.LaneHit{Lane: retrieve.LaneRecency, Rank: 2, Score: 35}) {
			t.Errorf("lanes %v", got)
		}
		if a.Candidates != 4 {
			t.Errorf("%d candidates, want 4", a.Candidates)
		}
	}
}

func TestExactComesFirst(t *testing.T) {
	m := library()
	m.add(graph.Node{Key: "web", Summary: "nothing of the kind", Created: 1})
	for _, expand := range []int{0, 1} {
		a := m.ask(t, retrieve.Request{Text: " web\n", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(expand)}})
		if a.Items[0].Key != "web" || a.Items[0].Tier != 2 {
			t.Errorf("expand %d: first item %+v", expand, a.Items[0])
		}
		wantScore := int64(0)
		if expand > 0 {
			wantScore = 65_536
		}
		if a.Items[0].Score != wantScore {
			t.Errorf("expand %d: score %d, want %d", expand, a.Items[0].Score, wantScore)
		}
		a = m.ask(t, retrieve.Request{Text: "who owns `svc/billing` of the web",
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(expand)}})
		if a.Items[0].Key != "svc/billing" || a.Items[0].Tier != 1 {
			t.Errorf("expand %d: first item %+v", expand, a.Items[0])
		}
	}
}

// TestLimitIsPrefix checks that a larger limit only adds at the end.
func TestLimitIsPrefix(t *testing.T) {
	rng := seeded(t)
	for range 20 {
		m := randomMemory(rng, 120, 200)
		req := retrieve.Request{Text: "a b", Limit: new(10), Budget: new(0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(rng.IntN(3))}}
		short := m.ask(t, req)
		req.Limit = new(40)
		long := m.ask(t, req)
		if diff := diff(short.Items, long.Items[:len(short.Items)]); diff != "" {
			t.Fatal(diff)
		}
		if len(short.Items) != 10 || len(long.Items) < 10 {
			t.Fatalf("%d and %d items", len(short.Items), len(long.Items))
		}
	}
}

// randomMemory has nodes with summaries of one or two words of a to d, some marks and edges.
func randomMemory(rng *rand.Rand, nodes, edges int) *memory {
	m := newMemory()
	m.shuffle = rng
	states := graph.States()
	for i := range nodes {
		n := graph.Node{
			ID:      num(i),
			Type:    []string{"A", "B"}[rng.IntN(2)],
			Summary: fmt.Sprintf("%c %c", 'a'+rng.IntN(4), 'a'+rng.IntN(4)),
			Created: graph.Time(rng.IntN(50)),
		}
		switch rng.IntN(6) {
		case 0:
			n.Summary = fmt.Sprintf("u%d", rng.IntN(9))
		case 1:
			text := fmt.Sprintf("u%d %s v u%d", rng.IntN(9), n.Summary, rng.IntN(9))
			n.Content = &graph.Content{Text: text, Size: int64(len(text))}
		}
		id := m.add(n)
		if rng.IntN(8) == 0 {
			m.mark(id, states[rng.IntN(len(states))])
		}
	}
	for range edges {
		e := m.link(num(rng.IntN(nodes)), string(rune('x'+rng.IntN(3))), num(rng.IntN(nodes)),
			1+rng.Int64N(65_536))
		if rng.IntN(8) == 0 {
			m.markEdge(e, states[rng.IntN(len(states))])
		}
	}
	return m
}

func TestBudget(t *testing.T) {
	rng := seeded(t)
	for range 30 {
		m := randomMemory(rng, 60, 60)
		budget := 1 + rng.IntN(400)
		req := retrieve.Request{Text: "a b c", Limit: new(0), Budget: new(0),
			OutputOptions: retrieve.OutputOptions{Adjacency: rng.IntN(4)}}
		all := m.ask(t, req)
		req.Budget = new(budget)
		got := m.ask(t, req)
		checkPacking(t, all, got, budget, 0)
		req.Limit = new(3)
		checkPacking(t, all, m.ask(t, req), budget, 3)
	}
}

// checkPacking packs all, an answer without limits, by hand and compares.
func checkPacking(t *testing.T, all, got *retrieve.Answer, budget, limit int) {
	t.Helper()
	used := 0
	var items []retrieve.Item
	var dropped []retrieve.DroppedItem
	for _, item := range all.Items {
		if limit > 0 && len(items) == limit {
			break
		}
		if used+item.Tokens > budget {
			dropped = append(dropped, retrieve.DroppedItem{
				ID: item.ID, Reason: retrieve.ReasonBudget, Tokens: item.Tokens,
			})
			continue
		}
		used += item.Tokens
		item.Rank = len(items) + 1
		items = append(items, item)
	}
	if diff := diff(items, got.Items); diff != "" {
		t.Fatal(diff)
	}
	if diff := diff(dropped, got.DroppedItems); diff != "" {
		t.Fatal(diff)
	}
	if got.TokensUsed != used || used > budget || got.Dropped != len(dropped) ||
		got.Candidates != all.Candidates {
		t.Fatalf("used %d of %d, want %d; dropped %d, want %d", got.TokensUsed, budget, used,
			got.Dropped, len(dropped))
	}
}

// TestDeterminism asks the same under disturbed orders and numbers of processors.
func TestDeterminism(t *testing.T) {
	rng := seeded(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for range 5 {
		m := randomMemory(rng, 200, 600)
		req := retrieve.Request{
			Text: "a d", Limit: new(50), Budget: new(1500), ExpansionOptions: retrieve.ExpansionOptions{Expand: new(2)},
			OutputOptions: retrieve.OutputOptions{Adjacency: 3},
		}
		first := m.ask(t, req)
		for i := range 10 {
			runtime.GOMAXPROCS(1 + i%4)
			if diff := diff(first, m.ask(t, req)); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

func TestExamined(t *testing.T) {
	m := newMemory()
	for i := range 1100 {
		m.add(graph.Node{ID: num(i), Summary: "a", Created: 1})
	}
	a := m.ask(t, retrieve.Request{Text: "a", Limit: new(0), Budget: new(0),
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
	if len(a.Items) != 1000 || a.Candidates != 1000 {
		t.Errorf("%d items, %d candidates; want 1000", len(a.Items), a.Candidates)
	}
	a = m.ask(t, retrieve.Request{Text: "a", Budget: new(1), ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
	if len(a.Items) != 0 || a.Dropped != 1000 || len(a.DroppedItems) != 1000 {
		t.Errorf("%d items, %d dropped", len(a.Items), a.Dropped)
	}
}

func TestErrorsComeBack(t *testing.T) {
	for _, method := range []string{"Node", "Mark", "Bucket", "IDPrefix", "Content", "Text",
		"TermScores", "Mentioned", "Mentioning"} {
		m := library()
		content, _, err := graph.SplitContent("the web", "")
		if err != nil {
			t.Fatal(err)
		}
		m.add(graph.Node{Key: "beef", Summary: "beef web", Content: content, Created: 1})
		m.failOn = method
		req := retrieve.Request{Text: "beef", OutputOptions: retrieve.OutputOptions{Adjacency: 1,
			Show: []string{retrieve.ShowContent}}}
		if a, err := Run(t.Context(), m, m, testCommit, req); !errors.Is(err, errBroken) || a != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	m := library()
	m.failOn = "Recency"
	if _, err := Run(t.Context(), m, m, testCommit, retrieve.Request{}); !errors.Is(err, errBroken) {
		t.Errorf("Recency: %v", err)
	}
	_, err := Run(context.Background(), m, m, testCommit,
		retrieve.Request{OutputOptions: retrieve.OutputOptions{Adjacency: -1}})
	if !errors.Is(err, retrieve.ErrRequest) {
		t.Errorf("bad request: %v", err)
	}
}

// TestMissingNode checks that a graph which lost a node is an error, never a shorter answer.
func TestMissingNode(t *testing.T) {
	m := library()
	m.link(graph.NodeID("alice"), "knows", num(7), 65_536)
	_, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "alice"})
	if !errors.Is(err, source.ErrNoNode) {
		t.Errorf("error %v, want ErrNoNode", err)
	}
}

func TestIDPrefix(t *testing.T) {
	m := newMemory()
	one := m.add(graph.Node{ID: graph.ID{0xab, 0xcd, 0xe0, 1}, Created: 1})
	two := m.add(graph.Node{ID: graph.ID{0xab, 0xcd, 0xf0, 2}, Created: 1})
	m.mark(two, graph.Forgotten)
	full := one.String()
	cases := []struct {
		text string
		want []graph.ID
	}{
		{full, []graph.ID{one}},
		{"abcde", []graph.ID{one}},
		{"abcde001", []graph.ID{one}},
		{"abcde001-", []graph.ID{one}},
		{"abcde0010000", []graph.ID{one}},
		{"abcde001-0000", []graph.ID{one}},
		{full[:36-13] + full[36-12:], []graph.ID{one}},
		{" abcde ", []graph.ID{one}},
		{"abcd", nil},   // of two nodes, one of them hidden
		{"abcdf", nil},  // hidden
		{"abc", nil},    // too short
		{"ABCDE", nil},  // upper case
		{"abcd-e", nil}, // hyphen at the wrong place
		{"abcde001--0", nil},
		{full + "0", nil},
		{"abcde x", nil},
	}
	for _, c := range cases {
		a := m.ask(t, retrieve.Request{Text: c.text})
		if got := ids(a); !slices.Equal(got, c.want) {
			t.Errorf("%q: found %v, want %v", c.text, got, c.want)
		}
		if len(a.Items) == 1 && a.Items[0].Tier != 2 {
			t.Errorf("%q: tier %d", c.text, a.Items[0].Tier)
		}
	}
}

func TestQuotedSpans(t *testing.T) {
	cases := []struct {
		text string
		want []string
	}{
		{`a "b c" d`, []string{"b c"}},
		{`"a" b "c"`, []string{"a", "c"}},
		{"`a``b`", []string{"a", "b"}},
		{"“a” “b”", []string{"a", "b"}},
		{"“a “b”", []string{"a “b"}},
		{"\"a `b` c\" `d`", []string{"a `b` c", "d"}},
		{"\"a\nb\" c \"d\"", []string{" c "}},
		{"`a\n`b`", []string{"b"}},
		{"`a\r`b`", []string{"b"}},
		{`"" "a"`, []string{"a"}},
		{`" "`, []string{" "}},
		{"“ `x`", []string{"x"}},
		{"” \"", nil},
		{"", nil},
	}
	for _, c := range cases {
		if got := quotedSpans(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
