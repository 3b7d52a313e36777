// Package mem keeps a store in memory, for tests and repositories that are thrown away. Nothing
// is durable: closing the store drops it.
package mem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Store is a store in memory. Safe for concurrent use.
type Store struct {
	mu      sync.RWMutex
	closed  bool
	head    store.Head
	facts   blocks
	derived derived

	redacted map[ipld.CID]store.Redaction
	note     []byte
}

var (
	_ store.Store       = (*Store)(nil)
	_ store.Eraser      = (*Store)(nil)
	_ store.Notebook    = (*Store)(nil)
	_ store.Deleter     = (*blocks)(nil)
	_ store.CellDeleter = (*derived)(nil)
)

// New returns an empty store.
func New() *Store {
	s := &Store{redacted: make(map[ipld.CID]store.Redaction)}
	s.facts = blocks{s: s, data: make(map[ipld.CID][]byte)}
	s.derived = derived{
		blocks: blocks{s: s, data: make(map[ipld.CID][]byte)},
		cells:  make(map[ipld.CID]ipld.CID),
	}
	return s
}

// Facts returns the blocks that operations reach.
func (s *Store) Facts() store.Blocks { return &s.facts }

// Derived returns the blocks and cells that can be rebuilt.
func (s *Store) Derived() store.Derived { return &s.derived }

// Head returns the newest operation.
func (s *Store) Head(ctx context.Context) (store.Head, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.head, s.usable(ctx)
}

// Commit stores blocks and moves the head.
func (s *Store) Commit(ctx context.Context, old, next store.Head, add ...store.Block) error {
	if err := store.Verify(add); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	if s.head != old {
		return fmt.Errorf("commit operation %d: %w", next.Seq, store.ErrHeadMoved)
	}
	if err := old.CheckNext(next); err != nil {
		return err
	}
	s.facts.add(add)
	s.head = next
	return nil
}

// Close drops everything.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	s.closed = true
	s.facts.data, s.derived.data, s.derived.cells = nil, nil, nil
	s.redacted, s.note = nil, nil
	return nil
}

// usable returns the error of a call with ctx. The mutex must be held.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return store.ErrClosed
	}
	return ctx.Err()
}

// change calls fn, which changes the store, with the mutex held.
func (s *Store) change(ctx context.Context, fn func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	fn()
	return nil
}

type blocks struct {
	s    *Store
	data map[ipld.CID][]byte
}

func (b *blocks) add(add []store.Block) {
	for _, block := range add {
		_, present := b.data[block.CID]
		r, redacted := b.s.redacted[block.CID]
		if present || redacted && !r.Open {
			continue
		}
		b.data[block.CID] = append([]byte{}, block.Data...)
		if redacted && b == &b.s.facts {
			delete(b.s.redacted, block.CID)
		}
	}
}

func (b *blocks) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	b.s.mu.RLock()
	defer b.s.mu.RUnlock()
	if err := b.s.usable(ctx); err != nil {
		return nil, err
	}
	if data, ok := b.data[c]; ok {
		return bytes.Clone(data), nil
	}
	if r, ok := b.s.redacted[c]; ok {
		return nil, &store.RedactedError{CID: c, Stub: bytes.Clone(r.Stub)}
	}
	return nil, &store.NotFoundError{CID: c}
}

func (b *blocks) Put(ctx context.Context, add ...store.Block) error {
	if err := store.Verify(add); err != nil {
		return err
	}
	return b.s.change(ctx, func() { b.add(add) })
}

func (b *blocks) Has(ctx context.Context, c ipld.CID) (bool, error) {
	b.s.mu.RLock()
	defer b.s.mu.RUnlock()
	_, ok := b.data[c]
	return ok, b.s.usable(ctx)
}

// Iterate visits the blocks that were present when it began and still are. It does not hold the mutex while fn runs.
func (b *blocks) Iterate(ctx context.Context, from ipld.CID, fn func(store.Block) error) error {
	b.s.mu.RLock()
	order := make([]ipld.CID, 0, len(b.data))
	for c := range b.data {
		if c.Compare(from) >= 0 {
			order = append(order, c)
		}
	}
	b.s.mu.RUnlock()
	slices.SortFunc(order, ipld.CID.Compare)
	for _, c := range order {
		data, err := b.Get(ctx, c)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrRedacted) {
			continue
		}
		if err != nil {
			return err
		}
		if err := fn(store.Block{CID: c, Data: data}); err != nil {
			return err
		}
	}
	b.s.mu.RLock()
	defer b.s.mu.RUnlock()
	return b.s.usable(ctx)
}

