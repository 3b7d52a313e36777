package repo_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// slowMerges holds back the cells that tell of merges until it is let go.
type slowMerges struct {
	*mem.Store
	held  atomic.Int32 // merges that were made
	gate  chan struct{}
	stuck atomic.Int32 // 1 while one waits
}

// callers marks what is done for a caller, as merges are not.
type callers struct{}

func (s *slowMerges) Derived() store.Derived { return slowCells{s.Store.Derived(), s} }

type slowCells struct {
	store.Derived
	of *slowMerges
}

func (c slowCells) SetCell(ctx context.Context, key, value ipld.CID) error {
	if ctx.Value(callers{}) == nil { // a merge
		c.of.held.Add(1)
		c.of.stuck.Store(1)
		defer c.of.stuck.Store(0)
		select {
		case <-c.of.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return c.Derived.SetCell(ctx, key, value)
}

func (c slowCells) Cells(ctx context.Context, fn func(key, value ipld.CID) error) error {
	return c.Derived.(store.CellDeleter).Cells(ctx, fn)
}

func (c slowCells) DeleteCells(ctx context.Context, keys ...ipld.CID) error {
	return c.Derived.(store.CellDeleter).DeleteCells(ctx, keys...)
}

func (c slowCells) Delete(ctx context.Context, cids ...ipld.CID) error {
	return c.Derived.(store.Deleter).Delete(ctx, cids...)
}

// TestMergesBesideCommits: commits and answers do not wait for a merge that takes for ever, a
// collection stops it, a later commit asks for it again, and Close waits for it.
func TestMergesBesideCommits(t *testing.T) {
	ctx := context.WithValue(context.Background(), callers{}, true)
	st := &slowMerges{Store: mem.New(), gate: make(chan struct{})}
	r, err := repo.New(ctx, st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	commit := func(until func() bool) {
		t.Helper()
		for most := next + 2000; !until(); next++ {
			if next == most {
				t.Fatal("no merge was begun")
			}
			_, err := r.Commit(ctx, repo.ReadChanges(strings.NewReader(person(next)), "x"),
				repo.CommitOptions{Stamp: by})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	made := func(n int32) func() bool {
		return func() bool { return st.held.Load() == n && st.stuck.Load() == 1 }
	}
	commit(made(1))
	ready := next + 100
	commit(func() bool { return next == ready }) // beside it
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Retrieve(ctx, retrieve.Request{Text: "person lives"}); err != nil {
		t.Fatal(err)
	}
	if st.stuck.Load() != 1 {
		t.Error("the merge did not wait")
	}
	if _, err := r.GC(ctx, repo.GCOptions{Stamp: by, KeepOps: 1}); err != nil {
		t.Fatal(err)
	}
	if st.stuck.Load() != 0 {
		t.Error("a merge goes on beside a collection")
	}
	commit(made(2))
	segments := func() int {
		t.Helper()
		s, err := r.Snapshot(ctx, "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		stats, err := s.IndexStats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return stats.Segments
	}
	before := segments()
	close(st.gate)
	commit(func() bool { return segments() < before })
	if report, err := r.Fsck(ctx, repo.FsckOptions{}); err != nil || len(report.Errors) > 0 {
		t.Errorf("fsck: %v %v", err, report.Errors)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if st.stuck.Load() != 0 {
		t.Error("a merge goes on after Close")
	}
}
