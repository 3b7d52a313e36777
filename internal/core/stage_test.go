package core_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
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
