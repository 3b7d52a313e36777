package merging_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// slowMerges blocks the cells that record merges until it is released.
type slowMerges struct {
	*mem.Store
	held  atomic.Int32 // merges made
	gate  chan struct{}
	stuck atomic.Int32 // 1 while one is blocked
}

// callers marks contexts of work done for a caller; merges have none.
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

// TestMergesDuringCommits: commits and queries do not wait for an endless merge, a collection stops it, a later
// commit requests it again, and Close waits for it.
func TestMergesDuringCommits(t *testing.T) {
	ctx := context.WithValue(context.Background(), callers{}, true)
	st := &slowMerges{Store: mem.New(), gate: make(chan struct{})}
	r := must.Get(care.New(ctx, st, repokit.By, core.Options{}))(t)
	next := 0
	commit := func(until func() bool) {
		t.Helper()
		for most := next + 2000; !until(); next++ {
			must.Require(t, next != most, "no merge was begun")
			must.Get(r.Commit(ctx, state.ReadChanges(strings.NewReader(repokit.Person(next)), "x"),
				core.CommitOptions{Stamp: repokit.By}))(t)
		}
	}
	made := func(n int32) func() bool { return func() bool { return st.held.Load() == n && st.stuck.Load() == 1 } }
	commit(made(1))
	ready := next + 100
	commit(func() bool { return next == ready }) // during the merge
	s := must.Get(r.Snapshot(ctx, "HEAD"))(t)
	must.Get(rank.Retrieve(ctx, s, retrieve.Request{Text: "person lives"}))(t)
	must.Equal(t, st.stuck.Load(), 1, "the merge did not wait")
	must.Get(care.GC(ctx, r, care.GCOptions{Stamp: repokit.By, KeepOps: 1}))(t)
	must.Equal(t, st.stuck.Load(), 0, "a merge goes on during a collection")
	commit(made(2))
	segments := func() int {
		t.Helper()
		s := must.Get(r.Snapshot(ctx, "HEAD"))(t)
		stats := must.Get(s.IndexStats(ctx))(t)
		return stats.Segments
	}
	before := segments()
	close(st.gate)
	commit(func() bool { return segments() < before })
	report, err := care.Fsck(ctx, r, care.FsckOptions{})
	must.True(t, err == nil && len(report.Errors) == 0, "fsck: %v %v", err, report.Errors)
	must.OK(t, r.Close())
	must.Equal(t, st.stuck.Load(), 0, "a merge goes on after Close")
}

// meteredMerges counts what commits write to the derived blocks, and what background merges write.
type meteredMerges struct {
	*mem.Store
	written, merges atomic.Int64
}

func (s *meteredMerges) Derived() store.Derived { return meteredCells{s.Store.Derived(), s} }

type meteredCells struct {
	store.Derived
	of *meteredMerges
}

func (c meteredCells) Put(ctx context.Context, blocks ...store.Block) error {
	if ctx.Value(callers{}) != nil {
		for _, b := range blocks {
			c.of.written.Add(int64(len(b.Data)))
		}
	}
	return c.Derived.Put(ctx, blocks...)
}

func (c meteredCells) SetCell(ctx context.Context, key, value ipld.CID) error {
	if ctx.Value(callers{}) == nil {
		c.of.merges.Add(1)
	}
	return c.Derived.SetCell(ctx, key, value)
}

