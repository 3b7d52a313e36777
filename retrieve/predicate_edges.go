package retrieve

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// cutEdges splits what says that a predicate is on edges from the text form; edges is "" for none.
func cutEdges(s string) (rest string, edges Direction) {
	for _, dir := range []Direction{Out, In} {
		if rest, ok := strings.CutPrefix(s, string(dir)+"."); ok {
			return rest, dir
		}
	}
	return s, ""
}

// validateEdges refuses what could not hold for any number of edges.
func (p Predicate) validateEdges() error {
	if p.Edges != Out && p.Edges != In {
		return badParam("where", "%q is not a direction of edges", string(p.Edges))
	}
	if p.Name == "" || len(p.Name) > graph.MaxType || !utf8.ValidString(p.Name) {
		return badParam("where", "%s is not a type of edges: want 1 to %d bytes of UTF-8",
			shortQuote(p.Name), graph.MaxType)
	}
	want := ""
	switch p.Op {
	case Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual:
		if _, ok := p.Value.Number(); !ok {
			want = "a number"
		}
	case OneOf:
		if p.Value.Kind() != ipld.List {
			want = "a list of numbers"
		}
		for _, item := range p.Value.List() {
			if _, ok := item.Number(); !ok {
				want = "a list of numbers"
			}
		}
	case Exists, Missing:
		if p.Value.Kind() != ipld.Null {
			want = "no value"
		}
	case Prefix:
		return badParam("where", "%s.%s is a number, which has no prefix", p.Edges, p.Name)
	default:
		return badParam("where", "%q is not an operator", string(p.Op))
	}
	if want != "" {
		return badParam("where", "%s.%s %s takes %s", p.Edges, p.Name, p.Op, want)
	}
	return nil
}

// HoldsFor reports whether a predicate on edges holds for a number of them.
func (p Predicate) HoldsFor(edges int) bool {
	return p.Holds(ipld.IntValue(int64(edges)), edges > 0 || p.Op.hasValue())
}

// Enough returns the number of edges at which counting may stop: the predicate gives the same result for all greater
// numbers.
func (p Predicate) Enough() int {
	most := 0.0
	for _, v := range append([]ipld.Value{p.Value}, p.Value.List()...) {
		if x, ok := v.Number(); ok {
			most = max(most, x)
		}
	}
	return int(min(most, math.MaxInt32)) + 1
}
