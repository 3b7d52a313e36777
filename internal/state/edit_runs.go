package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"sort"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/heap"
	"github.com/mnem-project/mnem/internal/block/prolly"
)

// editRuns holds edits spilled from a table. Each run has the edits of one table in key order, each prefixed with
// the lengths of key and value. A later run overrides earlier ones. Runs lie in the scratch file, in pieces that
// are read one at a time.
type editRuns struct {
	Room *ScratchRoom
	Runs [][]runPiece
	look LookFor
	seen keySet // of all keys, with LookInVain
	ids  idSet  // of all keys, with lookOften, and whether each exists
}

// LookFor says how often a tree's edits are looked up before it is written.
type LookFor int

const (
	lookHardly LookFor = iota // only by removals of other items
	LookInVain                // mostly misses
	lookOften                 // for existence; all keys are ids
)

// runPiece is a piece of a run.
type runPiece struct {
	first []byte // first key
	at    int64
	size  int32
}

const (
	// runPieceBytes is the smallest size of a piece, except the last of a run: a lookup reads one piece, and a
	// merge holds one for each run.
	runPieceBytes = 16 << 10
	runBuffer     = 16 * runPieceBytes // bytes a write
	editHead      = 4                  // bytes of lengths before an edit
)

// add writes a run.
func (r *editRuns) add(edits iter.Seq[prolly.Edit]) error {
	var run []runPiece
	buf := make([]byte, 0, runBuffer+LargePiece)
	from, begun := 0, 0 // number of unwritten pieces; offset in buf of the newest
	write := func() error {
		at, err := r.Room.Add(buf)
		if err != nil {
			return fmt.Errorf("keep edits apart: %w", err)
		}
		for i := from; i < len(run); i++ {
			run[i].at += at
		}
		buf, from = buf[:0], len(run)
		return nil
	}
	cut := func() {
		if n := len(run); n > from {
			run[n-1].size = int32(len(buf) - begun)
		}
		begun = len(buf)
	}
	for e := range edits {
		r.note(&e)
		if len(run) == from || len(buf)-begun >= runPieceBytes {
			cut()
			if len(buf) >= runBuffer {
				if err := write(); err != nil {
					return err
				}
				begun = 0
			}
			run = append(run, runPiece{first: bytes.Clone(e.Key), at: int64(len(buf))})
		}
		buf = binary.BigEndian.AppendUint16(buf, uint16(len(e.Key)))
		buf = binary.BigEndian.AppendUint16(buf, uint16(len(e.Value)))
		buf = append(append(buf, e.Key...), e.Value...)
	}
	if len(buf) > 0 {
		cut()
		if err := write(); err != nil {
			return err
		}
	}
	r.Runs = append(r.Runs, run)
	return nil
}

func (r *editRuns) note(e *prolly.Edit) {
	switch r.look {
	case LookInVain:
		r.seen.add(editHash(e.Key))
	case lookOften:
		r.ids.set(graph.ID(e.Key), e.Value != nil)
	}
}

// has reports whether the runs may have an edit of a key, and whether it sets the key. It reads no run.
func (r *editRuns) has(key []byte) (edited, there bool) {
	switch {
	case len(r.Runs) == 0:
		return false, false
	case r.look == LookInVain:
		return r.seen.has(editHash(key)), true
	case r.look == lookOften:
		return r.ids.has(graph.ID(key))
	}
	return true, true
}

// read returns a copy of a piece's bytes.
func (r *editRuns) read(p *runPiece) ([]byte, error) {
	b := make([]byte, p.size)
	if _, err := r.Room.ReadAt(b, p.at); err != nil {
		return nil, fmt.Errorf("read edits that were kept apart: %w", err)
	}
	return b, nil
}

// nextEdit decodes the first edit of b and returns the rest. An empty value is a removal.
func nextEdit(b []byte) (e prolly.Edit, rest []byte) {
	key := editHead + int(binary.BigEndian.Uint16(b))
	end := key + int(binary.BigEndian.Uint16(b[2:]))
	if e.Key = b[editHead:key:key]; end > key {
		e.Value = b[key:end:end]
	}
	return e, b[end:]
}

// get returns the value of an edit, nil for a removal, and whether there is one.
func (r *editRuns) get(key []byte) (value []byte, ok bool, err error) {
	if edited, there := r.has(key); !edited || !there {
		return nil, edited, nil
	}
	for n := len(r.Runs) - 1; n >= 0; n-- {
		run := r.Runs[n]
		i := sort.Search(len(run), func(i int) bool { return bytes.Compare(run[i].first, key) > 0 }) - 1
		if i < 0 {
			continue
		}
		b, err := r.read(&run[i])
		if err != nil {
			return nil, false, err
		}
		for len(b) > 0 {
			var e prolly.Edit
			if e, b = nextEdit(b); bytes.Equal(e.Key, key) {
				return e.Value, true, nil
			}
		}
	}
	return nil, false, nil
}

