package stage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// unexpanded is a request that is ordered by words alone before the recall.
func unexpanded(text string, intent retrieve.Intent) retrieve.Request {
	return retrieve.Request{Text: text, Intent: intent,
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}, Limit: new(0), Budget: new(0)}
}

// TestRecallRaises compares recalls of random memories with retrieval: nothing that was found goes
// down in score or away, signals are shares, an answer of ten begins one of forty, and neither the
// order in which things were added nor that in which an index gives them matters.
func TestRecallRaises(t *testing.T) {
	rng := seeded(t)
	for range 40 {
		m, other := newMemory(), newMemory()
		randomLinks(rng, m, other)
		other.shuffle = rng
		req := unexpanded("alpha beta Ana Ng", retrieve.Intents()[rng.IntN(5)])
		req.Expand = new(rng.IntN(3))
		plain := req
		plain.Intent = ""
		before := map[graph.ID]int64{}
		for _, item := range m.ask(t, plain).Items {
			before[item.ID] = item.Score
		}
		a := m.ask(t, req)
		for _, item := range a.Items {
			must.Require(t, item.Score >= before[item.ID],
				"%s falls from %d to %d", item.ID, before[item.ID], item.Score)
			delete(before, item.ID)
			s := item.Recall.Signals
			for _, n := range []int64{s.Keyword, s.Entity, s.Similarity, s.Graph} {
				must.Require(t, n >= 0 && n <= 1<<16, "%s: signals %+v", item.ID, s)
			}
		}
		must.Require(t, len(before) <= 0, "%d nodes are gone", len(before))
		must.Equal(t, diff(a, other.ask(t, req)), "", "another order")
		req.Limit = new(3)
		must.Equal(t, diff(ids(a)[:min(3, len(a.Items))], ids(m.ask(t, req))), "", "the first three")
	}
}

// randomLinks fills two memories with the same in different orders.
func randomLinks(rng *rand.Rand, a, b *memory) {
	words := []string{"alpha", "beta", "gamma", "Ana Ng", "delta"}
	n := 12 + rng.IntN(20)
	var nodes []graph.Node
	for i := range n {
		nodes = append(nodes, graph.Node{ID: num(i), Created: graph.Time(1 + i),
			Summary: words[rng.IntN(5)] + " " + words[rng.IntN(5)]})
	}
	for _, node := range nodes {
		a.add(node)
	}
	slices.Reverse(nodes)
	for _, node := range nodes {
		b.add(node)
	}
	types := []string{"causes", "follows", "mentions", "similar", "owns"}
	for range 3 * n {
		from, to := num(rng.IntN(n)), num(rng.IntN(n))
		typ, weight := types[rng.IntN(5)], int64(1+rng.IntN(1<<16))
		a.link(from, typ, to, weight)
		b.link(from, typ, to, weight)
	}
	for range n / 8 {
		id := num(rng.IntN(n))
		a.mark(id, graph.Forgotten)
		b.mark(id, graph.Forgotten)
	}
}

// TestRecallWork bounds what a recall reads of a memory that is linked densely.
func TestRecallWork(t *testing.T) {
	buckets := func(n int) int {
		m := newMemory()
		for i := range n {
			m.add(graph.Node{ID: num(i), Summary: fmt.Sprintf("w%d", i%7), Created: 1})
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			for range 6 {
				m.link(num(i), "causes", num(rng.IntN(n)), 1<<16)
			}
		}
		m.ask(t, unexpanded("w1", ""))
		before := m.buckets
		a := m.ask(t, unexpanded("w1", retrieve.IntentWhy))
		must.Equal(t, a.Recall.Visited, 500, "nodes looked at")
		return m.buckets - before
	}
	// Two buckets of each node of five layers, one count of each node looked at and each anchor, and
	// the effects of fifty.
	const most = 2*15*5 + 500 + 5*15 + 50
	small, large := buckets(2000), buckets(20_000)
	must.True(t, small <= most && large <= most, "%d and %d buckets, want at most %d", small, large, most)
}

