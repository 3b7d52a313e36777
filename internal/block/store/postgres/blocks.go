package postgres

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// pageRows and pageBytes bound one read of many blocks; pageBytes is approximate.
	pageRows  = 1024
	firstPage = 64
	pageBytes = 4 << 20
	// putBytes is about how much one statement writes, and putRows how many blocks.
	putBytes = 8 << 20
	putRows  = 4096
	// hasRows is how many blocks one statement looks up.
	hasRows = 4096
)

// cached is the cache key of a block.
type cached struct {
	aside bool
	cid   ipld.CID
}

type blocks struct {
	s     *Store
	table string
	aside bool // whether they are derived
}

// keepAll caches blocks that were verified and written.
func (s *Store) keepAll(b *blocks, add []store.Block) {
	for _, block := range add {
		_, _, epoch := s.cache.Get(cached{b.aside, block.CID})
		if s.isRedacted(block.CID) {
			continue
		}
		s.cache.AddSince(epoch, cached{b.aside, block.CID}, bytes.Clone(block.Data), int64(len(block.Data)))
	}
}

func (b *blocks) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	if err := b.s.enter(ctx); err != nil {
		return nil, err
	}
	data, ok, epoch := b.s.cache.Get(cached{b.aside, c})
	b.s.leave()
	if ok {
		return append([]byte{}, data...), nil
	}
	rows, err := b.s.run(ctx, "SELECT data FROM mnem."+b.table+" WHERE repo = $1 AND cid = $2", b.s.id(), key(c))
	if err != nil {
		return nil, fmt.Errorf("read block %s: %w", c, err)
	}
	if len(rows) == 0 {
		return nil, b.missing(ctx, c)
	}
	got := store.Block{CID: c, Data: rows[0][0]}
	if err := got.Verify(); err != nil {
		return nil, err
	}
	b.s.cache.AddSince(epoch, cached{b.aside, c}, got.Data, int64(len(got.Data)))
	return append([]byte{}, got.Data...), nil
}

// missing returns the reason why a block is absent.
func (b *blocks) missing(ctx context.Context, c ipld.CID) error {
	rows, err := b.s.run(ctx, "SELECT stub FROM mnem.redaction WHERE repo = $1 AND cid = $2", b.s.id(), key(c))
	if err != nil {
		return fmt.Errorf("read block %s: %w", c, err)
	}
	if len(rows) > 0 {
		return &store.RedactedError{CID: c, Stub: rows[0][0]}
	}
	return &store.NotFoundError{CID: c}
}

func (b *blocks) Has(ctx context.Context, c ipld.CID) (bool, error) {
	rows, err := b.s.run(ctx, "SELECT true FROM mnem."+b.table+" WHERE repo = $1 AND cid = $2", b.s.id(), key(c))
	return len(rows) > 0, err
}

// HasEach asks for many blocks at a time, so that no query is open while fn runs.
func (b *blocks) HasEach(ctx context.Context, cids iter.Seq[ipld.CID], fn func(c ipld.CID, has bool) error) error {
	batch := make([]ipld.CID, 0, hasRows)
	tell := func() error {
		there, err := b.present(ctx, batch)
		for _, c := range batch {
			if err == nil {
				err = fn(c, there[c])
			}
		}
		batch = batch[:0]
		return err
	}
	for c := range cids {
		if batch = append(batch, c); len(batch) == hasRows {
			if err := tell(); err != nil {
				return err
			}
		}
	}
	if len(batch) == 0 {
		return ctx.Err()
	}
	return tell()
}

// present returns which of many blocks exist.
func (b *blocks) present(ctx context.Context, cids []ipld.CID) (map[ipld.CID]bool, error) {
	rows, err := b.s.run(ctx, "SELECT cid FROM mnem."+b.table+" WHERE repo = $1 AND cid = ANY($2)", b.s.id(), keys(cids))
	if err != nil {
		return nil, fmt.Errorf("look for blocks: %w", err)
	}
	there := make(map[ipld.CID]bool, len(rows))
	for _, r := range rows {
		c, err := cidOf(r[0])
		if err != nil {
			return nil, fmt.Errorf("look for blocks: %w: %w", store.ErrCorrupt, err)
		}
		there[c] = true
	}
	return there, nil
}

// columns returns blocks as two arrays, each CID once, in CID order: if writers locked rows in different orders,
// they could deadlock.
func columns(add []store.Block) (cids, datas []byte) {
	add = slices.Clone(add)
	slices.SortFunc(add, func(a, b store.Block) int { return a.CID.Compare(b.CID) })
	add = slices.CompactFunc(add, func(a, b store.Block) bool { return a.CID == b.CID })
	cids = array(oidBytea, len(add), func(i int) []byte { return key(add[i].CID) })
	return cids, array(oidBytea, len(add), func(i int) []byte { return add[i].Data })
}

