package stage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
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
		e := m.link(num(rng.IntN(nodes)), string(rune('x'+rng.IntN(3))), num(rng.IntN(nodes)), 1+rng.Int64N(65_536))
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
	must.Equal(t, diff(items, got.Items), "")
	must.Equal(t, diff(dropped, got.DroppedItems), "")
	must.Require(t, got.TokensUsed == used && used <= budget && got.Dropped == len(dropped) &&
		got.Candidates == all.Candidates,
		"used %d of %d, want %d; dropped %d, want %d", got.TokensUsed, budget, used, got.Dropped, len(dropped))
}

// TestAnswersOutliveTheirRoom: what an answer has does not change as later retrievals work in the same memory.
func TestAnswersOutliveTheirRoom(t *testing.T) {
	m := newMemory()
	for i := range 40 {
		m.add(graph.Node{ID: num(i), Type: "T", Summary: fmt.Sprintf("alice w%d", i), Context: fmt.Sprintf("bob w%d", i%7)})
		if i > 0 {
			m.link(num(i), "e", num(i/2), 65_536)
		}
	}
	ask := func(text string) *retrieve.Answer {
		a, err := Runner{}.Run(t.Context(), m, m, testCommit, retrieve.Request{Text: text,
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(int)}}) // nothing else adds lanes
		must.Require(t, err == nil && len(a.Items) != 0 && len(a.Items[0].Lanes) != 0 && a.Items[0].Lanes[0].Rank == 1,
			"%q: %+v, %v", text, a, err)
		return a
	}
	first := ask("alice w3")
	was := fmt.Sprintf("%+v", first.Items)
	for i := range 20 {
		ask(fmt.Sprintf("bob w%d", i%7))
	}
	must.Equal(t, fmt.Sprintf("%+v", first.Items), was, "items were\n")
}

// graphIndex is both sources of a run.
type graphIndex interface {
	source.Graph
	source.Index
}

// grouped is a graph with communities, which it fails to find.
type grouped struct{ *memory }

func (m grouped) Community(context.Context, graph.ID) (*source.Community, error) {
	return nil, m.fail("Community")
}

// sparse is an index of sparse vectors, which it fails to search.
type sparse struct{ *memory }

func (m sparse) Sparse(context.Context, retrieve.SparseVector, source.Accept, int) (source.SparseResult, error) {
	return source.SparseResult{}, m.fail("Sparse")
}

// TestErrorsComeBack: a request that needs a method of the graph or the index fails with its error, and has no answer.
func TestErrorsComeBack(t *testing.T) {
	words := func(m evenMemory) (*memory, graphIndex) { return m.memory, m }
	plain := func(m *memory) (*memory, graphIndex) { return m, m }
	beef := func() (*memory, graphIndex) {
		m := library()
		m.add(graph.Node{Key: "beef", Summary: "beef web", Content: &graph.Content{Text: "the web", Size: 7}, Created: 1})
		return plain(m)
	}
	none := retrieve.ExpansionOptions{Expand: new(0)}
	for name, c := range map[string]struct {
		of      func() (*memory, graphIndex)
		req     retrieve.Request
		methods []string
	}{
		"text": {beef, retrieve.Request{Text: "beef", OutputOptions: retrieve.OutputOptions{Adjacency: 1,
			Show: []string{retrieve.ShowContent}}}, []string{"Node", "Mark", "Bucket", "IDPrefix", "Content", "Text",
			"TermScores", "Mentioned", "Mentioning"}},
		"newest": {beef, retrieve.Request{}, []string{"Recency"}},
		"a type": {beef, retrieve.Request{Text: "web", Types: []string{"X"}}, []string{"Recency"}},
		"decay": {beef, retrieve.Request{Text: "beef", ExpansionOptions: retrieve.ExpansionOptions{
			Expansion: retrieve.Decay}}, []string{"Bucket", "Mark", "Mentioned", "Mentioning"}},
		"page rank": {beef, retrieve.Request{Text: "beef", ExpansionOptions: retrieve.ExpansionOptions{
			Expansion: retrieve.PPR}}, []string{"Bucket", "Mark", "Mentioned", "Mentioning"}},
		"passages": {beef, retrieve.Request{Text: "beef", OutputOptions: retrieve.OutputOptions{
			Pack: retrieve.PackPassages}}, []string{"TermWeights", "Content"}},
		"brief": {beef, retrieve.Request{Text: "web ?", ExpansionOptions: none,
			OutputOptions: retrieve.OutputOptions{Format: retrieve.FormatBrief}}, []string{"IDPrefix"}},
		"without repeats": {beef, retrieve.Request{Text: "web", Dedup: true}, []string{"Content"}},
		"spelling":        {beef, retrieve.Request{Text: "webq"}, []string{"Readings"}},
		"communities": {func() (*memory, graphIndex) { m := library(); return m, grouped{m} },
			retrieve.Request{Text: "web", Community: true}, []string{"Community"}},
		"a date":       {beef, retrieve.Request{Text: "web in 2023"}, []string{"Times"}},
		"a date alone": {beef, retrieve.Request{Text: "in 2023"}, []string{"ByTime"}},
		"vectors": {func() (*memory, graphIndex) { return plain(shelf()) }, retrieve.Request{Vectors: vectorOf("m", 1, 0)},
			[]string{"Dense", "Embedding"}},
		"sparse vectors": {func() (*memory, graphIndex) { m := shelf(); return m, sparse{m} },
			retrieve.Request{Sparse: sparseOf("s", graph.Term{Term: "y", Weight: 1})}, []string{"Sparse"}},
		"a verdict": {func() (*memory, graphIndex) { return words(says("zorb plim", "zorb plim grak")) },
			retrieve.Request{Text: "zorb plim", ExpansionOptions: none},
			[]string{"Types", "TermWeights", "TermScores", "Counts", "IDFs", "Mark", "Node"}},
		"a reason": {func() (*memory, graphIndex) { return words(says("zorb", "plim")) },
			retrieve.Request{Text: "why zorb", Intent: retrieve.IntentWhy, ExpansionOptions: none},
			[]string{"Times", "ByTime", "Bucket", "Mark", "Node"}},
	} {
		for _, method := range c.methods {
			m, sources := c.of()
			m.failOn = method
			a, err := (Runner{}).Run(t.Context(), sources, sources, testCommit, ofAll(c.req))
			must.True(t, errors.Is(err, errBroken) && a == nil, "%s: %s fails: %v, %v", name, method, a, err)
		}
	}
	m := library()
	m.failOn = "Node"
	must.Fail(t, must.Err((Runner{}).Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "web",
		RerankOptions: retrieve.RerankOptions{Reranker: &judge{}}})), errBroken, "a reranker's texts")
	unseen := retrieve.Request{Exclusions: retrieve.Exclusions{Unseen: true}}
	must.Fail(t, must.Err(complete.ExcludeSeen(unseen, func(yield func(complete.Shown, error) bool) {
		yield(complete.Shown{}, errBroken)
	})), errBroken, "a session's records")
}

