package core_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

func commitStaged(t testing.TB, r *core.Repo) (*core.CommitResult, error) {
	t.Helper()
	return r.Stages().Commit(t.Context(), "", core.CommitOptions{Stamp: repokit.By, Message: "staged"})
}

func status(t testing.TB, r *core.Repo) *core.Status {
	t.Helper()
	st, err := r.Stages().Status(t.Context(), "")
	must.OK(t, err)
	return st
}

// staged returns what is staged against its base.
func staged(t testing.TB, r *core.Repo) (nodes, edges state.Counts) {
	t.Helper()
	nodes, edges, err := status(t, r).Diff.Count(t.Context())
	must.OK(t, err)
	return nodes, edges
}

func TestStageAndCommit(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, repokit.TwoPeople)
	if st := status(t, r); st.Staged || st.Base != first.Commit || st.Branch != "main" {
		t.Errorf("nothing staged: %+v", st)
	}
	res := repokit.StageLines(t, r, `{"node":{"key":"bob","type":"Person"}}`)
	if res.Nodes != (state.Counts{Added: 1}) || !res.Edges.Zero() {
		t.Errorf("staged %+v", res)
	}
	res = repokit.StageLines(t, r, `{"edge":{"type":"knows","src":"bob","dst":"alice"}}
{"remove":{"node":"svc/billing"}}
`)
	if res.Nodes != (state.Counts{Added: 1, Removed: 1}) ||
		res.Edges != (state.Counts{Added: 1, Removed: 1}) {
		t.Errorf("staged %+v: counts are against the base", res)
	}
	if st := status(t, r); !st.Staged || st.Base != first.Commit || st.Head != first.Commit {
		t.Errorf("status %+v", st)
	}
	if s := repokit.Head(t, r); s.CID() != first.Commit {
		t.Error("staging moved the branch")
	}
	s, err := r.Stages().Snapshot(t.Context(), "")
	if err != nil || repokit.Sizes(s) != [4]uint64{2, 1, 0, 0} {
		t.Errorf("staged snapshot %v, %v", repokit.Sizes(s), err)
	}
	done, err := commitStaged(t, r)
	must.OK(t, err)
	if done.Nodes != res.Nodes || done.Edges != res.Edges || done.Graph != s.Graph() {
		t.Errorf("committed %+v, staged %+v", done, res)
	}
	if st := status(t, r); st.Staged || st.Head != done.Commit {
		t.Errorf("after the commit: %+v", st)
	}
	if again, err := commitStaged(t, r); err != nil || !again.NoChange {
		t.Errorf("nothing staged: %+v, %v", again, err)
	}
	direct := repokit.OpenMem(t)
	repokit.Lines(t, direct, repokit.TwoPeople)
	want := repokit.Lines(t, direct, `{"node":{"key":"bob","type":"Person"}}
{"edge":{"type":"knows","src":"bob","dst":"alice"}}
{"remove":{"node":"svc/billing"}}
`)
	must.Equal(t, want.Graph, done.Graph, "a staged commit makes another graph than a direct one")
}

const mergeBase = repokit.TwoPeople + `{"node":{"key":"bob","type":"Person"}}` + "\n"

// idOf names a node as conflicts do.
func idOf(key string) string { return "node/" + graph.NodeID(key).String() }

// mergeCases stage one change of mergeBase and then make another. The vectors of the spec have the rest of the truth table.
var mergeCases = map[string]struct {
	staged, moved string
	items         string // of the conflict, "" for a merge
	merged        string // lines that make the same memory from base, for a merge
}{
	"disjoint": {
		staged: `{"node":{"key":"alice","props":{"level":3}}}`,
		moved:  `{"node":{"key":"bob","props":{"level":4}}}`,
		merged: `{"node":{"key":"alice","props":{"level":3}}}
{"node":{"key":"bob","props":{"level":4}}}`,
	},
	"one node differently": {
		staged: `{"node":{"key":"alice","props":{"level":3}}}`,
		moved:  `{"node":{"key":"alice","props":{"level":4}}}`,
		items:  idOf("alice"),
	},
	"embedding of a node removed there": {
		staged: `{"embedding":{"node":"bob","model":"m","vector":[1,0]}}`,
		moved:  `{"remove":{"node":"bob"}}`,
		merged: `{"remove":{"node":"bob"}}`,
	},
}