// sorted yields the latest edit of each key, in key order. Keys and values remain valid.
func (r *editRuns) sorted() iter.Seq2[prolly.Edit, error] {
	return func(yield func(prolly.Edit, error) bool) {
		m := runMerger{of: r}
		for n := range r.Runs {
			c := &runCursor{n: n, rest: r.Runs[n]}
			if ok, err := m.step(c); err != nil {
				yield(prolly.Edit{}, err)
				return
			} else if ok {
				m.heap = append(m.heap, c)
			}
		}
		for i := len(m.heap)/2 - 1; i >= 0; i-- {
			heap.Down(m.heap, i, (*runCursor).before)
		}
		var last []byte
		for len(m.heap) > 0 {
			c := m.heap[0]
			e := c.e
			if last == nil || !bytes.Equal(last, e.Key) {
				if !yield(e, nil) {
					return
				}
				last = e.Key
			}
			ok, err := m.step(c)
			if err != nil {
				yield(prolly.Edit{}, err)
				return
			}
			if !ok {
				end := len(m.heap) - 1
				m.heap[0] = m.heap[end]
				m.heap = m.heap[:end]
			}
			heap.Down(m.heap, 0, (*runCursor).before)
		}
	}
}

// runMerger merges runs with a heap: on top is the run with the smallest next key, and of equal keys the latest.
type runMerger struct {
	of   *editRuns
	heap []*runCursor
}

// runCursor is at an edit of run n.
type runCursor struct {
	n    int
	e    prolly.Edit
	head uint64 // the key's first bytes, which usually decide
	b    []byte // the rest of the piece
	rest []runPiece
}

// step moves a cursor to its next edit, and reports whether there is one.
func (m *runMerger) step(c *runCursor) (ok bool, err error) {
	if len(c.b) == 0 {
		if len(c.rest) == 0 {
			return false, nil
		}
		if c.b, err = m.of.read(&c.rest[0]); err != nil {
			return false, err
		}
		c.rest = c.rest[1:]
	}
	c.e, c.b = nextEdit(c.b)
	c.head = keyHead(c.e.Key)
	return true, nil
}

func (c *runCursor) before(d *runCursor) bool {
	if c.head != d.head {
		return c.head < d.head
	}
	if k := bytes.Compare(c.e.Key, d.e.Key); k != 0 {
		return k < 0
	}
	return c.n > d.n
}

// keySet is a set of hashes of keys. False positives are rare.
type keySet struct {
	hashes []uint32 // open addressing, power-of-two size; 0 is free
	n      int
}

func (s *keySet) find(hash uint32) (at *uint32, found bool) {
	mask := uint32(len(s.hashes) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if h := &s.hashes[i]; *h == hash || *h == 0 {
			return h, *h == hash
		}
	}
}

func (s *keySet) has(hash uint32) bool {
	if s.n == 0 {
		return false
	}
	_, found := s.find(max(hash, 1))
	return found
}

func (s *keySet) add(hash uint32) {
	if 4*s.n >= 3*len(s.hashes) {
		old := s.hashes
		s.hashes = make([]uint32, max(firstSlots, 2*len(old)))
		for _, h := range old {
			if h != 0 {
				at, _ := s.find(h)
				*at = h
			}
		}
	}
	hash = max(hash, 1)
	if at, found := s.find(hash); !found {
		*at = hash
		s.n++
	}
}

// idSet records ids that exist, and those that were removed.
type idSet struct {
	pages [][]graph.ID
	slots []uint32 // open addressing, power-of-two size: 2*(index+1), plus 1 if removed; 0 is free
	n     uint32   // number of ids
}

const idPage = 1 << 12

// find returns the slot of an id, or the free one for it.
func (s *idSet) find(id graph.ID) *uint32 {
	mask := uint32(len(s.slots) - 1)
	for i := editHash(id[:]) & mask; ; i = (i + 1) & mask {
		slot := &s.slots[i]
		if *slot == 0 || s.at(*slot/2-1) == id {
			return slot
		}
	}
}

func (s *idSet) at(place uint32) graph.ID { return s.pages[place/idPage][place%idPage] }

func (s *idSet) has(id graph.ID) (known, there bool) {
	if s.n == 0 {
		return false, false
	}
	slot := *s.find(id)
	return slot != 0, slot&1 == 0
}

func (s *idSet) set(id graph.ID, there bool) {
	if 4*int(s.n) >= 3*len(s.slots) {
		old := s.slots
		s.slots = make([]uint32, max(firstSlots, 2*len(old)))
		for _, slot := range old {
			if slot != 0 {
				*s.find(s.at(slot/2 - 1)) = slot
			}
		}
	}
	slot := s.find(id)
	if *slot == 0 {
		if s.n%idPage == 0 {
			s.pages = append(s.pages, make([]graph.ID, 0, idPage))
		}
		page := &s.pages[len(s.pages)-1]
		*page = append(*page, id)
		s.n++
		*slot = 2 * s.n
	}
	if *slot &^= 1; !there {
		*slot |= 1
	}
}
