package dense

import (
	"context"

	"github.com/mnem-project/mnem/index"
)

// Query asks for the vectors of a model that are like one.
type Query struct {
	Model  string
	Values []int8
	Accept Accept // nil accepts all
	K      int    // how many at most; 0 for index.LaneDepth
	// Shortlist is how many vectors are compared exactly where there are too many to compare them
	// all: those whose sketches are the nearest. 0 or less compares all.
	Shortlist int
}

// Result is the answer to a query.
type Result struct {
	Hits  []index.Hit // score descending, id ascending
	Other int         // vectors of the model of other dimensions
	None  bool        // whether there is no vector of the model
}

// Search answers a query: clause 9.5 of the specification.
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
	if x.exact(g.rows, k.dims, q.Shortlist) {
		err = x.scan(ctx, g, s)
	} else {
		err = x.shortlist(ctx, g, s, q.Shortlist)
	}
	res.Hits = s.hits()
	return res, err
}

// scan compares all vectors.
func (x *Index) scan(ctx context.Context, g *group, s *search) error {
	for n, seg := range g.segs {
		c := &seg.cols[colVectors]
		for part := range c.parts() {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows, err := x.src.part(ctx, c, part)
			if err != nil {
				return err
			}
			for i := range c.partRows(part) {
				if g.dead[n].has(part*c.per + i) {
					continue
				}
				if err := s.offer(rows[i*c.width : (i+1)*c.width]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