// TestStageMerges lets the branch move between staging and committing.
func TestStageMerges(t *testing.T) {
	for name, c := range mergeCases {
		t.Run(name, func(t *testing.T) {
			r := repokit.OpenMem(t)
			repokit.Lines(t, r, mergeBase)
			repokit.StageLines(t, r, c.staged)
			moved := repokit.Lines(t, r, c.moved)
			res, err := commitStaged(t, r)
			if c.items != "" {
				var conflict *core.MergeError
				if !errors.As(err, &conflict) || !errors.Is(err, state.ErrConflict) {
					t.Fatalf("error %v, want a conflict", err)
				}
				if got := conflict.Error(); !strings.Contains(got, c.items) {
					t.Errorf("error %q, want %q in it", got, c.items)
				}
				if repokit.Head(t, r).CID() != moved.Commit || status(t, r).Staged {
					t.Error("a refused commit moved the branch, or is staged and kept")
				}
				kept, err := r.At(t.Context(), conflict.Kept)
				if err != nil || kept.Commit().Parents[0] != conflict.Base {
					t.Errorf("what was staged is not kept: %v", err)
				}
				return
			}
			must.OK(t, err)
			if len(res.Parents) != 1 || res.Parents[0] != moved.Commit && !res.NoChange {
				t.Errorf("parents %v, want %s", res.Parents, moved.Commit)
			}
			want := repokit.OpenMem(t)
			repokit.Lines(t, want, mergeBase)
			repokit.Lines(t, want, c.merged)
			must.Equal(t, repokit.Head(t, want).Graph(), repokit.Head(t, r).Graph(), "merged to something else")
			if status(t, r).Staged {
				t.Error("the stage is still there")
			}
		})
	}
}

// TestDanglingStage stages an edge before the node it needs.
func TestDanglingStage(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, repokit.TwoPeople)
	repokit.StageLines(t, r, `{"edge":{"type":"knows","src":"alice","dst":"carol"}}`)
	refused := func(what string) {
		t.Helper()
		_, err := commitStaged(t, r)
		if !errors.Is(err, state.ErrInvalid) || !strings.Contains(err.Error(),
			graph.NodeID("carol").String()) {
			t.Errorf("%s: error %v does not name the missing node", what, err)
		}
		if _, edges := staged(t, r); edges != (state.Counts{Added: 1}) {
			t.Errorf("%s: %+v staged", what, edges)
		}
	}
	refused("dangling")
	must.Equal(t, repokit.Head(t, r).CID(), first.Commit, "the branch moved")
	repokit.Lines(t, r, `{"node":{"key":"dave","type":"Person"}}`)
	refused("dangling, and the branch moved")
	repokit.StageLines(t, r, `{"node":{"key":"carol","type":"Person"}}`)
	_, err := commitStaged(t, r)
	must.OK(t, err)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{4, 2, 0, 0}, "sizes")

	repokit.StageLines(t, r, `{"edge":{"type":"knows","src":"alice","dst":"erin"}}`)
	repokit.Lines(t, r, `{"node":{"key":"erin","type":"Person"}}`)
	if _, err := commitStaged(t, r); err != nil {
		t.Errorf("the branch has the missing node by now: %v", err)
	}
}

func TestUnstage(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, repokit.TwoPeople)
	before := repokit.Head(t, r).CID()
	repokit.StageLines(t, r, `{"node":{"key":"bob","type":"Person"}}`)
	for range 2 { // the second time there is nothing to forget
		must.OK(t, r.Stages().Remove(t.Context(), "", repokit.By))
		if st := status(t, r); st.Staged {
			t.Error("still staged")
		}
	}
	repokit.StageLines(t, r, `{"node":{"key":"bob","type":"Person"}}`)
	repokit.StageLines(t, r, `{"remove":{"node":"bob"}}`)
	if status(t, r).Staged {
		t.Error("what cancels out is still staged")
	}
	if res, err := commitStaged(t, r); err != nil || !res.NoChange || res.Commit != before {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestCommitLeavesStage commits lines while something is staged: the stage stays as it is.
func TestCommitLeavesStage(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, repokit.TwoPeople)
	repokit.StageLines(t, r, `{"node":{"key":"bob","type":"Person"}}`)
	second := repokit.Lines(t, r, `{"node":{"key":"carol","type":"Person"}}`)
	st := status(t, r)
	if !st.Staged || st.Base != first.Commit || st.Head != second.Commit {
		t.Errorf("status %+v", st)
	}
	if nodes, _ := staged(t, r); nodes != (state.Counts{Added: 1}) {
		t.Errorf("%+v staged", nodes)
	}
}

