package stage

import (
	"strings"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/retrieve"
)

// laneWeight returns the weight of a lane that the request has, in units of 2^-16; 0 if it does not
// run.
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

// Weights of lanes, in units of 2^-16: clause 9.6. The dense and sparse lanes
// share vectorWeight. It is below that of the text lane so that a node that only vectors find never
// goes before one that has more than half of the text's best score, unless expansion says more of
// it.
const (
	textWeight   = fixed.One
	vectorWeight = fixed.One / 2
)

// weight returns the weight of a lane.
func (r *request) weight(lane retrieve.Lane) int64 { return laneWeight(r.req, lane) }
