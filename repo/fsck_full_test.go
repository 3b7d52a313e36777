package repo_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// steps makes a commit of one node and one edge n times.
func steps(t *testing.T, st store.Store, n int) *repo.Repo {
	t.Helper()
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		lines(t, r, fmt.Sprintf(`{"node":{"key":"one%d","type":"Note","summary":"one more thing %d"}}
{"edge":{"type":"after","src":"one%d","dst":"one%d"}}`, i, i, i, i/2))
	}
	return r
}

// TestWorkOfFullFsck bounds what a check of every commit from end to end reads: it grows with the
// changes of the history, not with commits times what each holds.
func TestWorkOfFullFsck(t *testing.T) {
	effort.Alone(t)
	var each []float64
	for _, n := range []int{100, 400} {
		st := mem.New()
		steps(t, st, n)
		c := newCounted(st)
		r, err := repo.New(t.Context(), c, by, repo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.facts.Reset()
		c.derived.Reset()
		report, err := r.Fsck(t.Context(), repo.FsckOptions{Full: true})
		if err != nil || len(report.Errors) > 0 {
			t.Fatal(report.Errors, err)
		}
		read := c.facts.Counts().BlocksRead + c.derived.Counts().BlocksRead
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
		s, err := r.Snapshot(t.Context(), rev)
		if err != nil {
			t.Fatal(err)
		}
		return s.Graph()
	}
	check := func(want bool) {
		t.Helper()
		report, err := r.Fsck(t.Context(), repo.FsckOptions{Full: true})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range report.Errors {
			found = found || e.Kind == repo.FsckIndex
		}
		if found != want {
			t.Errorf("damaged %v, found %v", want, report.Errors)
		}
	}
	check(false)
	derived := st.Derived()
	for _, back := range []int{3, 9, 20, 30} {
		of, before := graphs(fmt.Sprintf("main~%d", back)), graphs(fmt.Sprintf("main~%d", back+1))
		kept, err := derived.Cell(t.Context(), repo.TextsKey(of))
		if err != nil {
			t.Fatal(err)
		}
		wrong, err := derived.Cell(t.Context(), repo.TextsKey(before))
		if err != nil {
			t.Fatal(err)
		}
		if err := derived.SetCell(t.Context(), repo.TextsKey(of), wrong); err != nil {
			t.Fatal(err)
		}
		check(true)
		if err := derived.SetCell(t.Context(), repo.TextsKey(of), kept); err != nil {
			t.Fatal(err)
		}
	}
	check(false)
}
