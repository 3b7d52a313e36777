package pebble

import (
	"context"
	"errors"
	"fmt"
	"iter"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

type blocks struct {
	s     *Store
	space Space
}

// Get returns the verified bytes of a block.
func (b *blocks) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	if err := b.s.enter(ctx); err != nil {
		return nil, err
	}
	defer b.s.exit()
	data, err := b.s.get(b.space.key(c))
	if errors.Is(err, pdb.ErrNotFound) {
		if err := b.s.absent(ctx, c); err != nil {
			return nil, err
		}
		data, err = b.s.get(b.space.key(c))
	}
	if errors.Is(err, pdb.ErrNotFound) { // it was deleted concurrently
		return nil, &store.NotFoundError{CID: c}
	}
	if err != nil {
		return nil, fmt.Errorf("read block %s: %w", c, err)
	}
	if err := (store.Block{CID: c, Data: data}).Verify(); err != nil {
		return nil, err
	}
	return data, nil
}

// GetEach reads blocks with one iterator, so that ascending CIDs share table reads.
func (b *blocks) GetEach(ctx context.Context, cids iter.Seq[ipld.CID], fn store.EachFunc) error {
	if err := b.s.enter(ctx); err != nil {
		return err
	}
	defer b.s.exit()
	it, err := b.s.db.NewIterWithContext(ctx, nil)
	if err != nil {
		return fmt.Errorf("read blocks: %w", damaged(err))
	}
	defer func() { _ = it.Close() }() // Close repeats the errors of damaged places, which fn has received
	for c := range cids {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := b.seek(it, c)
		if err != nil {
			data, err = b.Get(ctx, c) // its error names the block, and says if it was erased
		} else {
			err = store.Block{CID: c, Data: data}.Verify()
		}
		if err := fn(c, data, err); err != nil {
			return err
		}
	}
	return nil
}

// seek returns the value stored under a CID. It is valid until the iterator moves.
func (b *blocks) seek(it *pdb.Iterator, c ipld.CID) (data []byte, err error) {
	defer func() { rescue(recover(), &err) }()
	if !it.SeekPrefixGE(b.space.key(c)) {
		return nil, pdb.ErrNotFound
	}
	return it.ValueAndErr()
}

// Has reports whether a block is present.
func (b *blocks) Has(ctx context.Context, c ipld.CID) (has bool, err error) {
	if err := b.s.enter(ctx); err != nil {
		return false, err
	}
	defer b.s.exit()
	defer func() { rescue(recover(), &err) }()
	_, closer, err := b.s.db.Get(b.space.key(c))
	if errors.Is(err, pdb.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for block %s: %w", c, damaged(err))
	}
	return true, closer.Close()
}

// HasEach looks up blocks with one iterator. Concurrent writes do not slow it down.
func (b *blocks) HasEach(
	ctx context.Context, cids iter.Seq[ipld.CID], fn func(c ipld.CID, has bool) error,
) (err error) {
	if err := b.s.enter(ctx); err != nil {
		return err
	}
	defer b.s.exit()
	it, err := b.s.db.NewIterWithContext(ctx, nil)
	if err != nil {
		return fmt.Errorf("look for blocks: %w", damaged(err))
	}
	defer func() { _ = it.Close() }() // Close repeats the errors of damaged places, which are reported below
	find := func(c ipld.CID) (has bool, err error) {
		defer func() { rescue(recover(), &err) }()
		has = it.SeekPrefixGE(b.space.key(c))
		return has, it.Error()
	}
	for c := range cids {
		has, err := find(c)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("look for block %s: %w", c, damaged(err))
		}
		if err := fn(c, has); err != nil {
			return err
		}
	}
	return nil
}

// Put stores blocks, unsynced, in batches of about 4 MiB.
func (b *blocks) Put(ctx context.Context, add ...store.Block) error {
	if err := b.s.enterWrite(ctx); err != nil {
		return err
	}
	defer b.s.exit()
	if err := store.Verify(add); err != nil {
		return err
	}
	if err := b.s.room(ctx, bytesOf(add)); err != nil {
		return fmt.Errorf("put %d blocks: %w", len(add), err)
	}
	err := b.s.fs.fail.guard(func() error { return b.s.write(b.space, add, b.s.apply) })
	if err != nil {
		return fmt.Errorf("put %d blocks: %w", len(add), err)
	}
	return nil
}

// Iterate calls fn with the blocks that were present when it began.
func (b *blocks) Iterate(ctx context.Context, from ipld.CID, fn func(store.Block) error) error {
	lower, upper := b.space.bounds()
	if from.Defined() {
		lower = b.space.key(from)
	}
	return b.s.scan(ctx, lower, upper, func(key, value []byte) error {
		space, c := parseKey(key)
		if space == Unknown {
			return nil // Keys shows it to fsck
		}
		return fn(store.Block{CID: c, Data: value})
	})
}

type derived struct{ blocks }

// Cell returns the CID stored under key.
func (d *derived) Cell(ctx context.Context, key ipld.CID) (ipld.CID, error) {
	if err := d.s.enter(ctx); err != nil {
		return ipld.CID{}, err
	}
	defer d.s.exit()
	value, err := d.s.get(Cells.key(key))
	if errors.Is(err, pdb.ErrNotFound) {
		return ipld.CID{}, fmt.Errorf("cell %s: %w", key, store.ErrNotFound)
	}
	if err != nil {
		return ipld.CID{}, fmt.Errorf("read cell %s: %w", key, err)
	}
	c, err := ipld.CIDFromBytes(value)
	if err != nil {
		return ipld.CID{}, fmt.Errorf("read cell %s: %w: %w", key, store.ErrCorrupt, err)
	}
	return c, nil
}

// SetCell stores value under key, unsynced.
func (d *derived) SetCell(ctx context.Context, key, value ipld.CID) error {
	if !key.Defined() || !value.Defined() {
		return fmt.Errorf("set cell %s: %w", key, store.ErrUndefined)
	}
	return d.s.change(ctx, "set cell", pdb.NoSync, func(b *pdb.Batch) error {
		return b.Set(Cells.key(key), value.Bytes(), nil)
	})
}

// Clear removes all derived blocks and cells, unsynced.
func (d *derived) Clear(ctx context.Context) error {
	return d.s.change(ctx, "clear derived blocks", pdb.NoSync, clearDerived)
}

// clearDerived adds the removal of all derived blocks and cells to a batch.
func clearDerived(b *pdb.Batch) error {
	for _, space := range []Space{Cells, Derived} {
		lower, upper := space.bounds()
		if err := b.DeleteRange(lower, upper, nil); err != nil {
			return err
		}
	}
	return nil
}
