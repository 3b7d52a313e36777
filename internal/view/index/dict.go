package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/mnem-project/mnem/internal/view/segment"
)

type entry struct {
	count int // documents of the segment with the term
	neg   int // documents with the term that the segment kills
	at    place
}

// dictWriter writes "terms". Terms come ascending.
type dictWriter struct {
	sec      *segment.Section
	body     []byte // entries of the part being filled
	restarts []uint16
	n        int
	key      []byte
	last     []byte
}

func (w *dictWriter) add(term string, e *entry) error {
	if term == "" || len(term) > maxTerm {
		return fmt.Errorf("index term of %d bytes, want 1 to %d", len(term), maxTerm)
	}
	if len(w.body)+2*len(w.restarts) >= dictSize {
		if err := w.end(); err != nil {
			return err
		}
	}
	shared := 0
	if w.n%restartEvery == 0 {
		w.restarts = append(w.restarts, uint16(len(w.body)))
		if w.n == 0 {
			w.key = []byte(term)
		}
	} else {
		for shared < len(w.last) && shared < len(term) && w.last[shared] == term[shared] {
			shared++
		}
	}
	b := putUint(w.body, uint64(shared))
	b = append(putUint(b, uint64(len(term)-shared)), term[shared:]...)
	w.body = e.append(b)
	w.last = append(w.last[:0], term...)
	w.n++
	return nil
}

func (e *entry) append(b []byte) []byte {
	b = putUint(putUint(b, uint64(e.count)), uint64(e.neg))
	switch {
	case e.count == 0:
		return b
	case e.at.data != nil:
		return append(putUint(append(b, 0), uint64(len(e.at.data))), e.at.data...)
	default:
		return putUint(putUint(b, uint64(e.at.part)+1), uint64(e.at.off))
	}
}

// end writes the part being filled: the number of entries, the offset of every restartEvery-th
// of them from the first, and the entries.
func (w *dictWriter) end() error {
	if w.n == 0 {
		return nil
	}
	b := binary.LittleEndian.AppendUint16(nil, uint16(w.n))
	for _, off := range w.restarts {
		b = binary.LittleEndian.AppendUint16(b, off)
	}
	w.sec.Buf, w.sec.Key = append(b, w.body...), w.key
	w.body, w.restarts, w.n = w.body[:0], w.restarts[:0], 0
	return w.sec.Cut()
}

// dictPart is a part of "terms" as stored.
type dictPart struct {
	n        int
	restarts []byte
	body     []byte
}

func openDict(data []byte) (*dictPart, error) {
	if len(data) < 2 {
		return nil, segment.Corrupt("dictionary of %d bytes", len(data))
	}
	n := int(binary.LittleEndian.Uint16(data))
	width := 2 * ((n + restartEvery - 1) / restartEvery)
	if n == 0 || width > len(data)-2 {
		return nil, segment.Corrupt("dictionary of %d terms in %d bytes", n, len(data))
	}
	return &dictPart{n: n, restarts: data[2 : 2+width], body: data[2+width:]}, nil
}

// group returns an iterator before the first entry of a restart.
func (p *dictPart) group(i int) dictIter {
	it := dictIter{in: input{b: p.body}, left: min(restartEvery, p.n-i*restartEvery)}
	it.in.pos = p.start(i)
	return it
}

// start returns where the group of a restart starts; one past the last restart it returns the end.
func (p *dictPart) start(i int) int {
	if 2*i == len(p.restarts) {
		return len(p.body)
	}
	return min(int(binary.LittleEndian.Uint16(p.restarts[2*i:])), len(p.body))
}

// dictIter walks the entries of a part from one restart on.
type dictIter struct {
	in   input
	left int
	term []byte
	entry
}

// next reads an entry, and returns false at the end or if the part is damaged.
func (it *dictIter) next() bool {
	if it.left == 0 {
		return false
	}
	it.left--
	in := &it.in
	shared := in.uint(uint64(len(it.term)))
	suffix := in.take(in.uint(maxTerm - shared))
	it.term = append(it.term[:shared], suffix...)
	it.count = int(in.uint(maxDocs))
	it.neg = int(in.uint(maxDocs))
	it.at = place{}
	if it.count > 0 {
		it.place()
	}
	if len(it.term) == 0 || it.count == 0 && it.neg == 0 {
		in.fail()
	}
	return !in.bad
}