func analyser(t testing.TB) *text.Analyzer {
	t.Helper()
	return must.Get(text.New(retrieve.Language))(t)
}

// spell writes entities one after the other: words that need a capital have one.
func spell(list []*entity) string {
	var out []string
	for _, e := range list {
		var words []string
		for _, w := range e.words {
			if w.capital {
				w.token = "^" + w.token
			}
			words = append(words, w.token)
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, " | ")
}

// FuzzEntities looks for texts that break a bound, or whose entities the text itself has not.
func FuzzEntities(f *testing.F) {
	for _, s := range []string{"about C. S. Lewis", "\"a\u00adB\" x_y 1.2", "東京 \"ｶﾞｷﾞ\" ’s’s", "A'sB's \xffZ"} {
		f.Add(s)
	}
	a := analyser(f)
	f.Fuzz(func(t *testing.T, s string) {
		list := entitiesOf(a, s)
		must.Require(t, len(list) <= maxEntities, "%d entities", len(list))
		m := newMatcher(a)
		for _, e := range list {
			n := len(e.words)
			must.Require(t, n != 0 && n <= maxEntityWords && len(e.terms) != 0, "%+v", e)
			m.learn(e)
		}
		if got := m.in(s, list, 1<<len(list)-1); got != 1<<len(list)-1 &&
			!strings.ContainsAny(s, "\"`“") { // quoted, a word may be cut out of another
			t.Errorf("%b of %s", got, spell(list))
		}
	})
}

// TestEntitiesIn has names in each field of a node, and at the end of what counts of a content.
func TestEntitiesIn(t *testing.T) {
	a := analyser(t)
	list := entitiesOf(a, "about Ann Lee and INC-4711")
	m := newMatcher(a)
	for _, e := range list {
		m.learn(e)
	}
	const ticket, name = 1, 2
	const end = " Ann Lee"
	content := func(before int) *graph.Content {
		s := strings.Repeat("x", before) + end
		return &graph.Content{Text: s, Size: int64(len(s))}
	}
	texts := []ipld.Value{ipld.StringValue("inc_4711"), ipld.IntValue(4711), ipld.StringValue("Ann Lee")}
	for what, c := range map[string]struct {
		node graph.Node
		want uint32
	}{
		"no field":           {graph.Node{Summary: "x"}, 0},
		"summary":            {graph.Node{Summary: "the inc 4711: ANN LEE'S boat"}, ticket | name},
		"lower case":         {graph.Node{Summary: "the ann lee"}, 0},
		"another order":      {graph.Node{Summary: "Lee Ann, 4711 INC"}, 0},
		"halves":             {graph.Node{Summary: "Ann", Context: "Lee"}, 0},
		"context":            {graph.Node{Context: "Ann Lee"}, name},
		"type":               {graph.Node{Type: "Ann Lee"}, name},
		"property":           {graph.Node{Props: []ipld.Entry{{Key: "by", Value: ipld.StringValue("Ann Lee")}}}, name},
		"list":               {graph.Node{Props: []ipld.Entry{{Key: "of", Value: ipld.ListValue(texts...)}}}, ticket | name},
		"name of a property": {graph.Node{Props: []ipld.Entry{{Key: "Ann Lee", Value: ipld.IntValue(1)}}}, 0},
		"cue":                {graph.Node{Cues: []string{"x", "INC-4711"}}, ticket},
		"content":            {graph.Node{Summary: "INC-4711", Content: content(1)}, ticket | name},
		"content's end":      {graph.Node{Content: content(32_768 - len(end))}, name},
		"a byte later":       {graph.Node{Content: content(32_768 - len(end) + 1)}, 0},
	} {
		r := &request{g: newMemory()}
		must.Equal(t, must.Get(r.entitiesIn(t.Context(), m, &c.node, list))(t, what), c.want, what)
	}
	broken := newMemory()
	broken.failOn = "Content"
	r := &request{g: broken}
	must.Fail(t, must.Err(r.entitiesIn(t.Context(), m, &graph.Node{Content: content(1)}, list)), errBroken)
}
