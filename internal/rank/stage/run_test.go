package stage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
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
		must.Equal(t, diff(short.Items, long.Items[:len(short.Items)]), "")
		must.Require(t, len(short.Items) == 10 && len(long.Items) >= 10,
			"%d and %d items", len(short.Items), len(long.Items))
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
	must.Equal(t, diff(items, got.Items), "")
	must.Equal(t, diff(dropped, got.DroppedItems), "")
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
			must.Equal(t, diff(first, m.ask(t, req)), "")
		}
	}
}
