// Package storetest holds the conformance suite that every implementation of store.Store runs, and Counting, with
// which tests of other packages bound their reads and writes.
package storetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// Counting forwards calls to Blocks and counts the blocks and bytes of those that succeed. Safe for concurrent use.
type Counting struct {
	store.Blocks

	gets, blocksRead, bytesRead, blocksWritten, bytesWritten atomic.Int64
}

// NewCounting returns a counter over b.
func NewCounting(b store.Blocks) *Counting { return &Counting{Blocks: b} }

// Get counts one block read.
func (c *Counting) Get(ctx context.Context, id ipld.CID) ([]byte, error) {
	data, err := c.Blocks.Get(ctx, id)
	if err == nil {
		c.gets.Add(1)
		c.blocksRead.Add(1)
		c.bytesRead.Add(int64(len(data)))
	}
	return data, err
}

// GetEach counts the blocks read.
func (c *Counting) GetEach(
	ctx context.Context, cids iter.Seq[ipld.CID], fn store.EachFunc,
) error {
	return store.GetEach(ctx, c.Blocks, cids, func(id ipld.CID, data []byte, err error) error {
		if err == nil {
			c.blocksRead.Add(1)
			c.bytesRead.Add(int64(len(data)))
		}
		return fn(id, data, err)
	})
}

// Put counts the blocks written, present ones included.
func (c *Counting) Put(ctx context.Context, blocks ...store.Block) error {
	err := c.Blocks.Put(ctx, blocks...)
	if err != nil {
		return err
	}
	c.blocksWritten.Add(int64(len(blocks)))
	for _, b := range blocks {
		c.bytesWritten.Add(int64(len(b.Data)))
	}
	return nil
}

// Iterate counts each block as read.
func (c *Counting) Iterate(
	ctx context.Context, from ipld.CID, fn func(store.Block) error,
) error {
	return c.Blocks.Iterate(ctx, from, func(b store.Block) error {
		c.blocksRead.Add(1)
		c.bytesRead.Add(int64(len(b.Data)))
		return fn(b)
	})
}

// Traffic holds the counts. Gets counts the blocks read by single calls of Get.
type Traffic struct{ Gets, BlocksRead, BytesRead, BlocksWritten, BytesWritten int64 }

// Traffic returns the counts so far.
func (c *Counting) Counts() Traffic {
	return Traffic{
		Gets: c.gets.Load(), BlocksRead: c.blocksRead.Load(), BytesRead: c.bytesRead.Load(),
		BlocksWritten: c.blocksWritten.Load(), BytesWritten: c.bytesWritten.Load(),
	}
}

// Reset sets all counts to 0.
func (c *Counting) Reset() {
	for _, n := range []*atomic.Int64{
		&c.gets, &c.blocksRead, &c.bytesRead, &c.blocksWritten, &c.bytesWritten,
	} {
		n.Store(0)
	}
}

// testGetEach compares the callbacks of GetEach with Get, for CIDs in and out of order, of blocks that are present,
// erased, only in the other set, or nowhere.
func testGetEach(t *testing.T, s store.Store, blocks store.Blocks) {
	ctx := context.Background()
	var cids []ipld.CID
	for n := range 500 {
		b := Block(n, 8+n%300)
		if n%3 == 0 {
			b = store.NewBlock(ipld.DagCBOR, b.Data)
		}
		cids = append(cids, b.CID)
		switch {
		case n%7 == 0: // nowhere
		case n%11 == 0:
			must.OK(t, s.Facts().Put(ctx, b))
			must.OK(t, s.Derived().Put(ctx, b))
			must.OK(t, eraser(t, s).Redact(ctx, store.Redaction{CID: b.CID, Stub: []byte("why")}))
		case n%13 == 0:
			other := s.Facts()
			if blocks == other {
				other = s.Derived()
			}
			must.OK(t, other.Put(ctx, b))
		default:
			must.OK(t, blocks.Put(ctx, b))
		}
	}
	cids = append(cids, cids[:20]...)
	each := func() {
		t.Helper()
		at := 0
		must.OK(t, store.GetEach(ctx, blocks, slices.Values(cids),
			func(c ipld.CID, data []byte, err error) error {
				want, wantErr := blocks.Get(ctx, c) // the store can be used during the call
				if c != cids[at] || string(data) != string(want) || !sameError(err, wantErr) {
					t.Errorf("block %s: %q, %v, want %s, %q, %v", c, data, err, cids[at], want, wantErr)
				}
				at++
				return nil
			}))
		must.Equal(t, at, len(cids), "calls")
	}
	has := func() {
		t.Helper()
		at := 0
		must.OK(t, store.HasEach(ctx, blocks, slices.Values(cids), func(c ipld.CID, has bool) error {
			want, err := blocks.Has(ctx, c) // the store can be used during the call
			if c != cids[at] || has != want || err != nil {
				t.Errorf("block %s: %v, want %s, %v, %v", c, has, cids[at], want, err)
			}
			at++
			return nil
		}))
		must.Equal(t, at, len(cids), "calls")
	}
	each()
	has()
	slices.SortFunc(cids, ipld.CID.Compare)
	each()
	has()

	stop, calls := errors.New("stop"), 0
	err := store.GetEach(ctx, blocks, slices.Values(cids), func(ipld.CID, []byte, error) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("GetEach with a failing function: %v after %d calls", err, calls)
	}
	calls = 0
	err = store.HasEach(ctx, blocks, slices.Values(cids), func(ipld.CID, bool) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("HasEach with a failing function: %v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(ctx)
	err = store.GetEach(ctx, blocks, slices.Values(cids), func(_ ipld.CID, _ []byte, err error) error {
		if errors.Is(err, context.Canceled) {
			return err
		}
		cancel()
		return nil
	})
	wantError(t, "GetEach cancelled while it runs", err, context.Canceled)
	err = store.HasEach(ctx, blocks, slices.Values(cids), func(ipld.CID, bool) error { return nil })
	wantError(t, "HasEach that is cancelled", err, context.Canceled)
}

func sameError(a, b error) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Error() == b.Error()
}
