package rank_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// TestNodeCache holds that a question asked again reads no node from the store and looks for no mention, and that
// nothing is kept of nodes once some may have been erased.
func TestNodeCache(t *testing.T) {
	ctx := t.Context()
	by := state.Stamp{Author: "ana", Time: 1, Command: []string{"test"}}
	r := must.Get(care.New(ctx, mem.New(), by, core.Options{}))(t)
	changes := state.ReadChanges(strings.NewReader(`{"node":{"key":"a","type":"T","summary":"harbour lights"}}
{"node":{"key":"b","type":"T","summary":"harbour walls","content":"see harbour lights"}}`), "lines")
	must.Get(r.Commit(ctx, changes, core.CommitOptions{Stamp: by}))(t)
	ask := func() {
		t.Helper()
		s := must.Get(r.Snapshot(ctx, string(graph.Head)))(t)
		answer, err := rank.Retrieve(ctx, s, retrieve.Request{Text: "harbour"})
		must.Require(t, err == nil && len(answer.Items) == 2, "%+v, %v", answer, err)
	}
	ask()
	must.Equal(t, r.NodeBlocks.Len(), 2, "nodes are kept")
	s := must.Get(r.Snapshot(ctx, string(graph.Head)))(t)
	a, b := graph.NodeID("a"), graph.NodeID("b")
	if m := rank.OpenMentions(s).Known(b, retrieve.Out); m == nil || !slices.Equal(m.IDs, []graph.ID{a}) {
		t.Errorf("of the mentions of b are kept %+v", m)
	}
	must.Equal(t, r.Mentions.Len(), 4, "lists of mentions are kept")
	ask()
	must.OK(t, r.Indexes().ChangeAll(ctx, nil))
	must.Equal(t, r.NodeBlocks.Len()+r.Mentions.Len(), 0, "nodes or their mentions are kept after an erasure")
	ask()
}
