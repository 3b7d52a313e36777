package index

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// namedTitle is a title that a text has.
type namedTitle struct {
	key    string
	sum    titleSum
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
	find, err := q.x.titleFinder(ctx)
	if err != nil {
		return nil, err
	}
	defer find.leave()
	titles, err := q.titles(find, readings)
	if err != nil || len(titles) == 0 {
		return out, err
	}
	entries := make([][]entry, len(titles))
	for i, t := range titles {
		for n := range q.x.segs {
			e, err := find.term(n, t.key, t.sum)
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

// titles returns the titles that a text may have, each once, and hardly any other runs of its words.
func (q *QueryText) titles(find *titleFinder, readings []Reading) ([]namedTitle, error) {
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
	words := q.titledTerms()
	sums := make([]uint64, len(words))
	for i, t := range words {
		if t >= 0 {
			sums[i] = termSum(terms[t].As)
		}
	}
	var found []namedTitle
	seen := make(map[string]bool)
	err := find.eachIn(sums, func(at, n int, h titleSum) (bool, error) {
		title := make([]string, n)
		for i, t := range words[at : at+n] {
			title[i] = terms[t].As
		}
		if key := titleKey(title); !seen[key] {
			seen[key] = true
			found = append(found, namedTitle{key, h, compactPlaces(first, words[at:at+n])})
		}
		return true, nil
	})
	return found, err
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
