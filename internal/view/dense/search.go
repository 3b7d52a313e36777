package dense

import (
	"context"
	"runtime"

	"github.com/mnem-project/mnem/internal/view/index"
)

// Query asks for the vectors of a model that are like one.
type Query struct {
	Model  string
	Values []int8
	Accept Accept // nil accepts all
	K      int    // how many at most; 0 for index.LaneDepth
	// Shortlist is how many vectors at most are compared exactly where there are too many to compare
	// them all: those whose sketches are the nearest. 0 or less compares all.
	Shortlist int
	// Near leaves out of the shortlist what is farther than the vector of this rank by more than
	// chance makes likely; 0 or less leaves out nothing.
	Near  int
	Peers Peers
}

// Result is the answer to a query.
type Result struct {
	Hits  []index.Hit // by the cosine: score descending, id ascending
	Own   []index.Hit // the same nodes as Peers score them, in their order; nil without peers
	Other int         // vectors of the model of other dimensions
	None  bool        // whether there is no vector of the model
}

// Search answers a query: clause 9.5 of docs/internals/ranking.md.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	k := groupKey{q.Model, len(q.Values)}
	same, all, err := x.counts(ctx, k)
	res := Result{Other: all - same, None: all == 0}
	if err != nil || same == 0 {
		return res, err
	}
	g, err := x.group(ctx, k)
	if err != nil {
		return res, err
	}
	s := newSearch(q.Values, q.Accept, q.K)
	if q.Peers.Most > 0 {
		s.keepRows()
	}
	if x.exact(g.rows, k.dims, q.Shortlist) {
		err = x.scan(ctx, g, s)
	} else {
		err = x.shortlist(ctx, g, s, q)
	}
	if err != nil {
		return res, err
	}
	if res.Hits = s.Hits(); q.Peers.Most > 0 {
		res.Own = s.own(res.Hits, q.Peers)
	}
	return res, nil
}

// scan compares all vectors, some pages at a time: the processors share the products, this goroutine ranks them.
func (x *Index) scan(ctx context.Context, g *group, s *search) error {
	return x.eachBatch(ctx, g, func(batch []scanned) error {
		_ = share(runtime.GOMAXPROCS(0), len(batch), 4, func(next func() (from, to int)) error {
			for from, to := next(); from < to; from, to = next() {
				for i := from; i < to; i++ {
					batch[i].score(g, s)
				}
			}
			return nil
		})
		for _, at := range batch {
			for i, score := range at.scores {
				if score == 0 {
					continue
				}
				if err := s.rank(at.page.rows[i], int64(score)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (p *scanned) score(g *group, s *search) {
	p.scores = make([]int32, len(p.page.rows))
	for i := range p.scores {
		if !g.dead[p.seg].Has(uint32(p.first + i)) {
			p.scores[i] = int32(s.score(p.page.rows[i]))
		}
	}
}
