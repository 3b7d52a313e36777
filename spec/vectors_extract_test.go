package spec_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/memory/extract"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store/mem"
)

// runEntities finds what a text names.
func runEntities(t *testing.T, v vector) {
	var in struct {
		Text  string
		Known []string
	}
	parse(t, v.Input, &in)
	type entity struct {
		Kind, Key  string
		Start, End int
	}
	var want struct{ Entities []entity }
	parse(t, v.Expect, &want)
	got := []entity{}
	for _, e := range extract.Entities(in.Text, in.Known) {
		got = append(got, entity{string(e.Kind), e.Key, e.Start, e.End})
	}
	same(t, "entities", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want.Entities))
}

// runSignals finds what a text says of causes.
func runSignals(t *testing.T, v vector) {
	var in struct{ Text string }
	parse(t, v.Input, &in)
	type signal struct {
		Relation, Phrase string
		Start            int
		Cause, Effect    string
	}
	var want struct{ Signals []signal }
	parse(t, v.Expect, &want)
	got := []signal{}
	for _, g := range extract.Signals(in.Text) {
		got = append(got, signal{string(g.Relation), g.Phrase, g.Start, g.Cause, g.Effect})
	}
	same(t, "signals", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want.Signals))
}

// runLinks remembers memories and compares the edges of each, in the order in which rules write them.
func runLinks(t *testing.T, v vector) {
	var in struct {
		Commits []struct {
			Time        int64
			Agent, Task string
			Memories    []struct {
				Text, About             string
				Sources, Tags, Entities []string
			}
		}
	}
	parse(t, v.Input, &in)
	type edge struct {
		Type, Src, Dst string
		Weight         uint32
	}
	var want struct{ Edges [][]edge }
	parse(t, v.Expect, &want)
	by := repo.Stamp{Author: "erin", Command: []string{"remember"}}
	r, err := repo.New(t.Context(), mem.New(), by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	m := memory.New(r)
	got := [][]edge{}
	for _, c := range in.Commits {
		by.Time, by.Agent, by.Task = graph.Time(c.Time), c.Agent, c.Task
		var reqs []memory.RememberRequest
		for _, one := range c.Memories {
			reqs = append(reqs, memory.RememberRequest{Text: one.Text, About: one.About, Sources: one.Sources,
				Tags: one.Tags, Entities: one.Entities, NoDiff: true})
		}
		opt := memory.RememberOptions{CommitOptions: repo.CommitOptions{Stamp: by}}
		res, err := m.RememberAll(t.Context(), opt, reqs)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range res.Memories {
			list := []edge{}
			for _, l := range one.Links {
				list = append(list, edge{l.Type, l.Src.Target().String(), l.Dst.Target().String(),
					cmp.Or(l.Weight, graph.MaxWeight)})
			}
			got = append(got, list)
		}
	}
	for i := range min(len(got), len(want.Edges)) {
		same(t, fmt.Sprintf("edges of memory %d", i), fmt.Sprintf("%+v", got[i]),
			fmt.Sprintf("%+v", want.Edges[i]))
	}
	same(t, "memories", fmt.Sprint(len(got)), fmt.Sprint(len(want.Edges)))
}

// runExplore explores what lies around a topic.
func runExplore(t *testing.T, v vector) {
	var in struct {
		Author  string
		Batches json.RawMessage
		Explore struct {
			Topic            string
			Keyword          bool
			Depth, Beam      int
			EdgeTypes, Types []string
			Marks            []graph.State
		}
	}
	parse(t, v.Input, &in)
	type step struct {
		Edge, To string
		Forward  bool
	}
	type node struct {
		ID    string
		Score int64
		Hops  int
		Path  []step
	}
	var want struct{ Nodes []node }
	parse(t, v.Expect, &want)
	var changes changesInput
	data, err := json.Marshal(map[string]any{"author": in.Author, "batches": in.Batches})
	if err != nil {
		t.Fatal(err)
	}
	parse(t, data, &changes)
	a := apply(t, changes)
	if a.err != nil {
		t.Fatal(a.err)
	}
	e := in.Explore
	x, err := memory.Explore(t.Context(), a.tip(t), memory.ExploreRequest{Topic: e.Topic,
		Keyword: e.Keyword, Depth: e.Depth, Beam: e.Beam, EdgeTypes: e.EdgeTypes, Types: e.Types,
		Marks: e.Marks})
	if err != nil {
		t.Fatal(err)
	}
	got := []node{}
	for _, n := range x.Nodes {
		path := []step{}
		for _, p := range n.Path {
			path = append(path, step{p.Edge.String(), p.To.String(), p.Forward})
		}
		got = append(got, node{n.Node.ID.String(), n.Score, n.Hops, path})
	}
	same(t, "nodes", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want.Nodes))
}
