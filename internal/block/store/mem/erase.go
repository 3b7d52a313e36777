package mem

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Delete removes blocks.
func (b *blocks) Delete(ctx context.Context, cids ...ipld.CID) error {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	if err := b.s.usable(ctx); err != nil {
		return err
	}
	for _, c := range cids {
		delete(b.data, c)
	}
	return nil
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
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if err := d.s.usable(ctx); err != nil {
		return err
	}
	for _, key := range keys {
		delete(d.cells, key)
	}
	return nil
}

// Redact removes blocks and, unless all redactions are open, everything derived, and leaves stubs.
func (s *Store) Redact(ctx context.Context, list ...store.Redaction) error {
	for _, r := range list {
		if !r.CID.Defined() {
			return fmt.Errorf("redact: %w", errUndefined)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
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
	return nil
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
	order := slices.SortedFunc(maps.Keys(all), ipld.CID.Compare)
	for _, open := range []bool{false, true} {
		for _, c := range order {
			r := all[c]
			if r.Open != open {
				continue
			}
			r.Stub = bytes.Clone(r.Stub)
			if err := fn(r); err != nil {
				return err
			}
		}
	}
	return nil
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.note = bytes.Clone(note)
	return nil
}
