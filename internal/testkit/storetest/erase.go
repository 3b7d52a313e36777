package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// eraser returns the abilities that the suite requires of every store.
func eraser(t *testing.T, s store.Store) store.Eraser {
	t.Helper()
	e, ok := s.(store.Eraser)
	must.Require(t, ok, "%T cannot erase", s)
	return e
}

func drop(t *testing.T, blocks store.Blocks, list ...store.Block) {
	t.Helper()
	d, ok := blocks.(store.Deleter)
	must.Require(t, ok, "%T cannot delete", blocks)
	var cids []ipld.CID
	for _, b := range list {
		cids = append(cids, b.CID)
	}
	must.OK(t, d.Delete(context.Background(), cids...))
}

func testDelete(t *testing.T, s store.Store) {
	ctx := context.Background()
	a, b, c := Block(1, 50), Block(2, 50), Block(3, 50)
	must.OK(t, s.Facts().Put(ctx, a, b))
	must.OK(t, s.Derived().Put(ctx, a))
	drop(t, s.Facts())
	drop(t, s.Facts(), a, c, a)
	wantBlock(t, s.Facts(), a, false)
	wantBlock(t, s.Facts(), b, true)
	wantBlock(t, s.Derived(), a, true)
	must.OK(t, s.Facts().Put(ctx, a)) // a deleted block may come back
	wantBlock(t, s.Facts(), a, true)
	drop(t, s.Derived(), a)
	wantBlock(t, s.Derived(), a, false)
	head := Next(store.Head{}, 4)
	must.OK(t, s.Commit(ctx, store.Head{}, head, c))
	drop(t, s.Facts(), b)
	got := must.Get(s.Head(ctx))(t)
	must.True(t, got == head, "head %v after Delete, want %v", got, head)
}

func testDeleteCells(t *testing.T, s store.Store) {
	ctx := context.Background()
	d := s.Derived()
	cells, ok := d.(store.CellDeleter)
	must.Require(t, ok, "%T cannot delete cells", d)
	want := make(map[ipld.CID]ipld.CID)
	for n := range 20 {
		key, value := Block(n, 8).CID, Block(100+n, 8).CID
		must.OK(t, d.SetCell(ctx, key, value))
		want[key] = value
	}
	list := func() map[ipld.CID]ipld.CID {
		got := make(map[ipld.CID]ipld.CID)
		var last ipld.CID
		must.OK(t, cells.Cells(ctx, func(key, value ipld.CID) error {
			must.True(t, key.Compare(last) > 0, "cell %s after %s", key, last)
			got[key], last = value, key
			return nil
		}))
		return got
	}
	must.Same(t, len(list()), len(want), "cells")
	for n := range 5 {
		key := Block(n, 8).CID
		must.OK(t, cells.DeleteCells(ctx, key, Block(999, 8).CID))
		delete(want, key)
		_, err := d.Cell(ctx, key)
		wantError(t, "deleted cell", err, store.ErrNotFound)
	}
	got := list()
	for key, value := range want {
		must.Equal(t, got[key], value, "cell ", key, " holds")
	}
	must.Equal(t, len(got), len(want), "cells")
	stop := errors.New("stop")
	if err := cells.Cells(ctx, func(_, _ ipld.CID) error { return stop }); err != stop {
		t.Errorf("Cells with a failing function: %v", err)
	}
}

// wantRedacted checks that a block is redacted and that every read reports it.
func wantRedacted(t *testing.T, s store.Store, b store.Block, stub string) {
	t.Helper()
	ctx := context.Background()
	for _, blocks := range []store.Blocks{s.Facts(), s.Derived()} {
		_, err := blocks.Get(ctx, b.CID)
		var redacted *store.RedactedError
		if !errors.As(err, &redacted) || !errors.Is(err, store.ErrRedacted) ||
			errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) ||
			redacted.CID != b.CID || string(redacted.Stub) != stub {
			t.Errorf("Get of a redacted block: %v", err)
		}
		has := must.Get(blocks.Has(ctx, b.CID))(t)
		must.True(t, !has, "Has a redacted block")
		must.OK(t, blocks.Iterate(ctx, ipld.CID{}, func(got store.Block) error {
			must.True(t, got.CID != b.CID, "Iterate shows a redacted block")
			return nil
		}))
	}
	got, ok, err := eraser(t, s).Redacted(ctx, b.CID)
	must.OK(t, err)
	must.True(t, ok && string(got.Stub) == stub, "Redacted: %q, %v", got.Stub, ok)
}

