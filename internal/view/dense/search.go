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

// Search answers a query: clause 9.5 of docs/ranking.md.
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

// scan compares all vectors, a batch of parts after the other: the processors share its products,
// this goroutine ranks them.
func (x *Index) scan(ctx context.Context, g *group, s *search) error {
	var batch []scanned
	flush := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := share(runtime.GOMAXPROCS(0), len(batch), 4, func(next func() (from, to int)) error {
			for from, to := next(); from < to; from, to = next() {
				for i := from; i < to; i++ {
					if err := batch[i].score(ctx, x, g, s); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, part := range batch {
			for i, score := range part.scores {
				if score == 0 {
					continue
				}
				if err := s.rank(part.row(i), int64(score)); err != nil {
					return err
				}
			}
		}
		batch = batch[:0]
		return nil
	}
	for seg := range g.segs {
		for part := range g.segs[seg].pages() {
			batch = append(batch, scanned{seg: seg, part: part})
			if len(batch) == scanBatch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// scanBatch is how many parts of vectors are compared at a time, which bounds memory.
const scanBatch = 128

// scanned is a part of vectors with their scores, 0 for dead ones.
type scanned struct {
	seg, part int
	width     int
	rows      []byte
	bare      [][]byte // instead of rows: of a bare segment, nil for dead ones
	scores    []int32
}

func (p *scanned) row(i int) []byte {
	if p.bare != nil {
		return p.bare[i]
	}
	return p.rows[i*p.width:][:p.width]
}

func (p *scanned) score(ctx context.Context, x *Index, g *group, s *search) (err error) {
	t := g.segs[p.seg]
	c := &t.cols[colVectors]
	if t.bare {
		p.bare, err = x.page(ctx, g, p.seg, p.part)
	} else {
		p.rows, err = x.src.part(ctx, c, p.part)
	}
	if err != nil {
		return err
	}
	p.width, p.scores = c.width, make([]int32, t.pageRows(p.part))
	for i := range p.scores {
		if !g.dead[p.seg].Has(uint32(p.part*c.per + i)) {
			p.scores[i] = int32(s.score(p.row(i)))
		}
	}
	return nil
}
