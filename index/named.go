package index

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// namedTitle is a title that a text has.
type namedTitle struct {
	key    string
	places []int // of its terms among the distinct terms of the text, in its order, each once
}

// TitlesNamed returns for each node whose title the text has, with its terms some read as others,
// the places of the title's terms among the distinct terms of the text: nil for any other node. It
// looks titles up by the terms of the text and reads no node.
func (q *QueryText) TitlesNamed(
	ctx context.Context, readings []Reading, ids []graph.ID,
) ([][]int, error) {
	out := make([][]int, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	titles, err := q.titles(ctx, readings)
	if err != nil || len(titles) == 0 {
		return out, err
	}
	entries := make([][]entry, len(titles))
	for i, t := range titles {
		for _, s := range q.x.segs {
			e, _, err := q.x.src.term(ctx, s, t.key)
			if err != nil {
				return nil, err
			}
			entries[i] = append(entries[i], e)
		}
	}
	for n := range q.x.segs {
		docs, err := q.x.liveDocs(ctx, n, ids)
		if err != nil {
			return nil, err
		}
		for i, t := range titles {
			err := q.x.eachOf(ctx, n, entries[i][n], docs, func(at int) { out[at] = t.places })
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// eachOf calls fn with the places of those of some documents of a segment, ascending, that a term
// has.
func (x *Index) eachOf(
	ctx context.Context, n int, e entry, docs []placedDoc, fn func(at int),
) error {
	if e.count == 0 {
		return nil
	}
	var r termReader
	r.open(&x.src, x.segs[n], e)
	for _, d := range docs {
		ok, err := r.seek(ctx, d.doc)
		if !ok {
			return err
		}
		if r.posts[r.i].doc == d.doc {
			fn(d.at)
		}
	}
	return nil
}

// titles returns the titles that a text has, each once.
func (q *QueryText) titles(ctx context.Context, readings []Reading) ([]namedTitle, error) {
	terms := q.Query(readings)
	first := make([]int, len(terms)) // of each term the place of the first that is read as the same
	places := make(map[string]int, len(terms))
	for i := range terms {
		at, ok := places[terms[i].As]
		if !ok {
			at = i
			places[terms[i].As] = i
		}
		first[i] = at
	}
	var found []namedTitle
	seen := make(map[string]bool)
	words := q.titledTerms()
	key := make([]byte, 0, maxTerm)
	for i := range words {
		key = key[:0]
		for n := 0; n < maxTitleTerms && i+n < len(words) && words[i+n] >= 0; n++ {
			key = append(append(key, titleMark...), terms[words[i+n]].As...)
			if len(key) > maxTerm {
				break
			}
			at, err := q.x.titleAt(ctx, key)
			if err != nil {
				return nil, err
			}
			if at.exact && !seen[at.key] {
				seen[at.key] = true
				found = append(found, namedTitle{at.key, compactPlaces(first, words[i:i+n+1])})
			}
			if !at.longer {
				break
			}
		}
	}
	return found, nil
}

// compactPlaces returns the places that some terms first have, in order, each once.
func compactPlaces(first []int, terms []int32) []int {
	var out []int
	for _, t := range terms {
		if at := first[t]; !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}
