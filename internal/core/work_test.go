package core_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// TestWorkAtHub compares commits at a node with very many edges with those at a leaf.
func TestWorkAtHub(t *testing.T) {
	effort.Alone(t)
	n := effort.Pick(10_000, 10_000, 100_000)
	st := mem.New()
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, repokit.HubLines(n)+`{"node":{"key":"lone","type":"Leaf"}}`)
	for name, line := range map[string]string{
		"add an edge":       `{"edge":{"type":"new%d","src":"%s","dst":"lone"}}`,
		"add an edge to it": `{"edge":{"type":"in%d","src":"lone","dst":"%s"}}`,
		"change the node":   `{"node":{"key":"%[2]s","props":{"p":%[1]d}}}`,
		"mark it":           `{"mark":{"node":"%[2]s","state":"stale","reason":"%[1]d"}}`,
	} {
		const samples = 8
		var got [2]repokit.Work
		for side, node := range []string{"hub", "l17"} {
			for i := range samples {
				w := repokit.Measure(t, st, func(r *core.Repo) { repokit.Lines(t, r, fmt.Sprintf(line, i, node)) })
				if w.Blocks() > got[side].Blocks() {
					got[side] = w
				}
			}
		}
		t.Logf("%s: hub %v; leaf %v", name, got[0], got[1])
		if got[0].Blocks() > got[1].Blocks()+6 ||
			got[0].Facts.BlocksRead > got[1].Facts.BlocksRead+12 {
			t.Errorf("%s: at the hub %v, at a leaf %v", name, got[0], got[1])
		}
	}
	w := repokit.Measure(t, st, func(r *core.Repo) {
		a, err := rank.Retrieve(t.Context(), repokit.Head(t, r), retrieve.Request{Text: "centre", Limit: new(1),
			OutputOptions: retrieve.OutputOptions{Adjacency: 10}, ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})
		must.Check(t, err == nil && len(a.Items) == 1 && a.Items[0].ID == graph.NodeID("hub"),
			"%+v, %v", a, err)
	})
	t.Logf("render the hub with 10 of %d edges: %v", n, w)
	must.Check(t, w.Facts.BlocksRead <= 80, "rendering the hub read %d blocks", w.Facts.BlocksRead)
}
