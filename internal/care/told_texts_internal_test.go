package care_test

import (
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// TestTextsOfToldAreTheSame: the redaction of a text made from several erased nodes deterministically names the
// first of them.
func TestTextsOfToldAreTheSame(t *testing.T) {
	ctx := t.Context()
	r := repokit.OverStore(t, mem.New())
	s, _, root := harbour(t, r)
	one := outline.DigestText{Source: root.Source, Text: "The harbour, by number.", Model: "m"}
	must.Get(repokit.WriteTexts(r, "", one))(t)
	var todo []store.Redaction
	var first graph.ID
	for kv, err := range s.State.Nodes.Scan(ctx, nil, nil) {
		must.OK(t, err)
		c := must.Get(state.LinkItem(kv.Value))(t)
		id := graph.ID(kv.Key)
		if first.IsZero() {
			first = id // they ascend
		}
		rec := commit.Redaction{What: commit.ErasedNode, Node: id, Actor: "b", Time: 2, Reason: "of " + id.String()}
		todo = append(todo, store.Redaction{CID: c, Stub: rec.Encode()})
	}
	must.Require(t, len(todo) == harbourNodes, "%d nodes", len(todo))
	for range 20 {
		got, err := care.TextsOfTold(ctx, r, todo, repokit.By)
		must.Require(t, err == nil && len(got) == 1, "%d texts, %v", len(got), err)
		rec, err := commit.DecodeRedaction(got[0].Stub)
		must.Require(t, err == nil && rec.Node == first && rec.Reason == "of "+first.String(),
			"%+v, %v: not of %s", rec, err, first)
	}
}
