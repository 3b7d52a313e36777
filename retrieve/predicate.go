package retrieve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Op is the operator of a predicate, as it is written.
type Op string

const (
	Equal        Op = "="
	NotEqual     Op = "!="
	Less         Op = "<"
	LessEqual    Op = "<="
	Greater      Op = ">"
	GreaterEqual Op = ">="
	OneOf        Op = "in"
	Prefix       Op = "prefix"
	Exists       Op = "exists"
	Missing      Op = "!exists"
)

// hasValue reports whether the operator is followed by a value.
func (op Op) hasValue() bool { return op != Exists && op != Missing }

// Predicate is a condition on one property of a node, or on how many edges of a type it has.
type Predicate struct {
	Name  string     // property name, 1 to 255 bytes; of edges their type
	Op    Op         // one of the constants
	Value ipld.Value // null for Exists and Missing
	Edges Direction  // Out or In for edges, "" for a property
}

// Holds reports whether the predicate holds for a property's value; ok is false if the node has no such property.
func (p Predicate) Holds(v ipld.Value, ok bool) bool {
	if !ok {
		return p.Op == Missing
	}
	c, ordered := compare(v, p.Value)
	switch p.Op {
	case Exists:
		return true
	case Equal:
		return equal(v, p.Value)
	case NotEqual:
		return !equal(v, p.Value)
	case OneOf:
		return slices.ContainsFunc(p.Value.List(), func(item ipld.Value) bool { return equal(v, item) })
	case Prefix:
		return v.Kind() == ipld.String && strings.HasPrefix(v.Text(), p.Value.Text())
	case Less:
		return ordered && c < 0
	case LessEqual:
		return ordered && c <= 0
	case Greater:
		return ordered && c > 0
	case GreaterEqual:
		return ordered && c >= 0
	}
	return false
}

func equal(v, w ipld.Value) bool {
	if c, ok := compare(v, w); ok {
		return c == 0
	}
	return v.Equal(w)
}

// compare orders two numbers or two strings; ok is false for all else.
func compare(v, w ipld.Value) (c int, ok bool) {
	switch {
	case v.Kind() == ipld.String && w.Kind() == ipld.String:
		return strings.Compare(v.Text(), w.Text()), true
	case v.Kind() == ipld.Int && w.Kind() == ipld.Int:
		return cmp.Compare(v.Int(), w.Int()), true
	case v.Kind() == ipld.Float && w.Kind() == ipld.Float:
		return cmp.Compare(v.Float(), w.Float()), true
	case v.Kind() == ipld.Int && w.Kind() == ipld.Float:
		return compareMixed(v.Int(), w.Float()), true
	case v.Kind() == ipld.Float && w.Kind() == ipld.Int:
		return -compareMixed(w.Int(), v.Float()), true
	}
	return 0, false
}

