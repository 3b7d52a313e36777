package pebble

import (
	"context"
	"errors"
	"fmt"
	"maps"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

var (
	_ store.Eraser      = (*Store)(nil)
	_ store.Reclaimer   = (*Store)(nil)
	_ store.Notebook    = (*Store)(nil)
	_ store.Deleter     = (*blocks)(nil)
	_ store.CellDeleter = (*derived)(nil)
)

// Delete removes blocks, unsynced.
func (b *blocks) Delete(ctx context.Context, cids ...ipld.CID) error {
	return b.s.drop(ctx, "delete blocks", b.space, cids)
}

// DeleteCells removes cells, unsynced.
func (d *derived) DeleteCells(ctx context.Context, keys ...ipld.CID) error {
	return d.s.drop(ctx, "delete cells", Cells, keys)
}

// drop deletes keys. That frees space, so it may always use the reserve.
func (s *Store) drop(ctx context.Context, what string, space Space, cids []ipld.CID) error {
	return s.change(store.Erasing(ctx), what, pdb.NoSync, func(b *pdb.Batch) error {
		for _, c := range cids {
			if err := b.Delete(space.key(c), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// change applies one batch that the callback fills.
func (s *Store) change(ctx context.Context, what string, sync *pdb.WriteOptions, fill func(*pdb.Batch) error) error {
	if err := s.enterWrite(ctx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer s.exit()
	err := s.fs.fail.guard(func() error {
		s.dirty.Store(true)
		b := s.db.NewBatch()
		if err := fill(b); err != nil {
			return err
		}
		if err := s.room(ctx, b.Len()); err != nil {
			return err
		}
		return s.db.Apply(b, sync)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Cells calls fn with the cells that existed when it began.
func (d *derived) Cells(ctx context.Context, fn func(key, value ipld.CID) error) error {
	lower, upper := Cells.bounds()
	return d.s.scan(ctx, lower, upper, func(key, value []byte) error {
		space, at := parseKey(key)
		if space == Unknown {
			return nil // Keys shows it to fsck
		}
		c, err := ipld.CIDFromBytes(value)
		if err != nil {
			return fmt.Errorf("cell %s: %w: %w", at, store.ErrCorrupt, err)
		}
		return fn(at, c)
	})
}

// Redact removes blocks and, unless all redactions are open, everything derived, and leaves stubs, synced.
func (s *Store) Redact(ctx context.Context, list ...store.Redaction) error {
	size := 0
	for _, r := range list {
		if !r.CID.Defined() {
			return fmt.Errorf("redact: %w", store.ErrUndefined)
		}
		size += len(r.Stub) + redactionBytes
	}
	if len(list) == 0 {
		return ctx.Err()
	}
	if err := s.enterWrite(store.Erasing(ctx)); err != nil {
		return err
	}
	defer s.exit()
	if err := s.room(store.Erasing(ctx), size); err != nil {
		return fmt.Errorf("redact: %w", err)
	}
	if err := s.fs.fail.guard(func() error { return s.redact(list) }); err != nil {
		return fmt.Errorf("redact: %w", err)
	}
	return nil
}

// redactionBytes bounds the keys that a redaction writes and deletes.
const redactionBytes = 256

func (s *Store) redact(list []store.Redaction) error {
	s.eraseMu.Lock() // a concurrent Put could bring back an erased block
	defer s.eraseMu.Unlock()
	s.dirty.Store(true)
	b := s.db.NewBatch()
	if store.AnyErases(list) {
		if err := clearDerived(b); err != nil {
			return err
		}
	}
	all := maps.Clone(*s.redacted.Load())
	for _, r := range list {
		var err error
		if r.Open {
			err = s.leaveOpen(b, all, r)
		} else {
			err = errors.Join(b.Set(Redactions.key(r.CID), r.Stub, nil), b.Delete(Gaps.key(r.CID), nil),
				b.Delete(Facts.key(r.CID), nil), b.Delete(Derived.key(r.CID), nil))
			all[r.CID] = false
		}
		if err != nil {
			return err
		}
	}
	if err := s.db.Apply(b, pdb.Sync); err != nil {
		return err
	}
	s.redacted.Store(&all)
	return nil
}

// leaveOpen records an open redaction, unless the block is present or already redacted.
func (s *Store) leaveOpen(b *pdb.Batch, all map[ipld.CID]bool, r store.Redaction) error {
	if open, known := all[r.CID]; known && !open {
		return nil
	}
	for _, space := range []Space{Facts, Gaps} {
		_, err := s.get(space.key(r.CID))
		if !errors.Is(err, pdb.ErrNotFound) {
			return err
		}
	}
	all[r.CID] = true
	return b.Set(Gaps.key(r.CID), r.Stub, nil)
}

// loadRedactions reads which blocks are redacted. They are kept in memory, some 50 bytes each, so that lookups of
// other blocks cost no read.
func (s *Store) loadRedactions() error {
	all := make(map[ipld.CID]bool)
	err := s.Redactions(context.Background(), func(r store.Redaction) error {
		all[r.CID] = r.Open
		return nil
	})
	s.redacted.Store(&all)
	return err
}

// Redacted returns the redaction of a block. An open one disappears when its block arrives, which only the database
// records.
func (s *Store) Redacted(ctx context.Context, c ipld.CID) (r store.Redaction, ok bool, err error) {
	if err := s.enter(ctx); err != nil {
		return r, false, err
	}
	defer s.exit()
	open, ok := (*s.redacted.Load())[c]
	if !ok {
		return r, false, nil
	}
	space := Redactions
	if open {
		space = Gaps
	}
	stub, err := s.get(space.key(c))
	if open && errors.Is(err, pdb.ErrNotFound) {
		return r, false, nil
	}
	if err != nil {
		return r, true, fmt.Errorf("read redaction of %s: %w", c, err)
	}
	return store.Redaction{CID: c, Stub: stub, Open: open}, true, nil
}

// Redactions calls fn with the redactions that existed when it began.
func (s *Store) Redactions(ctx context.Context, fn func(store.Redaction) error) error {
	for _, in := range []Space{Redactions, Gaps} {
		lower, upper := in.bounds()
		err := s.scan(ctx, lower, upper, func(key, value []byte) error {
			space, c := parseKey(key)
			if space == Unknown {
				return nil
			}
			return fn(store.Redaction{CID: c, Stub: append([]byte{}, value...), Open: space == Gaps})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// absent returns the error of a Get that found nothing: the block is redacted, or was never there. It returns nil
// if the block has arrived since.
func (s *Store) absent(ctx context.Context, c ipld.CID) error {
	s.eraseMu.RLock() // Redact deletes blocks before it publishes their redactions
	_, known := (*s.redacted.Load())[c]
	s.eraseMu.RUnlock()
	r, ok, err := s.Redacted(ctx, c)
	switch {
	case err != nil:
		return err
	case ok:
		return &store.RedactedError{CID: c, Stub: r.Stub}
	case known:
		return nil
	}
	return &store.NotFoundError{CID: c}
}

// Note returns the note that SetNote stored.
func (s *Store) Note(ctx context.Context) ([]byte, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.exit()
	note, err := s.get(noteKey)
	if errors.Is(err, pdb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read note: %w", err)
	}
	return note, nil
}

// SetNote stores a note, synced.
func (s *Store) SetNote(ctx context.Context, note []byte) error {
	return s.change(store.Erasing(ctx), "keep note", pdb.Sync, func(b *pdb.Batch) error {
		if note == nil {
			return b.Delete(noteKey, nil)
		}
		return b.Set(noteKey, note, nil)
	})
}

// Compact flushes, rewrites all tables without deleted entries, and reopens the database: until it is closed,
// Pebble keeps old logs with their bytes, and tables that an iterator may still read.
func (s *Store) Compact(ctx context.Context) error {
	if s.opts.ReadOnly {
		return store.ErrReadOnly
	}
	if err := s.revive(store.Erasing(ctx)); err != nil {
		return fmt.Errorf("compact store: %w", err)
	}
	if err := s.pause(ctx); err != nil {
		return err
	}
	defer s.resume()
	s.roomMu.Lock()
	defer s.roomMu.Unlock()
	err := s.fs.fail.guard(func() error { return s.rewrite(ctx) })
	if err == nil {
		err = s.fits(0, slack)
	}
	if err == nil {
		err = s.reopen()
	}
	if err != nil {
		return fmt.Errorf("compact store: %w", err)
	}
	return nil
}

// Reclaim flushes and rewrites all tables without deleted entries.
func (s *Store) Reclaim(ctx context.Context) error {
	if err := s.enterWrite(store.Erasing(ctx)); err != nil {
		return fmt.Errorf("give back room: %w", err)
	}
	defer s.exit()
	if free, ok := s.free(); ok && free < plenty {
		// Free space must not change between a check and a step: others wait.
		s.roomMu.Lock()
		defer s.roomMu.Unlock()
	}
	if err := s.fs.fail.guard(func() error { return s.rewrite(ctx) }); err != nil {
		return fmt.Errorf("give back room: %w", err)
	}
	return nil
}

// reopen closes the database and opens it again under the same lock, twice: opening finds the obsolete logs, and
// closing waits until they are removed. If it fails the store is stopped.
func (s *Store) reopen() error {
	for range 2 {
		if err := s.closeAndOpen(s.fs.PathJoin(s.dir, dbName)); err != nil {
			s.fs.fail.trip(err)
			return s.fs.fail.err()
		}
	}
	s.dirty.Store(false)
	return nil
}
