package retrieve

import (
	"cmp"
	"math"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// Fusion says how the lists of several lanes become one: clause 9.6.
type Fusion string

const (
	Convex      Fusion = "convex"       // weighted shares of each list's best score: the default
	RRF         Fusion = "rrf"          // reciprocal ranks, every lane alike
	WeightedRRF Fusion = "weighted-rrf" // weighted reciprocal ranks
	ScoreNorm   Fusion = "score-norm"   // weighted positions between each list's worst and best score
)

// Fusions returns all ways of fusing.
func Fusions() []Fusion { return []Fusion{Convex, RRF, WeightedRRF, ScoreNorm} }

// MaxWeight is the largest weight of a lane, 16, in units of 2^-16.
const MaxWeight = 16 << 16

// LaneWeight is the weight of one lane when lanes are fused.
type LaneWeight struct {
	Lane   Lane  // LaneText, LaneTime, one of LaneRewrite, LaneDense or LaneSparse of a model
	Weight int64 // 0 to MaxWeight in units of 2^-16; a lane of weight 0 does not run
}

// NewLaneWeight rounds a weight to units of 2^-16, ties to even. It returns a *RequestError for one
// that is negative, above 16, not a number, or not 0 but rounded to it.
func NewLaneWeight(lane string, weight float64) (LaneWeight, error) {
	units := math.RoundToEven(float64(weight * (1 << 16)))
	// The conditions are false for NaN.
	if !(units >= 0 && units <= MaxWeight) || units == 0 && weight != 0 {
		return LaneWeight{}, badParam("weights", "%s: %g is not 0, nor from 2^-16 to 16",
			shortQuote(lane), weight)
	}
	w := LaneWeight{Lane(lane), int64(units)}
	return w, w.validate()
}

// ParseLaneWeight reads a weight from a JSON number.
func ParseLaneWeight(lane string, v ipld.Value) (LaneWeight, error) {
	if x, ok := v.Number(); ok {
		return NewLaneWeight(lane, x)
	}
	return LaneWeight{}, badParam("weights", "%s: %s, want a number", shortQuote(lane), v.Kind())
}

func (w LaneWeight) validate() error {
	if !w.Lane.weighable() {
		return badParam("weights", "no lane %s: want text, text:N, time, dense:MODEL or sparse:MODEL",
			shortQuote(string(w.Lane)))
	}
	if w.Weight < 0 || w.Weight > MaxWeight {
		return badParam("weights", "%s: %d is outside 0 to %d", shortQuote(string(w.Lane)),
			w.Weight, MaxWeight)
	}
	return nil
}

// checkWeights checks the weights of lanes, and that the fusion takes weights.
func (r *Request) checkWeights() error {
	others := func(w LaneWeight) bool { return w.Lane != LaneTime }
	if r.Fusion == RRF && slices.ContainsFunc(r.Weights, others) {
		return badParam("weights", "lanes count alike in rrf: choose weighted-rrf for weights")
	}
	if len(r.Weights) > maxLanes {
		return badParam("weights", "%d weights, limit %d", len(r.Weights), maxLanes)
	}
	for i, w := range r.Weights {
		if err := w.validate(); err != nil {
			return err
		}
		for _, other := range r.Weights[:i] {
			if other.Lane == w.Lane {
				return badParam("weights", "two weights of the lane %s",
					shortQuote(string(w.Lane)))
			}
		}
	}
	return nil
}

// sortedWeights returns a copy in bytewise order of the lanes, nil for the empty list.
func sortedWeights(list []LaneWeight) []LaneWeight {
	if len(list) == 0 {
		return nil
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b LaneWeight) int { return cmp.Compare(a.Lane, b.Lane) })
	return out
}

func encodeWeights(list []LaneWeight) ipld.Value {
	entries := make([]ipld.Entry, len(list))
	for i, w := range list {
		entries[i] = ipld.Entry{Key: string(w.Lane), Value: ipld.IntValue(w.Weight)}
	}
	return ipld.MapValue(entries...)
}

func decodeWeights(v ipld.Value) []LaneWeight {
	var list []LaneWeight
	for _, e := range v.Entries() {
		list = append(list, LaneWeight{Lane(e.Key), e.Value.Int()})
	}
	return list
}
