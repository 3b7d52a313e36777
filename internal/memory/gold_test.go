package memory_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/memory/review"
	"github.com/mnem-project/mnem/internal/memory/sources"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// golds are the gold sets of testdata/gold: how many cases must be answered as they say, and by what.
var golds = map[string]struct {
	least  int
	answer func(t testing.TB, c cases.Case) any
}{
	"explore":    {13, goldExplore},
	"importance": {35, goldImportance},
	"links":      {8, goldLinks},
	"marking":    {89, goldMarking},
	"memory-id":  {9, goldMemoryID},
	"proposal":   {10, goldProposal},
	"remember":   {5, goldRemember},
	"source":     {107, goldSource},
}

func TestGold(t *testing.T) {
	have := map[string]bool{}
	for _, c := range cases.ReadDir(t, "testdata/gold") {
		have[c.Layer] = true
	}
	for set, g := range golds {
		t.Run(set, func(t *testing.T) { cases.Gold(t, "testdata/gold/"+set+".jsonl", g.least, g.answer) })
		delete(have, set)
	}
	must.True(t, len(have) <= 0, "sets that nothing scores: %v", have)
}

type dict = map[string]any

// goldBatches are the facts that a case begins with.
type goldBatches struct {
	Author  string
	Batches []struct {
		Time  int64
		Lines []string
	}
}

// goldRepo opens an empty repository, which is checked at the end.
func goldRepo(t testing.TB, by state.Stamp) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	t.Cleanup(func() {
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{})
		must.True(t, err == nil && len(report.Errors) <= 0, "fsck: %v %v", err, report)
		must.OK(t, r.Close())
	})
	return r
}

func (in goldBatches) commit(t testing.TB) *core.Repo {
	t.Helper()
	by := state.Stamp{Author: in.Author, Command: []string{"test"}}
	r := goldRepo(t, by)
	for _, b := range in.Batches {
		by.Time = graph.Time(b.Time)
		changes := state.ReadChanges(strings.NewReader(strings.Join(b.Lines, "\n")), "lines")
		must.Get(r.Commit(t.Context(), changes, core.CommitOptions{Stamp: by}))(t)
	}
	return r
}

func head(t testing.TB, r *core.Repo) *core.Snapshot {
	t.Helper()
	return must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
}

func goldExplore(t testing.TB, c cases.Case) any {
	var in struct {
		goldBatches
		Explore struct {
			Topic, Node      string
			Depth, Beam      int
			EdgeTypes, Types []string
			Marks            []graph.State
		}
	}
	cases.Parse(t, c.Input, &in)
	e := in.Explore
	req := recall.ExploreRequest{Topic: e.Topic, Depth: e.Depth, Beam: e.Beam,
		Filter: recall.Filter{EdgeTypes: e.EdgeTypes, Types: e.Types, Marks: e.Marks}}
	if e.Node != "" {
		req.Node = graph.NodeID(e.Node)
	}
	x := must.Get(recall.Explore(t.Context(), head(t, in.commit(t)), req))(t)
	nodes := []any{}
	for _, n := range x.Nodes {
		by := any(nil)
		if p := n.Reasons[0].Edge; p != nil {
			by = dict{"edge": p.Edge.String(), "from": p.From.String(), "forward": p.Forward}
		}
		nodes = append(nodes, dict{"id": n.Node.ID.String(), "score": n.Score, "hops": n.Hops, "by": by})
	}
	return dict{"nodes": nodes}
}

func goldImportance(t testing.TB, c cases.Case) any {
	var in struct {
		goldBatches
		Importance, HalfLife int
		Uses, Linked, Age    int64
		Node                 string
		Now                  int64
	}
	cases.Parse(t, c.Input, &in)
	got := memory.Factors{Importance: in.Importance, Uses: in.Uses, Linked: in.Linked, Age: in.Age,
		HalfLife: in.HalfLife}.Weigh()
	if in.Node == "" {
		return dict{"value": got.Value, "base": got.Base, "use": got.Use, "decay": got.Decay, "links": got.Links}
	}
	id := must.Get(graph.ParseID(in.Node))(t)
	got = must.Get(memory.Importance(t.Context(), head(t, in.commit(t)), id, graph.Time(in.Now),
		memory.ImportanceOptions{}))(t)
	return dict{"value": got.Value, "base": got.Base, "use": got.Use, "decay": got.Decay, "links": got.Links,
		"importance": got.Importance, "halfLife": got.HalfLife, "uses": got.Uses, "linked": got.Linked,
		"age": got.Age}
}

// goldLinks remembers memories, and answers the edges of each in the order in which rules write them.
func goldLinks(t testing.TB, c cases.Case) any {
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
	cases.Parse(t, c.Input, &in)
	by := state.Stamp{Author: "erin", Command: []string{"remember"}}
	m := remember.New(goldRepo(t, by))
	edges := []any{}
	for _, c := range in.Commits {
		by.Time, by.Agent, by.Task = graph.Time(c.Time), c.Agent, c.Task
		var reqs []remember.Request
		for _, one := range c.Memories {
			reqs = append(reqs, remember.Request{Text: one.Text, About: one.About, Sources: one.Sources,
				Tags: one.Tags, Entities: one.Entities, NoDiff: true})
		}
		opt := remember.WriteOptions{CommitOptions: core.CommitOptions{Stamp: by}}
		res := must.Get(m.RememberAll(t.Context(), opt, reqs))(t)
		for _, one := range res.Memories {
			list := []any{}
			for _, l := range one.Links {
				list = append(list, dict{"type": l.Type, "src": idOf(l.Src), "dst": idOf(l.Dst), "weight": l.Weight})
			}
			edges = append(edges, list)
		}
	}
	return dict{"edges": edges}
}

