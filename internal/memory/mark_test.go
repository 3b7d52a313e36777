package memory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

var lifeBy = state.Stamp{Author: "erin", Time: 1_767_323_045_000_000, Command: []string{"test"}}

// lifeMemory returns a memory of change lines.
func lifeMemory(t testing.TB, lines ...string) *Memory {
	t.Helper()
	r, err := care.New(t.Context(), mem.New(), lifeBy, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{Full: true})
		if err != nil || len(report.Errors) > 0 {
			t.Errorf("fsck: %v %+v", err, report)
		}
	})
	m := New(r)
	m.tell(t, lines...)
	return m
}

// tell commits change lines.
func (m *Memory) tell(t testing.TB, lines ...string) {
	t.Helper()
	changes := state.ReadChanges(strings.NewReader(strings.Join(lines, "\n")), "")
	if _, err := m.r.Commit(t.Context(), changes, core.CommitOptions{Stamp: lifeBy}); err != nil {
		t.Fatal(err)
	}
}

func lifeTip(t testing.TB, m *Memory) *core.Snapshot {
	t.Helper()
	s, err := m.head(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var lifeOpt = core.CommitOptions{Stamp: lifeBy}

// secretLines have one memory with words of its own, and everything that could lead to it.
var secretLines = []string{
	`{"node":{"key":"secret","type":"fact","summary":"Zanzibar Quokka",` +
		`"content":"The zanzibar quokka eats xylitol in the harbour office.","props":{"tags":["wombat"]}}}`,
	`{"node":{"key":"a","type":"fact","summary":"The harbour office opens at nine",` +
		`"content":"Ask for Zanzibar Quokka at the harbour office."}}`,
	`{"node":{"key":"b","type":"fact","summary":"The harbour office is closed on Sunday"}}`,
	`{"node":{"key":"tag/office","type":"Tag","summary":"office"}}`,
	`{"edge":{"type":"tagged","src":"secret","dst":"tag/office"}}`,
	`{"edge":{"type":"tagged","src":"a","dst":"tag/office"}}`,
	`{"edge":{"type":"tagged","src":"b","dst":"tag/office"}}`,
	`{"edge":{"type":"causes","src":"secret","dst":"a"}}`,
	`{"edge":{"type":"causes","src":"b","dst":"secret"}}`,
	`{"mark":{"node":"b","state":"contradicted","by":"secret"}}`,
}

// TestForgottenIsNotRetrieved asks in every way that could lead to a forgotten memory.
func TestForgottenIsNotRetrieved(t *testing.T) {
	m := lifeMemory(t, secretLines...)
	secret := graph.NodeID("secret")
	requests := []retrieve.Request{{}}
	for _, text := range []string{"", "zanzibar quokka", "secret", secret.String(), "`secret`",
		secret.String()[:8], "harbour office", "office", "Zanzibar Quokka's xylitol"} {
		requests = append(requests,
			retrieve.Request{Text: text, Expand: new(4), Adjacency: 10, Show: []string{"key"}},
			retrieve.Request{Text: text, Expand: new(2), ExpansionOptions: retrieve.ExpansionOptions{
				Expansion: retrieve.PPR}},
			retrieve.Request{Text: text, Community: true},
			retrieve.Request{Text: text, Types: []string{"fact"}, Pack: retrieve.PackPassages})
		if text != "" {
			requests = append(requests, retrieve.Request{Text: text, Intent: retrieve.IntentEntity})
		}
	}
	said := func(s *core.Snapshot) (found int) {
		for _, req := range requests {
			a, err := rank.Retrieve(t.Context(), s, req)
			if err != nil {
				t.Fatalf("%+v: %v", req, err)
			}
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
	if said(lifeTip(t, m)) == 0 {
		t.Fatal("nothing finds it before")
	}
	before := lifeTip(t, m).Graph()
	req := MarkRequest{State: graph.Forgotten, Nodes: []string{"secret"}, Reason: "no"}
	if _, err := m.Mark(t.Context(), lifeOpt, req); err != nil {
		t.Fatal(err)
	}
	if n := said(lifeTip(t, m)); n > 0 {
		t.Errorf("%d answers have what is forgotten", n)
	}
	undo(t, m, before)
}

// undo takes the newest operation back, after which the graph must be what it was.
func undo(t testing.TB, m *Memory, before ipld.CID) {
	t.Helper()
	if _, err := history.Undo(t.Context(), m.r, "", lifeBy); err != nil {
		t.Fatal(err)
	}
	if got := lifeTip(t, m).Graph(); got != before {
		t.Errorf("graph %v after undo, want %v", got, before)
	}
}

// TestMarksReplaceLess runs every verb on every state: what a mark says is only replaced by more.
func TestMarksReplaceLess(t *testing.T) {
	for _, old := range append([]graph.State{""}, graph.States()...) {
		for _, state := range graph.States() {
			m := lifeMemory(t, `{"node":{"key":"x","type":"T"}}`, `{"node":{"key":"y","type":"T"}}`,
				`{"node":{"key":"z","type":"T"}}`)
			by := func(s graph.State, name string) string {
				if s == graph.Superseded || s == graph.Contradicted {
					return name
				}
				return ""
			}
			set := func(s graph.State, name string) error {
				_, err := m.Mark(t.Context(), lifeOpt,
					MarkRequest{State: s, Nodes: []string{"x"}, By: by(s, name)})
				return err
			}
			if old != "" {
				if err := set(old, "y"); err != nil {
					t.Fatal(err)
				}
			}
			err := set(state, "y")
			var refused *StateError
			allowed := old == "" || old == state || weight(state) > weight(old)
			if allowed != (err == nil) || err != nil && !errors.As(err, &refused) {
				t.Errorf("%q to %q: %v", old, state, err)
			}
		}
	}
}

func TestMarkRequests(t *testing.T) {
	m := lifeMemory(t, `{"node":{"key":"x","type":"T"}}`, `{"node":{"key":"y","type":"T"}}`)
	before := lifeTip(t, m).CID()
	for _, req := range []MarkRequest{
		{}, {State: graph.Stale}, {State: "lost", Nodes: []string{"x"}},
		{State: graph.Superseded, Nodes: []string{"x"}}, {State: graph.Stale, Nodes: []string{"x"}, By: "y"},
		{State: graph.Superseded, Nodes: []string{"x"}, By: "x"},
		{State: graph.Stale, Nodes: []string{"x"}, Reason: strings.Repeat("x", graph.MaxReason+1)},
		{State: graph.Stale, Nodes: make([]string, MaxMarked+1)},
	} {
		_, err := m.Mark(t.Context(), lifeOpt, req)
		if !errors.Is(err, state.ErrInvalid) && !errors.Is(err, graph.ErrInvalid) {
			t.Errorf("%.80v: %v", req, err)
		}
	}
	_, err := m.Mark(t.Context(), lifeOpt, MarkRequest{State: graph.Stale, Nodes: []string{"x", "w"}})
	if !isMissing(err) {
		t.Error(err)
	}
	if lifeTip(t, m).CID() != before {
		t.Error("something was written")
	}
}

// TestSettledByThird: of three the second stays contradicted by the third once the first is hidden,
// and undoing that gives the marks before it.
func TestSettledByThird(t *testing.T) {
	m := lifeMemory(t, `{"node":{"key":"x","type":"T"}}`, `{"node":{"key":"a","type":"T"}}`,
		`{"node":{"key":"b","type":"T"}}`)
	says := func(of, want string) {
		t.Helper()
		mark, err := lifeTip(t, m).Mark(t.Context(), graph.OnNode, graph.NodeID(of))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if mark != nil {
			got = string(mark.State) + " " + mark.Reason
			for _, by := range []string{"x", "a", "b"} {
				if mark.By == graph.NodeID(by) {
					got += " " + by
				}
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", of, got, want)
		}
	}
	mark := func(state graph.State, node, by, reason string) *MarkResult {
		t.Helper()
		res, err := m.Mark(t.Context(), lifeOpt, MarkRequest{State: state, Nodes: []string{node}, By: by,
			Reason: reason})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	mark(graph.Contradicted, "a", "x", "first")
	mark(graph.Contradicted, "b", "a", "second")
	before := lifeTip(t, m).Graph()
	says("a", "contradicted first x")
	res := mark(graph.Forgotten, "x", "", "")
	says("a", "contradicted second b")
	says("b", "contradicted second a")
	if len(res.Marked) != 1 || len(res.Unmarked) != 0 {
		t.Errorf("%v %v", res.Marked, res.Unmarked)
	}
	undo(t, m, before)
	_, err := m.Unmark(t.Context(), lifeOpt, UnmarkRequest{Nodes: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
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
	m := lifeMemory(t, lines...)
	var graphs []ipld.CID
	name := func() string { return fmt.Sprintf("n%d", rng.IntN(8)) }
	for range 200 {
		before := lifeTip(t, m)
		var err error
		switch state := graph.States()[rng.IntN(6)]; {
		case rng.IntN(3) == 0:
			_, err = m.Unmark(t.Context(), lifeOpt, UnmarkRequest{Nodes: []string{name(), name()}})
		case state == graph.Expired:
			_, err = m.Expire(t.Context(), lifeOpt, ExpireRequest{Now: lifeBy.Time,
				Nodes: []string{name()}})
		case state == graph.Superseded, state == graph.Contradicted:
			_, err = m.Mark(t.Context(), lifeOpt, MarkRequest{State: state, Nodes: []string{name()},
				By: name()})
		default:
			_, err = m.Mark(t.Context(), lifeOpt, MarkRequest{State: state, Nodes: []string{name()}})
		}
		if err != nil && !errors.Is(err, state.ErrInvalid) {
			t.Fatal(err)
		}
		if lifeTip(t, m).CID() != before.CID() {
			graphs = append(graphs, before.Graph())
		}
		checkPairs(t, lifeTip(t, m))
	}
	if len(graphs) < 20 {
		t.Fatalf("only %d commits", len(graphs))
	}
	for _, before := range slices.Backward(graphs) {
		undo(t, m, before)
	}
}

// checkPairs checks that no mark leads in a circle of what hides, and that nothing visible is
// contradicted by what is hidden where that one was contradicted by it.
func checkPairs(t testing.TB, s *core.Snapshot) {
	t.Helper()
	for id, err := range s.IDs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		seen := map[graph.ID]bool{}
		for at := id; !seen[at]; {
			seen[at] = true
			m, err := s.Mark(t.Context(), graph.OnNode, at)
			if err != nil {
				t.Fatal(err)
			}
			if m == nil || m.State != graph.Superseded {
				break
			}
			if at = m.By; seen[at] {
				t.Fatalf("%s is superseded in a circle", at)
			}
		}
	}
}
