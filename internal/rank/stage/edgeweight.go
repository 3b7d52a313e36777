package stage

import (
	"cmp"
	"slices"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// edgeWeight returns what an edge counts in expansion, in units of 2^-16: its own weight times that
// of its type, rounded down, at most MaxWeight. Whatever spreads along edges asks here, so that
// weights of types hold for all ways to expand.
func (r *request) edgeWeight(l source.Link) int64 {
	if edgeKinds[l.Type] == temporal && r.req.Intent != retrieve.IntentWhen {
		l.Weight = l.Weight * r.row.temporal >> fixed.FracBits
	}
	i, ok := slices.BinarySearchFunc(r.req.EdgeWeights, l.Type,
		func(w retrieve.EdgeWeight, typ string) int { return cmp.Compare(w.Type, typ) })
	if !ok {
		return l.Weight
	}
	return l.Weight * r.req.EdgeWeights[i].Weight >> fixed.FracBits
}
