package retrieve

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/ipld"
)

// MaxExclude is the largest number of nodes that a request may exclude.
const MaxExclude = 1000

// Order says how packed items are arranged.
type Order string

const (
	ByRank Order = "rank" // best first
	ByTime Order = "time" // oldest first: created ascending, then id
)

// Lambda returns a share of 0 to 1, as people write it, in units of 2^-16, rounded to the nearest,
// and of two equally near ones to the even: what Request.Decay takes. ok is false outside of 0 to 1.
func Lambda(x float64) (units int, ok bool) {
	if !(x >= 0 && x <= 1) { // false for NaN too
		return 0, false
	}
	return int(math.RoundToEven(float64(x * fixed.One))), true
}

// checkExclude checks the nodes that are left out.
func (r *Request) checkExclude() error {
	if n := len(r.Exclude) + len(r.ExcludeNames); n > MaxExclude {
		return badParam("exclude", "%d nodes, limit %d", n, MaxExclude)
	}
	for _, id := range r.Exclude {
		if id.IsZero() {
			return badParam("exclude", "the id of zeros is no node's")
		}
	}
	for _, name := range r.ExcludeNames {
		if name == "" || len(name) > graph.MaxKey+len("key:") || !utf8.ValidString(name) {
			return badParam("exclude", "%s is not the name of a node: want a key or an id",
				shortQuote(name))
		}
	}
	return nil
}

func (r *Request) checkUnseen() error {
	if r.UnseenFrom < 0 || r.UnseenFrom > graph.MaxCount {
		return badParam("unseenFrom", "%d is outside 0 to %d", r.UnseenFrom, int64(graph.MaxCount))
	}
	return nil
}

func encodeIDs(list []graph.ID) ipld.Value {
	ids := make([]ipld.Value, len(list))
	for i, id := range list {
		ids[i] = ipld.BytesValue(id[:])
	}
	return ipld.ListValue(ids...)
}

func decodeIDs(v ipld.Value) []graph.ID {
	var list []graph.ID
	for _, item := range v.List() {
		var id graph.ID
		copy(id[:], item.Data())
		list = append(list, id)
	}
	return list
}

// sortedIDs returns a sorted copy without duplicates, nil for the empty list.
func sortedIDs(list []graph.ID) []graph.ID {
	if len(list) == 0 {
		return nil
	}
	return slices.Compact(slices.SortedFunc(slices.Values(list), graph.ID.Compare))
}

// startOfDay returns the beginning of a day in UTC.
func startOfDay(t graph.OptTime) graph.OptTime {
	const length = 24 * 60 * 60 * 1_000_000
	t.Time -= (t.Time%length + length) % length
	return t
}
