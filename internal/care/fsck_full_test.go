package care_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// steps makes a commit of one node and one edge n times.
func steps(t *testing.T, st store.Store, n int) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	for i := range n {
		repokit.Lines(t, r, fmt.Sprintf(`{"node":{"key":"one%d","type":"Note","summary":"one more thing %d"}}
{"edge":{"type":"after","src":"one%d","dst":"one%d"}}`, i, i, i, i/2))
	}
	return r
}

// TestWorkOfFullFsck bounds how much a full check reads: it grows with the changes of the history, not with commits
// times their size.
func TestWorkOfFullFsck(t *testing.T) {
	effort.Alone(t)
	var each []float64
	for _, n := range []int{100, 400} {
		st := mem.New()
		steps(t, st, n)
		c := repokit.NewCounted(st)
		r := must.Get(care.New(t.Context(), c, repokit.By, core.Options{}))(t)
		c.FactCounts.Reset()
		c.DerivedCounts.Reset()
		report, err := care.Fsck(t.Context(), r, care.FsckOptions{Full: true})
		must.Require(t, err == nil && len(report.Errors) <= 0, "%v %v", report.Errors, err)
		read := c.FactCounts.Counts().BlocksRead + c.DerivedCounts.Counts().BlocksRead
		each = append(each, float64(read)/float64(n))
		t.Logf("%d commits: %d blocks read, %.0f for each", n, read, each[len(each)-1])
	}
	if each[1] > 2*each[0] {
		t.Errorf("%.0f blocks read for each of 400 commits, %.0f of 100", each[1], each[0])
	}
}

// TestFullFsckFindsOldIndexes gives a commit in the midst of a history the index of its parent.

func TestFullFsckFindsOldIndexes(t *testing.T) {
	st := mem.New()
	r := steps(t, st, 40)
	graphs := func(rev string) ipld.CID {
		s := must.Get(r.Snapshot(t.Context(), rev))(t)
		return s.Graph()
	}
	check := func(want bool) {
		t.Helper()
		report := must.Get(care.Fsck(t.Context(), r, care.FsckOptions{Full: true}))(t)
		found := false
		for _, e := range report.Errors {
			found = found || e.Kind == care.FsckIndex
		}
		must.Check(t, found == want, "damaged %v, found %v", want, report.Errors)
	}
	check(false)
	derived := st.Derived()
	for _, back := range []int{3, 9, 20, 30} {
		of, before := graphs(fmt.Sprintf("main~%d", back)), graphs(fmt.Sprintf("main~%d", back+1))
		kept := must.Get(derived.Cell(t.Context(), repokit.TextsKey(of)))(t)
		wrong := must.Get(derived.Cell(t.Context(), repokit.TextsKey(before)))(t)
		must.OK(t, derived.SetCell(t.Context(), repokit.TextsKey(of), wrong))
		check(true)
		must.OK(t, derived.SetCell(t.Context(), repokit.TextsKey(of), kept))
	}
	check(false)
}
