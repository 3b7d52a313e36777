package branching

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/verbkit"
	"github.com/mnem-project/mnem/internal/verb/editing"
)

// liveHeap returns how many bytes are in use.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestShowStreams shows a commit of many nodes: none is held once it was given. Were they, the heap would
// grow by 2 KiB for each.
func TestShowStreams(t *testing.T) {
	const nodes, summary, most = 12_000, 2_000, 8 << 20
	h, ctx := verbkit.NewHost(t), t.Context()
	req := &editing.CommitRequest{Message: "many"}
	req.SetChanges(func(context.Context) (state.Changes, error) {
		var b strings.Builder
		text := strings.Repeat("x", summary)
		for i := range nodes {
			fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"%s"}}`+"\n", i, text)
		}
		return state.ReadChanges(strings.NewReader(b.String()), "x"), nil
	})
	verbkit.Run(t, h, editing.CommitVerb, req)
	snap := must.Get(h.Kept.Snapshot(ctx, "HEAD"))(t)
	c := must.Get(compareParent(ctx, h.Kept, snap))(t)
	d, err := c.differed(ctx, nil)
	must.OK(t, err)
	n, early, late := 0, int64(0), int64(0)
	err = d.Nodes(func(state.NodeDiff) error {
		switch n++; n {
		case nodes / 4:
			early = liveHeap()
		case nodes - 1:
			late = liveHeap()
		}
		return nil
	})
	must.OK(t, err, "nodes")
	must.Equal(t, n, nodes, "nodes")
	if late-early > most {
		t.Errorf("the heap grew by %d bytes while %d nodes were shown, want at most %d", late-early, nodes*3/4, most)
	}
}
