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
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// branched makes a branch n times.
func branched(t *testing.T, st store.Store, n int) {
	t.Helper()
	r := steps(t, st, 1)
	for i := range n {
		must.Get(r.Branches().Create(t.Context(), fmt.Sprintf("b%d", i*7919%n), "main", repokit.RefOptions))(t)
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
		r := must.Get(care.New(t.Context(), c, repokit.By, core.Options{TreeCache: 1 << 20}))(t)
		c.FactCounts.Reset()
		report, err := care.Fsck(t.Context(), r, care.FsckOptions{Full: true})
		must.Require(t, err == nil && len(report.Errors) <= 0, "%v %v", report.Errors, err)
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
	must.Require(t, err == nil && len(chunks) >= 120, "%v %v", len(chunks), err)
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
		report := must.Get(care.Fsck(t.Context(), r, care.FsckOptions{}))(t)
		must.Check(t, len(report.Errors) != 0, "nothing is said of a chunk that is gone, %s", gone)
	}
}
