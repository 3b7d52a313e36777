package view

import (
	"context"
	"iter"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// IndexCheck is an index that is compared with what it is of.
type IndexCheck struct {
	Kind     IndexKind
	State    *state.State
	Commit   ipld.CID // that has the state
	Derived  store.Derived
	Manifest ipld.CID
	Known    *KnownRecords
	Scanned  map[ipld.CID]*bool // the roots of trees that were scanned, and whether all was good
	// Watch, unless nil, sees the entries of a tree as they are scanned.
	Watch func(context.Context, *prolly.Map, iter.Seq2[prolly.Entry, error]) iter.Seq2[prolly.Entry, error]

	Wrong       []string
	Unread, Err error
}

// Run verifies the index and sets Wrong, Unread and Err: what is wrong with it, why a fact could not be
// read, and why the check could not end.
func (c *IndexCheck) Run(ctx context.Context) {
	c.Wrong, c.Unread, c.Err = c.Kind.verify(ctx, c)
}

// scan is a scanner that checks trees as well.
func (c *IndexCheck) scan(ctx context.Context, m *prolly.Map) iter.Seq2[prolly.Entry, error] {
	good := new(bool)
	c.Scanned[m.Root()] = good
	entries := m.ScanChecked(ctx, good)
	if c.Watch == nil {
		return entries
	}
	return c.Watch(ctx, m, entries)
}

// noting yields what seq does and keeps its error.
func noting[T any](seq iter.Seq2[T, error], failed *error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if err != nil {
				*failed = err
			}
			if !yield(v, err) {
				return
			}
		}
	}
}
