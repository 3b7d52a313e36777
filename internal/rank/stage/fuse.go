package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Weights of lanes in ranking version 1, in units of 2^-16: clause 9.6. The dense and sparse lanes
// share vectorWeight. It is below that of the text lane so that a node that only vectors find never
// goes before one that has more than half of the text's best score, unless expansion says more of
// it.
const (
	textWeight   = fixed.One
	vectorWeight = fixed.One / 2
)

// Ranks in the list of a dense lane in ranking version 2: clauses 9.6 and 11.9. Where the list ends before, its
// last one counts.
const (
	distantRank = 200 // of what is like the question by chance
	crowdRank   = 20  // of what much is as like the question as
)

// laneList is the list of one lane, and the candidates that it found in the same order.
type laneList struct {
	lane   retrieve.Lane
	weight int64
	hits   []source.Hit
	nodes  []*candidate
	ground int64 // of a score that counts as nothing

	cosines map[graph.ID]int64 // of a dense lane, nil for others
	crowd   int64              // the cosine of the crowdRank
}

// blank reports whether a request asks for nothing but the newest nodes.
func (r *run) blank() bool { return asksNothing(r.req) }

// asksNothing reports whether a request has neither text nor vectors.
func asksNothing(r retrieve.Request) bool {
	return isBlank(r.Text) && len(r.Vectors) == 0 && len(r.Sparse) == 0
}

// expands reports whether the request is expanded.
func (r *run) expands() bool { return *r.req.Expand > 0 && !r.blank() && !r.dated.alone }

// search asks for the lists of all lanes that the request has, each in order and no deeper than
// a lane.
func (r *run) search(ctx context.Context) ([]*laneList, error) {
	var lists []*laneList
	before := r.filter.Seen
	addList := func(l *laneList, err error) error {
		if err != nil {
			return fmt.Errorf("search the %s lane: %w", l.lane, err)
		}
		l.weight = r.weight(l.lane)
		r.laneDone(l.lane, l.hits, l.ground, before)
		before = r.filter.Seen
		if len(l.hits) > 0 {
			lists = append(lists, l)
		}
		return nil
	}
	add := func(lane retrieve.Lane, hits []source.Hit, err error) error {
		return addList(&laneList{lane: lane, hits: hits}, err)
	}
	if r.blank() {
		hits, err := r.x.Recency(ctx, r.filter.Accept(ctx), laneDepth)
		return lists, add(retrieve.LaneRecency, ranked(hits), err)
	}
	if r.asked = trimBlank(r.req.Text) != "" && r.weight(retrieve.LaneText) > 0; r.asked {
		if err := r.spell(ctx); err != nil {
			return nil, err
		}
		hits, err := r.searchText(ctx)
		if err := add(retrieve.LaneText, hits, err); err != nil {
			return nil, err
		}
	}
	for i, s := range r.req.Rewrites {
		lane := retrieve.LaneRewrite(i + 1)
		if r.weight(lane) == 0 {
			continue
		}
		got, err := r.x.Text(ctx, r.query(s), r.filter.Accept(ctx), laneDepth)
		if len(got.Hits) == 0 {
			r.vain++
		}
		if err := add(lane, ranked(got.Hits), err); err != nil {
			return nil, err
		}
	}
	if err := r.searchVectors(ctx, addList); err != nil {
		return nil, err
	}
	if r.dated.alone {
		hits, err := r.timeList(ctx)
		if err := add(retrieve.LaneTime, hits, err); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// searchVectors gives the lists of the lanes by embeddings to add.
func (r *run) searchVectors(ctx context.Context, add func(*laneList, error) error) error {
	for _, q := range r.req.Vectors {
		if r.weight(retrieve.LaneDense(q.Model)) == 0 {
			continue
		}
		if err := add(r.dense(ctx, q)); err != nil {
			return err
		}
	}
	for _, q := range r.req.Sparse {
		if r.weight(retrieve.LaneSparse(q.Model)) == 0 {
			continue
		}
		hits, err := r.searchSparse(ctx, q)
		if err := add(&laneList{lane: retrieve.LaneSparse(q.Model), hits: hits}, err); err != nil {
			return err
		}
	}
	return nil
}

// weight returns the weight of a lane.
func (r *run) weight(lane retrieve.Lane) int64 { return laneWeightBy(r.req, r.row, lane) }

// gather makes candidates of what the lists and the exact look-up found.
func (r *run) gather(lists []*laneList, exact []*candidate) {
	byID := make(map[graph.ID]*candidate, len(exact))
	for i, c := range exact {
		c.lanes = append(c.lanes, retrieve.LaneHit{Lane: retrieve.LaneExact, Rank: i + 1, Score: fixed.One})
		byID[c.id] = c
	}
	r.found = exact
	for at, l := range lists {
		r.found = slices.Grow(r.found, len(l.hits))
		// There may be a thousand, of which ten become items.
		places := r.room.lanes.take(len(l.hits))[:len(l.hits)]
		l.nodes = make([]*candidate, len(l.hits))
		for i, h := range l.hits {
			places[i] = retrieve.LaneHit{Lane: l.lane, Rank: i + 1, Score: h.Score}
			c := byID[h.ID]
			if c == nil {
				c = r.room.candidates.take()
				c.id, c.lanes = h.ID, places[i:i+1:i+1]
				r.found = append(r.found, c)
				if at+1 < len(lists) { // a later list may have it too
					byID[h.ID] = c
				}
			} else {
				c.lanes = append(c.lanes, places[i])
			}
			l.nodes[i] = c
		}
	}
}

// fuse scores the candidates by the lists that they are in: clause 9.6.
func (r *run) fuse(lists []*laneList) {
	r.lists = lists
	for _, l := range lists {
		r.weights += l.weight
		for i, c := range l.nodes {
			c.share += l.weight * l.part(l.hits[i].Score)
			if byRanks(r.req.Fusion) {
				c.score += reciprocal(l.weight, i+1)
			} else {
				c.score += l.weight * l.place(l.hits[i].Score)
			}
		}
	}
	for _, c := range r.found {
		c.share /= max(r.weights, 1)
		switch r.req.Fusion {
		case retrieve.Convex:
			c.score = c.share
		case retrieve.ScoreNorm:
			c.score /= max(r.weights, 1)
		}
	}
	if len(lists) == 1 && !r.expands() {
		for i, c := range lists[0].nodes {
			c.score = lists[0].hits[i].Score
		}
	}
}

// part returns what a score is of the best of its list, in units of 2^-16.
func (l *laneList) part(score int64) int64 { return share(score-l.ground, l.hits[0].Score-l.ground) }

// scoreOf returns the score of a rank, or that of the last.
func (l *laneList) scoreOf(rank int) int64 { return l.hits[min(rank, len(l.hits))-1].Score }

// place returns the place of a score between the worst and the best of its list, in units of 2^-16.
func (l *laneList) place(score int64) int64 {
	low, high := l.hits[len(l.hits)-1].Score, l.hits[0].Score
	if low == high {
		return fixed.One
	}
	return share(score-low, high-low)
}

// share returns floor(n · 2^16 / of) for 0 <= n <= of, 0 where of is 0.
func share(n, of int64) int64 {
	if of <= 0 || n <= 0 {
		return 0
	}
	return int64(fixed.MulDivSat(uint64(n), fixed.One, uint64(of)))
}
