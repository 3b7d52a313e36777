package index

import (
	"context"
	"sync/atomic"
)

// memo remembers values, each in the one slot where its hash may be. Rows of slots are made when they are
// needed: an index that a commit made is asked little before the next one. Safe for concurrent use.
type memo[T any] [memoRows]atomic.Pointer[memoRow[T]]

// memoSlots is how many values a memo has room for, memoRows in how many rows.
const memoSlots, memoRows = 1 << 14, 128

type memoRow[T any] [memoSlots / memoRows]atomic.Pointer[T]

// get returns the value in the slot of a hash, nil for none.
func (m *memo[T]) get(h uint64) *T {
	row := m[h%memoRows].Load()
	if row == nil {
		return nil
	}
	return row[h/memoRows%uint64(len(row))].Load()
}

// put replaces the value in the slot of a hash.
func (m *memo[T]) put(h uint64, v *T) {
	at := &m[h%memoRows]
	row := at.Load()
	if row == nil {
		at.CompareAndSwap(nil, new(memoRow[T]))
		row = at.Load()
	}
	row[h/memoRows%uint64(len(row))].Store(v)
}

// knownTerm holds the segments' entries for a term.
type knownTerm struct {
	entries []entry // in each segment
	df      int64   // live documents with the term
}

// known finds a term in all segments. room is storage for the entries.
func (x *Index) known(ctx context.Context, term string, room *entryRoom) (knownTerm, error) {
	t := knownTerm{entries: room.get(len(x.segs))}
	for n, s := range x.segs {
		e, _, err := x.src.term(ctx, s, term)
		if err != nil {
			return t, err
		}
		t.entries[n] = e
		t.df += int64(e.count) - int64(e.neg)
	}
	if err := x.checkDF(term, t.df); err != nil {
		return t, err
	}
	if t.df > 0 {
		*room = (*room)[len(t.entries):]
	}
	return t, nil
}

// termDF remembers how many live documents have a term. Questions about one thing compare texts with the same words.
type termDF struct {
	term string
	df   int64
}

// entryRoom is room for the entries of some terms.
type entryRoom []entry

// roomTerms is the number of terms that fit at a time.
const roomTerms = 16

func (r *entryRoom) get(n int) []entry {
	if len(*r) < n {
		*r = make([]entry, roomTerms*n)
	}
	return (*r)[:n:n]
}