func (it *dictIter) place() {
	part := it.in.uint(maxDocs)
	if part == 0 {
		it.at.data = it.in.take(it.in.uint(maxInlinePosts))
		return
	}
	it.at.part = uint32(part - 1)
	it.at.off = uint32(it.in.uint(maxPart))
}

// damagedEntry is the error for a damaged dictionary, with the position in its entries.
const damagedEntry = "dictionary entry damaged at byte %d"

// first returns the first term of a group, a part of the dictionary.
func (p *dictPart) first(i int) (term []byte, ok bool) {
	in := input{b: p.body, pos: p.start(i)}
	in.uint(0) // bytes shared with a term before it
	term = in.take(in.uint(maxTerm))
	return term, !in.bad && len(term) > 0
}

// search returns the first group that begins after a term, and whether all that it looked at are whole.
func (p *dictPart) search(term string) (at int, ok bool) {
	ok = true
	at = sort.Search(len(p.restarts)/2, func(i int) bool {
		first, whole := p.first(i)
		ok = ok && whole
		return string(first) > term
	})
	return at, ok
}

// usualTerm is the length that few terms have more than.
const usualTerm = 32

func (p *dictPart) find(term string) (e entry, ok bool, err error) {
	i, ok := p.search(term)
	if !ok {
		return e, false, segment.Corrupt(damagedEntry, 0)
	}
	if i == 0 {
		return e, false, nil
	}
	it := p.group(i - 1)
	it.term = make([]byte, 0, usualTerm)
	for it.next() {
		switch {
		case string(it.term) == term:
			return it.entry, true, nil
		case string(it.term) > term:
			return e, false, nil
		}
	}
	if it.in.bad {
		return e, false, segment.Corrupt(damagedEntry, it.in.pos)
	}
	return e, false, nil
}

func (r *source) dict(ctx context.Context, s *segment.Segment, n int) (*dictPart, error) {
	return segment.Part(ctx, r.Reader, s, secTerms, n, func(_, data []byte) (*dictPart, int, error) {
		p, err := openDict(data)
		return p, len(data), err
	})
}

func (r *source) term(ctx context.Context, s *segment.Segment, term string) (entry, bool, error) {
	n, err := r.Find(ctx, s, secTerms, []byte(term))
	if n < 0 || err != nil {
		return entry{}, false, err
	}
	p, err := r.dict(ctx, s, n)
	if err != nil {
		return entry{}, false, err
	}
	e, ok, err := p.find(term)
	if err != nil {
		return entry{}, false, r.Wrap(s, secTerms, err)
	}
	return e, ok, nil
}

type dictCursor struct {
	src  *source
	seg  *segment.Segment
	part int // the next part
	dict *dictPart
	grp  int // the next group
	prev []byte
	dictIter
}

// next moves to the next term and reports whether there is one.
func (c *dictCursor) next(ctx context.Context) (bool, error) {
	c.prev = append(c.prev[:0], c.term...)
	for !c.dictIter.next() {
		if c.in.bad || c.dict != nil && c.in.pos != c.dict.start(c.grp) {
			return false, c.src.Wrap(c.seg, secTerms, segment.Corrupt(damagedEntry, c.in.pos))
		}
		if c.dict != nil && c.grp < len(c.dict.restarts)/2 {
			c.dictIter = c.dict.group(c.grp)
			c.grp++
			continue
		}
		if c.part == c.seg.Parts(secTerms) {
			return false, nil
		}
		var err error
		if c.dict, err = c.src.dict(ctx, c.seg, c.part); err != nil {
			return false, err
		}
		c.part, c.grp = c.part+1, 0
		c.dictIter = dictIter{in: input{b: c.dict.body}}
	}
	if string(c.term) <= string(c.prev) {
		return false, c.src.Wrap(c.seg, secTerms, segment.Corrupt("term %.40q out of order", c.term))
	}
	return true, nil
}
