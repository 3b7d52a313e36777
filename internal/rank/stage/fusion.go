package stage

import (
	"slices"

	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// byRanks reports whether only ranks count.
func byRanks(f retrieve.Fusion) bool { return f == retrieve.RRF || f == retrieve.WeightedRRF }

// Constants of rank fusion in ranking version 1: clause 9.6.
const (
	rankOne    = 1 << 32 // the numerator
	rankOffset = 60
)

// reciprocal returns what a rank counts in rank fusion, for a weight in units of 2^-16.
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
