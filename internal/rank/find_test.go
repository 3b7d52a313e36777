package rank_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

func TestFind(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"alice","type":"Person","summary":"Alice leads infra"}}
{"node":{"key":"bob","type":"Person","summary":"Bob"}}
{"node":{"key":"n1","type":"fact","summary":"Bob sells anchors to customers abroad"}}
{"node":{"key":"n2","type":"fact","summary":"Bob paints anchors"}}
{"node":{"key":"n3","type":"fact","summary":"The pier was closed in winter"}}
{"node":{"key":"n4","type":"fact","summary":"The pier was closed in winter"}}
{"node":{"key":"n5","type":"fact","summary":"Kelp grows under the old pier of Varna"}}
{"node":{"key":"n6","type":"fact","summary":"海鮮市場明天開門"}}
{"mark":{"node":"n5","state":"forgotten"}}
`)
	s := repokit.Head(t, r)
	seen := func(m *graph.Mark) bool { return m == nil || !m.State.Hides() }
	for _, c := range []struct{ name, want string }{ // a key, or a part of the error
		{"alice", "alice"}, {"key:bob", "bob"}, {graph.NodeID("n1").String(), "n1"},
		{"Alice leads infra", "alice"}, {" Alice leads infra ", "alice"}, {"Bob", "bob"},
		{"infra leads", "alice"}, {"anchors customers", "n1"}, {"anchors Bob", "fits 2 nodes"},
		{"The pier was closed in winter", "fits 2 nodes"}, {"kelp varna", `no node "kelp varna"`},
		{"anchors", `no node "anchors"`}, {"key:Bob sells", "no node"}, {"id:Bob sells", "no node"},
		{"鮮市場明", "n6"}, {"whales sing", "no node"}, {"", "no node"}, {"?! ", "no node"},
	} {
		id, err := rank.Find(t.Context(), s, c.name, seen)
		if err != nil {
			must.Check(t, strings.Contains(err.Error(), c.want), "%q: %v, want %s", c.name, err, c.want)
		} else if id != graph.NodeID(c.want) {
			t.Errorf("%q: %s, want %s", c.name, id, c.want)
		}
	}
	var unsure *rank.UnsureError
	_, err := rank.Find(t.Context(), s, "anchors Bob", seen)
	must.Require(t, errors.As(err, &unsure) && errors.Is(err, state.ErrInvalid) && len(unsure.Candidates) == 2,
		"error %v", err)
	for _, c := range unsure.Candidates {
		must.Check(t, len(c.ID) == 8 && strings.Contains(c.Title, "anchors"), "candidate %+v", c)
		id := must.Get(s.Name(t.Context(), c.ID))(t)
		must.Check(t, !id.IsZero(), "candidate %+v", c)
	}
	var missing *state.NotFoundError
	if _, err = rank.Find(t.Context(), s, "anchors", seen); !errors.As(err, &missing) ||
		len(missing.Candidates) != 2 {
		t.Errorf("error %+v", err)
	}
	all := func(*graph.Mark) bool { return true }
	if id, err := rank.Find(t.Context(), s, "kelp varna", all); err != nil || id != graph.NodeID("n5") {
		t.Errorf("a hidden node that is let through: %s, %v", id, err)
	}
}

// TestFindMany checks that an exact title is found among very many nodes with its words, and that the error names a few
// of these.
func TestFindMany(t *testing.T) {
	r := repokit.OpenMem(t)
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"fact","summary":"Harbour note %d"}}`+"\n", i, i)
	}
	b.WriteString(`{"node":{"key":"x","type":"fact","summary":"Harbour note"}}` + "\n")
	repokit.Lines(t, r, b.String())
	s := repokit.Head(t, r)
	all := func(*graph.Mark) bool { return true }
	must.Equal(t, must.Get(rank.Find(t.Context(), s, "Harbour note", all))(t), graph.NodeID("x"))
	var unsure *rank.UnsureError
	if _, err := rank.Find(t.Context(), s, "note harbour", all); !errors.As(err, &unsure) || !unsure.Many ||
		len(unsure.Candidates) != 8 || unsure.Error() != `"note harbour" fits more than 256 nodes` {
		t.Errorf("error %v", err)
	}
}

// TestFindTellsNoCredential: candidates whose texts hold a credential have no title.
func TestFindTellsNoCredential(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"n1","type":"fact","summary":"deploy on Monday"}}`+"\n"+
		`{"node":{"key":"n2","type":"fact","summary":"deploy with password=hunt`+`er22Zq8Lk93xT"}}`)
	var missing *state.NotFoundError
	_, err := rank.Find(t.Context(), repokit.Head(t, r), "deploy", func(*graph.Mark) bool { return true })
	must.Require(t, errors.As(err, &missing) && len(missing.Candidates) == 2, "error %v", err)
	titles := map[string]bool{}
	for _, c := range missing.Candidates {
		titles[c.Title] = true
	}
	must.Check(t, titles[""] && titles["deploy on Monday"], "candidates %+v", missing.Candidates)
}
