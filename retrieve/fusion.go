package retrieve

import (
	"cmp"
	"math"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
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
	units, err := weightUnits("weights", lane, weight)
	w := LaneWeight{Lane(lane), units}
	return w, cmp.Or(err, w.validate())
}

// weightUnits returns the weight of a lane or edge type in units of 2^-16.
func weightUnits(param, of string, weight float64) (int64, error) {
	units := math.RoundToEven(float64(weight * fixed.One))
	// The conditions are false for NaN.
	if !(units >= 0 && units <= MaxWeight) || units == 0 && weight != 0 {
		return 0, badParam(param, "%s: %g is not 0, nor from 2^-16 to 16", shortQuote(of), weight)
	}
	return int64(units), nil
}

// parseWeight reads a weight from a JSON number.
func parseWeight[W any](param string, build func(string, float64) (W, error)) func(string, ipld.Value) (W, error) {
	return func(of string, v ipld.Value) (w W, err error) {
		if x, ok := v.Number(); ok {
			return build(of, x)
		}
		return w, badParam(param, "%s: %s, want a number", shortQuote(of), v.Kind())
	}
}

// checkWeight refuses a weight outside of its bounds.
func checkWeight(param, of string, weight int64) error {
	if weight < 0 || weight > MaxWeight {
		return badParam(param, "%s: %d is outside 0 to %d", shortQuote(of), weight, MaxWeight)
	}
	return nil
}

func (w LaneWeight) validate() error {
	if !w.Lane.weighable() {
		return badParam("weights", "no lane %s: want text, text:N, time, dense:MODEL or sparse:MODEL",
			shortQuote(string(w.Lane)))
	}
	return checkWeight("weights", string(w.Lane), w.Weight)
}

var laneWeights = keyed[LaneWeight]{
	many: "weights", two: "weights of the lane", most: maxLanes,
	at:       func(r *Request) *[]LaneWeight { return &r.Weights },
	key:      func(w LaneWeight) string { return string(w.Lane) },
	validate: LaneWeight.validate,
	parse:    parseWeight("weights", NewLaneWeight),
	value:    func(w LaneWeight) ipld.Value { return ipld.IntValue(w.Weight) },
	item:     func(lane string, v ipld.Value) LaneWeight { return LaneWeight{Lane(lane), v.Int()} },
}

// checkWeights checks the weights of lanes, and that the fusion takes weights.
func (r *Request) checkWeights() error {
	others := func(w LaneWeight) bool { return w.Lane != LaneTime }
	if r.Fusion == RRF && slices.ContainsFunc(r.Weights, others) {
		return badParam("weights", "lanes count alike in rrf: choose weighted-rrf for weights")
	}
	return laneWeights.check("weights", r.Weights)
}

// EdgeWeight says how much the edges of one type count in expansion: clause 10.
type EdgeWeight struct {
	Type   string
	Weight int64 // 0 to MaxWeight in units of 2^-16; other types have 65,536
}

// NewEdgeWeight rounds a weight to units of 2^-16, ties to even. It returns a *RequestError for one
// outside 0 to 16, and for one that is not 0 but would become it.
func NewEdgeWeight(typ string, weight float64) (EdgeWeight, error) {
	units, err := weightUnits("edgeWeights", typ, weight)
	w := EdgeWeight{typ, units}
	return w, cmp.Or(err, w.validate())
}

func (w EdgeWeight) validate() error {
	if !isType(w.Type) {
		return badParam("edgeWeights", "%s is not a type: want 1 to %d bytes of UTF-8",
			shortQuote(w.Type), graph.MaxType)
	}
	return checkWeight("edgeWeights", w.Type, w.Weight)
}

var edgeWeights = keyed[EdgeWeight]{
	many: "types", two: "weights of the type", most: MaxNames,
	at:       func(r *Request) *[]EdgeWeight { return &r.EdgeWeights },
	key:      func(w EdgeWeight) string { return w.Type },
	validate: EdgeWeight.validate,
	parse:    parseWeight("edgeWeights", NewEdgeWeight),
	value:    func(w EdgeWeight) ipld.Value { return ipld.IntValue(w.Weight) },
	item:     func(typ string, v ipld.Value) EdgeWeight { return EdgeWeight{typ, v.Int()} },
}

// sortEdgeWeights leaves out weights of 1, which say nothing.
func (r *Request) sortEdgeWeights() {
	r.EdgeWeights = edgeWeights.sorted(slices.DeleteFunc(slices.Clone(r.EdgeWeights),
		func(w EdgeWeight) bool { return w.Weight == fixed.One }))
}
