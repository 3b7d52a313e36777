package remember

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// linked returns the names of the nodes that edges of a type lead to.
func linked(t *testing.T, m *Writer, r Remembered, typ string) []string {
	t.Helper()
	var out []string
	for _, l := range r.Links {
		if l.Type != typ {
			continue
		}
		n, _, err := m.headOf(t).Node(t.Context(), nodeOf(l.Dst))
		must.OK(t, err)
		out = append(out, cmp.Or(n.Key, n.ID.String()))
	}
	return out
}

// TestOneNameOneNode checks that everything under one name is one node, whichever way it came first, and that people
// who share a title stay separate.
func TestOneNameOneNode(t *testing.T) {
	type said struct {
		req             Request
		about, mentions []string
	}
	tell := func(text, about string, named ...string) Request {
		return Request{Text: text, About: about, Entities: named}
	}
	for name, list := range map[string][]said{
		"subject first": {
			{tell("The desk is hers", "carol"), []string{"carol"}, nil},
			{tell("On Monday Carol moved to Lyon", ""), nil, []string{"carol", "entity/lyon"}},
			{tell("It was sold", "", "CAROL"), nil, []string{"carol"}},
			{tell("The chair is hers", "Carol"), []string{"carol"}, nil},
			{tell("The lamp is hers", "entity/carol"), []string{"carol"}, nil},
			{tell("On Monday Carol Cole left", ""), nil, []string{"entity/carol cole"}},
		},
		"mention first": {
			{tell("On Monday Dana Dahl moved", ""), nil, []string{"entity/dana dahl"}},
			{tell("The desk is hers", "Dana  dahl"), []string{"entity/dana dahl"}, nil},
			{tell("The chair is hers", "key:dana dahl"), []string{"dana dahl"}, nil},
			{tell("On Tuesday Dana Dahl left", ""), nil, []string{"entity/dana dahl"}},
		},
	} {
		for _, batch := range []bool{false, true} {
			m := newMemory(t)
			var reqs []Request
			for _, s := range list {
				reqs = append(reqs, s.req)
			}
			var got []Remembered
			if !batch {
				got = keep(t, m, reqs...)
			} else if res, err := m.RememberAll(t.Context(), rememberAt(0), reqs); err != nil {
				t.Fatal(err)
			} else {
				got = res.Memories
			}
			for i, s := range list {
				mentions := linked(t, m, got[i], memory.EdgeMentions)
				if a := linked(t, m, got[i], memory.EdgeAbout); !slices.Equal(a, s.about) ||
					!slices.Equal(mentions, s.mentions) {
					t.Errorf("%s, batch %t, %q: about %q, mentions %q", name, batch, s.req.Text, a, mentions)
				}
			}
		}
	}
}

// TestNamesakes makes two entities of one title, and a person of another type. A mention of the title means neither
// entity, and the person does not count as an entity.
func TestNamesakes(t *testing.T) {
	m := newMemory(t)
	memkit.Tell(t, m.r,
		`{"node":{"key":"p1","type":"Entity","summary":"Max Muster"}}`,
		`{"node":{"key":"p2","type":"Entity","summary":"max muster"}}`,
		`{"node":{"key":"p3","type":"Entity","summary":"Eva Evers"}}`,
		`{"node":{"key":"olga","type":"Person","summary":"Olga Orr"}}`,
		`{"node":{"id":"feedbeef-0000-0000-0000-000000000000","type":"fact","summary":"x"}}`)
	got := keep(t, m,
		Request{Text: "On Monday Max Muster met Eva Evers and Olga Orr"},
		Request{Text: "The desk is hers", About: "eva evers"},
		Request{Text: "The desk is theirs", About: "olga orr"})
	if a := linked(t, m, got[0], memory.EdgeMentions); !slices.Equal(a,
		[]string{"p3", "entity/max muster", "entity/olga orr"}) {
		t.Errorf("%q", a)
	}
	must.Same(t, linked(t, m, got[1], memory.EdgeAbout), []string{"p3"})
	must.Same(t, linked(t, m, got[2], memory.EdgeAbout), []string{"entity/olga orr"})
	_, err := m.Remember(t.Context(), rememberAt(9), Request{Text: "It is so", About: "feedbeef"})
	var bad *RequestError
	must.Check(t, errors.As(err, &bad) && bad.Param == "about", "%v", err)
	keep(t, m, Request{Text: "It is so", About: "key:feedbeef"})
}

// TestEdgesAreCounted checks that the reported edges equal the written ones.
func TestEdgesAreCounted(t *testing.T) {
	m := newMemory(t)
	req := Request{Text: "Dana Dahl works at Globex", About: "dana", Property: "employer",
		Tags: []string{"work"}, Sources: []string{"manual:ana"}}
	again := req
	again.Text, again.Sources, again.Tags = "dana dahl works at globex!", []string{"manual:bo"},
		[]string{"people", "work"}
	for i, req := range []Request{req, again, req} {
		_, before, _, _ := m.headOf(t).Sizes()
		got := keep(t, m, req)[0]
		_, after, _, _ := m.headOf(t).Sizes()
		of, all := map[string]int{}, 0
		for _, l := range got.Links {
			of[l.Type]++
			if all++; l.Why == "" {
				t.Errorf("nothing explains %s", l.Type)
			}
			e, _, err := m.headOf(t).Edge(t.Context(), l.ID)
			must.Check(t, err == nil && e.Src == nodeOf(l.Src) && e.Dst == nodeOf(l.Dst) && e.Type == l.Type,
				"%+v: %+v, %v", l, e, err)
		}
		must.Same(t, of, got.Edges, "memory ", i)
		must.Equal(t, int(after-before), all, "memory ", i)
	}
}
