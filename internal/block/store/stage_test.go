package store_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/ipld"
)

var (
	_ store.Getter = (*store.Stage)(nil)
	_ store.Putter = (*store.Stage)(nil)
)

func ids(blocks []store.Block) []string {
	out := []string{}
	for _, b := range blocks {
		out = append(out, b.CID.String())
	}
	return out
}

func TestStage(t *testing.T) {
	ctx := context.Background()
	base := storetest.NewCounting(mem.New().Facts())
	a, b, c := storetest.Block(1, 100), storetest.Block(2, 100), storetest.Block(3, 100)
	must.OK(t, base.Put(ctx, c))
	base.Reset()
	s := store.NewStage(base, 250)

	given := store.Block{CID: a.CID, Data: bytes.Clone(a.Data)}
	must.OK(t, s.Put(ctx, given, b, a))
	clear(given.Data) // the stage keeps no reference
	must.Same(t, ids(s.Pending()), ids([]store.Block{a, b}), "pending")
	for _, block := range []store.Block{a, b, c} {
		for range 2 {
			got := must.Get(s.Get(ctx, block.CID))(t)
			must.True(t, bytes.Equal(got, block.Data), "Get(%s) = %q", block.CID, got)
			clear(got)
		}
		has := must.Get(s.Has(ctx, block.CID))(t)
		must.True(t, has, "Has(%s) = %v", block.CID, has)
	}
	if got := base.Counts(); got.BlocksRead != 2 || got.BlocksWritten != 0 {
		t.Errorf("%+v: only the block that is not buffered may be read from below", got)
	}
	missing := storetest.Block(4, 100)
	must.Fail(t, must.Err(s.Get(ctx, missing.CID)), store.ErrNotFound)
	has, err := s.Has(ctx, missing.CID)
	must.True(t, err == nil && !has, "Has of a missing block: %v, %v", has, err)

	must.OK(t, s.Put(ctx, missing)) // exceeds the limit
	must.Same(t, ids(s.Pending()), []string{}, "pending after the limit")
	got := base.Counts()
	must.True(t, got.BlocksWritten == 3 && got.BytesWritten == 300, "%+v, want 3 blocks and 300 bytes written", got)
	must.OK(t, s.Put(ctx, a))
	must.OK(t, s.Flush(ctx))
	must.OK(t, s.Flush(ctx))
}

// TestStageGetEach reads blocks that are buffered, below, and in neither, in the order in which they are asked for.
func TestStageGetEach(t *testing.T) {
	base := mem.New().Facts()
	blocks := []store.Block{storetest.Block(1, 10), storetest.Block(2, 10), storetest.Block(3, 10), storetest.Block(4, 10)}
	must.OK(t, base.Put(t.Context(), blocks[0], blocks[2]))
	s := store.NewStage(base, 0)
	must.OK(t, s.Put(t.Context(), blocks[1]))
	cids := func(yield func(ipld.CID) bool) {
		for _, b := range append(blocks, blocks[1]) {
			if !yield(b.CID) {
				return
			}
		}
	}
	var got []string
	must.OK(t, s.GetEach(t.Context(), cids, func(c ipld.CID, data []byte, err error) error {
		want := append(blocks, blocks[1])[len(got)]
		missing := len(got) == 3
		must.True(t, c == want.CID && missing == errors.Is(err, store.ErrNotFound) &&
			(missing || bytes.Equal(data, want.Data)), "call %d: %s, %q, %v", len(got), c, data, err)
		got = append(got, c.String())
		return nil
	}))
	must.Equal(t, len(got), 5, "calls")
	failed, calls := errors.New("failed"), 0
	for _, from := range []int{0, 1} { // below, buffered
		calls = 0
		err := s.GetEach(t.Context(), slices.Values([]ipld.CID{blocks[from].CID, blocks[2].CID}),
			func(ipld.CID, []byte, error) error { calls++; return failed })
		must.Fail(t, err, failed, "block ", from)
		must.Equal(t, calls, 1, "block ", from)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, b := range blocks[:2] {
		err := s.GetEach(ctx, slices.Values([]ipld.CID{b.CID}), func(_ ipld.CID, _ []byte, err error) error { return err })
		must.Fail(t, err, context.Canceled, b.CID)
	}
}

// TestStageEmptyBlock buffers the empty block.
func TestStageEmptyBlock(t *testing.T) {
	ctx := context.Background()
	s := store.NewStage(mem.New().Facts(), 0)
	b := store.NewBlock(ipld.Raw, nil)
	must.OK(t, s.Put(ctx, b))
	got, err := s.Get(ctx, b.CID)
	must.True(t, err == nil && got != nil && len(got) == 0, "Get = %v, %v", got, err)
}

// TestStageWrongBlock buffers a block that its store refuses: it must not get lost.
func TestStageWrongBlock(t *testing.T) {
	ctx := context.Background()
	below := mem.New()
	s := store.NewStage(below.Facts(), 0)
	wrong, good := storetest.Block(1, 50), storetest.Block(2, 50)
	wrong.Data = []byte("other")
	must.OK(t, s.Put(ctx, good, wrong))
	must.Fail(t, s.Flush(ctx), store.ErrCorrupt)
	must.Same(t, ids(s.Pending()), ids([]store.Block{good, wrong}), "pending after a failed Flush")
	next := storetest.Next(store.Head{}, 1)
	must.True(t, below.Commit(ctx, store.Head{}, next, s.Pending()...) != nil, "Commit accepted a wrong block")
}

func TestStageConcurrency(t *testing.T) {
	ctx := context.Background()
	below := mem.New().Facts()
	s := store.NewStage(below, 1000)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := range 200 {
				b := storetest.Block(w*100+n, 60)
				err := s.Put(ctx, b)
				must.True(t, err == nil, "%v", err)
				got, err := s.Get(ctx, b.CID)
				must.True(t, err == nil && bytes.Equal(got, b.Data), "Get after Put: %q, %v", got, err)
				s.Pending()
			}
		})
	}
	wg.Wait()
	must.OK(t, s.Flush(ctx))
	for n := range 500 {
		has := must.Get(below.Has(ctx, storetest.Block(n, 60).CID))(t)
		must.True(t, has, "block %d: %v", n, has)
	}
}

func TestCheckNext(t *testing.T) {
	op := storetest.Block(1, 8).CID
	head := func(seq uint64) store.Head { return store.Head{Seq: seq, Operation: op} }
	tests := []struct {
		old, next store.Head
		ok        bool
	}{
		{store.Head{}, head(1), true},
		{store.Head{}, head(9), true},
		{store.Head{}, head(math.MaxInt64), true},
		{store.Head{}, head(math.MaxInt64 + 1), false},
		{store.Head{}, head(0), false},
		{store.Head{}, store.Head{Seq: 1}, false},
		{head(1), head(2), true},
		{head(1), head(1), false},
		{head(2), head(1), false},
		{head(1), head(3), false},
		{head(math.MaxInt64), head(math.MaxInt64 + 1), false},
		{head(1), store.Head{}, false},
	}
	for _, tt := range tests {
		err := tt.old.CheckNext(tt.next)
		must.True(t, (err == nil) == tt.ok && (err == nil || errors.Is(err, store.ErrSequence)),
			"%d after %d: %v, want ok %v", tt.next.Seq, tt.old.Seq, err, tt.ok)
	}
}
