package commit

import (
	"errors"
	"math/bits"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// timedLog puts operations with the given times; the CID of operation n is at n.
func timedLog(t testing.TB, b *blocks, times []graph.Time) []ipld.CID {
	t.Helper()
	cids := []ipld.CID{{}}
	for i, at := range times {
		head := store.Head{Seq: uint64(i), Operation: cids[i]}
		o := must.Get(NextOperation(t.Context(), b, head))(t)
		o.View, o.Actor, o.Command, o.Time = link("v"), "a", []string{"x"}, at
		cids = append(cids, b.put(t, o))
	}
	return cids
}

// TestOperationBefore looks up times in logs with clocks that ran forwards, stood still or jumped.
func TestOperationBefore(t *testing.T) {
	const n = 2000
	rng := source(t)
	for _, jumps := range []bool{false, true} {
		b := &blocks{}
		times := make([]graph.Time, n)
		for i := range times {
			times[i] = graph.Time(rng.IntN(n))
		}
		if !jumps {
			slices.Sort(times)
		}
		cids := timedLog(t, b, times)
		most := 0
		for range 3000 {
			head, at := 1+rng.IntN(n), graph.Time(rng.IntN(n+1))
			b.reads = 0
			e, err := OperationBefore(t.Context(), b, cids[head], at)
			most = max(most, b.reads)
			if errors.Is(err, store.ErrNotFound) {
				if times[0] <= at {
					t.Fatalf("from %d: no operation at %d, the first is at %d", head, at, times[0])
				}
				continue
			}
			must.OK(t, err)
			seq := int(e.Operation.Seq)
			if e.CID != cids[seq] || times[seq-1] > at || seq < head && times[seq] <= at {
				t.Fatalf("from %d, time %d: operation %d", head, at, seq)
			}
		}
		t.Logf("jumps %v: at most %d reads among %d operations", jumps, most, n)
		if width := bits.Len(n); most > 2+width*(width+1) {
			t.Errorf("jumps %v: %d reads among %d operations of %d bits", jumps, most, n, width)
		}
	}
}

func TestOperationBeforeErrors(t *testing.T) {
	b := &blocks{}
	cids := timedLog(t, b, []graph.Time{5, 6, 7, 8, 9, 10})
	_, err := OperationBefore(t.Context(), b, cids[6], 4)
	must.Fail(t, err, store.ErrNotFound)
	must.Check(t, must.Err(OperationBefore(t.Context(), b, link("gone"), 4)) != nil,
		"a head that is not there is no error")
}
