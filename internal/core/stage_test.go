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
	return must.Get(r.Stages().Status(t.Context(), ""))(t)
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
		must.Check(t, errors.Is(err, state.ErrInvalid) && strings.Contains(err.Error(),
			graph.NodeID("carol").String()), "%s: error %v does not name the missing node", what, err)
		if _, edges := staged(t, r); edges != (state.Counts{Added: 1}) {
			t.Errorf("%s: %+v staged", what, edges)
		}
	}
	refused("dangling")
	must.Equal(t, repokit.Head(t, r).CID(), first.Commit, "the branch moved")
	repokit.Lines(t, r, `{"node":{"key":"dave","type":"Person"}}`)
	refused("dangling, and the branch moved")
	repokit.StageLines(t, r, `{"node":{"key":"carol","type":"Person"}}`)
	must.Get(commitStaged(t, r))(t)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{4, 2, 0, 0}, "sizes")

	repokit.StageLines(t, r, `{"edge":{"type":"knows","src":"alice","dst":"erin"}}`)
	repokit.Lines(t, r, `{"node":{"key":"erin","type":"Person"}}`)
	must.Get(commitStaged(t, r))(t, "the branch has the missing node by now")
}

// TestStageBothBegin stages in an empty repository whose first commit comes from elsewhere.
func TestStageBothBegin(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.StageLines(t, r, `{"node":{"key":"bob","type":"Person"}}`)
	repokit.Lines(t, r, repokit.TwoPeople)
	res := must.Get(commitStaged(t, r))(t)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{3, 1, 0, 0}, "sizes")
	must.Equal(t, res.Nodes.Added, 1, "sizes")
}
