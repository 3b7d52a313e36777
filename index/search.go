package index

import (
	"container/heap"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// LaneDepth is how many hits a query keeps unless told otherwise.
const LaneDepth = 1000

// Hit is a node and its score, in units of 2^-16 in the text lane.
type Hit struct {
	ID    graph.ID
	Score int64
}

// TextResult is what a text query found.
type TextResult struct {
	Hits  []Hit // score descending, id ascending
	Terms int   // distinct terms of the query
	Known int   // those that some node of the graph has, filtered out or not
}

// queryTerm is one distinct term of a query.
type queryTerm struct {
	term    string
	times   uint64
	idf     uint64
	entries []entry // in each segment
}

// Text runs the text lane of clause 9.2: the best k documents that accept lets pass, those with a
// score above 0. accept may be nil; k <= 0 means LaneDepth. Only damaged or missing parts and
// accept's errors make it fail.
func (x *Index) Text(ctx context.Context, query string, accept Accept, k int) (TextResult, error) {
	terms := x.text(query)
	res := TextResult{Terms: len(terms)}
	q := &textQuery{ctx: ctx, x: x, accept: accept, top: newTop(k)}
	q.stats = x.m.Stats
	for _, t := range terms {
		if err := q.look(&t); err != nil {
			return TextResult{}, wrapQuery("search text", err)
		}
		if t.entries != nil {
			q.terms = append(q.terms, t)
		}
	}
	res.Known = len(q.terms)
	var err error
	for n := len(x.segs) - 1; n >= 0 && err == nil; n-- {
		err = q.segment(n)
	}
	if err == nil {
		res.Hits, err = q.top.hits()
	}
	return res, wrapQuery("search text", err)
}

// textQuery is one run of Text.
type textQuery struct {
	ctx    context.Context
	x      *Index
	accept Accept
	terms  []queryTerm
	scorer
	top  *top
	open []*termReader // of the segment at hand

	scores [docsPerPart]uint64 // of the window at hand
	hit    [docsPerPart / 64]uint64
}

// look finds a term in all segments. Its entries stay nil where no live document has it.
func (q *textQuery) look(t *queryTerm) error {
	df := int64(0)
	entries := make([]entry, len(q.x.segs))
	for i, s := range q.x.segs {
		e, _, err := q.x.src.term(q.ctx, s, t.term)
		if err != nil {
			return err
		}
		entries[i] = e
		df += int64(e.count) - int64(e.neg)
	}
	if df > 0 {
		t.entries, t.idf = entries, q.idf(df)
	}
	return q.x.checkDF(t.term, df)
}

// termReader is one term in one segment.
type termReader struct {
	postReader
	i     int // the next posting of the block
	idf   uint64
	times uint64
}

// fill makes sure that there is a next posting, and reports false at the end.
func (t *termReader) fill(ctx context.Context) (bool, error) {
	if t.i < t.n {
		return true, nil
	}
	t.i = 0
	return t.next(ctx)
}

// segment searches one segment, window by window: all terms' postings in one window of documents
// are added up before the next.
func (q *textQuery) segment(n int) error {
	s := q.x.segs[n]
	q.open = q.open[:0]
	for i := range q.terms {
		t := &q.terms[i]
		if t.entries[n].count == 0 {
			continue
		}
		r := &termReader{idf: t.idf, times: t.times}
		r.open(&q.x.src, s, t.entries[n])
		if ok, err := r.fill(q.ctx); err != nil {
			return err
		} else if ok {
			q.open = append(q.open, r)
		}
	}
	if len(q.open) == 0 {
		return nil
	}
	v, err := q.x.view(q.ctx, n)
	if err != nil {
		return err
	}
	for len(q.open) > 0 {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		if err := q.window(v); err != nil {
			return err
		}
	}
	return nil
}

// window scores the documents of the first window that has any, and offers them in order.
func (q *textQuery) window(v *view) error {
	low := uint32(math.MaxUint32)
	for _, t := range q.open {
		low = min(low, t.posts[t.i].doc)
	}
	part := low / docsPerPart
	lens, err := q.x.src.lens(q.ctx, v.seg, int(part))
	if err != nil {
		return err
	}
	left := q.open[:0]
	for _, t := range q.open {
		more, err := q.add(t, part*docsPerPart, lens)
		if err != nil {
			return err
		}
		if more {
			left = append(left, t)
		}
	}
	q.open = left
	return q.offer(v, part*docsPerPart)
}

// add adds a term's scores in the window from first on, and reports whether the term has postings
// after it.
func (q *textQuery) add(t *termReader, first uint32, lens lenPart) (more bool, err error) {
	for {
		for ; t.i < t.n; t.i++ {
			p := &t.posts[t.i]
			at := p.doc - first
			if at >= docsPerPart {
				return true, nil
			}
			q.scores[at] += t.times * q.score(t.idf, t.masks[t.i], &p.tf, &lens[at])
			q.hit[at/64] |= 1 << (at % 64)
		}
		if more, err = t.fill(q.ctx); !more {
			return false, err
		}
	}
}

// offer offers the scored documents of a window and clears it.
func (q *textQuery) offer(v *view, first uint32) error {
	for w := range q.hit {
		for set := q.hit[w]; set != 0; set &= set - 1 {
			at := w*64 + bits.TrailingZeros64(set)
			score := int64(q.scores[at])
			q.scores[at] = 0
			if score == 0 {
				continue
			}
			if err := q.top.offer(v, q.accept, first+uint32(at), score); err != nil {
				return err
			}
		}
		q.hit[w] = 0
	}
	return nil
}

// top keeps the best documents offered: a heap with the worst at its root.
type top struct {
	k    int
	docs []ranked
	err  error // of reading an id
}

// ranked is a scored document. Within a segment documents are numbered in the order of their ids.
type ranked struct {
	score int64
	view  *view
	doc   uint32
}

func newTop(k int) *top {
	if k <= 0 {
		k = LaneDepth
	}
	return &top{k: k}
}

// after reports whether a ranks after b.
func (t *top) after(a, b ranked) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	if a.view == b.view {
		return a.doc > b.doc
	}
	x, err := a.view.id(a.doc)
	y, err2 := b.view.id(b.doc)
	if err == nil {
		err = err2
	}
	if err != nil {
		t.err = err
	}
	return x.Compare(y) > 0
}

