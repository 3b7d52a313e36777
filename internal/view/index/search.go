package index

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/internal/base/fixed"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
)

// LaneDepth is how many hits a query keeps unless told otherwise.
const LaneDepth = 1000

// Hit is a node and its score, in units of 2^-16 in the text lane.
type Hit = ranking.Hit

// TextResult is the result of a text query: hits by descending score, then by ascending id. Known are the terms that some
// node of the graph has, filtered out or not.
type TextResult = ranking.TextResult

type queryTerm struct {
	QueryTerm
	factor  uint64 // Times · Weight
	df      int64  // live documents with the term
	idf     uint64
	entries []entry // in each segment
}

// Search runs the text lane of clause 9.2: the best k documents with a term of the query that accept lets pass. accept
// may be nil; k <= 0 means LaneDepth. Only damaged or missing parts and accept's errors make it fail.
func (x *Index) Search(ctx context.Context, query Query, accept Accept, k int) (TextResult, error) {
	res := TextResult{Terms: len(query)}
	q := &textQuery{ctx: ctx, x: x, accept: accept, top: newTop(k)}
	q.stats = x.m.Stats
	var room entryRoom
	for i := range query {
		t, err := x.look(ctx, query[i], &room)
		if err != nil {
			return TextResult{}, err
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
	return res, err
}

type textQuery struct {
	ctx    context.Context
	x      *Index
	accept Accept
	terms  []queryTerm
	scorer
	top  *top
	open []*termReader // of the current segment, the weakest first
	most uint64        // the most that they can add together
	made []*termReader // all, to be used again in the next segment
	used int           // of made, in the current segment

	scores [docsPerPart]uint64 // of the current window
	hit    [docsPerPart / 64]uint64
}

// look finds a term in all segments. Its entries are nil if no live document has it.
func (x *Index) look(ctx context.Context, term QueryTerm, room *entryRoom) (queryTerm, error) {
	t := queryTerm{QueryTerm: term, factor: uint64(term.Times * term.Weight)}
	known, err := x.known(ctx, t.As, room)
	if err == nil && known.df > 0 {
		t.entries, t.df, t.idf = known.entries, known.df, x.m.Stats.idf(known.df)
	}
	return t, err
}

// weigh returns the term's addition to the score of a node, for a score of the term that is at least 1. It grows with
// the score.
func (t *queryTerm) weigh(score uint64) uint64 { return weigh(t.factor, score) }

func weigh(factor, score uint64) uint64 { return max(1, factor*score>>fixed.FracBits) }

// termReader reads one term in one segment. Its position is a posting or the end.
type termReader struct {
	postReader
	i      int // the next posting of the block
	idf    uint64
	factor uint64
	most   uint64 // a score is at most weigh(idf), since x/(x+K) is below 1 and idf at least 1
}

// termReaders holds readers for reuse; they keep their buffers for postings.
var termReaders = sync.Pool{New: func() any { return new(termReader) }}

// leave ends the use of a reader of termReaders.
func (t *termReader) leave() {
	*t = termReader{postReader: postReader{block: t.block}}
	termReaders.Put(t)
}

// seek moves to the first posting from doc on, passing blocks without reading their postings where
// their heads allow it, and reports whether there is one.
func (t *termReader) seek(ctx context.Context, doc uint32) (bool, error) {
	for {
		if t.n > 0 && t.posts[t.n-1].doc >= doc {
			for t.posts[t.i].doc < doc {
				t.i++
			}
			return true, nil
		}
		ok, err := t.peek(ctx)
		if !ok {
			return false, err
		}
		t.i = 0
		if t.head.last < doc {
			t.skip()
			continue
		}
		if ok, err = t.next(ctx); !ok {
			return false, err
		}
	}
}

func (q *textQuery) reader() *termReader {
	if q.used == len(q.made) {
		q.made = append(q.made, new(termReader))
	}
	q.used++
	return q.made[q.used-1]
}

// segment searches one segment, window by window: all terms' postings in one window of documents
// are added up before the next.
func (q *textQuery) segment(n int) error {
	s := q.x.segs[n]
	q.open, q.most, q.used = q.open[:0], 0, 0
	for i := range q.terms {
		t := &q.terms[i]
		if t.entries[n].count == 0 {
			continue
		}
		r := q.reader()
		r.idf, r.factor, r.most, r.i = t.idf, t.factor, t.weigh(t.idf), 0
		r.open(&q.x.src, s, t.entries[n])
		if ok, err := r.seek(q.ctx, 0); err != nil {
			return err
		} else if ok {
			q.open = append(q.open, r)
			q.most += r.most
		}
	}
	if len(q.open) == 0 {
		return nil
	}
	slices.SortStableFunc(q.open, func(a, b *termReader) int { return cmp.Compare(a.most, b.most) })
	v, err := q.x.view(q.ctx, n)
	if err != nil {
		return err
	}
	for more := true; more; {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		if more, err = q.window(v); err != nil {
			return err
		}
	}
	return nil
}

// weak returns how many of the open terms, the weakest first, cannot together lift a document to the worst score that
// is kept. A document with none of the others cannot be kept, and only documents with one of the others are looked up
// in the weak ones. The result is the same, since a skipped document would be strictly below everything kept.
func (q *textQuery) weak() (n int, most uint64) {
	for n < len(q.open) && most+q.open[n].most <= q.top.floor() {
		most += q.open[n].most
		n++
	}
	return n, most
}

// window scores the documents of the first window that may have a hit and offers them in order.
// It reports false when there is none.
func (q *textQuery) window(v *view) (bool, error) {
	weak, most := q.weak()
	strong := q.open[weak:]
	if len(strong) == 0 {
		return false, nil
	}
	low := uint32(math.MaxUint32)
	for _, t := range strong {
		low = min(low, t.posts[t.i].doc)
	}
	part := low / docsPerPart
	first := part * docsPerPart
	lens, err := q.x.src.lens(q.ctx, v.seg, int(part))
	if err != nil {
		return false, err
	}
	for _, t := range strong {
		if err := q.add(t, first, lens); err != nil {
			return false, err
		}
	}
	for i := weak - 1; i >= 0 && q.prune(most); i-- {
		if err := q.lookUp(q.open[i], first, lens); err != nil {
			return false, err
		}
		most -= q.open[i].most
	}
	q.open = slices.DeleteFunc(q.open, func(t *termReader) bool { return t.i == t.n })
	return true, q.offer(v, first)
}

// add adds a term's scores in the window from first on. After the term's last posting, i is n.
func (q *textQuery) add(t *termReader, first uint32, lens *lenPart) error {
	for {
		for ; t.i < t.n; t.i++ {
			p := &t.posts[t.i]
			at := p.doc - first
			if at >= docsPerPart {
				return nil
			}
			of := lens.at(at, t.masks[t.i])
			q.scores[at] += weigh(t.factor, q.score(t.idf, t.masks[t.i], &p.tf, &of))
			q.hit[at/64] |= 1 << (at % 64)
		}
		t.i = 0
		if ok, err := q.nextBlock(t); !ok {
			return err
		}
	}
}

// nextBlock reads the next block of a term that may have a hit. A document of a block that is passed could not be kept
// even with all that the other terms may give, so that it does not matter that its score lacks a term.
func (q *textQuery) nextBlock(t *termReader) (bool, error) {
	for {
		if ok, err := t.peek(q.ctx); !ok {
			t.n = 0
			return false, err
		}
		floor := q.top.floor()
		if floor == 0 || t.term ||
			weigh(t.factor, q.bound(t.idf, &t.head.bounds))+q.most-t.most > floor {
			return t.next(q.ctx)
		}
		t.skip()
	}
}

// prune drops the documents of the window that even most more would not lift to the worst score
// kept, and reports whether any are left.
func (q *textQuery) prune(most uint64) bool {
	floor := q.top.floor()
	left := uint64(0)
	for w := range q.hit {
		for set := q.hit[w]; set != 0; set &= set - 1 {
			at := bits.TrailingZeros64(set)
			if q.scores[w*64+at]+most <= floor {
				q.hit[w] &^= 1 << at
				q.scores[w*64+at] = 0
			}
		}
		left |= q.hit[w]
	}
	return left != 0
}

// lookUp adds a term's scores to the documents that are left in the window.
func (q *textQuery) lookUp(t *termReader, first uint32, lens *lenPart) error {
	for w := range q.hit {
		for set := q.hit[w]; set != 0; set &= set - 1 {
			at := uint32(w*64 + bits.TrailingZeros64(set))
			if ok, err := t.seek(q.ctx, first+at); !ok {
				t.i = t.n
				return err
			}
			if p := &t.posts[t.i]; p.doc == first+at {
				of := lens.at(at, t.masks[t.i])
				q.scores[at] += weigh(t.factor, q.score(t.idf, t.masks[t.i], &p.tf, &of))
			}
		}
	}
	return nil
}

// offer offers the scored documents of a window and clears it.
func (q *textQuery) offer(v *view, first uint32) error {
	for w := range q.hit {
		for set := q.hit[w]; set != 0; set &= set - 1 {
			at := w*64 + bits.TrailingZeros64(set)
			score := int64(q.scores[at])
			q.scores[at] = 0
			if err := q.top.offer(v, q.accept, first+uint32(at), score); err != nil {
				return err
			}
		}
		q.hit[w] = 0
	}
	return nil
}

// Constants of ranking version 1, clause 8.1, in units of 2^-16.
const (
	rankK       = 58_982  // 0.9
	rankB       = 26_214  // 0.4, of a field whose texts are short
	rankLongB   = 32_768  // 0.5, by which it grows until their mean is longTerms
	longTerms   = 64      // terms
	rankSummary = 131_072 // weight of the summary
	rankOther   = fixed.One
)

// tableLens is the number of lengths for which the share of one occurrence is kept: most fields
// are shorter, and a table saves two divisions a posting.
const tableLens = 256

// scorer computes scores of clause 9.2 under the statistics of one collection.
type scorer struct {
	stats  Stats
	norms  [Fields][tableLens]uint64 // n of each length, 0 if it is not known yet
	shares [Fields][tableLens]uint64 // share of one occurrence
}

// idf returns what a term weighs that so many nodes have.
func (s *Stats) idf(df int64) uint64 {
	idf := fixed.Log2(2*uint64(s.Nodes)+2) - fixed.Log2(2*uint64(df)+1)
	return uint64(max(1, idf))
}

func weight(field int) uint64 {
	if field == FieldSummary {
		return rankSummary
	}
	return rankOther
}

// norm returns n of a field of some length. That (1 - B)·T is a multiple of T lets it stand outside the division.
func (s *scorer) norm(field int, length uint32) uint64 {
	if length < tableLens && s.norms[field][length] != 0 {
		return s.norms[field][length]
	}
	total, filled := uint64(s.stats.Terms[field]), uint64(s.stats.Filled[field])
	b := s.lengthShare(field)
	n := fixed.One - b + fixed.MulDivSat(b*uint64(length), filled, total)
	if length < tableLens {
		s.norms[field][length] = n
	}
	return n
}

// lengthShare returns B of a field: the longer its texts are in the mean, the more it says that one of them is long, since a
// long note tells more and a long document has more words.
func (s *scorer) lengthShare(field int) uint64 {
	terms, filled := uint64(s.stats.Terms[field]), uint64(s.stats.Filled[field])
	if filled == 0 {
		return rankB
	}
	return rankB + fixed.MulDivSat(rankLongB, min(terms, longTerms*filled), longTerms*filled)
}

// share returns what a field adds to x: W·tf/n in units of 2^-16.
func (s *scorer) share(field int, tf, length uint32) uint64 {
	small := tf == 1 && length < tableLens
	if small && s.shares[field][length] != 0 {
		return s.shares[field][length]
	}
	q := fixed.MulDivSat(weight(field)*fixed.One, uint64(tf), s.norm(field, length))
	if small {
		s.shares[field][length] = q
	}
	return q
}

// maxX bounds x, so that idf·x, idf below 2^23, needs no wide product.
const maxX = 1 << 40

// saturate returns the score of a term that a node has: idf·x/(x+K), at least 1.
func saturate(idf, x uint64) uint64 {
	if x < maxX {
		return max(1, idf*x/(x+rankK))
	}
	return max(1, fixed.MulDivSat(idf, x, fixed.AddSat(x, rankK)))
}

func (s *scorer) score(idf uint64, mask byte, tf *[Fields]uint32, lens *docLens) uint64 {
	x := uint64(0)
	for m := mask; m != 0; m &= m - 1 {
		f := bits.TrailingZeros8(m)
		x = fixed.AddSat(x, s.share(f, tf[f], lens[f]))
	}
	return saturate(idf, x)
}

// bound returns a score that no posting of a block exceeds: each share grows with tf and shrinks
// with length, and the score grows with each share, all divisions rounding down.
func (s *scorer) bound(idf uint64, b *bounds) uint64 {
	return s.score(idf, b.mask, &b.maxTF, (*docLens)(&b.minLen))
}
