package memory

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestForgottenIsNotRetrieved asks in every way that could lead to a forgotten memory.
func TestForgottenIsNotRetrieved(t *testing.T) {
	r := memkit.Open(t, memkit.SecretLines...)
	secret := graph.NodeID("secret")
	requests := []retrieve.Request{{}}
	for _, text := range []string{"", "zanzibar quokka", "secret", secret.String(), "`secret`",
		secret.String()[:8], "harbour office", "office", "Zanzibar Quokka's xylitol"} {
		requests = append(requests,
			retrieve.Request{Text: text, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(4)},
				OutputOptions: retrieve.OutputOptions{Adjacency: 10, Show: []string{"key"}}},
			retrieve.Request{Text: text, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(2),
				Expansion: retrieve.PPR}},
			retrieve.Request{Text: text, Community: true},
			retrieve.Request{Text: text, Types: []string{"fact"},
				OutputOptions: retrieve.OutputOptions{Pack: retrieve.PackPassages}})
		if text != "" {
			requests = append(requests, retrieve.Request{Text: text, Intent: retrieve.IntentEntity})
		}
	}
	said := func(s *core.Snapshot) (found int) {
		for _, req := range requests {
			a := must.Get(rank.Retrieve(t.Context(), s, req))(t, req)
			text := ""
			for _, it := range a.Items {
				if it.ID == secret || it.Against == secret {
					found++
				}
				if it.Key != "a" { // which says its name itself
					text += it.Rendered
				}
			}
			for _, word := range []string{"Quokka is", "xylitol", "wombat"} {
				if strings.Contains(text, word) {
					found++
				}
			}
		}
		return found
	}
	must.Require(t, said(memkit.Tip(t, r)) != 0, "nothing finds it before")
	before := memkit.Tip(t, r).Graph()
	req := MarkRequest{State: graph.Forgotten, Nodes: []string{"secret"}, Reason: "no"}
	must.Get(Mark(t.Context(), r, memkit.Opt, req))(t)
	n := said(memkit.Tip(t, r))
	must.True(t, n <= 0, "%d answers have what is forgotten", n)
	memkit.Undo(t, r, before)
}

func TestMarkRequests(t *testing.T) {
	r := memkit.Open(t, `{"node":{"key":"x","type":"T"}}`, `{"node":{"key":"y","type":"T"}}`)
	before := memkit.Tip(t, r).CID()
	for _, req := range []MarkRequest{
		{}, {State: graph.Stale}, {State: "lost", Nodes: []string{"x"}},
		{State: graph.Superseded, Nodes: []string{"x"}}, {State: graph.Stale, Nodes: []string{"x"}, By: "y"},
		{State: graph.Superseded, Nodes: []string{"x"}, By: "x"},
		{State: graph.Stale, Nodes: []string{"x"}, Reason: strings.Repeat("x", graph.MaxReason+1)},
		{State: graph.Stale, Nodes: make([]string, MaxMarked+1)},
	} {
		_, err := Mark(t.Context(), r, memkit.Opt, req)
		must.True(t, errors.Is(err, state.ErrInvalid) || errors.Is(err, graph.ErrInvalid), "%.80v: %v", req, err)
	}
	_, err := Mark(t.Context(), r, memkit.Opt, MarkRequest{State: graph.Stale, Nodes: []string{"x", "w"}})
	must.True(t, IsMissing(err), "%v", err)
	must.Equal(t, memkit.Tip(t, r).CID(), before, "something was written")
}

