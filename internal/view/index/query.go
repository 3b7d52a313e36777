package index

import (
	"slices"
	"sync"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
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

// QueryText is a text of a request, analysed once for all that is asked about it: to do so again
// for each question takes longer than the search if the text is long. It keeps the text. Safe
// for concurrent use.
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

// Query returns the terms of the text, those of readings with the weight of these. The caller must
// not change it.
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
