package storetest

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/mnem-project/mnem/internal/block/store"
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
