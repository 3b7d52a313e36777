package store_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

// gated blocks each write until it is released, or fails it.
type gated struct {
	store.Blocks
	gate chan error
	puts atomic.Int32
}

func (g *gated) Put(ctx context.Context, blocks ...store.Block) error {
	g.puts.Add(1)
	if err := <-g.gate; err != nil {
		return err
	}
	return g.Blocks.Put(ctx, blocks...)
}

func TestStageBehind(t *testing.T) {
	ctx := context.Background()
	base := &gated{Blocks: mem.New().Facts(), gate: make(chan error, 9)}
	s := store.NewStageBehind(base, 500)
	var blocks []store.Block
	for i := range 6 {
		blocks = append(blocks, storetest.Block(i, 100))
	}
	must.OK(t, s.Put(ctx, blocks[:3]...)) // starts to write them
	must.OK(t, s.Put(ctx, blocks[1], blocks[3]))
	for _, b := range blocks[:4] {
		got := must.Get(s.Get(ctx, b.CID))(t)
		must.Require(t, bytes.Equal(got, b.Data), "Get(%s) while it is written = %q", b.CID, got)
		has := must.Get(s.Has(ctx, b.CID))(t)
		must.Require(t, has, "Has(%s) while it is written = %v", b.CID, has)
	}
	base.gate <- nil
	s.Wait()
	must.Same(t, ids(s.Pending()), ids(blocks[3:4]), "pending")

	broken := errors.New("broken")
	base.gate <- broken
	must.OK(t, s.Put(ctx, blocks[4:]...)) // starts to write, and will fail
	must.Same(t, ids(s.Pending()), ids(blocks[3:]), "pending after a failed write")
	base.gate <- broken
	must.Fail(t, s.Flush(ctx), broken)
	base.gate <- nil
	must.OK(t, s.Flush(ctx))
	for _, b := range blocks {
		has := must.Get(base.Has(ctx, b.CID))(t)
		must.True(t, has, "Has(%s) below = %v", b.CID, has)
	}
	must.Equal(t, base.puts.Load(), 4, "writes")
}

// TestStageBehindIsBounded puts much data over a slow store: at most two halves and one Put are buffered.
func TestStageBehindIsBounded(t *testing.T) {
	ctx := context.Background()
	base := &gated{Blocks: mem.New().Facts(), gate: make(chan error)}
	s := store.NewStageBehind(base, 2000)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for i := range 100 {
			err := s.Put(ctx, storetest.Block(i, 100))
			must.True(t, err == nil, "%v", err)
		}
		s.Wait()
	}()
	for i := range int32(9) {
		base.gate <- nil
		n := base.puts.Load()
		must.True(t, n <= i+2, "%d writes begun before %d ended", n, i+1)
	}
	<-written
	if n := len(s.Pending()); n != 1 { // 9 times 11
		t.Errorf("%d blocks pending", n)
	}
}
