package core_test

import (
	"fmt"
	"math/bits"
	"strings"
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

// bounds of one commit in a memory of 10^6 nodes, in logical bytes of facts and index.
const (
	nodeCommitBytes = 12 << 10
	edgeCommitBytes = 40 << 10
)

func workSizes() []int {
	return effort.Pick([]int{1_000, 8_000}, []int{1_000, 10_000},
		[]int{1_000, 10_000, 100_000, 1_000_000})
}

// TestWorkOfCommits bounds what small commits write in memories of several sizes.
func TestWorkOfCommits(t *testing.T) {
	effort.Alone(t)
	const samples = 12
	for _, n := range workSizes() {
		st := repokit.Memory(t, n)
		height := int64(bits.Len(uint(n))/4 + 1) // log16, rounded up
		for _, c := range []struct {
			name   string
			line   func(i int) string
			bytes  int64 // on the average of the samples
			blocks int64
		}{
			{"one new node", func(i int) string {
				return fmt.Sprintf(`{"node":{"key":"new%d","type":"Note","summary":"w%d w7 zebra"}}`, i, i)
			}, nodeCommitBytes, height + 12},
			{"one changed node", func(i int) string {
				return fmt.Sprintf(`{"node":{"key":"n%d","props":{"n":-1}}}`, i*7)
			}, nodeCommitBytes, height + 12},
			{"one edge", func(i int) string {
				return fmt.Sprintf(`{"edge":{"type":"far","src":"n%d","dst":"n%d"}}`, i*7, n-1-i)
			}, edgeCommitBytes, 3*height + 12},
			{"node and edge", func(i int) string {
				return fmt.Sprintf(`{"node":{"key":"both%d","type":"Note","summary":"w%d w8"}}
{"edge":{"type":"far","src":"n%d","dst":"both%d"}}`, i, i, i*7, i)
			}, edgeCommitBytes, 4*height + 12},
		} {
			var total, blocks, largest int64
			var last repokit.Work
			for i := range samples {
				last = repokit.Measure(t, st, func(r *core.Repo) { repokit.Lines(t, r, c.line(i)) })
				total, blocks = total+last.Bytes(), blocks+last.Blocks()
				largest = max(largest, last.Bytes())
			}
			t.Logf("%d nodes, %s: %d bytes, %d at most, in %d blocks; last %v",
				n, c.name, total/samples, largest, blocks/samples, last)
			if total/samples > c.bytes || blocks/samples > c.blocks {
				t.Errorf("%d nodes, %s: %d bytes in %d blocks, want %d in %d at most",
					n, c.name, total/samples, blocks/samples, c.bytes, c.blocks)
			}
		}
	}
}

// TestWorkOfDiffs bounds what a diff reads by what differs.
func TestWorkOfDiffs(t *testing.T) {
	effort.Alone(t)
	for _, n := range workSizes() {
		st := repokit.Memory(t, n)
		height := int64(bits.Len(uint(n))/4 + 1)
		for _, k := range []int64{1, 10, 100} {
			repokit.Measure(t, st, func(r *core.Repo) {
				var b strings.Builder
				for i := range k {
					fmt.Fprintf(&b, `{"node":{"key":"n%d","props":{"k":%d}}}`+"\n", i*37%int64(n), k)
				}
				repokit.Lines(t, r, b.String())
			})
			w := repokit.Measure(t, st, func(r *core.Repo) {
				now := repokit.Head(t, r)
				old, err := r.Snapshot(t.Context(), "HEAD~1")
				must.OK(t, err)
				found := int64(0)
				for _, err := range old.Diff(now).Nodes(t.Context()) {
					must.OK(t, err)
					found++
				}
				if found != k {
					t.Errorf("%d changes, want %d", found, k)
				}
			})
			t.Logf("%d nodes, %d changes: %v", n, k, w)
			// Both records of each change; two trees of nodes; view, commits, graphs and roots.
			if bound := 2*k + 2*k*height + 2*k + 30; w.Facts.BlocksRead > bound {
				t.Errorf("%d nodes: a diff of %d read %d blocks, want %d at most",
					n, k, w.Facts.BlocksRead, bound)
			}
		}
	}
}

// TestWorkAtHub compares commits at a node with very many edges with those at a leaf.
func TestWorkAtHub(t *testing.T) {
	effort.Alone(t)
	n := effort.Pick(10_000, 10_000, 100_000)
	st := mem.New()
	r, err := care.New(t.Context(), st, repokit.By, core.Options{})
	must.OK(t, err)
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
		if err != nil || len(a.Items) != 1 || a.Items[0].ID != graph.NodeID("hub") {
			t.Errorf("%+v, %v", a, err)
		}
	})
	t.Logf("render the hub with 10 of %d edges: %v", n, w)
	if w.Facts.BlocksRead > 80 {
		t.Errorf("rendering the hub read %d blocks", w.Facts.BlocksRead)
	}
}
