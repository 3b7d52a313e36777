package stage

import (
	"slices"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/retrieve"
)

// Lanes returns the lanes of the request, whether they run or not, in their order, for measuring the worth of each. The
// lane of times is among them only if the text names one, and the recency lane only if the request is blank.
func Lanes(r retrieve.Request) []retrieve.Lane {
	if asksNothing(r) {
		return []retrieve.Lane{retrieve.LaneRecency}
	}
	return slices.DeleteFunc(r.Weighable(), func(l retrieve.Lane) bool { return l == retrieve.LaneTime && !named(r) })
}

func named(r retrieve.Request) bool {
	r.Weights = nil
	r = r.Resolve()
	return len(readDates(&r).Ranges) > 0
}

// Runs reports whether a lane of Lanes has a weight, so that it is searched, or, of times, heeded.
func Runs(r retrieve.Request, lane retrieve.Lane) bool {
	if lane == retrieve.LaneTime {
		return weightOfTime(r, timeWeight) > 0
	}
	return lane == retrieve.LaneRecency || laneWeight(r, lane) > 0
}

// Alone returns the request with one lane only, everything else unchanged; ok is false if Lanes does not have the lane.
// A lane that would not run gets the weight 1. For LaneRecency it returns the same request without a query, which finds
// the newest nodes.
func Alone(r retrieve.Request, lane retrieve.Lane) (alone retrieve.Request, ok bool) {
	if lane == retrieve.LaneRecency {
		r.Text, r.Vectors, r.Whole, r.Sparse, r.Weights = "", nil, nil, nil, nil
		r.Rewrites, r.Rewrite, r.Days = nil, "", nil
		r.Rerank, r.RerankTop, r.Reranked, r.Reranker = "", nil, nil, nil
		return r, true
	}
	if !slices.Contains(Lanes(r), lane) {
		return r, false
	}
	var weights []retrieve.LaneWeight
	for _, l := range r.Weighable() {
		w := int64(0)
		if l == lane {
			if w = laneWeight(r, l); w == 0 {
				w = fixed.One
			}
		}
		weights = append(weights, retrieve.LaneWeight{Lane: l, Weight: w})
	}
	r.Weights = weights
	if r.Fusion == retrieve.RRF {
		r.Fusion = retrieve.WeightedRRF // which takes weights
	}
	return r, true
}

// Without returns the request without one lane; ok is false if that does not run, or is the only one that does.
func Without(r retrieve.Request, lane retrieve.Lane) (rest retrieve.Request, ok bool) {
	if !slices.Contains(Lanes(r), lane) || !Runs(r, lane) || lane == retrieve.LaneRecency {
		return r, false
	}
	return weighing(r, lane, 0)
}

// weighing returns the request with a lane of that weight, in units of 2^-16; ok is false if Lanes does not have it, or
// no lane but that of times would be left. Fusion by plain ranks becomes fusion by weighted ranks, with equal weights
// for all others.
func weighing(r retrieve.Request, lane retrieve.Lane, weight int64) (out retrieve.Request, ok bool) {
	if !slices.Contains(Lanes(r), lane) {
		return r, false
	}
	given := slices.Clone(r.Weights)
	if r.Fusion == retrieve.RRF && lane != retrieve.LaneTime {
		given = nil
		for _, l := range r.Weighable() {
			if l != retrieve.LaneTime {
				given = append(given, retrieve.LaneWeight{Lane: l, Weight: laneWeight(r, l)})
			}
		}
		for _, w := range r.Weights {
			if w.Lane == retrieve.LaneTime {
				given = append(given, w)
			}
		}
		r.Fusion = retrieve.WeightedRRF
	}
	given = slices.DeleteFunc(given, func(w retrieve.LaneWeight) bool { return w.Lane == lane })
	r.Weights = append(given, retrieve.LaneWeight{Lane: lane, Weight: weight})
	return r, othersRun(r)
}
