package index

import (
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// segmentWriter writes the parts of one segment: all documents and kills first, each ascending, then properties by name
// and document, then terms. Of each section one part is in memory, and of each title eight bytes.
type segmentWriter struct {
	*segment.Writer
	lens, meta *segment.Section
	props      propWriter
	posts      postWriter
	dict       dictWriter
	titles     []uint32 // their sums and those of their beginnings

	metas     []docMeta // of the part of "meta" being filled
	metaTypes map[string]bool
	metaSize  int
	metaFirst uint32
	scratch   []byte
}

func newSegmentWriter(to *segment.Writer) *segmentWriter {
	w := &segmentWriter{
		Writer: to, metaTypes: make(map[string]bool),
		lens: to.Section(secLens), meta: to.Section(secMeta), dict: dictWriter{sec: to.Section(secTerms)},
	}
	w.props.props, w.props.large = to.Section(secProps), to.Section(secLarge)
	w.posts.sec = to.Section(secPosts)
	return w
}

func (w *segmentWriter) sum(terms, filled sums) {
	for f := range Fields {
		w.Sums[f] += terms[f]
		w.Sums[Fields+f] += filled[f]
	}
}

func (w *segmentWriter) addDoc(id graph.ID, lens docLens, m *docMeta) error {
	if w.Docs%docsPerPart == 0 {
		if err := w.endLens(); err != nil {
			return err
		}
	}
	if err := w.AddDoc(id); err != nil {
		return err
	}
	w.posts.lens = append(w.posts.lens, lens)
	return w.addMeta(m)
}

func (w *segmentWriter) endLens() error {
	from := w.lens.Parts() * docsPerPart
	if from == w.Docs {
		return nil
	}
	w.lens.Buf, w.lens.Key = encodeLens(w.posts.lens[from:]), docKey(uint32(from))
	return w.lens.Cut()
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
	w.scratch = m.append(w.scratch[:0], last)
	w.metaSize += len(w.scratch) + 2 // of its type
	w.metas = append(w.metas, *m)
	return nil
}

func (w *segmentWriter) endMeta() error {
	if len(w.metas) == 0 {
		return nil
	}
	w.meta.Buf, w.meta.Key = encodeMeta(w.metas), docKey(w.metaFirst)
	w.metaFirst += uint32(len(w.metas))
	w.metas, w.metaSize = w.metas[:0], 0
	clear(w.metaTypes)
	return w.meta.Cut()
}

// endTerm ends the postings of a term. Terms come ascending; one that is in no document and was
// in none that the segment kills leaves no trace.
func (w *segmentWriter) endTerm(term string, neg int) error {
	count, at, err := w.posts.finish()
	if err != nil || count == 0 && neg == 0 {
		return err
	}
	if strings.HasPrefix(term, titleMark) {
		w.titles = appendSums(w.titles, term)
	}
	return w.dict.add(term, &entry{count: count, neg: neg, at: at})
}

func (w *segmentWriter) endTitles() error { return writeTitles(w.Section(secTitles), w.titles) }

// finish writes what is left and returns the segment with its block, which is not written.
func (w *segmentWriter) finish() (*segment.Segment, store.Block, error) {
	for _, end := range []func() error{w.endLens, w.endMeta, w.props.end, w.dict.end, w.endTitles} {
		if err := end(); err != nil {
			return nil, store.Block{}, err
		}
	}
	return w.Finish()
}
