package spec_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/repo"
)

// lifeTip returns the memory of a vector of clause 28.
func lifeTip(t *testing.T, in changesInput) *repo.Snapshot {
	t.Helper()
	a := apply(t, in)
	if a.err != nil {
		t.Fatal(a.err)
	}
	return a.tip(t)
}

// runImportance weighs factors, or a node of a memory.
func runImportance(t *testing.T, v vector) {
	var in struct {
		changesInput
		Importance, HalfLife int
		Uses, Linked, Age    int64
		Node                 string
		Now                  int64
	}
	parse(t, v.Input, &in)
	got := memory.Factors{Importance: in.Importance, Uses: in.Uses, Linked: in.Linked, Age: in.Age,
		HalfLife: in.HalfLife}.Weigh()
	var want struct {
		Value, Base, Use, Decay, Links int64
		Importance, HalfLife           int
		Uses, Linked, Age              int64
	}
	parse(t, v.Expect, &want)
	if in.Node != "" {
		id, err := graph.ParseID(in.Node)
		if err != nil {
			t.Fatal(err)
		}
		got, err = memory.Importance(t.Context(), lifeTip(t, in.changesInput), id, graph.Time(in.Now),
			memory.ImportanceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "factors", fmt.Sprint(got.Importance, got.HalfLife, got.Uses, got.Linked, got.Age),
			fmt.Sprint(want.Importance, want.HalfLife, want.Uses, want.Linked, want.Age))
	}
	same(t, "importance", fmt.Sprint(got.Value, got.Base, got.Use, got.Decay, got.Links),
		fmt.Sprint(want.Value, want.Base, want.Use, want.Decay, want.Links))
}

// runSource reads a source and writes it again.
func runSource(t *testing.T, v vector) {
	var in struct{ Text string }
	parse(t, v.Input, &in)
	s, err := memory.ParseSource(in.Text)
	if refusal(t, v, err) {
		return
	}
	same(t, "text", s.String(), in.Text)
	var want struct {
		Kind                        memory.SourceKind
		Project, Path, Text, SHA256 string
		First, Last, Turn           int
	}
	parse(t, v.Expect, &want)
	hash := ""
	if s.Hash != nil {
		hash = hex.EncodeToString(s.Hash[:])
	}
	same(t, "source", fmt.Sprint(s.Kind, s.Project, s.Path, s.Text, hash, s.First, s.Last, s.Turn),
		fmt.Sprint(want.Kind, want.Project, want.Path, want.Text, want.SHA256, want.First, want.Last,
			want.Turn))
}

// wantProposal is a proposal of a vector.
type wantProposal struct {
	ID, Kind  string
	Nodes     []string
	Tag       string
	Spellings []string
}

// runProposal looks for what could be tidied up.
func runProposal(t *testing.T, v vector) {
	var in struct {
		changesInput
		Now   int64
		Cap   int
		Kinds []memory.ProposalKind
	}
	parse(t, v.Input, &in)
	found, err := memory.Propose(t.Context(), lifeTip(t, in.changesInput), memory.ConsolidateRequest{
		Now: graph.Time(in.Now), Cap: in.Cap, Kinds: in.Kinds})
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ Proposals []wantProposal }
	parse(t, v.Expect, &want)
	got := []wantProposal{}
	for _, p := range found.List {
		one := wantProposal{ID: p.ID, Kind: string(p.Kind), Tag: p.Tag, Spellings: p.Spellings}
		for _, id := range p.Nodes {
			one.Nodes = append(one.Nodes, id.String())
		}
		got = append(got, one)
	}
	for i := range want.Proposals {
		if len(want.Proposals[i].Spellings) == 0 {
			want.Proposals[i].Spellings = nil
		}
	}
	texts := make([]string, 2)
	for i, list := range [][]wantProposal{got, want.Proposals} {
		data, err := json.MarshalIndent(list, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(data)
	}
	same(t, "proposals", texts[0], texts[1])
}

// runMarking marks nodes, and looks at all marks of nodes.
func runMarking(t *testing.T, v vector) {
	var in struct {
		changesInput
		State graph.State
		Nodes []string
		By    string
	}
	parse(t, v.Input, &in)
	a := apply(t, in.changesInput)
	if a.err != nil {
		t.Fatal(a.err)
	}
	m := memory.New(a.repo)
	opt := repo.CommitOptions{Stamp: repo.Stamp{Author: "erin", Time: 1, Command: []string{"x"}}}
	var err error
	if in.State == "" {
		_, err = m.Unmark(t.Context(), opt, memory.UnmarkRequest{Nodes: in.Nodes})
	} else {
		_, err = m.Mark(t.Context(), opt, memory.MarkRequest{State: in.State, Nodes: in.Nodes, By: in.By})
	}
	if refusal(t, v, err) {
		return
	}
	var want struct{ Marks []string }
	parse(t, v.Expect, &want)
	s, err := a.repo.Snapshot(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for id, err := range s.IDs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Mark(t.Context(), graph.OnNode, id)
		if err != nil {
			t.Fatal(err)
		}
		if m != nil {
			by := ""
			if !m.By.IsZero() {
				by = " " + m.By.String()
			}
			got = append(got, id.String()+" "+string(m.State)+by)
		}
	}
	same(t, "marks", fmt.Sprint(got), fmt.Sprint(want.Marks))
}