func (b *blocks) Put(ctx context.Context, add ...store.Block) error {
	if err := store.Verify(add); err != nil {
		return err
	}
	if len(add) == 0 {
		_, err := b.s.change(ctx, "SELECT true")
		return err
	}
	for len(add) > 0 {
		n, size := 0, 0
		for n < len(add) && n < putRows && (n == 0 || size+len(add[n].Data) <= putBytes) {
			size += len(add[n].Data)
			n++
		}
		cids, datas := columns(add[:n])
		_, err := b.s.change(ctx, "SELECT mnem.put($1, $2, $3, $4)", b.s.id(), boolean(b.aside), cids, datas)
		if err != nil {
			return fmt.Errorf("write blocks: %w", err)
		}
		b.s.keepAll(b, add[:n]) // a commit reads what it wrote for its indexes
		if !b.aside {
			if err := b.s.cameOpen(ctx, add[:n]); err != nil {
				return err
			}
		}
		add = add[n:]
	}
	return nil
}

// Iterate reads pages, so that no query is open while fn runs.
func (b *blocks) Iterate(ctx context.Context, from ipld.CID, fn func(store.Block) error) error {
	at, inclusive, limit := key(from), ">=", firstPage
	for {
		rows, err := b.s.run(ctx, "SELECT cid, data FROM mnem."+b.table+" WHERE repo = $1 AND cid "+inclusive+
			" $2 ORDER BY cid LIMIT $3", b.s.id(), at, int8of(int64(limit)))
		if err != nil {
			return fmt.Errorf("read blocks: %w", err)
		}
		size := 1
		for _, r := range rows {
			c, err := cidOf(r[0])
			if err != nil {
				return fmt.Errorf("read blocks: %w: %w", store.ErrCorrupt, err)
			}
			at = r[0]
			size += len(r[1])
			if err := fn(store.Block{CID: c, Data: r[1]}); err != nil {
				return err
			}
		}
		if len(rows) < limit {
			return nil
		}
		inclusive, limit = ">", max(1, min(pageRows, pageBytes*len(rows)/size))
	}
}

// Delete removes blocks.
func (b *blocks) Delete(ctx context.Context, cids ...ipld.CID) error {
	_, err := b.s.change(ctx, "DELETE FROM mnem."+b.table+" WHERE repo = $1 AND cid = ANY ($2)", b.s.id(), keys(cids))
	if len(cids) > 0 {
		b.s.cache.Clear()
	}
	return err
}

type derived struct{ blocks }

func (d *derived) Cell(ctx context.Context, k ipld.CID) (ipld.CID, error) {
	rows, err := d.s.run(ctx, "SELECT value FROM mnem.cell WHERE repo = $1 AND key = $2", d.s.id(), key(k))
	switch {
	case err != nil:
		return ipld.CID{}, err
	case len(rows) == 0:
		return ipld.CID{}, fmt.Errorf("cell %s: %w", k, store.ErrNotFound)
	}
	c, err := cidOf(rows[0][0])
	if err != nil {
		err = fmt.Errorf("cell %s: %w: %w", k, store.ErrCorrupt, err)
	}
	return c, err
}

func (d *derived) SetCell(ctx context.Context, k, value ipld.CID) error {
	if !k.Defined() || !value.Defined() {
		return fmt.Errorf("set cell %s: %w", k, store.ErrUndefined)
	}
	_, err := d.s.change(ctx, "INSERT INTO mnem.cell VALUES ($1, $2, $3) "+
		"ON CONFLICT (repo, key) DO UPDATE SET value = excluded.value", d.s.id(), key(k), key(value))
	return err
}

func (d *derived) Clear(ctx context.Context) error {
	if _, err := d.s.change(ctx, "DELETE FROM mnem.cell WHERE repo = $1", d.s.id()); err != nil {
		return err
	}
	_, err := d.s.change(ctx, "DELETE FROM mnem.derived WHERE repo = $1", d.s.id())
	d.s.cache.Clear()
	return err
}

// Cells reads all cells before it calls fn: there are only a few for each state of the memory.
func (d *derived) Cells(ctx context.Context, fn func(key, value ipld.CID) error) error {
	rows, err := d.s.run(ctx, "SELECT key, value FROM mnem.cell WHERE repo = $1 ORDER BY key", d.s.id())
	for _, r := range rows {
		if err != nil {
			return err
		}
		k, keyErr := cidOf(r[0])
		value, valueErr := cidOf(r[1])
		if keyErr != nil || valueErr != nil {
			return fmt.Errorf("read cells: %w", store.ErrCorrupt)
		}
		err = fn(k, value)
	}
	return err
}

// DeleteCells removes cells.
func (d *derived) DeleteCells(ctx context.Context, list ...ipld.CID) error {
	_, err := d.s.change(ctx, "DELETE FROM mnem.cell WHERE repo = $1 AND key = ANY ($2)", d.s.id(), keys(list))
	return err
}