// testOpen redacts blocks that never arrived, and may still arrive.
func testOpen(t *testing.T, s store.Store) {
	ctx := context.Background()
	e := eraser(t, s)
	open := func(stub string, blocks ...store.Block) {
		var list []store.Redaction
		for _, b := range blocks {
			list = append(list, store.Redaction{CID: b.CID, Stub: []byte(stub), Open: true})
		}
		must.OK(t, e.Redact(ctx, list...))
	}
	here, put, committed := Block(1, 50), Block(2, 50), Block(3, 50)
	stays, erased, later := Block(4, 50), Block(5, 50), Block(6, 50)
	must.OK(t, s.Facts().Put(ctx, here))
	must.OK(t, e.Redact(ctx, store.Redaction{CID: erased.CID, Stub: []byte("erased")}))
	open("first", here, put, committed, stays, erased, later)
	open("second", stays)
	wantBlock(t, s.Facts(), here, true)
	wantRedacted(t, s, erased, "erased")
	for _, b := range []store.Block{put, committed, stays, later} {
		wantRedacted(t, s, b, "first")
	}
	wantRedacted(t, s, stays, "first")
	must.OK(t, s.Facts().Put(ctx, put, erased))
	must.OK(t, s.Commit(ctx, store.Head{}, Next(store.Head{}, 1), committed))
	for _, b := range []store.Block{put, committed} {
		wantBlock(t, s.Facts(), b, true)
		if _, ok, err := e.Redacted(ctx, b.CID); ok || err != nil {
			t.Errorf("the redaction of a block that came: %v, %v", ok, err)
		}
	}
	wantRedacted(t, s, erased, "erased")
	must.OK(t, e.Redact(ctx, store.Redaction{CID: later.CID, Stub: []byte("for good")}))
	must.OK(t, s.Facts().Put(ctx, later))
	wantRedacted(t, s, later, "for good")
	var got []string
	must.OK(t, e.Redactions(ctx, func(r store.Redaction) error {
		got = append(got, fmt.Sprintf("%v %s", r.Open, r.Stub))
		return nil
	}))
	slices.Sort(got)
	if want := []string{"false erased", "false for good", "true first"}; !slices.Equal(got, want) {
		t.Errorf("redactions %q, want %q", got, want)
	}
	drop(t, s.Facts(), put)
	open("again", put)
	wantRedacted(t, s, put, "again")
}

func testRedact(t *testing.T, s store.Store) {
	ctx := context.Background()
	e := eraser(t, s)
	a, b, absent, other := Block(1, 50), Block(2, 50), Block(3, 50), Block(4, 50)
	must.OK(t, s.Facts().Put(ctx, a, b, other))
	made := Block(7, 50)
	must.OK(t, s.Derived().Put(ctx, a, made))
	must.OK(t, s.Derived().SetCell(ctx, b.CID, made.CID))
	must.OK(t, e.Redact(ctx))
	must.OK(t, e.Redact(ctx, store.Redaction{CID: Block(8, 50).CID, Stub: []byte("a gap"), Open: true}))
	wantBlock(t, s.Derived(), made, true)
	if got, err := s.Derived().Cell(ctx, b.CID); err != nil || got != made.CID {
		t.Errorf("a cell with an open redaction: %v, %v", got, err)
	}
	must.OK(t, s.Facts().Put(ctx, Block(8, 50)))
	if _, ok, err := e.Redacted(ctx, a.CID); ok || err != nil {
		t.Errorf("Redacted before it was: %v, %v", ok, err)
	}
	must.OK(t, e.Redact(ctx, store.Redaction{CID: a.CID, Stub: []byte("why")},
		store.Redaction{CID: absent.CID, Stub: []byte("not here")}))
	wantRedacted(t, s, a, "why")
	wantRedacted(t, s, absent, "not here")
	wantBlock(t, s.Facts(), b, true)
	wantBlock(t, s.Derived(), made, false) // in the same step: it may be made from an erased block
	_, err := s.Derived().Cell(ctx, b.CID)
	wantError(t, "a cell after an erasure", err, store.ErrNotFound)

	// A redacted block does not come back, and does not harm blocks stored with it.
	fresh := Block(5, 50)
	must.OK(t, s.Facts().Put(ctx, a, fresh))
	must.OK(t, s.Derived().Put(ctx, absent))
	head := Next(store.Head{}, 6)
	must.OK(t, s.Commit(ctx, store.Head{}, head, absent, b))
	wantRedacted(t, s, a, "why")
	wantRedacted(t, s, absent, "not here")
	wantBlock(t, s.Facts(), fresh, true)
	if got, err := s.Head(ctx); err != nil || got != head {
		t.Errorf("head %v, %v", got, err)
	}
	// Neither by deletion nor by clearing.
	drop(t, s.Facts(), a, b)
	must.OK(t, s.Derived().Clear(ctx))
	wantRedacted(t, s, a, "why")
	wantBlock(t, s.Facts(), b, false)
	must.OK(t, e.Redact(ctx, store.Redaction{CID: a.CID, Stub: []byte("again")}))
	wantRedacted(t, s, a, "again")

	got := make(map[ipld.CID]string)
	var last ipld.CID
	must.OK(t, e.Redactions(ctx, func(r store.Redaction) error {
		must.True(t, r.CID.Compare(last) > 0, "redaction of %s after that of %s", r.CID, last)
		last, got[r.CID] = r.CID, string(r.Stub)
		return nil
	}))
	must.True(t, len(got) == 2 && got[a.CID] == "again" && got[absent.CID] == "not here", "redactions: %v", got)
	if err := e.Redact(ctx, store.Redaction{Stub: []byte("x")}); err == nil {
		t.Error("the undefined CID was redacted")
	}
	stop := errors.New("stop")
	if err := e.Redactions(ctx, func(store.Redaction) error { return stop }); err != stop {
		t.Errorf("Redactions with a failing function: %v", err)
	}
}

