package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// Run runs the conformance suite. open returns a new empty store each time it is called; Run closes it.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	tests := []struct {
		name string
		run  func(t *testing.T, s store.Store)
	}{
		{"blocks/facts", func(t *testing.T, s store.Store) { testBlocks(t, s.Facts()) }},
		{"blocks/derived", func(t *testing.T, s store.Store) { testBlocks(t, s.Derived()) }},
		{"too large", testTooLarge},
		{"iterate/facts", func(t *testing.T, s store.Store) { testIterate(t, s.Facts()) }},
		{"iterate/derived", func(t *testing.T, s store.Store) { testIterate(t, s.Derived()) }},
		{"get each/facts", func(t *testing.T, s store.Store) { testGetEach(t, s, s.Facts()) }},
		{"get each/derived", func(t *testing.T, s store.Store) { testGetEach(t, s, s.Derived()) }},
		{"separate", testSeparate},
		{"independence", testIndependence},
		{"head", testHead},
		{"sequence", testSequence},
		{"commit refused", testCommitRefused},
		{"compare and swap", testCompareAndSwap},
		{"concurrency", testConcurrency},
		{"cells", testCells},
		{"clear", testClear},
		{"delete", testDelete},
		{"delete cells", testDeleteCells},
		{"redact", testRedact},
		{"open redactions", testOpen},
		{"redact during puts", testRedactDuringPuts},
		{"note", testNote},
		{"compact", testCompact},
		{"cancelled", testCancelled},
		{"close", testClose},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t)
			tt.run(t, s)
			if err := s.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// Block returns a raw block with content derived from n, size bytes long (at least 8).
func Block(n, size int) store.Block {
	data := fmt.Appendf(nil, "%08d", n)
	for i := 0; len(data) < size; i++ {
		data = append(data, byte('a'+(n+i*i)%26))
	}
	return store.NewBlock(ipld.Raw, data)
}

// Next returns a head that follows h and names the block of n.
func Next(h store.Head, n int) store.Head {
	return store.Head{Seq: h.Seq + 1, Operation: Block(n, 8).CID}
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	must.Fail(t, err, want, what)
}

// wantBlock checks that the block is present, or reported absent by every method.
func wantBlock(t *testing.T, blocks store.Blocks, b store.Block, present bool) {
	t.Helper()
	ctx := context.Background()
	has := must.Get(blocks.Has(ctx, b.CID))(t)
	must.Equal(t, has, present, "Has ", b.CID)
	got, err := blocks.Get(ctx, b.CID)
	if present {
		must.OK(t, err)
		must.True(t, bytes.Equal(got, b.Data), "Get %s: %x", b.CID, got)
		return
	}
	var missing *store.NotFoundError
	if !errors.As(err, &missing) || missing.CID != b.CID || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get(%s): error %v, want a NotFoundError that names it", b.CID, err)
	}
}

func testBlocks(t *testing.T, blocks store.Blocks) {
	ctx := context.Background()
	empty := store.NewBlock(ipld.Raw, nil)
	a, b, large := Block(1, 8), Block(2, 300), Block(3, 1<<20)
	same := store.NewBlock(ipld.DagCBOR, a.Data) // the same bytes under another codec
	for _, block := range []store.Block{empty, a, b, large, same} {
		wantBlock(t, blocks, block, false)
	}
	must.OK(t, blocks.Put(ctx))
	must.OK(t, blocks.Put(ctx, a, b, empty, a))
	must.OK(t, blocks.Put(ctx, b, large))
	for _, block := range []store.Block{empty, a, b, large} {
		wantBlock(t, blocks, block, true)
	}
	wantBlock(t, blocks, same, false)

	// One wrong block fails the whole call.
	good, wrong := Block(4, 20), Block(5, 20)
	wrong.Data = append([]byte{}, wrong.Data...)
	wrong.Data[0] ^= 1
	var corrupt *store.CorruptError
	err := blocks.Put(ctx, good, wrong)
	wantError(t, "Put of a wrong block", err, store.ErrCorrupt)
	if !errors.As(err, &corrupt) || corrupt.Want != wrong.CID ||
		corrupt.Got != ipld.Sum(ipld.Raw, wrong.Data) {
		t.Errorf("Put of a wrong block: error %v does not name both CIDs", err)
	}
	if err := blocks.Put(ctx, store.Block{Data: []byte("x")}); err == nil {
		t.Error("a block under the undefined CID was accepted")
	}
	wantBlock(t, blocks, good, false)
	wantBlock(t, blocks, wrong, false)
	wantBlock(t, blocks, store.Block{}, false)
}

