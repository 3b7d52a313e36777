package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of the order in time: clause 11.10.
const (
	maxLater   = 10 // how many of the first candidates are compared
	minShared  = 2  // terms that two texts about the same thing share at least
	laterApart = 3600 * 1_000_000
)

// laterFirst moves the later of two candidates that say nearly the same to the front, unless it matches clearly less of
// the question: the later one is true more often. Neither is marked, since no caller has decided. A question about a
// time keeps its order.
func (r *run) laterFirst(ctx context.Context, list []held) error {
	if len(r.dated.Ranges) > 0 || r.past {
		return nil
	}
	a, err := text.New(retrieve.Language)
	if err != nil {
		return err
	}
	first := list[:min(maxLater, len(list))]
	said := make(map[graph.ID]*summary, len(first))
	for _, h := range first {
		if said[h.id], err = r.summaryOf(ctx, a, h.id); err != nil {
			return err
		}
	}
	for i := 1; i < len(first); i++ {
		newer := first[i]
		for at := range i {
			old := first[at]
			if old.tier == tierNone && newer.beside == nil && old.beside == nil && said[newer.id].created-said[old.id].created >= laterApart &&
				newer.strength() >= old.strength()*r.row.yields>>fixed.FracBits &&
				newer.keeps(old) >= r.row.keeps &&
				said[newer.id].shares(said[old.id]) >= r.row.twin {
				copy(first[at+1:i+1], first[at:i])
				first[at] = newer
				newer.candidate.later = old.id
				break
			}
		}
	}
	return nil
}

// keeps returns how much of the older candidate's match the newer one has too. It takes the better of both candidates'
// best wordings, since these may differ.
func (h held) keeps(old held) int64 {
	most := int64(-1)
	for _, w := range []*wording{old.by, h.by} {
		if w != nil {
			most = max(most, w.keeps(old.id, h.id))
		}
	}
	if most < 0 {
		return fixed.One
	}
	return most
}

// placesOf returns the positions of some candidates, in their order, among all.
func (r *run) placesOf(list []held) []int {
	out := make([]int, 0, len(list))
	for i, c := range r.found {
		if len(out) < len(list) && c == list[len(out)].candidate {
			out = append(out, i)
		}
	}
	return out
}

// summary has the terms of a node's summary.
type summary struct {
	created graph.Time
	terms   []string // ascending, each once
	weights []int64
	weight  int64 // of all
}

func (r *run) summaryOf(ctx context.Context, a *text.Analyzer, id graph.ID) (*summary, error) {
	n, _, err := r.g.Node(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read node %s: %w", id, err)
	}
	s := &summary{created: n.Created, terms: a.Terms(text.FirstScalars(n.Summary, maxCompared))}
	slices.Sort(s.terms)
	s.terms = slices.Compact(s.terms)
	if s.weights, err = r.x.IDFs(ctx, s.terms); err != nil {
		return nil, fmt.Errorf("weigh the terms of %s: %w", id, err)
	}
	s.weight = sumOf(s.weights)
	return s, nil
}

// shares returns how much of the weight of the lighter of two summaries both have, 0 for a single term.
func (s *summary) shares(other *summary) int64 {
	shared, n := int64(0), 0
	for i, term := range s.terms {
		if _, ok := slices.BinarySearch(other.terms, term); ok {
			shared += s.weights[i]
			n++
		}
	}
	if n < minShared {
		return 0
	}
	return share(shared, min(s.weight, other.weight))
}
