package index

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
)

// Query is the distinct terms of a text in the order of their first place.
type Query []QueryTerm

// QueryTerm is one of them, and how it counts.
type QueryTerm struct {
	Term   string // of the text
	As     string // what is looked up for it: the term itself unless it is read as another
	Times  int64  // how often the text has it, above 0
	Weight int64  // in units of 2^-16, above 0; Times · Weight is at most 2^40
}

// QueryText is a text of a request, analysed once for all that is asked about it: to do so again for each question
// takes longer than the search if the text is long. It keeps the text. Safe for concurrent use.
type QueryText struct {
	x     *Index
	text  string
	terms Query
	at    map[string]int // places in terms
	words []string       // the first tokens of the first maxReadable of terms

	once sync.Once
	// titled are the places in terms of those in which titles count, -1 for one that is none of
	// them: a word that is cut where titles end.
	titled []int32
}

// A text is taken to have a distinct term in termBytes bytes, and usualTerms at most.
const termBytes, usualTerms = 6, 4096

// Analyse analyses a text.
func (x *Index) Analyse(s string) *QueryText {
	q := &QueryText{x: x, text: s, at: make(map[string]int, min(len(s)/termBytes, usualTerms))}
	whole := len(s) <= maxTitleBytes // titles count in all of it
	x.analyser.EachToken(s, func(token, term string) bool {
		i, ok := q.at[term]
		if !ok {
			i = len(q.terms)
			q.at[term] = i
			q.terms = append(q.terms, QueryTerm{Term: term, As: term, Weight: fixed.One})
			if i < maxReadable {
				q.words = append(q.words, token)
			}
		}
		q.terms[i].Times++
		if whole && len(q.titled) < maxTitleText {
			q.titled = append(q.titled, int32(i))
		}
		return true
	})
	return q
}

// Query analyses a text. Every term counts wholly, as itself.
func (x *Index) Query(text string) Query { return x.Analyse(text).terms }

// Query returns the terms of the text, those of readings with the weight of these. The caller must not change it.
func (q *QueryText) Query(readings []Reading) Query {
	if len(readings) == 0 {
		return q.terms
	}
	terms := slices.Clone(q.terms)
	for _, r := range readings {
		if i, ok := q.at[r.Term]; ok {
			terms[i].As, terms[i].Weight = r.As, readingWeight
		}
	}
	return terms
}

// titledTerms returns titled. Of a text with more than the bytes in which titles count, the last
// word may be cut, so that it is analysed apart.
func (q *QueryText) titledTerms() []int32 {
	q.once.Do(func() {
		if len(q.text) <= maxTitleBytes {
			return
		}
		q.x.analyser.Each(text.FirstBytes(q.text, maxTitleBytes), func(term string) bool {
			i, ok := q.at[term]
			if !ok {
				i = -1
			}
			q.titled = append(q.titled, int32(i))
			return len(q.titled) < maxTitleText
		})
	})
	return q.titled
}

// HasTitle reports whether a text has a summary as a title, in the part that TitlesIn examines. A title of a single term
// must occur exactly.
func (x *Index) HasTitle(s, summary string) bool {
	title := Title(x.analyser, summary)
	return x.analyser.HasPhrase(text.FirstBytes(s, maxTitleBytes), title, maxTitleText) && x.analyser.Stands(text.FirstBytes(s, maxTitleBytes), summary)
}

// TermScores tells what each term adds to the scores of some nodes.
type TermScores struct {
	Terms  []string  // distinct terms of the query, in the order of their first place
	Scores [][]int64 // of each node, one number a term; nil for a node that is no live document
}

// Split splits the scores that Search gives to nodes into those of the terms: the sum of a row is the score. Rows are in
// the order of ids. only picks terms by their places among the distinct ones of the query, nil for all. It reads the
// postings about these nodes alone.
func (x *Index) Split(ctx context.Context, query Query, ids []graph.ID, only []int) (*TermScores, error) {
	if only != nil {
		picked := make(Query, len(only))
		for i, at := range only {
			picked[i] = query[at]
		}
		query = picked
	}
	out := &TermScores{Terms: make([]string, len(query)), Scores: make([][]int64, len(ids))}
	q := &textQuery{ctx: ctx, x: x, scorer: scorer{stats: x.m.Stats}}
	terms := make([]queryTerm, len(query))
	var room entryRoom
	for i := range terms {
		out.Terms[i] = query[i].Term
		var err error
		if terms[i], err = x.look(ctx, query[i], &room); err != nil {
			return nil, err
		}
	}
	for n := len(x.segs) - 1; n >= 0; n-- {
		docs, err := x.liveDocs(ctx, n, ids)
		if err != nil {
			return nil, err
		}
		room := make([]int64, len(docs)*len(terms))
		for _, d := range docs {
			out.Scores[d.at], room = room[:len(terms):len(terms)], room[len(terms):]
		}
		for i := range terms {
			if terms[i].entries == nil {
				continue
			}
			if err := q.scoreTerm(n, &terms[i], docs, func(at int, score int64) {
				out.Scores[at][i] = score
			}); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// TermWeight is a distinct term of a query, as it is looked up, and how often it is in the query times its idf.
type TermWeight = ranking.TermWeight

// TermWeights returns the terms of a query in its order, and what the text lane multiplies with.
func (x *Index) TermWeights(ctx context.Context, query Query) ([]TermWeight, error) {
	out := make([]TermWeight, len(query))
	var room entryRoom
	for i := range query {
		t, err := x.look(ctx, query[i], &room)
		if err != nil {
			return nil, err
		}
		if out[i].Term = t.As; t.entries != nil {
			out[i].Weight = int64(t.weigh(t.idf))
		}
	}
	return out, nil
}

// IDFs returns the idf of terms of the analyser (clause 9.2), 0 for one that no live document has.
func (x *Index) IDFs(ctx context.Context, terms []string) ([]int64, error) {
	out := make([]int64, len(terms))
	for i, term := range terms {
		df, err := x.TermStats(ctx, term)
		if err != nil {
			return nil, err
		}
		if df > 0 {
			out[i] = int64(x.m.Stats.idf(df))
		}
	}
	return out, nil
}

type placedDoc struct {
	doc uint32
	at  int
}

// liveDocs returns the live documents of a segment that belong to ids, ascending.
func (x *Index) liveDocs(ctx context.Context, n int, ids []graph.ID) ([]placedDoc, error) {
	dead, err := x.deadDocs(ctx, n)
	if err != nil {
		return nil, err
	}
	find := x.src.IDFinder(x.segs[n])
	var docs []placedDoc
	for at, id := range ids {
		doc, ok, err := find.Find(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok && !dead.Has(doc) {
			docs = append(docs, placedDoc{doc, at})
		}
	}
	slices.SortFunc(docs, func(a, b placedDoc) int { return cmp.Compare(a.doc, b.doc) })
	return docs, nil
}

// scoreTerm calls fn with the score of a term for each of the documents of a segment that has it.
func (q *textQuery) scoreTerm(n int, t *queryTerm, docs []placedDoc, fn func(at int, score int64)) error {
	var lens *lenPart
	part := uint32(0) // the number of lens
	return q.x.eachOf(q.ctx, n, t.entries[n], docs, func(d placedDoc, p *posting, mask byte) error {
		if at := d.doc / docsPerPart; lens == nil || part != at {
			var err error
			if lens, err = q.x.src.lens(q.ctx, q.x.segs[n], int(at)); err != nil {
				return err
			}
			part = at
		}
		of := lens.at(d.doc, mask)
		fn(d.at, int64(t.weigh(q.score(t.idf, mask, &p.tf, &of))))
		return nil
	})
}
