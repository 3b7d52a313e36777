package core_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

func TestCommitAddsChangesAndRemoves(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, repokit.TwoPeople)
	if first.Nodes != (state.Counts{Added: 2}) || first.Edges != (state.Counts{Added: 1}) {
		t.Errorf("counts %+v %+v", first.Nodes, first.Edges)
	}
	second := repokit.Lines(t, r, `{"node":{"key":"alice","props":{"team":"platform","level":3}}}
{"remove":{"node":"svc/billing"}}
`)
	if second.Nodes != (state.Counts{Changed: 1, Removed: 1}) ||
		second.Edges != (state.Counts{Removed: 1}) {
		t.Errorf("counts %+v %+v", second.Nodes, second.Edges)
	}
	must.Equal(t, cmp.Diff([]ipld.CID{first.Commit}, second.Parents,
		cmp.Comparer(func(a, b ipld.CID) bool { return a == b })), "", "parents")
	s := repokit.Head(t, r)
	must.Equal(t, repokit.Sizes(s), [4]uint64{1, 0, 0, 0}, "sizes")
	alice := repokit.NodeByKey(t, s, "alice")
	must.Equal(t, prop(t, alice, "team").Text(), "platform", "team")
	if alice.Summary != "Alice leads infra" {
		t.Errorf("summary %q: what a line does not give must stay", alice.Summary)
	}
}

func TestCommitOfNothingMakesNoCommit(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, repokit.TwoPeople)
	for name, text := range map[string]string{
		"the same lines": repokit.TwoPeople, "no lines": "", "blank lines": "\n \n",
		"undone in the batch": `{"node":{"key":"x","type":"T"}}` + "\n" + `{"remove":{"node":"x"}}`,
	} {
		res := repokit.Lines(t, r, text)
		if !res.NoChange || res.Commit != first.Commit {
			t.Errorf("%s: %+v", name, res)
		}
	}
	if res := repokit.Lines(t, repokit.OpenMem(t), ""); !res.NoChange || res.Commit.Defined() {
		t.Errorf("nothing in an empty repository: %+v", res)
	}
}

func TestKeylessFacts(t *testing.T) {
	r := repokit.OpenMem(t)
	fact := `{"node":{"type":"Fact","summary":"The sky is blue"}}` + "\n"
	first := repokit.Lines(t, r, fact+fact)
	if first.Duplicates != 1 || first.Nodes.Added != 1 {
		t.Errorf("twice in a batch: %+v", first)
	}
	if again := repokit.Lines(t, r, fact); again.Duplicates != 1 || !again.NoChange {
		t.Errorf("the same fact again: %+v", again)
	}
	var id graph.ID
	for kv := range repokit.Head(t, r).IDs(t.Context()) {
		id = kv
	}
	repokit.Lines(t, r, fmt.Sprintf(`{"node":{"id":%q,"summary":"The sky is grey"}}`, id))
	after := repokit.Lines(t, r, fact)
	if after.Nodes.Added != 1 || after.Duplicates != 0 {
		t.Errorf("the fact after its node was edited must be a new node: %+v", after)
	}
	must.Equal(t, repokit.Sizes(repokit.Head(t, r))[0], 2, "nodes")
}