func testIterate(t *testing.T, blocks store.Blocks) {
	ctx := context.Background()
	want := make(map[ipld.CID]string)
	for n := range 300 {
		b := Block(n, 40)
		if n%3 == 0 {
			b = store.NewBlock(ipld.DagCBOR, b.Data)
		}
		must.OK(t, blocks.Put(ctx, b))
		want[b.CID] = string(b.Data)
	}
	got := make(map[ipld.CID]string)
	var order []ipld.CID
	must.OK(t, blocks.Iterate(ctx, ipld.CID{}, func(b store.Block) error {
		order = append(order, b.CID)
		got[b.CID] = string(b.Data)
		_, err := blocks.Get(ctx, b.CID) // the store can be used during the call
		return err
	}))
	must.Same(t, len(order), len(want), "blocks seen")
	must.True(t, slices.IsSortedFunc(order, ipld.CID.Compare), "blocks are not in CID order")
	for c, data := range want {
		must.Equal(t, got[c], data, "block ", c)
	}
	for _, at := range []int{1, len(order) / 2, len(order) - 1} {
		var rest []ipld.CID
		must.OK(t, blocks.Iterate(ctx, order[at], func(b store.Block) error {
			rest = append(rest, b.CID)
			return nil
		}))
		if diff := cmp.Diff(len(order)-at, len(rest)); diff != "" || rest[0] != order[at] {
			t.Errorf("blocks from number %d on (-want +got):\n%s", at, diff)
		}
	}
	stop := errors.New("stop")
	calls := 0
	err := blocks.Iterate(ctx, ipld.CID{}, func(store.Block) error {
		calls++
		return stop
	})
	must.True(t, err == stop && calls == 1, "Iterate with a failing function: error %v after %d calls", err, calls)
}

func testSeparate(t *testing.T, s store.Store) {
	ctx := context.Background()
	fact, derived := Block(1, 20), Block(2, 20)
	must.OK(t, s.Facts().Put(ctx, fact))
	must.OK(t, s.Derived().Put(ctx, derived))
	wantBlock(t, s.Facts(), fact, true)
	wantBlock(t, s.Facts(), derived, false)
	wantBlock(t, s.Derived(), fact, false)
	wantBlock(t, s.Derived(), derived, true)
	for _, blocks := range []store.Blocks{s.Facts(), s.Derived()} {
		count := 0
		must.OK(t, blocks.Iterate(ctx, ipld.CID{}, func(store.Block) error { count++; return nil }))
		must.True(t, count == 1, "Iterate saw %d blocks, want 1", count)
	}
}

func testIndependence(t *testing.T, s store.Store) {
	ctx := context.Background()
	a, b := Block(1, 40), Block(2, 40)
	given := []store.Block{
		{CID: a.CID, Data: bytes.Clone(a.Data)}, {CID: b.CID, Data: bytes.Clone(b.Data)},
	}
	must.OK(t, s.Facts().Put(ctx, given[0]))
	must.OK(t, s.Commit(ctx, store.Head{}, Next(store.Head{}, 0), given[1]))
	clear(given[0].Data)
	clear(given[1].Data)
	for _, want := range []store.Block{a, b} {
		got := must.Get(s.Facts().Get(ctx, want.CID))(t)
		clear(got)
		_ = append(got, "tail"...)
		wantBlock(t, s.Facts(), want, true)
	}
}

func testHead(t *testing.T, s store.Store) {
	ctx := context.Background()
	var head store.Head
	for n := range 10 {
		got := must.Get(s.Head(ctx))(t)
		must.Equal(t, got, head, "head")
		next := Next(head, n)
		put, inCommit := Block(1000+n, 100), Block(n, 8)
		must.OK(t, s.Facts().Put(ctx, put))
		must.OK(t, s.Commit(ctx, head, next, inCommit, put))
		wantBlock(t, s.Facts(), put, true)
		wantBlock(t, s.Facts(), inCommit, true)
		wantBlock(t, s.Derived(), inCommit, false)
		head = next
	}
	must.OK(t, s.Commit(ctx, head, Next(head, 3))) // an operation CID may repeat
}

