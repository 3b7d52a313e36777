package retrieve

import (
	"errors"
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
			return badParam("exclude", "%s is not the name of a node: want a key or an id", shortQuote(name))
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

// Packing says how much of an item's texts is shown.
type Packing string

const (
	PackAuto     Packing = "auto"     // whole texts while the budget lasts, then passages of chunks of documents
	PackWhole    Packing = "whole"    // all of each text that is shown
	PackPassages Packing = "passages" // the passages of summary and content that fit the text best
)

const (
	DefaultPassageTokens = 256
	AutoPassageTokens    = 64 // with PackAuto
	MaxPassageTokens     = 65_536
)

// checkPassages checks the parameters that trim texts.
func (r *Request) checkPassageTokens() error {
	if r.PassageTokens != nil && !r.Pack.trims() && !r.open("pack") {
		return badParam("passageTokens", "goes only with pack passages or auto: add that, or leave this out")
	}
	return checkRange("passageTokens", r.PassageTokens, 1, MaxPassageTokens)
}

// resolvePassages fills in the default of what goes with passages alone.
func (r *Request) resolvePassages() {
	switch r.Pack {
	case PackPassages:
		r.PassageTokens = orDefault(r.PassageTokens, DefaultPassageTokens)
	case PackAuto:
		r.PassageTokens = orDefault(r.PassageTokens, AutoPassageTokens)
	}
}

// trims reports whether texts may be trimmed.
func (p Packing) trims() bool { return p == PackPassages || p == PackAuto }

// Estimate names the token counter that needs no vocabulary: the default.
const Estimate = "estimate"

// ErrTokenizer is wrapped by the error of a request, so also of a receipt's, whose token counter is not there.
var ErrTokenizer = errors.New("token counter not available")

// Counter counts the tokens of a UTF-8 text. It must be a pure function and safe for concurrent use. Receipts can be
// replayed elsewhere only if the same name stands for the same function there. A count below 0 ends the retrieval with
// an error.
type Counter func(text string) int

// Counters are the token counters that requests may name besides Estimate.
type Counters map[string]Counter

func (r *Request) checkTokenizer() error {
	if r.Tokenizer == "" {
		return nil
	}
	if err := graph.CheckLine("", r.Tokenizer, 1, graph.MaxType); err != nil {
		return badParam("tokenizer", "%s is not the name of a token counter", shortQuote(r.Tokenizer))
	}
	return nil
}
