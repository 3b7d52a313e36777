package index

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
)

// TermsResult is the result of WithTerms.
type TermsResult struct {
	IDs  []graph.ID // ascending, nil if Many
	Many bool       // whether there are more than were asked for
}

// errMany ends a walk over postings.
var errMany = errors.New("too many")

// WithTerms returns the live documents that have each of some terms, in any field, and that accept accepts; accept may
// be nil. It walks the postings of the rarest term and looks up the others at each step.
func (x *Index) WithTerms(
	ctx context.Context, terms []string, accept Accept, most int,
) (TermsResult, error) {
	list, err := x.rarestFirst(ctx, terms)
	if err != nil || len(list) == 0 {
		return TermsResult{}, err
	}
	var res TermsResult
	err = x.eachWithAll(ctx, list, allFields, func(v *view, doc uint32) error {
		ok, err := v.passes(accept, doc)
		if err != nil || !ok {
			return err
		}
		if len(res.IDs) == most {
			return errMany
		}
		id, err := v.id(doc)
		res.IDs = append(res.IDs, id)
		return err
	})
	if errors.Is(err, errMany) {
		res.IDs, res.Many, err = nil, true, nil
	}
	res.IDs = sortedIDs(res.IDs)
	return res, err
}

const allFields = 1<<Fields - 1

// rarestFirst looks up the distinct ones of some terms, nil if no live document has one of them.
func (x *Index) rarestFirst(ctx context.Context, terms []string) ([]queryTerm, error) {
	list := make([]queryTerm, 0, len(terms))
	room := make(entryRoom, len(terms)*len(x.segs))
	for _, term := range terms {
		if slices.ContainsFunc(list, func(t queryTerm) bool { return t.Term == term }) {
			continue
		}
		found, err := x.look(ctx, QueryTerm{Term: term, As: term, Times: 1, Weight: fixed.One}, &room)
		if err != nil || found.entries == nil {
			return nil, err
		}
		list = append(list, found)
	}
	slices.SortStableFunc(list, func(a, b queryTerm) int { return cmp.Compare(a.df, b.df) })
	return list, nil
}

// eachWithAll calls fn with the live documents that have each term of a list in one of some fields, segment by segment.
func (x *Index) eachWithAll(
	ctx context.Context, list []queryTerm, fields byte, fn func(v *view, doc uint32) error,
) error {
	for n := range x.segs {
		others := make([]*termReader, len(list)-1)
		for i := range others {
			others[i] = termReaders.Get().(*termReader)
			others[i].open(&x.src, x.segs[n], list[i+1].entries[n])
		}
		err := x.each(ctx, n, list[0].entries[n], func(v *view, p *posting, mask byte) error {
			has := mask&fields != 0
			for i := 0; has && i < len(others); i++ {
				r := others[i]
				ok, err := r.seek(ctx, p.doc)
				if err != nil {
					return err
				}
				has = ok && r.posts[r.i].doc == p.doc && r.masks[r.i]&fields != 0
			}
			if !has {
				return nil
			}
			return fn(v, p.doc)
		})
		for _, r := range others {
			r.leave()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
