package repokit

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/ipld"
)

// counted is a store that counts the blocks it reads and writes, including those written by Commit.
type counted struct {
	store.Store
	FactCounts    *storetest.Counting
	DerivedCounts *storetest.Counting
}

// NewCounted returns a store over s whose counts begin at 0.
func NewCounted(s store.Store) *counted {
	return &counted{s, storetest.NewCounting(s.Facts()), storetest.NewCounting(s.Derived())}
}

// Facts returns the facts through the counter.
func (c *counted) Facts() store.Blocks { return c.FactCounts }

// countedDerived counts blocks; Derived alone would have two methods Get.
type countedDerived struct {
	cells
	*storetest.Counting
}

// cells are the methods of store.Derived that Blocks has not.
type cells interface {
	Cell(ctx context.Context, key ipld.CID) (ipld.CID, error)
	SetCell(ctx context.Context, key, value ipld.CID) error
	Clear(ctx context.Context) error
}

// Derived counts blocks; cells are not counted.
func (c *counted) Derived() store.Derived { return countedDerived{c.Store.Derived(), c.DerivedCounts} }

// Commit writes the blocks through the counter.
func (c *counted) Commit(
	ctx context.Context, old, next store.Head, blocks ...store.Block,
) error {
	if err := c.FactCounts.Put(ctx, blocks...); err != nil {
		return err
	}
	return c.Store.Commit(ctx, old, next)
}

// Close leaves the store open, for another repository over it.
func (c *counted) Close() error { return nil }

// Work counts the reads and writes of a call.
type Work struct{ Facts, Derived storetest.Traffic }

// String leaves out the bytes read.
func (w Work) String() string {
	return fmt.Sprintf("writes %d+%d blocks, %d+%d bytes; reads %d+%d blocks",
		w.Facts.BlocksWritten, w.Derived.BlocksWritten, w.Facts.BytesWritten,
		w.Derived.BytesWritten, w.Facts.BlocksRead, w.Derived.BlocksRead)
}

// Bytes is the number of bytes written.
func (w Work) Bytes() int64 { return w.Facts.BytesWritten + w.Derived.BytesWritten }

// Blocks is the number of blocks written.
func (w Work) Blocks() int64 { return w.Facts.BlocksWritten + w.Derived.BlocksWritten }

// Measure runs fn on the store, opened with empty caches, and returns the reads and writes.
func Measure(t testing.TB, st store.Store, fn func(*core.Repo)) Work {
	t.Helper()
	c := NewCounted(st)
	r := must.Get(care.New(t.Context(), c, By, core.Options{}))(t)
	c.FactCounts.Reset()
	c.DerivedCounts.Reset()
	fn(r)
	return Work{c.FactCounts.Counts(), c.DerivedCounts.Counts()}
}

// memories caches the stores that memory made, by their number of nodes.
var memories = map[int]*mem.Store{}

// Memory is a repository of n nodes of some twenty words and 2n edges, made in few commits: the store
// in memory keeps what each of them replaced. It is the caller's own copy.
func Memory(t testing.TB, n int) store.Store {
	t.Helper()
	if n > 20_000 {
		return newMemory(t, n)
	}
	if memories[n] == nil {
		memories[n] = newMemory(t, n)
	}
	ctx, from, to := t.Context(), memories[n], mem.New()
	put := func(into store.Blocks) func(store.Block) error {
		return func(b store.Block) error { return into.Put(ctx, b) }
	}
	must.OK(t, from.Facts().Iterate(ctx, ipld.CID{}, put(to.Facts())))
	must.OK(t, from.Derived().Iterate(ctx, ipld.CID{}, put(to.Derived())))
	must.OK(t, from.Derived().(store.CellDeleter).Cells(ctx, func(key, value ipld.CID) error {
		return to.Derived().SetCell(ctx, key, value)
	}))
	head := must.Get(from.Head(ctx))(t)
	for at := (store.Head{}); at != head; {
		next := store.Head{Seq: at.Seq + 1, Operation: head.Operation}
		must.OK(t, to.Commit(ctx, at, next))
		at = next
	}
	return to
}

func newMemory(t testing.TB, n int) *mem.Store {
	t.Helper()
	st := mem.New()
	r := must.Get(care.New(t.Context(), st, By, core.Options{}))(t)
	chunk := max(10_000, n/4)
	for from := 0; from < n; from += chunk {
		var b strings.Builder
		for i := from; i < min(from+chunk, n); i++ {
			fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"Note","summary":"note w%d about `, i, i)
			for j := range 16 {
				fmt.Fprintf(&b, "w%d ", (i*31+j*j*17)%5000)
			}
			fmt.Fprintf(&b, `","props":{"n":%d}}}`+"\n", i)
			if i > 2 {
				fmt.Fprintf(&b, `{"edge":{"type":"next","src":"n%d","dst":"n%d"}}`+"\n", i, i-1)
				fmt.Fprintf(&b, `{"edge":{"type":"half","src":"n%d","dst":"n%d"}}`+"\n", i, i/2)
			}
		}
		Lines(t, r, b.String())
	}
	return st
}