// testRedactDuringPuts redacts blocks while others put them.
func testRedactDuringPuts(t *testing.T, s store.Store) {
	ctx := context.Background()
	const n = 40
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for i := range n {
				if err := s.Facts().Put(ctx, Block(i, 60)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n {
		must.OK(t, eraser(t, s).Redact(ctx, store.Redaction{CID: Block(i, 60).CID, Stub: []byte("x")}))
	}
	wg.Wait()
	for i := range n {
		wantRedacted(t, s, Block(i, 60), "x")
	}
}

func testNote(t *testing.T, s store.Store) {
	ctx := context.Background()
	n, ok := s.(store.Notebook)
	must.Require(t, ok, "%T keeps no note", s)
	for _, want := range []string{"", "one", "two", ""} {
		var note []byte
		if want != "" {
			note = []byte(want)
		}
		must.OK(t, n.SetNote(ctx, note))
		got := must.Get(n.Note(ctx))(t)
		must.True(t, string(got) == want && (got == nil) == (want == ""), "note %q, want %q", got, want)
	}
}

// testCompact compacts while others use the store, callbacks included.
func testCompact(t *testing.T, s store.Store) {
	ctx := context.Background()
	var all []store.Block
	for n := range 200 {
		all = append(all, Block(n, 500))
	}
	must.OK(t, s.Facts().Put(ctx, all...))
	head := Next(store.Head{}, 1)
	must.OK(t, s.Commit(ctx, store.Head{}, head))
	drop(t, s.Facts(), all[:100]...)
	gone := all[100]
	must.OK(t, eraser(t, s).Redact(ctx, store.Redaction{CID: gone.CID, Stub: []byte("x")}))
	done := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			// Not forever: Compact waits for a moment without calls, which two readers in an endless loop may never
			// leave.
			for n := range 60 {
				select {
				case <-done:
					return
				default:
				}
				err := s.Facts().Iterate(ctx, ipld.CID{}, func(b store.Block) error {
					_, err := s.Facts().Get(ctx, b.CID)
					return err
				})
				if err == nil {
					err = s.Facts().Put(ctx, Block(1000*(w+1)+n, 100))
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 3 {
		must.OK(t, eraser(t, s).Compact(ctx))
	}
	close(done)
	wg.Wait()
	for n, b := range all {
		if n != 100 {
			wantBlock(t, s.Facts(), b, n > 100)
		}
	}
	wantRedacted(t, s, gone, "x")
	next := Next(head, 2)
	must.OK(t, s.Commit(ctx, head, next))
	if got, err := s.Head(ctx); err != nil || got != next {
		t.Error(fmt.Errorf("head %v after Compact: %w", got, err))
	}
}