// idOf returns the id of a node that is named by its key or its id.
func idOf(name string) string {
	if id, err := graph.ParseID(name); err == nil {
		return id.String()
	}
	return graph.NodeID(name).String()
}

// goldMarking marks nodes, or takes marks off, and answers all marks of nodes.
func goldMarking(t testing.TB, c cases.Case) any {
	var in struct {
		goldBatches
		State graph.State
		Nodes []string
		By    string
	}
	cases.Parse(t, c.Input, &in)
	r := in.commit(t)
	opt := core.CommitOptions{Stamp: state.Stamp{Author: "erin", Time: 1, Command: []string{"x"}}}
	var err error
	if in.State == "" {
		_, err = memory.Unmark(t.Context(), r, opt, memory.UnmarkRequest{Nodes: in.Nodes})
	} else {
		_, err = memory.Mark(t.Context(), r, opt, memory.MarkRequest{State: in.State, Nodes: in.Nodes, By: in.By})
	}
	if errors.Is(err, state.ErrInvalid) {
		return dict{"error": "state"}
	} else if err != nil {
		t.Fatal(err)
	}
	s := head(t, r)
	marks := []string{}
	for id, err := range s.IDs(t.Context()) {
		must.OK(t, err)
		m := must.Get(s.Mark(t.Context(), graph.OnNode, id))(t)
		if m == nil {
			continue
		}
		mark := id.String() + " " + string(m.State)
		if !m.By.IsZero() {
			mark += " " + m.By.String()
		}
		marks = append(marks, mark)
	}
	return dict{"marks": marks}
}

func goldMemoryID(t testing.TB, c cases.Case) any {
	var in struct {
		Type, Text, Wording string
		Sources             []string
	}
	cases.Parse(t, c.Input, &in)
	if in.Type == "" {
		return dict{"key": remember.ObservationKey(in.Wording, in.Sources)}
	}
	ids := []string{}
	for _, n := range []uint64{0, 1, 256} {
		ids = append(ids, remember.ID(in.Type, in.Text, n).String())
	}
	return dict{"ids": ids}
}

func goldProposal(t testing.TB, c cases.Case) any {
	var in struct {
		goldBatches
		Now   int64
		Cap   int
		Kinds []review.ProposalKind
	}
	cases.Parse(t, c.Input, &in)
	found := must.Get(review.Propose(t.Context(), head(t, in.commit(t)), review.ConsolidateRequest{
		Now: graph.Time(in.Now), Cap: in.Cap, Kinds: in.Kinds}))(t)
	proposals := []any{}
	for _, p := range found.List {
		nodes := []string{}
		for _, id := range p.Nodes {
			nodes = append(nodes, id.String())
		}
		one := dict{"id": p.ID, "kind": p.Kind, "nodes": nodes}
		if p.Tag != "" {
			one["tag"], one["spellings"] = p.Tag, p.Spellings
		}
		proposals = append(proposals, one)
	}
	return dict{"proposals": proposals}
}

// goldRemember remembers one request after the other in an empty repository.
func goldRemember(t testing.TB, c cases.Case) any {
	var in struct {
		Requests []struct {
			Type, Text, About, Property string
			Entities, Sources           []string
			ValidFrom                   int64
		}
	}
	cases.Parse(t, c.Input, &in)
	by := state.Stamp{Author: "t", Time: 1_780_000_000_000_000, Command: []string{"remember"}}
	r := goldRepo(t, by)
	m := remember.New(r)
	remembered := []any{}
	for _, q := range in.Requests {
		req := remember.Request{Type: q.Type, Text: q.Text, About: q.About, Property: q.Property,
			Entities: q.Entities, Sources: q.Sources}
		if q.ValidFrom != 0 {
			req.ValidFrom = graph.At(graph.Time(q.ValidFrom))
		}
		opt := remember.WriteOptions{CommitOptions: core.CommitOptions{Stamp: by}}
		res := must.Get(m.Remember(t.Context(), opt, req))(t)
		got := res.Memories[0]
		s := must.Get(r.At(t.Context(), res.Commit))(t)
		n := must.Get(s.Adjacency().Degree(t.Context(), got.ID, adjacency.Out, memory.EdgeObserved))(t)
		remembered = append(remembered, dict{"id": got.ID.String(), "action": got.Action, "observed": n})
	}
	return dict{"remembered": remembered}
}

// goldSource reads a source, which must be written as it was.
func goldSource(t testing.TB, c cases.Case) any {
	var in struct{ Text string }
	cases.Parse(t, c.Input, &in)
	s, err := sources.Parse(in.Text)
	if errors.Is(err, graph.ErrInvalid) {
		return dict{"error": "source"}
	} else if err != nil {
		t.Fatal(err)
	}
	must.Equal(t, s.String(), in.Text, c.Path())
	out := dict{"kind": s.Kind}
	for name, v := range map[string]string{"project": s.Project, "path": s.Path, "text": s.Text} {
		if v != "" {
			out[name] = v
		}
	}
	for name, n := range map[string]int{"first": s.First, "last": s.Last, "turn": s.Turn} {
		if n != 0 {
			out[name] = n
		}
	}
	if s.Hash != nil {
		out["sha256"] = hex.EncodeToString(s.Hash[:])
	}
	return out
}