func TestParallelEdgesAndLoops(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T"}}
{"node":{"key":"b","type":"T"}}
{"edge":{"type":"e","src":"a","dst":"b"}}
{"edge":{"type":"e","src":"a","dst":"b","key":"1"}}
{"edge":{"type":"e","src":"a","dst":"b","key":"2"}}
{"edge":{"type":"e","src":"a","dst":"a"}}
`)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r))[1], 4, "edges")
	repokit.Lines(t, r, `{"remove":{"edge":{"type":"e","src":"a","dst":"b"}}}`)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r))[1], 3, "edges after removing the one without a key")
	repokit.Lines(t, r, `{"remove":{"edge":{"type":"e","src":"a","dst":"b","all":true}}}`)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r))[1], 1, "edges after removing all")
	repokit.Lines(t, r, `{"remove":{"node":"a"}}`)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{1, 0, 0, 0}, "sizes after removing the node of a loop")
}

func TestRemovalTakesMarksAndEmbeddings(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, repokit.TwoPeople+`{"mark":{"node":"alice","state":"stale"}}
{"mark":{"edge":{"type":"owns","src":"alice","dst":"svc/billing"},"state":"superseded","by":"svc/billing"}}
{"embedding":{"node":"alice","model":"m","vector":[0.1,-0.2]}}
{"embedding":{"node":"alice","model":"s","sparse":{"infra":0.7}}}
`)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{2, 1, 2, 2}, "sizes")
	repokit.Lines(t, r, `{"remove":{"node":"alice"}}`)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{1, 0, 0, 0}, "sizes after removal")
}

func TestRefusedBatchesChangeNothing(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, repokit.TwoPeople)
	before := repokit.Head(t, r)
	good := `{"node":{"key":"new","type":"T"}}` + "\n"
	for name, c := range map[string]struct {
		text string
		line int
	}{
		"dangling source":       {good + `{"edge":{"type":"e","src":"ghost","dst":"alice"}}`, 2},
		"dangling destination":  {good + `{"edge":{"type":"e","src":"alice","dst":"ghost"}}`, 2},
		"edge to a removed end": {`{"edge":{"type":"e","src":"alice","dst":"alice"}}` + "\n" + `{"remove":{"node":"svc/billing"}}` + "\n" + `{"edge":{"type":"e","src":"alice","dst":"svc/billing"}}`, 3},
		"unknown node removed":  {good + good + `{"remove":{"node":"ghost"}}`, 3},
		"unknown edge removed":  {good + `{"remove":{"edge":{"type":"e","src":"alice","dst":"alice"}}}`, 2},
		"unknown mark removed":  {good + `{"remove":{"mark":{"node":"alice"}}}`, 2},
		"mark on a ghost":       {good + `{"mark":{"node":"ghost","state":"stale"}}`, 2},
		"mark by a ghost":       {good + `{"mark":{"node":"alice","state":"superseded","by":"ghost"}}`, 2},
		"embedding of a ghost":  {good + `{"embedding":{"node":"ghost","model":"m","vector":[1]}}`, 2},
		"malformed":             {good + `{"node":{"key":"x"`, 2},
		"no type":               {good + `{"node":{"key":"x"}}`, 2},
		"unknown member":        {good + `{"node":{"key":"x","type":"T","Summary":"s"}}`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := repokit.TryLines(r, c.text)
			var at *graph.LineError
			if !errors.As(err, &at) || !errors.Is(err, graph.ErrInvalid) {
				t.Fatalf("error %v is not about a line", err)
			}
			if at.File != "test.jsonl" || at.Line != c.line {
				t.Errorf("error %v names %s:%d, want line %d", err, at.File, at.Line, c.line)
			}
			if after := repokit.Head(t, r); after.CID() != before.CID() {
				t.Error("the head moved")
			}
		})
	}
}

func TestExpect(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, repokit.TwoPeople)
	commit := func(expect ipld.CID, text string) error {
		_, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), ""),
			core.CommitOptions{Stamp: repokit.By, Expect: &expect})
		return err
	}
	must.OK(t, commit(first.Commit, `{"node":{"key":"x","type":"T"}}`))
	err := commit(first.Commit, `{"node":{"key":"y","type":"T"}}`)
	var moved *state.ExpectError
	if !errors.As(err, &moved) || !errors.Is(err, state.ErrConflict) || moved.Want != first.Commit {
		t.Errorf("error %v", err)
	}
}

// TestOrderAndBatchesLeaveNoTrace commits the same facts in several orders and batches: the graph
// must have one CID.
func TestOrderAndBatchesLeaveNoTrace(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	data, err := os.ReadFile("../../testdata/demo/memory.jsonl")
	must.OK(t, err)
	var nodes, edges []string
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, `{"node"`) {
			nodes = append(nodes, line)
		} else {
			edges = append(edges, line)
		}
	}
	if len(nodes) < 150 || len(edges) < 300 {
		t.Fatalf("%d nodes and %d edges", len(nodes), len(edges))
	}
	want := repokit.Lines(t, repokit.OpenMem(t), string(data)).Graph
	for seed := range uint64(4) {
		t.Logf("seed %d", seed)
		rng := rand.New(rand.NewPCG(seed, 1))
		all := append(append([]string(nil), nodes...), edges...)
		rng.Shuffle(len(nodes), func(i, j int) { all[i], all[j] = all[j], all[i] })
		rest := all[len(nodes):]
		rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		small := repokit.OpenMem(t)
		for len(all) > 0 {
			n := min(1+rng.IntN(40), len(all))
			repokit.Lines(t, small, strings.Join(all[:n], ""))
			all = all[n:]
		}
		must.Equal(t, repokit.Head(t, small).Graph(), want, "many commits: graph")
		mixed := append(append([]string(nil), nodes...), edges...)
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if got := repokit.Lines(t, repokit.OpenMem(t), strings.Join(mixed, "")).Graph; got != want {
			t.Errorf("one shuffled commit: graph %s, want %s", got, want)
		}
	}
}
