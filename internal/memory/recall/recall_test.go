package recall_test

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// recallable makes a memory of a failure and what an edge of a type leads from to it.
func recallable(t *testing.T, edge string) *core.Snapshot {
	t.Helper()
	by := state.Stamp{Author: "erin", Time: 1_767_225_600_000_000, Command: []string{"test"}}
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	t.Cleanup(func() { must.OK(t, r.Close()) })
	must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(
		`{"node":{"key":"fail","type":"event","summary":"The pump failed"}}
{"node":{"key":"silt","type":"fact","summary":"Silt blocked the inlet"}}
{"edge":{"type":"`+edge+`","src":"silt","dst":"fail"}}
`), "test.jsonl"), core.CommitOptions{Stamp: by, Message: "first"}))(t)
	return must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
}

// TestRecallKnowsEdges keeps the types of edges that the verbs write those that intents favour.
func TestRecallKnowsEdges(t *testing.T) {
	brings := func(edge string, intent retrieve.Intent) int64 {
		s := recallable(t, edge)
		a, err := recall.Recall(t.Context(), s, retrieve.Request{Text: "pump", Intent: intent,
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
			Floor:            retrieve.FloorRest})
		must.Require(t, err == nil && len(a.Items) == 2, "%s: %d items, %v", edge, len(a.Items), err)
		return a.Items[1].Recall.Graph
	}
	for _, c := range []struct {
		intent retrieve.Intent
		edges  []string
	}{
		{retrieve.IntentWhy, []string{memory.EdgeCauses, memory.EdgeEnables, memory.EdgePrevents}},
		{retrieve.IntentWhen, []string{memory.EdgeFollows, memory.EdgeNear}},
		{retrieve.IntentEntity, []string{memory.EdgeMentions, memory.EdgeAbout}},
	} {
		other := brings("owns", c.intent)
		for _, edge := range c.edges {
			n := brings(edge, c.intent)
			must.True(t, n > other, "%s: %s brings %d, any other %d", c.intent, edge, n, other)
		}
		n := brings(memory.EdgeSimilar, c.intent)
		must.True(t, n != 0 && n < other, "%s: %s brings %d, any other %d", c.intent, memory.EdgeSimilar, n, other)
	}
}