// TestNoCommitMerges: whatever merges of texts, links and vectors are due, no commit of a node, an edge and an
// embedding writes more to the indexes than small merges take.
func TestNoCommitMerges(t *testing.T) {
	const base, commits, most = 1200, 1300, 48 << 10
	ctx := context.WithValue(context.Background(), callers{}, true)
	st := &meteredMerges{Store: mem.New()}
	r := must.Get(care.New(ctx, st, repokit.By, core.Options{}))(t)
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString(repokit.Person(i) + "\n")
			fmt.Fprintf(&b, `{"edge":{"type":"knows","src":"p%d","dst":"p%d"}}`+"\n", i, i/2)
			fmt.Fprintf(&b, `{"embedding":{"node":"p%d","model":"m","vector":[%d,1,%d]}}`+"\n", i, i%11, i%7)
		}
		return b.String()
	}
	commit := func(from, to int) {
		t.Helper()
		must.Get(r.Commit(ctx, state.ReadChanges(strings.NewReader(lines(from, to)), "x"),
			core.CommitOptions{Stamp: repokit.By}))(t)
	}
	commit(0, base)
	worst := int64(0)
	for i := range commits {
		st.written.Store(0)
		commit(base+i, base+i+1)
		worst = max(worst, st.written.Load())
	}
	must.True(t, worst <= most, "a commit of one node wrote %d bytes to the indexes", worst)
	s := must.Get(r.Snapshot(ctx, "HEAD"))(t)
	must.Get(rank.Retrieve(ctx, s, retrieve.Request{Text: "person lives"}))(t)
	report, err := care.Fsck(ctx, r, care.FsckOptions{})
	must.True(t, err == nil && len(report.Errors) == 0, "fsck: %v %v", err, report.Errors)
	must.OK(t, r.Close())
	if st.merges.Load() < 3 { // at least one of each index
		t.Errorf("%d merges during commits", st.merges.Load())
	}
}

// whole are nodes with edges, marks and an embedding.
const whole = `
{"node":{"key":"a","type":"T","summary":"A"}}
{"node":{"key":"b","type":"T","summary":"B"}}
{"node":{"key":"c","type":"T","summary":"C"}}
{"edge":{"type":"e","src":"a","dst":"b"}}
{"edge":{"type":"e","src":"b","dst":"b"}}
{"edge":{"type":"e","src":"b","dst":"c","weight":0.5}}
{"mark":{"edge":{"type":"e","src":"a","dst":"b"},"state":"stale"}}
{"embedding":{"node":"b","model":"m","vector":[1,0]}}`

// TestRestore removes nodes and restores them: a fully restored graph equals the original.
func TestRestore(t *testing.T) {
	r := repokit.OpenMem(t)
	opt := core.CommitOptions{Stamp: repokit.By}
	repokit.Lines(t, r, whole)
	first := repokit.Head(t, r)
	repokit.Lines(t, r, `{"remove":{"node":"b"}}`)
	res := must.Get(merging.Restore(t.Context(), r, first.CID().String(), []string{"b"}, opt))(t)
	now := repokit.Head(t, r)
	must.Equal(t, res.Graph, first.Graph(), "what was restored is not what it was")
	must.Equal(t, now.Commit().Vectors, first.Commit().Vectors, "what was restored is not what it was")
	// An edge between two restored nodes comes back whichever is named first; one to a node that
	// stays removed does not.
	repokit.Lines(t, r, `{"remove":{"node":"a"}}
{"remove":{"node":"b"}}
{"remove":{"node":"c"}}
{"node":{"key":"d","type":"T"}}`)
	must.Get(merging.Restore(t.Context(), r, first.CID().String(), []string{"c", "b"}, opt))(t)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r)), [4]uint64{3, 2, 0, 1}, "sizes")
	// A node that exists is reset, and loses a mark that it did not have.
	repokit.Lines(t, r, `{"node":{"key":"b","summary":"B1"}}
{"mark":{"node":"b","state":"forgotten"}}`)
	must.Get(merging.Restore(t.Context(), r, first.CID().String(), []string{"b"}, opt))(t)
	s := repokit.Head(t, r)
	m, err := s.Mark(t.Context(), graph.OnNode, graph.NodeID("b"))
	must.True(t, err == nil && m == nil && repokit.NodeByKey(t, s, "b").Summary == "B", "mark %+v, %v", m, err)
	again, err := merging.Restore(t.Context(), r, first.CID().String(), []string{"b"}, opt)
	must.True(t, err == nil && again.NoChange, "restored twice: %+v, %v", again, err)
	for _, names := range [][]string{nil, {"nobody"}} {
		_, err := merging.Restore(t.Context(), r, first.CID().String(), names, opt)
		must.True(t, errors.Is(err, state.ErrInvalid) || errors.Is(err, store.ErrNotFound), "%v: %v", names, err)
	}
}

func TestOnDatabase(t *testing.T) { repokit.OnDatabase(t, 5) }
