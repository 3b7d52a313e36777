package index

import (
	"context"
	"math/bits"

	"github.com/mnem-project/mnem/internal/view/segment"
)

// posting is one document of a term: how often the term occurs in each of its fields.
type posting struct {
	doc uint32
	tf  [Fields]uint32
}

// A posting is the distance of its document from the one before, less one, then a mask of the
// fields with the term; unless the mask's bit maskOnes says that every tf is 1, they follow.
const (
	maskFields = 1<<Fields - 1
	maskOnes   = 1 << Fields
)

func appendPosting(b []byte, gap uint32, tf *[Fields]uint32) []byte {
	b = putUint(b, uint64(gap))
	mask, ones := byte(0), true
	for f, n := range tf {
		if n > 0 {
			mask |= 1 << f
			ones = ones && n == 1
		}
	}
	if ones {
		return append(b, mask|maskOnes)
	}
	b = append(b, mask)
	for _, n := range tf {
		if n > 0 {
			b = putUint(b, uint64(n))
		}
	}
	return b
}

// block is up to blockDocs decoded postings. It has room for as many as were in one block so far:
// most terms have few, and a query may have thousands of terms.
type block struct {
	n     int
	posts []posting
	masks []byte
}

// decode reads n postings, whose first document is at least next, and returns the number after the last document's.
func (k *block) decode(in *input, n int, next uint64, docs int) uint64 {
	if k.n = n; n > len(k.posts) {
		k.posts, k.masks = make([]posting, n), make([]byte, n)
	}
	for i := range n {
		p := &k.posts[i]
		doc := next + in.uint(maxDocs)
		mask := in.byte()
		if in.bad || doc >= uint64(docs) || mask&maskFields == 0 || mask > maskFields|maskOnes {
			in.fail()
			return 0
		}
		p.doc = uint32(doc)
		k.masks[i] = mask & maskFields
		p.decodeTFs(in, mask)
		next = doc + 1
	}
	return next
}

func (p *posting) decodeTFs(in *input, mask byte) {
	p.tf = [Fields]uint32{}
	if mask&maskOnes != 0 {
		for m := mask & maskFields; m != 0; m &= m - 1 {
			p.tf[bits.TrailingZeros8(m)] = 1
		}
		return
	}
	p.decodeTF(in, mask)
}

func (p *posting) decodeTF(in *input, mask byte) {
	for m := mask; m != 0; m &= m - 1 {
		n := in.uint(maxTF)
		if n == 0 {
			in.fail()
		}
		p.tf[bits.TrailingZeros8(m)] = uint32(n)
	}
}

// rawTFs returns the mask of a posting and what follows it, as they are.
func (in *input) rawTFs() []byte {
	start := in.pos
	if mask := in.byte(); mask&maskOnes == 0 {
		for range bits.OnesCount8(mask) {
			in.uint(maxTF)
		}
	}
	return in.b[start:in.pos]
}

// bounds are the inputs for skipping a block: for each field the largest tf and the shortest length among the documents
// with the term in it. They are counts and never scores, so they stay valid when the collection's statistics change.
type bounds struct {
	mask   byte
	maxTF  [Fields]uint32
	minLen [Fields]uint32
}

func (x *bounds) add(tf *[Fields]uint32, lens *docLens) {
	for f, n := range tf {
		if n == 0 {
			continue
		}
		if x.mask>>f&1 == 0 {
			x.mask |= 1 << f
			x.maxTF[f], x.minLen[f] = n, lens[f]
		}
		x.maxTF[f] = max(x.maxTF[f], n)
		x.minLen[f] = min(x.minLen[f], lens[f])
	}
}

func (x *bounds) append(b []byte) []byte {
	b = append(b, x.mask)
	for m := x.mask; m != 0; m &= m - 1 {
		f := bits.TrailingZeros8(m)
		b = putUint(putUint(b, uint64(x.maxTF[f])), uint64(x.minLen[f]))
	}
	return b
}

func (x *bounds) decode(in *input) {
	*x = bounds{mask: in.byte()}
	if x.mask == 0 || x.mask > maskFields {
		in.fail()
		return
	}
	for m := x.mask; m != 0; m &= m - 1 {
		f := bits.TrailingZeros8(m)
		x.maxTF[f], x.minLen[f] = uint32(in.uint(maxTF)), uint32(in.uint(maxTF))
	}
}

// place locates a term's postings: inline if data is not nil, else at an offset of a part.
type place struct {
	data []byte
	part uint32
	off  uint32
}

// postWriter writes "posts": the lists of one term after the other.
type postWriter struct {
	sec   *segment.Section
	lens  []docLens // of all documents of the segment
	buf   []byte    // postings of the block being filled
	held  []posting // the same
	count int       // of the list so far
	next  uint32    // one past the last document
	base  uint32    // next at the start of the block
	at    place     // of the list's first block, once written
}

