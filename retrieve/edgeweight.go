package retrieve

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/ipld"
)

// EdgeWeight says how much the edges of one type count in expansion: clause 10.
type EdgeWeight struct {
	Type   string
	Weight int64 // 0 to MaxWeight in units of 2^-16; other types have 65,536
}

// NewEdgeWeight rounds a weight to units of 2^-16, ties to even. It returns a *RequestError for one
// outside 0 to 16, and for one that is not 0 but would become it.
func NewEdgeWeight(typ string, weight float64) (EdgeWeight, error) {
	units := math.RoundToEven(weight * fixed.One)
	// written so that NaN is refused
	if !(units >= 0 && units <= MaxWeight) || units == 0 && weight != 0 {
		return EdgeWeight{}, badParam("edgeWeights", "%s: %g is not 0, nor from 2^-16 to 16",
			shortQuote(typ), weight)
	}
	w := EdgeWeight{typ, int64(units)}
	return w, w.validate()
}

// ParseEdgeWeight reads a weight from a JSON number.
func ParseEdgeWeight(typ string, v ipld.Value) (EdgeWeight, error) {
	if x, ok := v.Number(); ok {
		return NewEdgeWeight(typ, x)
	}
	return EdgeWeight{}, badParam("edgeWeights", "%s: %s, want a number", shortQuote(typ), v.Kind())
}

func (w EdgeWeight) validate() error {
	if w.Type == "" || len(w.Type) > graph.MaxType || !utf8.ValidString(w.Type) {
		return badParam("edgeWeights", "%s is not a type: want 1 to %d bytes of UTF-8",
			shortQuote(w.Type), graph.MaxType)
	}
	if w.Weight < 0 || w.Weight > MaxWeight {
		return badParam("edgeWeights", "%s: %d is outside 0 to %d", shortQuote(w.Type),
			w.Weight, MaxWeight)
	}
	return nil
}

func (r *Request) checkEdgeWeights() error {
	if len(r.EdgeWeights) > MaxNames {
		return badParam("edgeWeights", "%d types, limit %d", len(r.EdgeWeights), MaxNames)
	}
	for i, w := range r.EdgeWeights {
		if err := w.validate(); err != nil {
			return err
		}
		for _, other := range r.EdgeWeights[:i] {
			if other.Type == w.Type {
				return badParam("edgeWeights", "two weights of the type %s", shortQuote(w.Type))
			}
		}
	}
	return nil
}

// sortedEdgeWeights returns a copy in bytewise order of the types. A weight of 1 says nothing and
// is left out; nil stands for the empty list.
func sortedEdgeWeights(list []EdgeWeight) []EdgeWeight {
	var out []EdgeWeight
	for _, w := range list {
		if w.Weight != fixed.One {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b EdgeWeight) int { return cmp.Compare(a.Type, b.Type) })
	return out
}

func encodeEdgeWeights(list []EdgeWeight) ipld.Value {
	entries := make([]ipld.Entry, len(list))
	for i, w := range list {
		entries[i] = ipld.Entry{Key: w.Type, Value: ipld.IntValue(w.Weight)}
	}
	return ipld.MapValue(entries...)
}

func decodeEdgeWeights(v ipld.Value) []EdgeWeight {
	var list []EdgeWeight
	for _, e := range v.Entries() {
		list = append(list, EdgeWeight{e.Key, e.Value.Int()})
	}
	return list
}
