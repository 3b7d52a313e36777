package spec_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/memory/compare"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store/mem"
)

// runMemoryID runs a case of clause 24.1.
func runMemoryID(t *testing.T, v vector) {
	var in struct {
		Type, Text, Wording string
		Sources             []string
	}
	parse(t, v.Input, &in)
	var want struct {
		IDs []string
		Key string
	}
	parse(t, v.Expect, &want)
	if in.Type == "" {
		same(t, "key", memory.ObservationKey(in.Wording, in.Sources), want.Key)
		return
	}
	for i, n := range []uint64{0, 1, 256} {
		same(t, fmt.Sprint("id ", n), memory.ID(in.Type, in.Text, n).String(), want.IDs[i])
	}
}

// runLikeness runs a case of clauses 24.2 and 24.3.
func runLikeness(t *testing.T, v vector) {
	var in struct{ Pairs [][2]string }
	parse(t, v.Input, &in)
	var want struct {
		Compared []struct {
			Likeness int64
			Differs  []struct{ Kind, First, Second string }
		}
	}
	parse(t, v.Expect, &want)
	for i, p := range in.Pairs {
		got := compare.Compare(p[0], p[1])
		w := want.Compared[i]
		same(t, fmt.Sprintf("likeness of %q and %q", p[0], p[1]), fmt.Sprint(got.Similarity), fmt.Sprint(w.Likeness))
		var differs []compare.Difference
		for _, d := range w.Differs {
			differs = append(differs, compare.Difference{Kind: compare.Kind(d.Kind), A: d.First, B: d.Second})
		}
		same(t, fmt.Sprintf("what differs between %q and %q", p[0], p[1]), fmt.Sprintf("%q", got.Differs),
			fmt.Sprintf("%q", differs))
	}
}

// runRemember runs a case of clause 24.4, one request after the other.
func runRemember(t *testing.T, v vector) {
	var in struct {
		Requests []struct {
			Type, Text, About, Property string
			Entities, Sources           []string
			ValidFrom                   int64
		}
	}
	parse(t, v.Input, &in)
	var want struct {
		Remembered []struct {
			ID, Action string
			Observed   uint64
		}
	}
	parse(t, v.Expect, &want)
	by := repo.Stamp{Author: "t", Time: 1_780_000_000_000_000, Command: []string{"remember"}}
	r, err := repo.New(t.Context(), mem.New(), by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	m := memory.New(r)
	for i, q := range in.Requests {
		req := memory.RememberRequest{Type: q.Type, Text: q.Text, About: q.About, Property: q.Property,
			Entities: q.Entities, Sources: q.Sources}
		if q.ValidFrom != 0 {
			req.ValidFrom = graph.At(graph.Time(q.ValidFrom))
		}
		opt := memory.RememberOptions{CommitOptions: repo.CommitOptions{Stamp: by}}
		res, err := m.Remember(t.Context(), opt, req)
		if err != nil {
			t.Fatal(err)
		}
		got, w := res.Memories[0], want.Remembered[i]
		same(t, fmt.Sprintf("request %d", i+1), got.ID.String()+" "+string(got.Action), w.ID+" "+w.Action)
		s, err := r.At(t.Context(), res.Commit)
		if err != nil {
			t.Fatal(err)
		}
		n, err := s.Adjacency().Degree(t.Context(), got.ID, adjacency.Out, memory.EdgeObserved)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("observations after request %d", i+1), fmt.Sprint(n), fmt.Sprint(w.Observed))
	}
}

// TestWords holds the words of clause 24.2 to those that the package has.
func TestWords(t *testing.T) {
	ours, err := os.ReadFile("../memory/compare/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile("compare-words.txt")
	if err != nil || strings.Compare(string(ours), string(theirs)) != 0 {
		t.Errorf("compare-words.txt is not a copy of memory/compare/words.txt: %v", err)
	}
}
