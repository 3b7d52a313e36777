package synthkit

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// work counts the accesses to a store. Bytes count blocks alone, without keys and without the store's own
// format on disk. Syncs are commits of the head; each makes the store durable once.
type work struct{ BlocksRead, BytesRead, BlocksWritten, BytesWritten, Syncs int64 }

// counter counts. Safe for concurrent use.
type counter struct {
	blocksRead, bytesRead, blocksWritten, bytesWritten, syncs atomic.Int64
}

func (c *counter) work() work {
	return work{c.blocksRead.Load(), c.bytesRead.Load(), c.blocksWritten.Load(), c.bytesWritten.Load(),
		c.syncs.Load()}
}

func (c *counter) reset() {
	for _, n := range []*atomic.Int64{
		&c.blocksRead, &c.bytesRead, &c.blocksWritten, &c.bytesWritten, &c.syncs,
	} {
		n.Store(0)
	}
}

// counted is a store that counts the blocks it reads, and those it writes that it did not have.
type counted struct {
	store.Store
	counter
}

func (c *counted) Facts() store.Blocks { return countedBlocks{c.Store.Facts(), c} }

func (c *counted) Derived() store.Derived {
	derived := c.Store.Derived()
	return countedDerived{derived, countedBlocks{derived, c}}
}

// Commit writes the blocks through the counter.
func (c *counted) Commit(
	ctx context.Context, old, next store.Head, blocks ...store.Block,
) error {
	if err := c.count(ctx, c.Store.Facts(), blocks); err != nil {
		return err
	}
	c.syncs.Add(1)
	return c.Store.Commit(ctx, old, next, blocks...)
}

func (c *counted) count(ctx context.Context, to store.Blocks, blocks []store.Block) error {
	for _, b := range blocks {
		has, err := to.Has(ctx, b.CID)
		if err != nil {
			return err
		}
		if has {
			continue
		}
		c.blocksWritten.Add(1)
		c.bytesWritten.Add(int64(len(b.Data)))
	}
	return nil
}

// Scratch passes on the ability of the store below.
func (c *counted) Scratch(ctx context.Context) (store.Scratch, error) {
	from, ok := c.Store.(store.Scratcher)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return from.Scratch(ctx)
}

type countedBlocks struct {
	store.Blocks
	to *counted
}

func (b countedBlocks) Get(ctx context.Context, id ipld.CID) ([]byte, error) {
	data, err := b.Blocks.Get(ctx, id)
	if err == nil {
		b.to.blocksRead.Add(1)
		b.to.bytesRead.Add(int64(len(data)))
	}
	return data, err
}

// Iterate counts each block as read.
func (b countedBlocks) Iterate(ctx context.Context, from ipld.CID, fn func(store.Block) error) error {
	return b.Blocks.Iterate(ctx, from, func(block store.Block) error {
		b.to.blocksRead.Add(1)
		b.to.bytesRead.Add(int64(len(block.Data)))
		return fn(block)
	})
}

func (b countedBlocks) Put(ctx context.Context, blocks ...store.Block) error {
	if err := b.to.count(ctx, b.Blocks, blocks); err != nil {
		return err
	}
	return b.Blocks.Put(ctx, blocks...)
}

// countedDerived counts blocks. It cannot embed store.Derived as well, since both have methods of the same names.
type countedDerived struct {
	cells
	countedBlocks
}

// cells are the methods of store.Derived that store.Blocks has not.
type cells interface {
	Cell(ctx context.Context, key ipld.CID) (ipld.CID, error)
	SetCell(ctx context.Context, key, value ipld.CID) error
	Clear(ctx context.Context) error
}