// compareMixed compares exactly. A conversion of n to a float would round above 2^53, so that
// 2^53 + 1 would equal 2^53; the other way loses only the fraction, which is looked at last.
func compareMixed(n int64, f float64) int {
	const limit = 1 << 63
	switch {
	case f >= limit:
		return -1
	case f < -limit:
		return 1
	}
	whole := math.Trunc(f)
	if c := cmp.Compare(n, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(whole, f)
}

// Limits of predicates: a receipt, which keeps them all, must fit into a block.
const (
	// MaxPredicates is the largest number of predicates of a request.
	MaxPredicates = 64
	// MaxPredicateBytes is the largest sum of the canonical encodings of all values.
	MaxPredicateBytes = 64 << 10
)

func (p Predicate) validate() error {
	name, check := p.Name, p.checkProp
	if p.Edges != "" {
		name, check = string(p.Edges)+"."+p.Name, p.checkEdges
	}
	if err := check(); err != nil {
		return err
	}
	kind := p.Value.Kind()
	want, ok := "", true
	switch p.Op {
	case Equal, NotEqual:
		want, ok = "a number", p.Edges == "" || isNumber(p.Value)
	case Less, LessEqual, Greater, GreaterEqual:
		if want, ok = "a number", isNumber(p.Value); p.Edges == "" {
			want, ok = "a number or a string", ok || kind == ipld.String
		}
	case OneOf:
		if want, ok = "a list of numbers", kind == ipld.List; p.Edges == "" {
			want = `a list, as in team in ["infra","web"]`
		} else {
			ok = ok && !slices.ContainsFunc(p.Value.List(), func(v ipld.Value) bool { return !isNumber(v) })
		}
	case Prefix:
		want, ok = `a string, as in name prefix "svc/"`, kind == ipld.String
	case Exists, Missing:
		want, ok = "no value", kind == ipld.Null
	default:
		return badParam("where", "%q is not an operator", string(p.Op))
	}
	if !ok {
		return badParam("where", "%s %s takes %s", name, p.Op, want)
	}
	return nil
}

func isNumber(v ipld.Value) bool { return v.Kind() == ipld.Int || v.Kind() == ipld.Float }

func (p Predicate) checkProp() error {
	if err := checkPropName(p.Name); err != nil {
		return err
	}
	if err := graph.CheckExtra([]ipld.Entry{{Key: p.Name, Value: p.Value}}, nil); err != nil {
		return badParam("where", "value for %v", err)
	}
	if depth(p.Value) > graph.MaxPropDepth {
		return badParam("where", "value for %s nested deeper than %d", shortQuote(p.Name), graph.MaxPropDepth)
	}
	return nil
}

// checkEdges refuses what could not hold for any number of edges.
func (p Predicate) checkEdges() error {
	switch {
	case p.Edges != Out && p.Edges != In:
		return badParam("where", "%q is not a direction of edges", string(p.Edges))
	case !isType(p.Name):
		return badParam("where", "%s is not a type of edges: want 1 to %d bytes of UTF-8", shortQuote(p.Name), graph.MaxType)
	case p.Op == Prefix:
		return badParam("where", "%s.%s is a number, which has no prefix", p.Edges, p.Name)
	}
	return nil
}

// depth returns how deep lists and maps are nested in v.
func depth(v ipld.Value) int {
	deepest := 0
	for _, item := range v.List() {
		deepest = max(deepest, depth(item))
	}
	for _, e := range v.Entries() {
		deepest = max(deepest, depth(e.Value))
	}
	if v.Kind() == ipld.List || v.Kind() == ipld.Map {
		deepest++
	}
	return deepest
}

func checkPropName(name string) error {
	if name == "" || len(name) > graph.MaxPropName || !utf8.ValidString(name) {
		return badParam("where", "%s is not a property name: want 1 to %d bytes of UTF-8",
			shortQuote(name), graph.MaxPropName)
	}
	return nil
}

// String returns the text form, which ParsePredicate reads.
func (p Predicate) String() string {
	var b []byte
	if p.Edges != "" {
		b = append(b, string(p.Edges)+"."...)
	}
	_, ofEdges := cutEdges(p.Name)
	if bareName(p.Name) != len(p.Name) || p.Name == "" || p.Edges == "" && ofEdges != "" {
		b = ipld.AppendJSON(b, ipld.StringValue(p.Name))
	} else {
		b = append(b, p.Name...)
	}
	b = append(append(b, ' '), p.Op...)
	if p.Op.hasValue() {
		b = ipld.AppendJSON(append(b, ' '), p.Value)
	}
	return string(b)
}

// blanks are the characters that may stand between the parts of a predicate.
const blanks = " \t\r\n"

// hasWords reports whether a text is more than white space.
func hasWords(s string) bool { return strings.Trim(s, blanks) != "" }

// bareName returns the length of the name at the beginning of s that needs no quotes.
func bareName(s string) int {
	if i := strings.IndexAny(s, blanks+`=!<>"`); i >= 0 {
		return i
	}
	return len(s)
}

// operators in the order in which they are tried: of two that begin alike the longer one first.
var operators = []Op{
	NotEqual, LessEqual, GreaterEqual, Missing, Equal, Less, Greater, OneOf, Prefix, Exists,
}

// ParsePredicate reads NAME OP VALUE, as in `team = "infra"`, `"due date" < "2026-01-01"`,
// `team in ["infra","web"]`, `owner !exists` or `in.mentions >= 3`. VALUE is JSON; NAME is a JSON
// string where it contains a blank, a quote or one of = ! < >. out. or in. before a NAME that is not
// in quotes means edges of the type NAME. The error is a *RequestError that shows an example.
func ParsePredicate(s string) (Predicate, error) {
	const example = `want NAME OP VALUE with a JSON value, as in team = "infra"`
	var p Predicate
	rest, edges := cutEdges(strings.Trim(s, blanks))
	p.Edges = edges
	name, rest, err := cutName(rest)
	if err != nil {
		return p, badParam("where", "%s: name: %v; %s", shortQuote(s), err, example)
	}
	p.Name = name
	op, rest, ok := cutOperator(strings.TrimLeft(rest, blanks))
	if !ok {
		return p, badParam("where", "%s: no operator after the name; %s", shortQuote(s), example)
	}
	p.Op = op
	rest = strings.TrimLeft(rest, blanks)
	if !p.Op.hasValue() {
		if rest != "" {
			return p, badParam("where", "%s: %s takes no value", shortQuote(s), p.Op)
		}
		return p, p.validate()
	}
	if p.Value, err = ipld.ParseJSON([]byte(rest)); err != nil {
		return p, badParam("where", "%s: value: %v; %s", shortQuote(s), err, example)
	}
	return p, p.validate()
}

// cutName splits a predicate after its name.
func cutName(s string) (name, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		n := bareName(s)
		return s[:n], s[n:], nil
	}
	end := 1
	for end < len(s) && s[end] != '"' {
		if s[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(s) {
		return "", "", fmt.Errorf("quote not closed")
	}
	v, err := ipld.ParseJSON([]byte(s[:end+1]))
	return v.Text(), s[end+1:], err
}

// cutOperator splits s after the operator it begins with. One that is a word ends at a character
// that cannot be part of a word.
func cutOperator(s string) (op Op, rest string, ok bool) {
	for _, op := range operators {
		rest, ok := strings.CutPrefix(s, string(op))
		word := op[len(op)-1] >= 'a'
		if ok && (!word || rest == "" || strings.ContainsRune(blanks+`"[`, rune(rest[0]))) {
			return op, rest, true
		}
	}
	return "", s, false
}

// shortQuote returns s quoted for an error message, cut to a line's length.
func shortQuote(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// cutEdges splits what says that a predicate is on edges from the text form; edges is "" for none.
func cutEdges(s string) (rest string, edges Direction) {
	for _, dir := range []Direction{Out, In} {
		if rest, ok := strings.CutPrefix(s, string(dir)+"."); ok {
			return rest, dir
		}
	}
	return s, ""
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
