package index

import (
	"context"

	"github.com/mnem-project/mnem/internal/view/segment"
)

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