func (t *top) Len() int           { return len(t.docs) }
func (t *top) Less(i, j int) bool { return t.after(t.docs[i], t.docs[j]) }
func (t *top) Swap(i, j int)      { t.docs[i], t.docs[j] = t.docs[j], t.docs[i] }
func (t *top) Push(v any)         { t.docs = append(t.docs, v.(ranked)) }
func (t *top) Pop() any {
	last := t.docs[len(t.docs)-1]
	t.docs = t.docs[:len(t.docs)-1]
	return last
}

// offer takes a document if it is live, passes, and is among the best so far.
func (t *top) offer(v *view, accept Accept, doc uint32, score int64) error {
	r := ranked{score: score, view: v, doc: doc}
	full := len(t.docs) == t.k
	if full && (score < t.docs[0].score || t.after(r, t.docs[0])) || v.dead.has(doc) {
		return t.err
	}
	if ok, err := v.passes(accept, doc); !ok || err != nil {
		return err
	}
	if full {
		t.docs[0] = r
		heap.Fix(t, 0)
	} else {
		heap.Push(t, r)
	}
	return t.err
}

// hits returns what was kept in its order.
func (t *top) hits() ([]Hit, error) {
	slices.SortFunc(t.docs, func(a, b ranked) int {
		switch {
		case t.after(b, a):
			return -1
		case t.after(a, b):
			return 1
		}
		return 0
	})
	out := make([]Hit, len(t.docs))
	for i, r := range t.docs {
		id, err := r.view.id(r.doc)
		if err != nil {
			return nil, err
		}
		out[i] = Hit{ID: id, Score: r.score}
	}
	return out, t.err
}