func testSequence(t *testing.T, s store.Store) {
	ctx := context.Background()
	op := Block(0, 8).CID
	head := store.Head{}
	for _, next := range []store.Head{{}, {Operation: op}, {Seq: 1}, {Seq: 1 << 63, Operation: op}} {
		wantError(t, fmt.Sprint("first ", next), s.Commit(ctx, head, next), store.ErrSequence)
	}
	first := store.Head{Seq: 7, Operation: op}
	must.OK(t, s.Commit(ctx, head, first))
	for _, seq := range []uint64{0, 1, 6, 7, 9} {
		next := store.Head{Seq: seq, Operation: op}
		wantError(t, fmt.Sprint(seq, " after 7"), s.Commit(ctx, first, next), store.ErrSequence)
	}
	wantError(t, "no operation", s.Commit(ctx, first, store.Head{Seq: 8}), store.ErrSequence)
	got := must.Get(s.Head(ctx))(t)
	must.Equal(t, got, first, "head")
}

func testCommitRefused(t *testing.T, s store.Store) {
	ctx := context.Background()
	first := Next(store.Head{}, 1)
	must.OK(t, s.Commit(ctx, store.Head{}, first))
	block, wrong := Block(5, 50), Block(6, 50)
	wrong.CID = block.CID
	tests := []struct {
		name      string
		old, next store.Head
		blocks    []store.Block
		want      error
	}{
		{"empty old", store.Head{}, Next(store.Head{}, 2), []store.Block{block}, store.ErrHeadMoved},
		{"other operation", store.Head{Seq: 1, Operation: block.CID}, Next(first, 2),
			[]store.Block{block}, store.ErrHeadMoved},
		{"other number", store.Head{Seq: 2, Operation: first.Operation}, store.Head{
			Seq: 3, Operation: first.Operation}, []store.Block{block}, store.ErrHeadMoved},
		{"wrong block", first, Next(first, 2), []store.Block{Block(7, 50), wrong}, store.ErrCorrupt},
	}
	for _, tt := range tests {
		wantError(t, tt.name, s.Commit(ctx, tt.old, tt.next, tt.blocks...), tt.want)
		got := must.Get(s.Head(ctx))(t)
		must.Equal(t, got, first, tt.name, ": head")
	}
	wantBlock(t, s.Facts(), block, false)
	wantBlock(t, s.Facts(), Block(7, 50), false)
}

func testCompareAndSwap(t *testing.T, s store.Store) {
	ctx := context.Background()
	const writers, each = 8, 10
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := make(map[uint64]store.Head)
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				b := Block(w*each+n, 60)
				for {
					old, err := s.Head(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					next := store.Head{Seq: old.Seq + 1, Operation: b.CID}
					err = s.Commit(ctx, old, next, b)
					if errors.Is(err, store.ErrHeadMoved) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if other, ok := won[next.Seq]; ok {
						t.Errorf("%v and %v were both committed", other, next)
					}
					won[next.Seq] = next
					mu.Unlock()
					break
				}
			}
		})
	}
	wg.Wait()
	head := must.Get(s.Head(ctx))(t)
	if head.Seq != writers*each || len(won) != writers*each || won[head.Seq] != head {
		t.Errorf("head %v after %d commits, want %d", head, len(won), writers*each)
	}
	for n := range writers * each {
		wantBlock(t, s.Facts(), Block(n, 60), true)
	}
}

func testConcurrency(t *testing.T, s store.Store) {
	ctx := context.Background()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := range 100 {
				b := Block(w*50+n, 80) // neighbours overlap
				if err := s.Facts().Put(ctx, b); err != nil {
					t.Error(err)
				}
				got, err := s.Facts().Get(ctx, b.CID)
				must.True(t, err == nil && bytes.Equal(got, b.Data), "Get after Put: %q, %v", got, err)
				if err := s.Derived().SetCell(ctx, b.CID, b.CID); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 5 {
			err := s.Facts().Iterate(ctx, ipld.CID{}, func(b store.Block) error { return b.Verify() })
			must.Fail(t, err, nil)
		}
	})
	wg.Wait()
}

func testCells(t *testing.T, s store.Store) {
	ctx := context.Background()
	d := s.Derived()
	key, other := Block(1, 8).CID, store.NewBlock(ipld.DagCBOR, Block(1, 8).Data).CID
	_, err := d.Cell(ctx, key)
	wantError(t, "missing cell", err, store.ErrNotFound)
	for n := range 3 {
		value := Block(10+n, 8).CID
		must.OK(t, d.SetCell(ctx, key, value))
		got := must.Get(d.Cell(ctx, key))(t)
		must.Equal(t, got, value, "cell holds")
	}
	_, err = d.Cell(ctx, other)
	wantError(t, "cell under another codec", err, store.ErrNotFound)
	if d.SetCell(ctx, ipld.CID{}, key) == nil || d.SetCell(ctx, key, ipld.CID{}) == nil {
		t.Error("SetCell accepted the undefined CID")
	}
	wantBlock(t, d, store.Block{CID: key}, false) // a cell is no block
}

