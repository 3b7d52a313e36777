package commit

import (
	"errors"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func goldenRedaction() *Redaction {
	return &Redaction{
		What: ErasedNode, Node: graph.NodeID("alice"), Actor: "Alice",
		Time: 1_790_000_000_000_000, Reason: "asked to be forgotten",
	}
}

// TestHorizon drops old operations repeatedly, and looks up all that are left, on a growing log.
func TestHorizon(t *testing.T) {
	const n, window = 700, 50
	ctx := t.Context()
	b := &blocks{}
	cids := oplog(t, b, 1)
	horizon := uint64(0)
	for seq := uint64(2); seq <= n; seq++ {
		o := must.Get(NextOperation(ctx, b, store.Head{Seq: seq - 1, Operation: cids[seq-1]}))(t)
		must.Equal(t, o.Horizon, horizon, "operation ", seq, ": horizon")
		o.View, o.Actor, o.Command = link("v"), "a", []string{"test"}
		if seq%37 == 0 && seq > window {
			horizon = seq - window
			o.Horizon = horizon
		}
		cids = append(cids, b.put(t, o))
		if o.Horizon == 0 || seq%37 != 0 {
			continue
		}
		for old := uint64(1); old < horizon; old++ {
			if !slices.Contains(Kept(horizon), old) {
				delete(b.data, cids[old])
			}
		}
		count := uint64(0)
		for e, err := range Operations(ctx, b, cids[seq]) {
			must.OK(t, err, "operation ", count, " before ", seq)
			must.Equal(t, e.CID, cids[seq-count], "operation ", count, " before ", seq)
			count++
		}
		must.Check(t, count == window+1, "%d operations after number %d, want %d", count, seq, window+1)
		for at := uint64(1); at <= seq; at++ {
			e, err := OperationAt(ctx, b, cids[seq], at)
			must.Check(t, at >= horizon || errors.Is(err, store.ErrNotFound),
				"operation %d behind the horizon: %v", at, err)
			if at >= horizon && (err != nil || e.CID != cids[at]) {
				t.Errorf("operation %d of %d, horizon %d: %v", at, seq, horizon, err)
			}
		}
	}
	must.Require(t, horizon != 0, "nothing was let go of")
}