// TestMissingNode checks that a graph which lost a node is an error, never a shorter answer.
func TestMissingNode(t *testing.T) {
	m := library()
	m.link(graph.NodeID("alice"), "knows", num(7), 65_536)
	_, err := Runner{}.Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "alice"})
	must.Fail(t, err, source.ErrNoNode)
}

// TestIndexWithoutVectors: an index that keeps no vectors of a kind says so, and does not answer without them.
func TestIndexWithoutVectors(t *testing.T) {
	m := shelf()
	for _, req := range []retrieve.Request{
		{Vectors: vectorOf("m", 1)}, {Sparse: sparseOf("s", graph.Term{Term: "y", Weight: 1})},
	} {
		a, err := Runner{}.Run(t.Context(), m, struct{ source.Index }{m}, testCommit, req)
		must.True(t, err != nil && a == nil, "%+v: %v, %v", req, a, err)
	}
}

// brokenDocument fails to read its properties.
type brokenDocument struct{ source.Document }

func (brokenDocument) Prop(string) (ipld.Value, bool, error) {
	return ipld.Value{}, false, errBroken
}

func TestAcceptFails(t *testing.T) {
	n := &graph.Node{ID: num(1), Type: "A"}
	req := retrieve.Request{Where: []retrieve.Predicate{{Name: "p", Op: retrieve.Exists}}}
	f := source.NewFilter(newMemory(), &req)
	ok, err := f.Accept(t.Context())(brokenDocument{source.NodeDocument(n)})
	must.True(t, !ok && errors.Is(err, errBroken), "accepted %v, error %v", ok, err)
}

// TestHiddenStates checks every state, let through and not, in each place where marks count.
func TestHiddenStates(t *testing.T) {
	hidden := []graph.State{graph.Forgotten, graph.Superseded, graph.Expired, graph.Retired}
	for _, state := range graph.States() {
		must.Equal(t, state.Hides(), slices.Contains(hidden, state), state, ": hidden")
		for _, let := range []bool{false, true} {
			req := retrieve.Request{Limit: new(0), Budget: new(0), Floor: retrieve.FloorRest}
			if let && state.Hides() {
				req.Marks = []graph.State{state}
			}
			checkState(t, state, req, !state.Hides() || let)
		}
	}
}