// TestSettledByThird: of three the second stays contradicted by the third once the first is hidden,
// and undoing that gives the marks before it.
func TestSettledByThird(t *testing.T) {
	r := memkit.Open(t, `{"node":{"key":"x","type":"T"}}`, `{"node":{"key":"a","type":"T"}}`,
		`{"node":{"key":"b","type":"T"}}`)
	says := func(of, want string) {
		t.Helper()
		mark := must.Get(memkit.Tip(t, r).Mark(t.Context(), graph.OnNode, graph.NodeID(of)))(t)
		got := ""
		if mark != nil {
			got = string(mark.State) + " " + mark.Reason
			for _, by := range []string{"x", "a", "b"} {
				if mark.By == graph.NodeID(by) {
					got += " " + by
				}
			}
		}
		must.Equal(t, got, want, of)
	}
	mark := func(state graph.State, node, by, reason string) *MarkResult {
		t.Helper()
		res := must.Get(Mark(t.Context(), r, memkit.Opt, MarkRequest{State: state, Nodes: []string{node}, By: by,
			Reason: reason}))(t)
		return res
	}
	mark(graph.Contradicted, "a", "x", "first")
	mark(graph.Contradicted, "b", "a", "second")
	before := memkit.Tip(t, r).Graph()
	says("a", "contradicted first x")
	res := mark(graph.Forgotten, "x", "", "")
	says("a", "contradicted second b")
	says("b", "contradicted second a")
	must.True(t, len(res.Marked) == 1 && len(res.Unmarked) == 0, "%v %v", res.Marked, res.Unmarked)
	memkit.Undo(t, r, before)
	must.Get(Unmark(t.Context(), r, memkit.Opt, UnmarkRequest{Nodes: []string{"x"}}))(t)
	says("a", "contradicted second b")
	mark(graph.Retired, "b", "", "")
	says("a", "")
}

// TestRandomMarks undoes random verbs one after the other and comes out where it began.
func TestRandomMarks(t *testing.T) {
	effort.Alone(t)
	seed := rand.Uint64()
	t.Log("seed", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var lines []string
	for i := range 8 {
		lines = append(lines, fmt.Sprintf(`{"node":{"key":"n%d","type":"T","validTo":"2020-01-01"}}`, i))
	}
	r := memkit.Open(t, lines...)
	var graphs []ipld.CID
	name := func() string { return fmt.Sprintf("n%d", rng.IntN(8)) }
	for range 200 {
		before := memkit.Tip(t, r)
		var err error
		switch state := graph.States()[rng.IntN(len(graph.States()))]; {
		case rng.IntN(3) == 0:
			_, err = Unmark(t.Context(), r, memkit.Opt, UnmarkRequest{Nodes: []string{name(), name()}})
		case state == graph.Expired:
			_, err = Expire(t.Context(), r, memkit.Opt, ExpireRequest{Now: memkit.By.Time, Nodes: []string{name()}})
		case state == graph.Superseded, state == graph.Contradicted:
			_, err = Mark(t.Context(), r, memkit.Opt, MarkRequest{State: state, Nodes: []string{name()},
				By: name()})
		default:
			_, err = Mark(t.Context(), r, memkit.Opt, MarkRequest{State: state, Nodes: []string{name()}})
		}
		must.Require(t, err == nil || errors.Is(err, state.ErrInvalid), "%v", err)
		if memkit.Tip(t, r).CID() != before.CID() {
			graphs = append(graphs, before.Graph())
		}
		checkPairs(t, memkit.Tip(t, r))
	}
	must.Require(t, len(graphs) >= 20, "only %d commits", len(graphs))
	for _, before := range slices.Backward(graphs) {
		memkit.Undo(t, r, before)
	}
}

// checkPairs checks that no mark leads in a circle of what hides, and that nothing visible is
// contradicted by what is hidden where that one was contradicted by it.
func checkPairs(t testing.TB, s *core.Snapshot) {
	t.Helper()
	for id, err := range s.IDs(t.Context()) {
		must.OK(t, err)
		seen := map[graph.ID]bool{}
		for at := id; !seen[at]; {
			seen[at] = true
			m := must.Get(s.Mark(t.Context(), graph.OnNode, at))(t)
			if m == nil || m.State != graph.Superseded {
				break
			}
			at = m.By
			must.Require(t, !seen[at], "%s is superseded in a circle", at)
		}
	}
}

// TestStatesAreKnown: each state has a verb in messages and a weight.
func TestStatesAreKnown(t *testing.T) {
	for _, s := range graph.States() {
		k := said[s]
		must.True(t, k.verb != "" && k.weight != 0, "%s is called %q and weighs %d", s, k.verb, k.weight)
	}
	must.Equal(t, len(said), len(graph.States()), "states, of")
}
