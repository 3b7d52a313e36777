package state

import (
	"bytes"
	"context"
	"iter"
	"sync"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/ipld"
)

// overlay is a tree with pending edits: reads see the edits, and Flush writes them in one pass, so that a batch
// rewrites each chunk once.
type overlay struct {
	base  *prolly.Map
	edits EditTable
	large []prolly.Edit // edits that no tree accepts, for Flush to refuse

	Runs   editRuns // edits before those in the table
	Limit  int      // bytes of the table above which it is spilled to a run, if there is a scratch file
	failed error    // the error of a failed spill
}

// editLimit is how many bytes of edits of a tree stay in memory if there is a scratch file.
const editLimit = 4 << 20

// NewOverlay returns an overlay without edits over base, which must not be nil. All edits stay in memory unless
// Apart gives it a scratch file.
func NewOverlay(base *prolly.Map) *overlay { return &overlay{base: base, Limit: editLimit} }

// Apart makes the overlay spill edits to room once they exceed Limit bytes in memory; a nil room changes nothing.
// look says how often the edits will be looked up. It returns o.
func (o *overlay) Apart(room *ScratchRoom, look LookFor) *overlay {
	o.Runs.Room, o.Runs.look = room, look
	return o
}

// edit returns the edit of a key, nil for a removal, and whether there is one. It is valid until the next Set.
func (o *overlay) edit(key []byte) (value []byte, ok bool, err error) {
	if v, ok := o.edits.Get(key); ok {
		return v, true, nil
	}
	return o.Runs.get(key)
}

// Get returns the value under key, nil if there is none. It is valid until the next Set.
func (o *overlay) Get(ctx context.Context, key []byte) ([]byte, error) {
	v, ok, err := o.edit(key)
	if !ok && err == nil {
		v, _, err = o.base.Get(ctx, key)
	}
	return v, err
}

// Has reports whether the edited tree has key. It may answer without reading the value.
func (o *overlay) Has(ctx context.Context, key []byte) (bool, error) {
	if v, ok := o.edits.Get(key); ok {
		return v != nil, nil
	}
	if edited, there := o.Runs.has(key); edited && o.Runs.look == lookOften {
		return there, nil
	}
	v, err := o.Get(ctx, key)
	return v != nil, err
}

// Set copies key and value; an empty value removes the key. Flush reports a failed spill, and a pair too long for a
// tree.
func (o *overlay) Set(key, value []byte) {
	if !o.edits.Set(key, value) {
		o.large = append(o.large, prolly.Edit{Key: bytes.Clone(key), Value: bytes.Clone(value)})
	}
	if o.failed == nil && o.over() {
		o.failed = o.spill()
	}
}

// over reports whether the table should be spilled.
func (o *overlay) over() bool { return o.Runs.Room != nil && o.edits.memory() > o.Limit }

// spill writes the table as a run and empties it.
func (o *overlay) spill() error {
	err := o.Runs.add(o.edits.Sorted())
	if err == nil {
		o.edits.empty()
	}
	return err
}

// SetLink puts a link to c under key.
func (o *overlay) SetLink(key []byte, c ipld.CID) {
	var buf [64]byte
	o.Set(key, ipld.AppendLink(buf[:0], c))
}

// Remove removes key, which may be absent.
func (o *overlay) Remove(key []byte) { o.edits.Set(key, nil) }

// Removed reports whether an edit removed the key, and none set it since.
func (o *overlay) Removed(key []byte) (bool, error) {
	v, ok, err := o.edit(key)
	return ok && v == nil, err
}

// baseKeys yields the keys under prefix that the tree has and no edit removed. Keys that edits
// added are not among them.
func (o *overlay) baseKeys(ctx context.Context, prefix []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for kv, err := range o.base.ScanPrefix(ctx, prefix) {
			gone := false
			if err == nil {
				gone, err = o.Removed(kv.Key)
			}
			if (err != nil || !gone) && !yield(kv.Key, err) || err != nil {
				return
			}
		}
	}
}

// Flush writes and drops the edits and returns the new tree. If the base was empty, entries yields the new tree's
// content.
func (o *overlay) Flush(ctx context.Context) (m *prolly.Map, entries entrySeq, err error) {
	if len(o.large) > 0 {
		m, err = o.base.Edit(ctx, o.large[:len(o.large):len(o.large)])
		return m, nil, err
	}
	if err = o.failed; err == nil && (o.over() || len(o.Runs.Runs) > 0) {
		err = o.spill()
	}
	if err != nil {
		return nil, nil, err
	}
	edits, n := o.sorted(), len(o.edits.Entries)
	o.edits, o.Runs.seen, o.Runs.ids = EditTable{}, keySet{}, idSet{} // sorted needs none of them
	if o.base.Len() > 0 {
		m, err = o.change(ctx, edits, n)
		return m, nil, err
	}
	var unread error
	m, err = o.base.Fill(ctx, func(yield func(prolly.Edit) bool) {
		for e, err := range edits {
			if unread = err; err != nil || !yield(e) {
				return
			}
		}
	})
	if unread != nil {
		err = unread
	}
	return m, entriesOf(edits), err
}

// change applies about n edits to a tree that is not empty.
func (o *overlay) change(ctx context.Context, edits iter.Seq2[prolly.Edit, error], n int) (*prolly.Map, error) {
	list := make([]prolly.Edit, 0, n)
	for e, err := range edits {
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return o.base.Edit(ctx, list)
}

// sorted yields all current edits in key order. Keys and values remain valid.
func (o *overlay) sorted() iter.Seq2[prolly.Edit, error] {
	if len(o.Runs.Runs) > 0 {
		return o.Runs.sorted()
	}
	edits := o.edits.Sorted()
	return func(yield func(prolly.Edit, error) bool) {
		for e := range edits {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Each yields all edits in any order, including some that a later one replaced.
func (o *overlay) Each() iter.Seq2[prolly.Edit, error] {
	return func(yield func(prolly.Edit, error) bool) {
		for e, err := range o.Runs.sorted() {
			if !yield(e, err) {
				return
			}
		}
		for i := range o.edits.Entries {
			e := &o.edits.Entries[i]
			if !yield(prolly.Edit{Key: o.edits.key(e), Value: o.edits.value(e)}, nil) {
				return
			}
		}
	}
}

// entrySeq yields entries of a tree in their order.
type entrySeq = iter.Seq2[prolly.Entry, error]

// entriesOf returns the result of applying edits to an empty tree.
func entriesOf(edits iter.Seq2[prolly.Edit, error]) entrySeq {
	return func(yield func(prolly.Entry, error) bool) {
		for e, err := range edits {
			if (err != nil || e.Value != nil) && !yield(prolly.Entry(e), err) {
				return
			}
		}
	}
}

// FreshTrees caches the entries of trees built in this transaction, as reading the trees would take longer. Safe
// for concurrent use.
type FreshTrees struct {
	mu sync.Mutex
	of map[ipld.CID]entrySeq // by root
}

// Add stores the entries of m, which may be yielded repeatedly. It does nothing if entries is nil or m is empty.
func (f *FreshTrees) Add(m *prolly.Map, entries entrySeq) {
	if entries == nil || m.Len() == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = make(map[ipld.CID]entrySeq)
	}
	f.of[m.Root()] = entries
}

// Scan yields the entries of m in order: those that Add stored, or else from the tree. A nil receiver always reads
// the tree.
func (f *FreshTrees) Scan(ctx context.Context, m *prolly.Map) iter.Seq2[prolly.Entry, error] {
	if f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if entries, ok := f.of[m.Root()]; ok {
			return entries
		}
	}
	return m.Scan(ctx, nil, nil)
}