type derived struct {
	blocks
	cells map[ipld.CID]ipld.CID
}

func (d *derived) Cell(ctx context.Context, key ipld.CID) (ipld.CID, error) {
	d.s.mu.RLock()
	defer d.s.mu.RUnlock()
	if err := d.s.usable(ctx); err != nil {
		return ipld.CID{}, err
	}
	value, ok := d.cells[key]
	if !ok {
		return ipld.CID{}, fmt.Errorf("cell %s: %w", key, store.ErrNotFound)
	}
	return value, nil
}

func (d *derived) SetCell(ctx context.Context, key, value ipld.CID) error {
	if !key.Defined() || !value.Defined() {
		return fmt.Errorf("set cell %s: %w", key, store.ErrUndefined)
	}
	return d.s.change(ctx, func() { d.cells[key] = value })
}

func (d *derived) Clear(ctx context.Context) error {
	return d.s.change(ctx, func() {
		clear(d.data)
		clear(d.cells)
	})
}

// Delete removes blocks.
func (b *blocks) Delete(ctx context.Context, cids ...ipld.CID) error {
	return b.s.change(ctx, func() {
		for _, c := range cids {
			delete(b.data, c)
		}
	})
}

// Cells calls fn with the cells that were there when it began, without holding the mutex.
func (d *derived) Cells(ctx context.Context, fn func(key, value ipld.CID) error) error {
	d.s.mu.RLock()
	cells, err := maps.Clone(d.cells), d.s.usable(ctx)
	d.s.mu.RUnlock()
	if err != nil {
		return err
	}
	for _, key := range slices.SortedFunc(maps.Keys(cells), ipld.CID.Compare) {
		if err := fn(key, cells[key]); err != nil {
			return err
		}
	}
	return nil
}

// DeleteCells removes cells.
func (d *derived) DeleteCells(ctx context.Context, keys ...ipld.CID) error {
	return d.s.change(ctx, func() {
		for _, key := range keys {
			delete(d.cells, key)
		}
	})
}

// Redact removes blocks and, unless all redactions are open, everything derived, and leaves stubs.
func (s *Store) Redact(ctx context.Context, list ...store.Redaction) error {
	for _, r := range list {
		if !r.CID.Defined() {
			return fmt.Errorf("redact: %w", store.ErrUndefined)
		}
	}
	return s.change(ctx, func() {
		if store.AnyErases(list) {
			clear(s.derived.data)
			clear(s.derived.cells)
		}
		for _, r := range list {
			if _, redacted := s.redacted[r.CID]; r.Open && (redacted || s.facts.data[r.CID] != nil) {
				continue
			}
			r.Stub = append([]byte{}, r.Stub...)
			s.redacted[r.CID] = r
			delete(s.facts.data, r.CID)
			delete(s.derived.data, r.CID)
		}
	})
}

// Redacted returns the redaction of a block.
func (s *Store) Redacted(ctx context.Context, c ipld.CID) (store.Redaction, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok := s.redacted[c]
	r.Stub = bytes.Clone(r.Stub)
	return r, ok, s.usable(ctx)
}

// Redactions calls fn with the redactions there were when it began, without holding the mutex.
func (s *Store) Redactions(ctx context.Context, fn func(store.Redaction) error) error {
	s.mu.RLock()
	all, err := maps.Clone(s.redacted), s.usable(ctx)
	s.mu.RUnlock()
	if err != nil {
		return err
	}
	return store.EachRedaction(all, fn)
}

// Compact does nothing: what was deleted is gone.
func (s *Store) Compact(ctx context.Context) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.usable(ctx)
}

// Note returns what SetNote kept.
func (s *Store) Note(ctx context.Context) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return bytes.Clone(s.note), s.usable(ctx)
}

// SetNote keeps a note.
func (s *Store) SetNote(ctx context.Context, note []byte) error {
	return s.change(ctx, func() { s.note = bytes.Clone(note) })
}
