package state

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/internal/block/prolly"
)

// EditTable maps keys to values that are not in a tree yet, or to removals. A batch of a million items has several
// times as many edits, so they are packed into a few large pieces without pointers: an entry takes the bytes of its
// key and value and about 28 more, and the garbage collector skips it. A value replaced by one of another length
// stays as garbage.
type EditTable struct {
	Pieces  [][]byte
	Entries []editEntry
	Slots   []editSlot // open addressing, power-of-two size
	free    [][]byte   // pieces for reuse
}

// editSlot refers to an entry. It holds a part of the hash, so that lookups of absent keys rarely touch other
// entries, which are usually not in the CPU cache.
type editSlot struct {
	hash  uint32
	after uint32 // index of an entry plus one, 0 for a free slot
}

// editEntry is the position of an edit. An empty value, which no tree accepts, is a removal.
type editEntry struct {
	piece, at  uint32
	key, value uint16 // lengths
}

const (
	firstPiece  = 1 << 10
	LargePiece  = 64 << 10 // longer than the longest key and value
	firstSlots  = 16
	maxEditText = 1<<16 - 1

	editEntryBytes, editSlotBytes = 12, 8
)

// editSeed seeds the tables' hashes. No output depends on it.
var editSeed = sync.OnceValue(maphash.MakeSeed)

func (t *EditTable) key(e *editEntry) []byte { return t.Pieces[e.piece][e.at:][:e.key:e.key] }

// value returns nil for a removal.
func (t *EditTable) value(e *editEntry) []byte {
	if e.value == 0 {
		return nil
	}
	return t.Pieces[e.piece][e.at+uint32(e.key):][:e.value:e.value]
}

func editHash(key []byte) uint32 { return uint32(maphash.Bytes(editSeed(), key)) }

// find returns the slot of a key's entry, or the free one for it.
func (t *EditTable) find(hash uint32, key []byte) *editSlot {
	mask := uint32(len(t.Slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &t.Slots[i]
		if s.after == 0 || s.hash == hash && bytes.Equal(t.key(&t.Entries[s.after-1]), key) {
			return s
		}
	}
}

// Get returns the value of an edit, nil for a removal, and whether there is one. The value is a
// view that the next Set may overwrite.
func (t *EditTable) Get(key []byte) (value []byte, ok bool) {
	if len(t.Entries) == 0 {
		return nil, false
	}
	s := t.find(editHash(key), key)
	if s.after == 0 {
		return nil, false
	}
	return t.value(&t.Entries[s.after-1]), true
}

// Set copies a key and its value, which must not be empty; nil removes. It returns false if they are longer than
// any tree accepts.
func (t *EditTable) Set(key, value []byte) bool {
	if len(key) > maxEditText/2 || len(value) > maxEditText/2 {
		return false
	}
	if 4*len(t.Entries) >= 3*len(t.Slots) {
		t.grow()
	}
	hash := editHash(key)
	s := t.find(hash, key)
	if s.after == 0 {
		t.Entries = append(t.Entries, t.add(key, value))
		*s = editSlot{hash, uint32(len(t.Entries))}
		return true
	}
	e := &t.Entries[s.after-1]
	switch {
	case len(value) == int(e.value):
		copy(t.value(e), value)
	case len(value) == 0:
		e.value = 0
	default:
		*e = t.add(key, value)
	}
	return true
}

func (t *EditTable) add(key, value []byte) editEntry {
	need := len(key) + len(value)
	last := len(t.Pieces) - 1
	if last < 0 || cap(t.Pieces[last])-len(t.Pieces[last]) < need {
		t.Pieces = append(t.Pieces, t.piece(need))
		last++
	}
	at := len(t.Pieces[last])
	t.Pieces[last] = append(append(t.Pieces[last], key...), value...)
	return editEntry{uint32(last), uint32(at), uint16(len(key)), uint16(len(value))}
}

func (t *EditTable) piece(need int) []byte {
	if n := len(t.free); n > 0 {
		p := t.free[n-1]
		if t.free = t.free[:n-1]; cap(p) >= need {
			return p[:0]
		}
	}
	if len(t.Pieces) == 0 {
		return make([]byte, 0, max(firstPiece, need))
	}
	return make([]byte, 0, LargePiece)
}

// memory returns approximately how many bytes the table takes.
func (t *EditTable) memory() int {
	return LargePiece*len(t.Pieces) + editEntryBytes*len(t.Entries) + editSlotBytes*len(t.Slots)
}

// empty drops all edits and keeps their memory for reuse.
func (t *EditTable) empty() {
	t.free = append(t.free, t.Pieces...)
	t.Pieces, t.Entries = t.Pieces[:0], t.Entries[:0]
	clear(t.Slots)
}

func (t *EditTable) grow() {
	old := t.Slots
	t.Slots = make([]editSlot, max(firstSlots, 2*len(old)))
	mask := uint32(len(t.Slots) - 1)
	for _, s := range old {
		if s.after == 0 {
			continue
		}
		i := s.hash & mask
		for t.Slots[i].after != 0 {
			i = (i + 1) & mask
		}
		t.Slots[i] = s
	}
}

// Sorted yields the current edits in key order. Keys and values are views.
func (t *EditTable) Sorted() iter.Seq[prolly.Edit] {
	type place struct {
		head  uint64 // the key's first bytes, which usually decide
		entry uint32
	}
	from := *t
	from.Slots = nil // no longer needed
	places := make([]place, len(from.Entries))
	for i := range from.Entries {
		places[i] = place{keyHead(from.key(&from.Entries[i])), uint32(i)}
	}
	slices.SortFunc(places, func(a, b place) int {
		switch {
		case a.head < b.head:
			return -1
		case a.head > b.head:
			return 1
		}
		return bytes.Compare(from.key(&from.Entries[a.entry]), from.key(&from.Entries[b.entry]))
	})
	return func(yield func(prolly.Edit) bool) {
		for _, p := range places {
			e := &from.Entries[p.entry]
			if !yield(prolly.Edit{Key: from.key(e), Value: from.value(e)}) {
				return
			}
		}
	}
}

// keyHead returns the first bytes of a key as a number that orders keys whose heads differ.
func keyHead(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var head [8]byte
	copy(head[:], key)
	return binary.BigEndian.Uint64(head[:])
}
