package stage

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

func byRanks(f retrieve.Fusion) bool { return f == retrieve.RRF || f == retrieve.WeightedRRF }

// Constants of rank fusion in ranking version 1: clause 9.6.
const (
	rankOne    = 1 << 32 // the numerator
	rankOffset = 60
)

// reciprocal returns the contribution of a rank in rank fusion, for a weight in units of 2^-16.
func reciprocal(weight int64, rank int) int64 {
	return weight * (rankOne >> 16) / int64(rankOffset+rank)
}

// checkLanes refuses weights of lanes that the request does not have, and a request none of whose
// lanes is left. It needs the text, which Validate does not.
func checkLanes(r *retrieve.Request) error {
	if len(r.Weights) == 0 {
		return nil
	}
	has := r.Weighable()
	for _, w := range r.Weights {
		if !slices.Contains(has, w.Lane) {
			return source.Reject("weights", "the request has no lane %s: text and time need a text, "+
				"others their vectors", source.Quoted(string(w.Lane)))
		}
	}
	if !othersRun(*r) && len(readDates(r).Ranges) == 0 {
		return source.Reject("weights", "every lane has weight 0: give one of them more")
	}
	return nil
}

// gather merges the lists and the exact hits into candidates.
func (p *pool) gather(exact []*candidate) {
	byID := make(map[graph.ID]*candidate, len(exact))
	for i, c := range exact {
		c.lanes = append(c.lanes, retrieve.LaneHit{Lane: retrieve.LaneExact, Rank: i + 1, Score: fixed.One})
		byID[c.id] = c
	}
	p.found = exact
	for at, l := range p.lists {
		p.found = slices.Grow(p.found, len(l.hits))
		// There may be a thousand; ten become items.
		places := p.room.lanes.list(len(l.hits))[:len(l.hits)]
		l.nodes = make([]*candidate, len(l.hits))
		for i, h := range l.hits {
			places[i] = retrieve.LaneHit{Lane: l.lane, Rank: i + 1, Score: h.Score}
			c := byID[h.ID]
			if c == nil {
				c = p.room.candidates.one()
				c.id, c.lanes = h.ID, places[i:i+1:i+1]
				p.found = append(p.found, c)
				if at+1 < len(p.lists) { // a later list may have it too
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
func (p *pool) fuse() {
	for _, l := range p.lists {
		p.weights += l.weight
		for i, c := range l.nodes {
			c.share += l.weight * l.part(l.hits[i].Score)
			if byRanks(p.req.Fusion) {
				c.score += reciprocal(l.weight, i+1)
			} else {
				c.score += l.weight * l.place(l.hits[i].Score)
			}
		}
	}
	for _, c := range p.found {
		c.share /= max(p.weights, 1)
		switch p.req.Fusion {
		case retrieve.Convex:
			c.score = c.share
		case retrieve.ScoreNorm:
			c.score /= max(p.weights, 1)
		}
	}
	if len(p.lists) == 1 && !p.expands() {
		for i, c := range p.lists[0].nodes {
			c.score = p.lists[0].hits[i].Score
		}
	}
}

// part returns a score as a share of the best of its list, in units of 2^-16.
func (l *laneList) part(score int64) int64 { return share(score-l.ground, l.whole-l.ground) }

// maxSummed bounds the score of a wording in a sum: a weight is below 2^21, and there are at most 9 wordings.
const maxSummed = 1 << 38

// sumWordings makes the lists of several wordings count by the sum of their scores, so that a wording of common words
// has no more weight than these words.
func (p *pool) sumWordings() {
	if p.req.Fusion != retrieve.Convex || len(p.req.Rewrites) == 0 {
		return
	}
	sums := map[graph.ID]int64{}
	weights, most := int64(0), int64(0)
	for _, l := range p.lists {
		if !l.worded() {
			continue
		}
		weights += l.weight
		for _, h := range l.hits {
			sums[h.ID] += l.weight * min(h.Score, maxSummed)
			most = max(most, sums[h.ID])
		}
	}
	for _, l := range p.lists {
		if l.worded() {
			l.whole = max(1, most/max(1, weights))
		}
	}
}

// scoreOf returns the score at a rank, or the last score.
func (l *laneList) scoreOf(rank int) int64 { return l.hits[min(rank, len(l.hits))-1].Score }

// place returns the position of a score between the worst and the best of its list, in units of 2^-16.
func (l *laneList) place(score int64) int64 {
	low, high := l.hits[len(l.hits)-1].Score, l.hits[0].Score
	if low == high {
		return fixed.One
	}
	return share(score-low, high-low)
}

// share returns floor(n · 2^16 / of) for 0 <= n <= of, 0 if of is 0.
func share(n, of int64) int64 {
	if of <= 0 || n <= 0 {
		return 0
	}
	return int64(fixed.MulDivSat(uint64(n), fixed.One, uint64(of)))
}

// laneWeight returns the weight of a lane that the request has, in units of 2^-16; 0 if it does not run.
func laneWeight(r retrieve.Request, lane retrieve.Lane) int64 {
	for _, w := range r.Weights {
		if w.Lane == lane {
			return w.Weight
		}
	}
	_, embedded := lane.Model()
	rewritten := strings.HasPrefix(string(lane), string(retrieve.LaneText)+":")
	switch {
	case r.Fusion == retrieve.RRF:
		return fixed.One
	case embedded:
		return vectorWeight / int64(len(r.Vectors)+len(r.Sparse))
	case rewritten:
		return textWeight / int64(1+len(r.Rewrites))
	case lane == retrieve.LaneTime:
		return timeListWeight
	}
	return textWeight / int64(1+len(r.Rewrites))
}

// Weights of lanes, in units of 2^-16: clause 9.6. The dense and sparse lanes share vectorWeight. It is below that of
// the text lane so that a node that only vectors find never goes before one that has more than half of the text's best
// score, unless expansion says more of it.
const (
	textWeight   = fixed.One
	vectorWeight = fixed.One / 2
)

func (r *request) weight(lane retrieve.Lane) int64 { return laneWeight(r.req, lane) }
