package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/view/community"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// groupedMemory is a memory that knows its communities.
type groupedMemory struct{ *memory }

func (m groupedMemory) Community(ctx context.Context, id graph.ID) (*source.Community, error) {
	if err := m.fail("Community"); err != nil {
		return nil, err
	}
	p, err := community.Find(ctx, func(yield func(community.Edge, error) bool) {
		for src, links := range m.out {
			for _, l := range links {
				if !yield(community.Edge{Src: src, Dst: l.Other, Weight: uint32(l.Weight)}, nil) {
					return
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	number, ok := p.Of(id)
	if !ok {
		return nil, nil
	}
	return &source.Community{Number: number, Members: p.Members(number)}, nil
}

func (m groupedMemory) ask(t testing.TB, req retrieve.Request) *retrieve.Answer {
	t.Helper()
	a, err := Run(t.Context(), m, m.memory, testCommit, ofAll(req))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// crew is a memory of cliques of the given sizes. Node 10c+i is number i of clique c; the first of
// each says its number as a word.
func crew(sizes ...int) groupedMemory {
	m := newMemory()
	for c, size := range sizes {
		for i := range size {
			n := graph.Node{ID: num(10*c + i), Created: 1}
			if i == 0 {
				n.Summary = strings.Repeat("boat ", len(sizes)-c) + fmt.Sprint("crew", c)
			}
			m.add(n)
			for j := range i {
				m.link(num(10*c+j), "knows", num(10*c+i), 1<<16)
			}
		}
	}
	return groupedMemory{m}
}

func TestCommunityJoins(t *testing.T) {
	m := crew(4, 3, 3, 3)
	none := 0
	m.scores = map[graph.ID]int64{num(0): 400, num(10): 300, num(20): 200, num(30): 100}
	// Four seeds, and of the best three communities 3, 2 and 2 others: 400/4, 400/5, 400/6; 300/4 …
	want := map[graph.ID]int64{
		num(0): 400, num(10): 300, num(20): 200, num(30): 100,
		num(1): 100, num(2): 80, num(3): 66, num(11): 75, num(12): 60, num(21): 50, num(22): 40,
	}
	a := m.ask(t, retrieve.Request{Text: "boat", ExpansionOptions: retrieve.ExpansionOptions{Expand: &none},
		Community: true, Limit: new(0)})
	got := map[graph.ID]int64{}
	for i, it := range a.Items {
		got[it.ID] = it.Score
		if i > 0 && (it.Score > a.Items[i-1].Score) {
			t.Errorf("item %d is out of order", i)
		}
		seed := it.ID == num(0) || it.ID == num(10) || it.ID == num(20)
		if seed == (it.Community != nil) && it.ID != num(30) {
			t.Errorf("%s: community %+v", it.ID, it.Community)
		}
		if c := it.Community; c != nil && (c.Size < 3 || c.Seed != num(seedOf(c, it.ID))) {
			t.Errorf("%s: community %+v", it.ID, c)
		}
	}
	if d := diff(want, got); d != "" {
		t.Error(d)
	}
	if a.Candidates != len(want) || len(a.Warnings) != 0 {
		t.Errorf("%d candidates, warnings %v", a.Candidates, codes(a))
	}
	if off := m.ask(t, retrieve.Request{Text: "boat", ExpansionOptions: retrieve.ExpansionOptions{Expand: &none},
		Limit: new(0)}); len(off.Items) != 4 {
		t.Errorf("%d items without communities", len(off.Items))
	}
}

// seedOf is the number of the seed of a node of crew.
func seedOf(c *retrieve.Membership, id graph.ID) int {
	n := int(id[7]) - 1
	return n / 10 * 10
}

func TestCommunityRaises(t *testing.T) {
	m := crew(4, 3)
	for _, n := range []int{1, 2} {
		m.nodes[num(n)].Summary = "boat"
	}
	m.scores = map[graph.ID]int64{num(0): 800, num(10): 700, num(1): 690, num(2): 100}
	a := m.ask(t, retrieve.Request{Text: "boat", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		Community: true, Exclusions: retrieve.Exclusions{Exclude: []graph.ID{num(3)}}})
	want := []string{"0 800", "1 740", "10 700", "11 175", "2 150", "12 140"}
	var got []string
	for _, it := range a.Items {
		got = append(got, fmt.Sprint(int(it.ID[7])-1, " ", it.Score))
	}
	if d := diff(want, got); d != "" {
		t.Error(d)
	}
	for rank, id := range []graph.ID{num(11), num(12), num(1), num(2)} {
		i := slices.IndexFunc(a.Items, func(it retrieve.Item) bool { return it.ID == id })
		last := a.Items[i].Lanes[len(a.Items[i].Lanes)-1]
		if last.Lane != retrieve.LaneCommunity || last.Rank != rank+1 {
			t.Errorf("%s: %+v, want rank %d", id, last, rank+1)
		}
	}
}

// TestCommunityBounds: 20 join of a community, of the 256 best connected.
func TestCommunityBounds(t *testing.T) {
	m := groupedMemory{newMemory()}
	hub := m.add(graph.Node{ID: num(0), Summary: "boat", Created: 1})
	m.scores = map[graph.ID]int64{hub: 1000}
	for i := 1; i <= 300; i++ {
		typ := "Hidden"
		if i > 200 {
			typ = "Seen"
		}
		m.link(hub, "has", m.add(graph.Node{ID: num(i), Type: typ, Created: 1}), 1<<16)
	}
	m.nodes[hub].Type = "Seen"
	req := retrieve.Request{Text: "boat", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		Community: true, Limit: new(0)}
	if a := m.ask(t, req); len(a.Items) != 1+maxMembers {
		t.Errorf("%d items", len(a.Items))
	}
	req.Types = []string{"Seen"}
	a := m.ask(t, req)
	// The hub itself is one of the 256.
	if len(a.Items) != 1+maxMembers || a.Items[1].ID != num(201) {
		t.Errorf("%d items", len(a.Items))
	}
	for i := 201; i < 240; i++ {
		m.mark(num(i), graph.Forgotten)
	}
	a = m.ask(t, req)
	if len(a.Items) != 1+16 || a.Items[1].ID != num(240) || a.Items[16].ID != num(255) {
		t.Errorf("%d items", len(a.Items))
	}
}

func TestNoCommunityWarning(t *testing.T) {
	m := crew(3, 1)
	for _, c := range []struct {
		req  retrieve.Request
		want bool
	}{
		{retrieve.Request{Text: "crew0"}, false},
		{retrieve.Request{Text: "crew1"}, true},
		{retrieve.Request{Text: "nothing"}, true},
		{retrieve.Request{}, true},
		{retrieve.Request{Text: "crew0", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
			Exclusions: retrieve.Exclusions{Exclude: []graph.ID{num(1), num(2)}}}, true},
	} {
		c.req.Community = true
		if got := slices.Contains(codes(m.ask(t, c.req)), retrieve.NoCommunity); got != c.want {
			t.Errorf("%q: warning %v", c.req.Text, got)
		}
		c.req.Community = false
		if slices.Contains(codes(m.ask(t, c.req)), retrieve.NoCommunity) {
			t.Errorf("%q: a warning of what was not asked for", c.req.Text)
		}
	}
	if a := m.memory.ask(t, retrieve.Request{Text: "crew0", Community: true}); !slices.Contains(codes(a),
		retrieve.NoCommunity) {
		t.Error("no warning of a graph without communities")
	}
}

func TestCommunityFails(t *testing.T) {
	m := crew(3)
	m.failOn = "Community"
	_, err := Run(t.Context(), m, m.memory, testCommit, retrieve.Request{Text: "boat", Community: true})
	if err == nil {
		t.Error("the error of the graph is lost")
	}
}

func TestCommunityParams(t *testing.T) {
	off, _ := (&retrieve.Answer{Commit: testCommit, Engine: retrieve.CurrentEngine()}).Receipt()
	if _, ok := off.Params.Get("community"); ok {
		t.Error("community is in the receipt of a request that does not ask for it")
	}
	v, err := ipld.ParseJSON([]byte(`{"community":true}`))
	if err != nil {
		t.Fatal(err)
	}
	q, err := complete.ParseRequestJSON(v, retrieve.Request{})
	if err != nil || !q.Request.Community {
		t.Fatalf("%+v, %v", q.Request, err)
	}
	again, err := readParams(keptParams(q.Request), "")
	if err != nil || !again.Community {
		t.Errorf("%+v, %v", again, err)
	}
	for _, bad := range []string{`{"community":1}`, `{"community":"yes"}`} {
		v, err := ipld.ParseJSON([]byte(bad))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := complete.ParseRequestJSON(v, retrieve.Request{}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