// checkState marks one node and one edge and checks whether they are seen.
func checkState(t *testing.T, state graph.State, req retrieve.Request, want bool) {
	t.Helper()
	m := newMemory()
	marked := m.add(graph.Node{Key: "marked", Summary: "alpha", Created: 2})
	plain := m.add(graph.Node{Key: "plain", Summary: "beta", Created: 1})
	other := m.add(graph.Node{Key: "other", Summary: "gamma", Created: 0})
	m.mark(marked, state)
	m.link(plain, "beside", marked, 65_536)
	m.markEdge(m.link(plain, "far", other, 65_536), state)
	req.Adjacency = 5
	see := func(where, text string, id graph.ID, want bool) {
		t.Helper()
		req.Text = text
		must.Equal(t, slices.Contains(ids(m.ask(t, req)), id), want, state, " ", req.Marks, " in the ", where, ": seen")
	}
	see("recency lane", "", marked, want)
	see("text lane", "alpha", marked, want)
	see("exact look-up", "marked", marked, want)
	see("quoted look-up", "`marked`", marked, want)
	see("expansion to a node", "beta", marked, want)
	see("expansion over an edge", "beta", other, want)
	see("expansion of unmarked", "beta", plain, true)

	req.Expand = new(0)
	req.Text = "beta"
	a := m.ask(t, req)
	var links []graph.ID
	r := &request{g: m, req: req.Resolve()}
	r.filter = source.NewFilter(m, &r.req)
	shown, more, err := r.visible(t.Context(), plain, retrieve.Out)
	must.OK(t, err, "more")
	must.Equal(t, more, 0, "more")
	for _, l := range shown {
		links = append(links, l.Other)
	}
	must.True(t, len(a.Items) == 1 && slices.Contains(links, marked) == want && slices.Contains(links, other) == want,
		"%s %v: shows edges to %v, want %v", state, req.Marks, links, want)
}

// TestFilterInsideLane has more refused documents than a lane is deep.
func TestFilterInsideLane(t *testing.T) {
	m := newMemory()
	for i := range 1500 {
		m.add(graph.Node{ID: num(i), Type: "Noise", Summary: "a a", Created: 100})
	}
	last := m.add(graph.Node{ID: num(5000), Type: "Rare", Summary: "a", Created: 1})
	for _, text := range []string{"a", ""} {
		a := m.ask(t, retrieve.Request{Text: text, Types: []string{"Rare"}})
		must.Equal(t, diff([]graph.ID{last}, ids(a)), "", text)
	}
}

// TestEnough holds that counting no further than is enough decides as counting all does.
func TestEnough(t *testing.T) {
	for _, s := range []string{
		"out.t exists", "out.t !exists", "out.t = 0", "out.t = 3", "out.t != 3", "out.t = 2.5", "out.t < 0",
		"out.t < 4", "out.t <= 2.5", "out.t > -1", "out.t > 3", "out.t >= 3.5", "out.t in []",
		"out.t in [0,2,5]", "out.t in [1.0]", "out.t < 1e300", "out.t > 1e300",
	} {
		p := must.Get(retrieve.ParsePredicate(s))(t)
		for n := range 12 {
			if got, want := p.HoldsFor(min(n, p.Enough())), p.HoldsFor(n); got != want {
				t.Errorf("%s of %d edges: %v, of %d %v", s, n, want, p.Enough(), got)
			}
		}
	}
}

// TestCountEdges counts more edges than are read at once; marks hide some.
func TestCountEdges(t *testing.T) {
	m := newMemory()
	hub := m.add(graph.Node{Key: "hub", Type: "T"})
	want := 0
	for i := range 3*source.EdgePage + 7 {
		other := m.add(graph.Node{Key: fmt.Sprint("n", i), Type: "T"})
		edge := m.link(hub, "t", other, 1)
		switch i % 5 {
		case 0:
			m.markEdge(edge, graph.Forgotten)
		case 1:
			m.mark(other, graph.Retired)
		case 2:
			m.mark(other, graph.Stale)
			want++
		default:
			want++
		}
	}
	p := retrieve.Predicate{Name: "t", Op: retrieve.Exists, Edges: retrieve.Out}
	for _, c := range []struct {
		req  retrieve.Request
		most int64
		want int
	}{
		{retrieve.Request{}, 1 << 20, want}, {retrieve.Request{}, 3, 4}, {retrieve.Request{}, 300, 301},
		{retrieve.Request{Marks: []graph.State{graph.Forgotten, graph.Retired}}, 1 << 20, 3*source.EdgePage + 7},
	} {
		p.Op, p.Value = retrieve.GreaterEqual, ipld.IntValue(c.most)
		f := source.NewFilter(m, &c.req)
		got := must.Get(f.CountEdges(t.Context(), hub, p))(t)
		must.True(t, got == c.want, "%d of %v at most %d", got, c.req.Marks, c.most)
	}
	p.Edges = retrieve.In
	f := source.NewFilter(m, &retrieve.Request{})
	must.Equal(t, must.Get(f.CountEdges(t.Context(), hub, p))(t), 0, "edges to it")
	m.failOn = "Bucket"
	must.Fail(t, must.Err(f.CountEdges(t.Context(), hub, p)), errBroken)
}