func TestStageBeforeFirstCommit(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.StageLines(t, r, repokit.TwoPeople)
	if st := status(t, r); !st.Staged || st.Base.Defined() || st.Branch != "main" {
		t.Errorf("status %+v", st)
	}
	res, err := commitStaged(t, r)
	if err != nil || len(res.Parents) != 0 || res.Nodes.Added != 2 {
		t.Errorf("%+v, %v", res, err)
	}
	other := repokit.OpenMem(t)
	if repokit.Lines(t, other, repokit.TwoPeople).Graph != res.Graph {
		t.Error("a staged first commit makes another graph")
	}
	repokit.StageLines(t, other, `{"node":{"key":"bob","type":"Person"}}`)
	repokit.Lines(t, other, `{"node":{"key":"carol","type":"Person"}}`)
}

// TestStageBothBegin stages in an empty repository whose first commit comes from elsewhere.
func TestStageBothBegin(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.StageLines(t, r, `{"node":{"key":"bob","type":"Person"}}`)
	repokit.Lines(t, r, repokit.TwoPeople)
	res, err := commitStaged(t, r)
	must.OK(t, err)
	if got := repokit.Sizes(repokit.Head(t, r)); got != [4]uint64{3, 1, 0, 0} || res.Nodes.Added != 1 {
		t.Errorf("sizes %v, %+v", got, res)
	}
}

func TestStageRefusals(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, repokit.TwoPeople)
	text := `{"node":{"key":"x","type":"T"}}` + "\n" + `{"node":{"key":"y"}}`
	_, err := r.Stages().Add(t.Context(), state.ReadChanges(strings.NewReader(text), "f"),
		core.StageOptions{Stamp: repokit.By})
	var at *graph.LineError
	if !errors.As(err, &at) || at.Line != 2 || status(t, r).Staged {
		t.Errorf("error %v, staged %v", err, status(t, r).Staged)
	}
	for _, name := range []string{"a b", "../x", "x\n", strings.Repeat("x", 300)} {
		_, err := r.Stages().Status(t.Context(), name)
		must.Fail(t, err, state.ErrInvalid, name)
		must.Fail(t, r.Stages().Remove(t.Context(), name, repokit.By), state.ErrInvalid, name)
	}
	repokit.StageLines(t, r, `{"node":{"key":"x","type":"T"}}`)
	expect := ipld.Sum(ipld.DagCBOR, nil)
	_, err = r.Stages().Commit(t.Context(), "", core.CommitOptions{Stamp: repokit.By, Expect: &expect})
	if !errors.Is(err, state.ErrConflict) || !status(t, r).Staged {
		t.Errorf("expected another commit: %v", err)
	}
	_, err = r.Stages().Commit(t.Context(), "", core.CommitOptions{Stamp: repokit.By, Branch: "nope"})
	must.Fail(t, err, store.ErrNotFound)
	must.Equal(t, repokit.Head(t, r).CID(), first.Commit, "the branch moved")
}

// TestStagesAreApart keeps two stages.
func TestStagesAreApart(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, repokit.TwoPeople)
	repokit.StageLines(t, r, `{"node":{"key":"x","type":"T"}}`)
	_, err := r.Stages().Add(t.Context(),
		state.ReadChanges(strings.NewReader(`{"node":{"key":"y","type":"T"}}`), ""),
		core.StageOptions{Stamp: repokit.By, Stage: "other"})
	must.OK(t, err)
	_, err = r.Stages().Commit(t.Context(), "other", core.CommitOptions{Stamp: repokit.By})
	must.OK(t, err)
	if nodes, _ := staged(t, r); nodes != (state.Counts{Added: 1}) || repokit.Sizes(repokit.Head(t, r))[0] != 3 {
		t.Errorf("%+v staged, sizes %v", nodes, repokit.Sizes(repokit.Head(t, r)))
	}
}
