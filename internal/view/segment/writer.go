package segment

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// putBatch is the number of blocks stored in one call.
const putBatch = 16

// Writer writes the parts of one segment. It buffers them until they exceed what fits into a segment's block, then
// writes them, and every later one, as separate blocks.
type Writer struct {
	Docs, Kills int
	Sums        []int64

	ctx      context.Context
	format   *Format
	put      store.Putter
	sections []Section
	held     []*part // parts not written
	size     int64   // bytes of all parts
	batch    []store.Block
}

// Section divides a section into parts.
type Section struct {
	Buf []byte // the part being filled
	Key []byte // its key, which is not copied
	of  *Writer
	// refs are the finished parts.
	refs []*part
}

// NewWriter returns a writer of an empty segment.
func (f *Format) NewWriter(ctx context.Context, put store.Putter) *Writer {
	w := &Writer{ctx: ctx, format: f, put: put, Sums: make([]int64, f.Sums)}
	w.sections = make([]Section, len(f.Sections))
	for i := range w.sections {
		w.sections[i].of = w
	}
	return w
}

// Section returns the writer of a section.
func (w *Writer) Section(sec int) *Section { return &w.sections[sec] }

// Spilled reports whether parts are separate blocks.
func (w *Writer) Spilled() bool { return w.size > w.format.Inline }

// Parts returns the number of finished parts.
func (s *Section) Parts() int { return len(s.refs) }

// Cut finishes the current part, unless it is empty.
func (s *Section) Cut() error {
	if len(s.Buf) == 0 {
		return nil
	}
	r := &part{key: s.Key, data: bytes.Clone(s.Buf)}
	s.refs = append(s.refs, r)
	s.Buf, s.Key = s.Buf[:0], nil
	return s.of.add(r)
}

// Begin finishes the current part once it has size bytes, and sets the key of a part that starts here.
func (s *Section) Begin(size int, key func() []byte) error {
	if len(s.Buf) >= size {
		if err := s.Cut(); err != nil {
			return err
		}
	}
	if len(s.Buf) == 0 {
		s.Key = key()
	}
	return nil
}

func (w *Writer) add(r *part) error {
	w.size += int64(len(r.data))
	w.held = append(w.held, r)
	if !w.Spilled() {
		return nil
	}
	for _, r := range w.held {
		block := store.NewBlock(ipld.Raw, r.data)
		r.cid, r.data = block.CID, nil
		if err := w.write(block); err != nil {
			return err
		}
	}
	w.held = w.held[:0]
	return nil
}

func (w *Writer) write(b store.Block) error {
	w.batch = append(w.batch, b)
	if len(w.batch) < putBatch {
		return nil
	}
	return w.flush()
}

func (w *Writer) flush() error {
	if len(w.batch) == 0 {
		return nil
	}
	err := w.put.Put(w.ctx, w.batch...)
	clear(w.batch)
	w.batch = w.batch[:0]
	if err != nil {
		return fmt.Errorf("write index parts: %w", err)
	}
	return nil
}

// Finish writes the remaining parts and returns the segment with its block, which is not written.
func (w *Writer) Finish() (*Segment, store.Block, error) {
	for i := range w.sections {
		if err := w.sections[i].Cut(); err != nil {
			return nil, store.Block{}, err
		}
	}
	s := &Segment{Docs: w.Docs, Kills: w.Kills, Sums: w.Sums}
	s.sections = make([]section, len(w.sections))
	for i := range w.sections { // after the last part: until then it is open whether parts are inline
		refs := make([]part, len(w.sections[i].refs))
		for n, r := range w.sections[i].refs {
			refs[n] = *r
		}
		var err error
		if s.sections[i], err = w.fold(refs); err != nil {
			return nil, store.Block{}, err
		}
	}
	if err := w.flush(); err != nil {
		return nil, store.Block{}, err
	}
	block := store.NewBlock(ipld.DagCBOR, w.format.encode(s))
	s.CID = block.CID
	return s, block, nil
}

// fold moves the entries of a long section into directories.
func (w *Writer) fold(refs []part) (section, error) {
	s := section{parts: len(refs), refs: refs, heads: headsOf(refs)}
	if s.parts <= fan {
		return s, nil
	}
	if s.parts > fan*maxRefs {
		return s, fmt.Errorf("segment section of %d parts, limit %d", s.parts, fan*maxRefs)
	}
	s.refs = nil
	for from := 0; from < len(refs); from += fan {
		of := refs[from:min(from+fan, len(refs))]
		block := store.NewBlock(ipld.DagCBOR, w.format.encodeDir(of))
		if err := w.write(block); err != nil {
			return s, err
		}
		s.refs = append(s.refs, part{key: of[0].key, cid: block.CID})
	}
	s.heads = headsOf(s.refs)
	return s, nil
}
