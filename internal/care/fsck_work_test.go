package care_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestWorkOfFsck bounds how often fsck reads stored data, with small caches: all blocks once in storage order, plus
// the chunks of trees that changed, that are read completely, and for their indexes. It does not grow with the
// size.
func TestWorkOfFsck(t *testing.T) {
	effort.Alone(t)
	for _, n := range effort.Pick([]int{1000, 8000}, []int{4000, 16_000}, []int{4000, 16_000}) {
		st := repokit.Memory(t, n)
		r, err := care.New(t.Context(), st, repokit.By, core.Options{})
		must.OK(t, err)
		for i := range 50 {
			repokit.Lines(t, r, fmt.Sprintf(`{"node":{"key":"one%d","type":"Note","summary":"one more"}}
{"edge":{"type":"after","src":"one%d","dst":"n%d"}}`, i, i, i*n/50))
		}
		stored := 0
		err = st.Facts().Iterate(t.Context(), ipld.CID{}, func(store.Block) error {
			stored++
			return nil
		})
		must.OK(t, err)
		c := repokit.NewCounted(st)
		r, err = care.New(t.Context(), c, repokit.By, core.Options{TreeCache: 1 << 20})
		must.OK(t, err)
		c.FactCounts.Reset()
		report, err := care.Fsck(t.Context(), r, care.FsckOptions{})
		if err != nil || len(report.Errors) > 0 {
			t.Fatal(report.Errors, err)
		}
		read := c.FactCounts.Counts().BlocksRead
		t.Logf("of %d nodes: reads %.2f times %d blocks of facts", n, float64(read)/float64(stored), stored)
		if 100*read > 155*int64(stored) {
			t.Errorf("of %d nodes: reads %d blocks, %d are stored", n, read, stored)
		}
	}
}

// branched makes a branch n times.
func branched(t *testing.T, st store.Store, n int) {
	t.Helper()
	r := steps(t, st, 1)
	for i := range n {
		if _, err := r.Branches().Create(t.Context(), fmt.Sprintf("b%d", i*7919%n), "main", repokit.RefOptions); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWorkOfFsckOfOperations bounds how much a check of the log reads: it grows with what operations changed, not
// with operations times refs.
func TestWorkOfFsckOfOperations(t *testing.T) {
	var each []float64
	for _, n := range []int{150, 900} {
		st := mem.New()
		branched(t, st, n)
		c := repokit.NewCounted(st)
		r, err := care.New(t.Context(), c, repokit.By, core.Options{TreeCache: 1 << 20})
		must.OK(t, err)
		c.FactCounts.Reset()
		report, err := care.Fsck(t.Context(), r, care.FsckOptions{Full: true})
		if err != nil || len(report.Errors) > 0 {
			t.Fatal(report.Errors, err)
		}
		each = append(each, float64(c.FactCounts.Counts().BlocksRead)/float64(n))
		t.Logf("%d operations: %.1f blocks read for each", n, each[len(each)-1])
	}
	if each[1] > 1.5*each[0] {
		t.Errorf("%.1f blocks read for each of 900 operations, %.1f of 150", each[1], each[0])
	}
}

// TestFsckMissesOldViews removes single chunks of the refs of older operations.
func TestFsckMissesOldViews(t *testing.T) {
	base := mem.New()
	branched(t, base, 120)
	truth := testkit.NewTamper(base)
	var chunks []ipld.CID
	err := base.Facts().Iterate(t.Context(), ipld.CID{}, func(b store.Block) error {
		if ipld.RecordKind(b.Data) == "tree" && bytes.Contains(b.Data, []byte("heads/")) {
			chunks = append(chunks, b.CID)
		}
		return nil
	})
	if err != nil || len(chunks) < 120 {
		t.Fatal(len(chunks), err)
	}
	for i, gone := range chunks {
		if i%8 != 0 {
			continue
		}
		truth.Lie = func(c ipld.CID, data []byte) ([]byte, error) {
			if c == gone {
				return nil, store.ErrNotFound
			}
			return data, nil
		}
		r, err := care.New(t.Context(), truth, repokit.By, core.Options{})
		if err != nil {
			continue // of the newest operation: it cannot be opened
		}
		report, err := care.Fsck(t.Context(), r, care.FsckOptions{})
		must.OK(t, err)
		if len(report.Errors) == 0 {
			t.Errorf("nothing is said of a chunk that is gone, %s", gone)
		}
	}
}
