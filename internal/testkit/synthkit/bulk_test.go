package synthkit

import (
	"context"
	"runtime"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/synth"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// The commit and the index of 10^4 made-up nodes with their edges. The commit never changes; the
// index may, with its format.
const (
	goldenNodes    = 10_000
	goldenCommit   = "bafyreiagdbzknbdnsjayvomdpzeq2jkl7qjrpnfqrvmr2khlqpmd5vdlsa"
	goldenManifest = "bafyreihqkwgicywa6gdunin3faiz374su5nhvx6xfbgxzfepevpkxjijxi"
)

// TestBulkCommit pins a bulk commit and its index, for one thread and for several, and bounds what it
// allocates for each item: the rest is the machine's affair.
func TestBulkCommit(t *testing.T) {
	const items = goldenNodes + EdgesPerNode*(goldenNodes-1)
	const mostAllocs, mostBytes = 50, 9000 // 7,900 bytes alone, 1,450 of them arenas of Pebble: more where its flushes lag
	s := New(1, goldenNodes, 0, 0)
	for _, procs := range effort.Pick([]int{4}, []int{1, 4}, []int{1, 4}) {
		old := runtime.GOMAXPROCS(procs)
		commit, manifest, allocs, bytes := bulkCommit(t, s)
		runtime.GOMAXPROCS(old)
		if commit.String() != goldenCommit || manifest.String() != goldenManifest {
			t.Errorf("%d threads: commit %s, index %s; want %s, %s", procs, commit, manifest,
				goldenCommit, goldenManifest)
		}
		t.Logf("%d threads: %d allocations, %d bytes an item", procs, allocs/items, bytes/items)
		if !effort.Race && (allocs/items > mostAllocs || bytes/items > mostBytes) {
			t.Errorf("%d threads: %d allocations and %d bytes an item, want at most %d and %d", procs,
				allocs/items, bytes/items, mostAllocs, mostBytes)
		}
	}
}

func bulkCommit(t *testing.T, s *Synth) (commit, manifest ipld.CID, allocs, bytes uint64) {
	t.Helper()
	ctx := context.Background()
	by := state.Stamp{Author: "a", Time: synth.FactTime(0), Command: []string{"x"}}
	r, err := care.Init(ctx, t.TempDir(), by, core.Options{})
	must.OK(t, err)
	defer func() {
		must.OK(t, r.Close())
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := r.Commit(ctx, s.Changes(), core.CommitOptions{Stamp: by, Message: "bulk"})
	runtime.ReadMemStats(&after)
	must.OK(t, err)
	snap, err := r.Snapshot(ctx, "HEAD")
	must.OK(t, err)
	stats, err := snap.IndexStats(ctx)
	must.OK(t, err)
	return res.Commit, stats.Manifest, after.Mallocs - before.Mallocs,
		after.TotalAlloc - before.TotalAlloc
}