func testClear(t *testing.T, s store.Store) {
	ctx := context.Background()
	fact, block := Block(1, 30), Block(2, 30)
	head := Next(store.Head{}, 3)
	must.OK(t, s.Commit(ctx, store.Head{}, head, fact))
	must.OK(t, s.Derived().Put(ctx, block))
	must.OK(t, s.Derived().SetCell(ctx, fact.CID, block.CID))
	for range 2 {
		must.OK(t, s.Derived().Clear(ctx))
		wantBlock(t, s.Derived(), block, false)
		_, err := s.Derived().Cell(ctx, fact.CID)
		wantError(t, "cleared cell", err, store.ErrNotFound)
		must.OK(t, s.Derived().Iterate(ctx, ipld.CID{}, func(b store.Block) error {
			return fmt.Errorf("block %s after Clear", b.CID)
		}))
	}
	wantBlock(t, s.Facts(), fact, true)
	got := must.Get(s.Head(ctx))(t)
	must.True(t, got == head, "head %v after Clear, want %v", got, head)
	must.OK(t, s.Derived().Put(ctx, block))
	wantBlock(t, s.Derived(), block, true)
}

// calls returns one call of each method, by name.
func calls(ctx context.Context, s store.Store) map[string]func() error {
	b := Block(1, 8)
	return map[string]func() error{
		"Put": func() error { return s.Facts().Put(ctx, b) },
		"Get": func() error { _, err := s.Facts().Get(ctx, b.CID); return err },
		"GetEach": func() error {
			return store.GetEach(ctx, s.Facts(), slices.Values([]ipld.CID{b.CID}),
				func(_ ipld.CID, _ []byte, err error) error { return err })
		},
		"Has":     func() error { _, err := s.Facts().Has(ctx, b.CID); return err },
		"Iterate": func() error { return s.Facts().Iterate(ctx, ipld.CID{}, func(store.Block) error { return nil }) },
		"Head":    func() error { _, err := s.Head(ctx); return err },
		"Commit":  func() error { return s.Commit(ctx, store.Head{}, Next(store.Head{}, 1), b) },
		"Cell":    func() error { _, err := s.Derived().Cell(ctx, b.CID); return err },
		"SetCell": func() error { return s.Derived().SetCell(ctx, b.CID, b.CID) },
		"Clear":   func() error { return s.Derived().Clear(ctx) },
		"Delete":  func() error { return s.Facts().(store.Deleter).Delete(ctx, b.CID) },
		"Cells": func() error {
			return s.Derived().(store.CellDeleter).Cells(ctx, func(_, _ ipld.CID) error { return nil })
		},
		"DeleteCells": func() error { return s.Derived().(store.CellDeleter).DeleteCells(ctx, b.CID) },
		"Redact":      func() error { return s.(store.Eraser).Redact(ctx, store.Redaction{CID: b.CID, Stub: []byte("x")}) },
		"Redacted":    func() error { _, _, err := s.(store.Eraser).Redacted(ctx, b.CID); return err },
		"Redactions": func() error {
			return s.(store.Eraser).Redactions(ctx, func(store.Redaction) error { return nil })
		},
		"Compact": func() error { return s.(store.Eraser).Compact(ctx) },
		"Note":    func() error { _, err := s.(store.Notebook).Note(ctx); return err },
		"SetNote": func() error { return s.(store.Notebook).SetNote(ctx, []byte("x")) },
	}
}

func testCancelled(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, call := range calls(ctx, s) {
		wantError(t, name, call(), context.Canceled)
	}
	wantBlock(t, s.Facts(), Block(1, 8), false)
}

func testClose(t *testing.T, s store.Store) {
	must.OK(t, s.Close())
	for name, call := range calls(context.Background(), s) {
		wantError(t, name, call(), store.ErrClosed)
	}
	wantError(t, "Close", s.Close(), store.ErrClosed)
}

func testTooLarge(t *testing.T, s store.Store) {
	ctx := context.Background()
	fits := store.NewBlock(ipld.Raw, make([]byte, ipld.MaxBlock))
	must.OK(t, s.Facts().Put(ctx, fits))
	wantBlock(t, s.Facts(), fits, true)
	over := store.NewBlock(ipld.Raw, make([]byte, ipld.MaxBlock+1))
	must.Fail(t, s.Facts().Put(ctx, over), ipld.ErrInvalid, "Put of a block over the limit")
	wantBlock(t, s.Facts(), over, false)
}