func (w *postWriter) add(doc uint32, tf *[Fields]uint32) error {
	if len(w.held) == blockDocs {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.buf = appendPosting(w.buf, doc-w.next, tf)
	w.held = append(w.held, posting{doc, *tf})
	w.next = doc + 1
	w.count++
	return nil
}

// flush writes the block being filled: the distance of its last document from its position without gaps, its length,
// its bounds, and its postings.
func (w *postWriter) flush() error {
	key := func() []byte { return docKey(uint32(w.sec.Parts())) }
	if err := w.sec.Begin(partSize, key); err != nil {
		return err
	}
	n := len(w.held)
	if w.count == n {
		w.at = place{part: uint32(w.sec.Parts()), off: uint32(len(w.sec.Buf))}
	}
	var most bounds // the lengths are far from each other in memory, and read here one after the other
	for i := range w.held {
		most.add(&w.held[i].tf, &w.lens[w.held[i].doc])
	}
	b := putUint(w.sec.Buf, uint64(w.next-w.base)-uint64(n))
	b = putUint(b, uint64(len(w.buf)))
	b = most.append(b)
	w.sec.Buf = append(b, w.buf...)
	w.buf, w.held, w.base = w.buf[:0], w.held[:0], w.next
	return nil
}

// finish ends a list and returns its number of postings and their place. Inline data is valid until the next add.
func (w *postWriter) finish() (count int, at place, err error) {
	count = w.count
	switch {
	case count == 0:
	case count == len(w.held) && len(w.buf) <= maxInlinePosts:
		w.at = place{data: w.buf}
	case len(w.held) > 0:
		err = w.flush()
	}
	at = w.at
	*w = postWriter{sec: w.sec, lens: w.lens, buf: w.buf[:0], held: w.held[:0]}
	return count, at, err
}

// blockHead is the header of a block outside the dictionary.
type blockHead struct {
	last   uint32 // its last document
	size   int    // of its postings in bytes
	bounds bounds
}

func (h *blockHead) decode(in *input, n int, next uint64, docs int) {
	last := next + uint64(n) - 1 + in.uint(maxDocs)
	h.size = int(in.uint(maxPart))
	h.bounds.decode(in)
	if last >= uint64(docs) || h.size > len(in.b)-in.pos {
		in.fail()
		return
	}
	h.last = uint32(last)
}

// postReader reads the postings of one term block by block. Its zero value is at the end.
type postReader struct {
	src  *source
	seg  *segment.Segment
	left int    // postings not read
	from uint64 // one past the last document read
	in   input
	part uint32
	term bool // the postings are inline
	head blockHead
	size int  // postings in the block of head
	has  bool // head is read, its postings are not
	block
}

func (r *postReader) open(src *source, seg *segment.Segment, e entry) {
	r.src, r.seg, r.left, r.from = src, seg, e.count, 0
	r.term, r.part, r.has, r.n = e.at.data != nil, e.at.part, false, 0
	r.in = input{b: e.at.data}
	if !r.term {
		r.in.pos = int(e.at.off)
	}
}

// peek reads the head of the next block if there is one, and reports that. Inline postings
// have no head: theirs says nothing.
func (r *postReader) peek(ctx context.Context) (bool, error) {
	if r.has || r.left == 0 {
		return r.has, nil
	}
	r.size = min(r.left, blockDocs)
	if r.term {
		r.head = blockHead{last: uint32(r.seg.Docs - 1)}
		r.has = true
		return true, nil
	}
	if err := r.load(ctx); err != nil {
		return false, err
	}
	r.head.decode(&r.in, r.size, r.from, r.seg.Docs)
	if r.in.bad {
		return false, r.damaged()
	}
	r.has = true
	return true, nil
}

// load makes sure that the part with the next block is there.
func (r *postReader) load(ctx context.Context) error {
	if r.in.b != nil && r.in.pos < len(r.in.b) {
		return nil
	}
	if r.in.b != nil {
		r.part++
		r.in.pos = 0
	}
	data, err := r.src.Bytes(ctx, r.seg, secPosts, int(r.part))
	if err != nil {
		return err
	}
	if r.in.pos >= len(data) {
		return r.damaged()
	}
	r.in.b = data
	return nil
}

func (r *postReader) damaged() error {
	return r.src.Wrap(r.seg, secPosts, segment.Corrupt("part %d damaged at byte %d", r.part, r.in.pos))
}

// skip passes the block whose head was peeked.
func (r *postReader) skip() {
	r.in.pos += r.head.size
	r.from = uint64(r.head.last) + 1
	r.left -= r.size
	r.has, r.n = false, 0
}

// next decodes the next block and reports whether there is one.
func (r *postReader) next(ctx context.Context) (bool, error) {
	r.n = 0
	if ok, err := r.peek(ctx); !ok {
		return false, err
	}
	in := r.in
	if !r.term {
		in.b = in.b[:in.pos+r.head.size]
	}
	r.from = r.decode(&in, r.size, r.from, r.seg.Docs)
	if in.bad || !in.done() || !r.term && r.from != uint64(r.head.last)+1 {
		r.n = 0
		return false, r.damaged()
	}
	r.in.pos = in.pos
	r.left -= r.size
	r.has = false
	return true, nil
}
