package retrieve

import (
	"slices"

	"github.com/mnem-project/mnem/internal/base/fixed"
)

// Lanes returns the lanes that the request has, whether they run or not, in the order in which they
// would: for measuring what each is worth. The lane of times is among them only where the text names
// one, and the recency lane alone where the request is blank.
func (r Request) Lanes() []Lane {
	if asksNothing(r) {
		return []Lane{LaneRecency}
	}
	return slices.DeleteFunc(r.weighed(), func(l Lane) bool { return l == LaneTime && !r.named() })
}

// named reports whether the text names a time.
func (r Request) named() bool {
	r.Weights = nil
	r = r.Resolve()
	return len(readDates(&r).Ranges) > 0
}

// Runs reports whether a lane of Lanes has a weight, so that it is searched, or, of times, heeded.
func (r Request) Runs(lane Lane) bool {
	if lane == LaneTime {
		return r.timeWeight(timeWeight) > 0
	}
	return lane == LaneRecency || r.weight(lane) > 0
}

// Alone returns the request with one lane alone, all else as it is; ok is false where Lanes does not
// have it. A lane that would not run gets the weight 1. Of LaneRecency it is the same request without
// anything that is asked, which finds the newest nodes.
func (r Request) Alone(lane Lane) (alone Request, ok bool) {
	if lane == LaneRecency {
		r.Text, r.Vectors, r.Sparse, r.Weights = "", nil, nil, nil
		r.Rewrites, r.Rewrite = nil, ""
		r.Rerank, r.RerankTop, r.Reranked, r.Reranker = "", nil, nil, nil
		return r, true
	}
	if !slices.Contains(r.Lanes(), lane) {
		return r, false
	}
	var weights []LaneWeight
	for _, l := range r.weighed() {
		w := int64(0)
		if l == lane {
			if w = r.weight(l); w == 0 {
				w = fixed.One
			}
		}
		weights = append(weights, LaneWeight{l, w})
	}
	r.Weights = weights
	if r.Fusion == RRF {
		r.Fusion = WeightedRRF // which takes weights
	}
	return r, true
}

// Without returns the request without one lane; ok is false where that does not run, or is the only
// one that does.
func (r Request) Without(lane Lane) (rest Request, ok bool) {
	if !slices.Contains(r.Lanes(), lane) || !r.Runs(lane) || lane == LaneRecency {
		return r, false
	}
	return r.weighing(lane, 0)
}

// WithoutVectors returns the request without its vectors, dense and sparse ones, and the weights of
// their lanes; ok is false where no lane that finds anything would be left.
func (r Request) WithoutVectors() (rest Request, ok bool) {
	r.Vectors, r.Sparse = nil, nil
	if asksNothing(r) {
		return r, false
	}
	has := r.weighed()
	r.Weights = slices.DeleteFunc(slices.Clone(r.Weights), func(w LaneWeight) bool {
		return !slices.Contains(has, w.Lane)
	})
	return r, r.othersRun()
}

// weighing returns the request with a lane of that weight, in units of 2^-16; ok is false where Lanes
// does not have it, or no lane but that of times would be left. Where fusion is by ranks alone it
// becomes that by weighted ranks, with the same weights for all others.
func (r Request) weighing(lane Lane, weight int64) (out Request, ok bool) {
	if !slices.Contains(r.Lanes(), lane) {
		return r, false
	}
	given := slices.Clone(r.Weights)
	if r.Fusion == RRF && lane != LaneTime {
		given = nil
		for _, l := range r.weighed() {
			if l != LaneTime {
				given = append(given, LaneWeight{l, r.weight(l)})
			}
		}
		for _, w := range r.Weights {
			if w.Lane == LaneTime {
				given = append(given, w)
			}
		}
		r.Fusion = WeightedRRF
	}
	given = slices.DeleteFunc(given, func(w LaneWeight) bool { return w.Lane == lane })
	r.Weights = append(given, LaneWeight{lane, weight})
	return r, r.othersRun()
}
