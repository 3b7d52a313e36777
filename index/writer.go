package index

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// segmentWriter writes the parts of one segment: all documents and kills first, each ascending,
// then properties by name and document, then terms. Of each section one part is in memory, and of
// each title four bytes.
type segmentWriter struct {
	sink  sink
	seg   segment
	ids   sectionWriter
	dead  sectionWriter
	lens  sectionWriter
	meta  sectionWriter
	props propWriter
	posts postWriter
	dict  dictWriter

	titles sectionWriter
	sums   []uint32 // of titles

	metas     []docMeta // of the part of "meta" being filled
	metaTypes map[string]bool
	metaSize  int
	metaFirst uint32
	scratch   []byte
}

func newSegmentWriter(ctx context.Context, put store.Putter) *segmentWriter {
	w := &segmentWriter{metaTypes: make(map[string]bool)}
	w.sink.ctx, w.sink.put = ctx, put
	for _, s := range w.all() {
		s.sink = &w.sink
	}
	return w
}

// all returns the writers of the sections in the order of their numbers.
func (w *segmentWriter) all() [sections]*sectionWriter {
	return [sections]*sectionWriter{
		secIDs: &w.ids, secDead: &w.dead, secLens: &w.lens, secMeta: &w.meta,
		secLarge: &w.props.large, secPosts: &w.posts.sec, secProps: &w.props.props,
		secTerms: &w.dict.sec, secTitles: &w.titles,
	}
}

func (w *segmentWriter) addDoc(id graph.ID, lens docLens, m *docMeta) error {
	doc := uint32(w.seg.docs)
	if doc == maxDocs {
		return fmt.Errorf("segment of more than %d documents", maxDocs)
	}
	if err := addID(&w.ids, w.seg.docs, id); err != nil {
		return err
	}
	if w.seg.docs%docsPerPart == 0 {
		if err := w.endLens(); err != nil {
			return err
		}
	}
	w.posts.lens = append(w.posts.lens, lens)
	w.seg.docs++
	return w.addMeta(m)
}

// endLens writes the lengths of the documents since the last part.
func (w *segmentWriter) endLens() error {
	from := len(w.lens.refs) * docsPerPart
	if from == w.seg.docs {
		return nil
	}
	w.lens.buf, w.lens.key = encodeLens(w.posts.lens[from:]), docKey(uint32(from))
	return w.lens.cut()
}

func addID(w *sectionWriter, n int, id graph.ID) error {
	if n%docsPerPart == 0 {
		if err := w.cut(); err != nil {
			return err
		}
		w.key = id[:]
	}
	w.buf = append(w.buf, id[:]...)
	return nil
}

func (w *segmentWriter) addDead(id graph.ID) error {
	if w.seg.kills == maxDocs {
		return fmt.Errorf("segment of more than %d kills", maxDocs)
	}
	w.seg.kills++
	return addID(&w.dead, w.seg.kills-1, id)
}

func (w *segmentWriter) addMeta(m *docMeta) error {
	if len(w.metas) == docsPerPart || w.metaSize >= partSize {
		if err := w.endMeta(); err != nil {
			return err
		}
	}
	if !w.metaTypes[m.typ] {
		w.metaTypes[m.typ] = true
		w.metaSize += 2 + len(m.typ)
	}
	last := graph.Time(0)
	if len(w.metas) > 0 {
		last = w.metas[len(w.metas)-1].created
	}
	w.scratch = m.append(w.scratch[:0], docsPerPart-1, last)
	w.metaSize += len(w.scratch)
	w.metas = append(w.metas, *m)
	return nil
}

func (w *segmentWriter) endMeta() error {
	if len(w.metas) == 0 {
		return nil
	}
	w.meta.buf, w.meta.key = encodeMeta(w.metas), docKey(w.metaFirst)
	w.metaFirst += uint32(len(w.metas))
	w.metas, w.metaSize = w.metas[:0], 0
	clear(w.metaTypes)
	return w.meta.cut()
}

// endTerm ends the postings of a term. Terms come ascending; one that is in no document and was
// in none that the segment kills leaves no trace.
func (w *segmentWriter) endTerm(term string, neg int) error {
	count, at, err := w.posts.finish()
	if err != nil || count == 0 && neg == 0 {
		return err
	}
	if strings.HasPrefix(term, titleMark) {
		w.sums = append(w.sums, sumOfKey(term).stored())
	}
	return w.dict.add(term, &entry{count: count, neg: neg, at: at})
}

func (w *segmentWriter) endTitles() error { return writeTitles(&w.titles, w.sums) }

// finish writes what is left and returns the segment with its block, which is not written.
func (w *segmentWriter) finish() (*segment, store.Block, error) {
	for _, end := range []func() error{w.endLens, w.endMeta, w.props.end, w.dict.end, w.endTitles} {
		if err := end(); err != nil {
			return nil, store.Block{}, err
		}
	}
	for i, s := range w.all() {
		if err := s.cut(); err != nil {
			return nil, store.Block{}, err
		}
		w.seg.sec[i] = section{parts: len(s.refs), refs: make([]partRef, len(s.refs))}
	}
	for i, s := range w.all() {
		for n, r := range s.refs {
			w.seg.sec[i].refs[n] = *r
		}
		if err := w.seg.sec[i].fold(&w.sink); err != nil {
			return nil, store.Block{}, err
		}
	}
	if err := w.sink.flush(); err != nil {
		return nil, store.Block{}, err
	}
	// A copy, so that the segment does not keep the writer's buffers.
	seg := w.seg
	block := store.NewBlock(ipld.DagCBOR, seg.encode())
	seg.cid = block.CID
	return &seg, block, nil
}
