package retrieve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/ipld"
)

// ParamKind is how the value of a parameter is written.
type ParamKind int

// The kinds of values, as members of a JSON request have them.
const (
	ParamText   ParamKind = iota + 1
	ParamTexts            // a list of strings, one for each flag
	ParamWords            // a list of strings, which may come as one with commas
	ParamNumber           // an integer
	ParamShare            // a number of 0 to 1
	ParamTruth            // true or false
	ParamMoment           // a time of RFC 3339 or a date
	ParamObject           // an object: names with a value each
)

// Param describes a parameter of a request, for flags, members of a JSON request, and schemas.
type Param struct {
	Name   string // in clause 8.1
	Member string // of a JSON request
	// Flag is its name on the command line, as a flag or as a name for --set. Doc is the help text, with the name of
	// the value in backquotes. Flag is empty if the command line has special flags for the parameter.
	Flag, Doc string
	Set       bool   // whether the command line has it by --set NAME=VALUE only
	Bounds    string // of a number, as "0 to 1000"; "" for none
	Kind      ParamKind
	Words     []string // the values there are, of ParamText and ParamWords; nil for any
	Usual     string   // the default, as help shows it; "" for none
	Own       string   // why no profile may set it; "" if one may
	Remote    bool     // whether callers from outside may give the flag: it names nothing of a machine
	Varies    bool     // whether the answer then depends on more than the commit and the request
}

// param holds everything about one parameter of a request: its allowed values, its default and its encoding. A rule
// that involves several parameters belongs to the first of them in the table.
type param struct {
	Param
	// at returns a pointer to its field, whose zero value is not given.
	at func(*Request) any
	// get returns it as a receipt of a resolved request keeps it; ok is false if that leaves it out.
	get  func(*Request) (v ipld.Value, ok bool)
	set  func(*Request, ipld.Value)    // the inverse of get
	read func(*Request, *memberParser) // sets it from a member
	// check refuses a bad value; fill sets the default and the canonical form.
	check func(*Request) error
	fill  func(*Request)
}

// Params returns all parameters in the order of the table.
func Params() []Param {
	out := make([]Param, len(params))
	for i := range params {
		out[i] = params[i].Param
	}
	return out
}

// always is the usual value of a number that receipts have whatever it is.
const always = -1

// findParam returns the parameter of a name in clause 8.1, nil if there is none.
func findParam(name string) *param {
	return whichParam(func(p *param) bool { return p.Name == name })
}

// whichParam returns the parameter that fits, nil if none does.
func whichParam(fits func(*param) bool) *param {
	for i := range params {
		if fits(&params[i]) {
			return &params[i]
		}
	}
	return nil
}

// MemberName returns the name of the member of a JSON request that sets a parameter of clause 8.1:
// "summary-cap" for "summaryCap", "type" for "types".
func MemberName(name string) string {
	if p := findParam(name); p != nil {
		return p.Member
	}
	return kebab(name)
}

// FlagName returns the command-line name of a parameter of clause 8.1, usually the name of its member.
func FlagName(name string) string {
	if p := findParam(name); p != nil {
		return cmp.Or(p.Flag, p.Member)
	}
	return kebab(name)
}

// shownFlag returns the flag that sets a parameter of clause 8.1.
func shownFlag(name string) string {
	if p := findParam(name); p != nil && p.Set {
		return "--set " + p.Flag
	}
	return "--" + FlagName(name)
}

func kebab(name string) string {
	var b []byte
	for _, c := range []byte(name) {
		if c >= 'A' && c <= 'Z' {
			b = append(b, '-')
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}

// as sets a member name that differs from the parameter's name.
func (p param) as(member string) param {
	p.Member = member
	return p
}

// flag gives the parameter a flag of its member's name.
func (p param) flag(doc string) param {
	p.Flag, p.Doc = p.Member, doc
	return p
}

// setting lets the command line set it by its member's name.
func (p param) setting(doc string) param { return p.settingAs(p.Member, doc) }

// settingAs lets the command line set it by another name.
func (p param) settingAs(name, doc string) param {
	p.Set = true
	return p.flagAs(name, doc)
}

// flagAs adds a flag whose name differs from the member's.
func (p param) flagAs(name, doc string) param {
	p.Flag, p.Doc = name, doc
	return p
}

// remote lets callers from outside give it.
func (p param) remote() param {
	p.Remote = true
	return p
}

// varies says that the answer depends on more than the commit and the request.
func (p param) varies() param {
	p.Varies = true
	return p
}

// shown is the default that surfaces have for it if that is another one.
func (p param) shown(usual string) param {
	p.Usual = usual
	return p
}

// own says why no profile may set it.
func (p param) own(why string) param {
	p.Own = why
	return p
}

// only replaces the check of the parameter's kind.
func (p param) only(check func(*Request) error) param {
	p.check = check
	return p
}

// fills replaces how it gets its default.
func (p param) fills(fill func(*Request)) param {
	p.fill = fill
	return p
}

// base returns the part that all kinds of parameters share.
func base(name string, kind ParamKind) param {
	return param{Param: Param{Name: name, Member: kebab(name), Kind: kind}}
}

// word is a parameter whose value is one of words; if words is empty, any value is allowed. Receipts leave out the
// usual value.
func word[S ~string](name string, at func(*Request) *S, def, usual S, words ...S) param {
	p := base(name, ParamText)
	allowed := make([]string, len(words))
	for i, w := range words {
		allowed[i] = string(w)
	}
	p.Words, p.Usual = orNone(allowed), string(def)
	p.at = func(r *Request) any { return at(r) }
	p.get = func(r *Request) (ipld.Value, bool) { return ipld.StringValue(string(*at(r))), *at(r) != usual }
	p.set = func(r *Request, v ipld.Value) { *at(r) = S(v.Text()) }
	p.read = func(r *Request, m *memberParser) { *at(r) = S(m.text()) }
	p.check = func(r *Request) error { return checkWord(name, string(*at(r)), allowed) }
	p.fill = func(r *Request) { *at(r) = cmp.Or(*at(r), def) }
	return p
}

// maybe is a word without a default: there may be none.
func maybe[S ~string](name string, at func(*Request) *S, words ...S) param {
	return word(name, at, "", "", words...)
}

func checkWord(name, value string, words []string) error {
	if value == "" || len(words) == 0 || slices.Contains(words, value) {
		return nil
	}
	return badParam(name, "%s is not %s", shortQuote(value), Param{Words: words}.Choice())
}

// Choice is the words there are as a sentence has them: "a, b or c".
func (p Param) Choice() string {
	last := len(p.Words) - 1
	if last < 1 {
		return strings.Join(p.Words, "")
	}
	return strings.Join(p.Words[:last], ", ") + " or " + p.Words[last]
}

// truth is a boolean parameter. Receipts have it only if it is true.
func truth(name string, at func(*Request) *bool) param {
	p := base(name, ParamTruth)
	p.at = func(r *Request) any { return at(r) }
	p.get = func(r *Request) (ipld.Value, bool) { return ipld.BoolValue(true), *at(r) }
	p.set = func(r *Request, v ipld.Value) { *at(r) = v.Bool() }
	p.read = func(r *Request, m *memberParser) { *at(r) = m.truth() }
	return p
}

// count is a parameter of a number that is 0 by default, and at most limit.
func count(name string, at func(*Request) *int, usual, limit int) param {
	p := base(name, ParamNumber)
	p.Bounds = fmt.Sprintf("0 to %d", limit)
	p.at = func(r *Request) any { return at(r) }
	p.get = func(r *Request) (ipld.Value, bool) { return encodeInt(*at(r)), *at(r) != usual }
	p.set = func(r *Request, v ipld.Value) { *at(r) = int(v.Int()) }
	p.read = func(r *Request, m *memberParser) { *at(r) = *m.number() }
	p.check = func(r *Request) error { return checkRange(name, at(r), 0, limit) }
	return p
}

// option is an integer parameter from least to limit whose default need not be 0. Receipts leave out the usual value.
func option(name string, at func(*Request) **int, def, usual, least, limit int) param {
	p := base(name, ParamNumber)
	p.Usual, p.Bounds = fmt.Sprint(def), fmt.Sprintf("%d to %d", least, limit)
	p.at = func(r *Request) any { return at(r) }
	p.get = func(r *Request) (ipld.Value, bool) {
		n := *at(r)
		if n == nil || *n == usual {
			return ipld.Value{}, false
		}
		return encodeInt(*n), true
	}
	p.set = func(r *Request, v ipld.Value) { *at(r) = new(int(v.Int())) }
	p.read = func(r *Request, m *memberParser) { *at(r) = m.number() }
	p.check = func(r *Request) error { return checkRange(name, *at(r), least, limit) }
	p.fill = func(r *Request) { *at(r) = orDefault(*at(r), def) }
	return p
}

// shareOf is an option in units of 2^-16, which members have as numbers of 0 to 1.
func shareOf(name string, at func(*Request) **int, def, usual int, shown string) param {
	p := option(name, at, def, usual, 0, fixed.One)
	p.Kind, p.Usual, p.Bounds = ParamShare, shown, "0 to 1"
	p.read = func(r *Request, m *memberParser) { *at(r) = m.lambda() }
	return p
}

// moment is a parameter of a time.
func moment(name string, at func(*Request) *graph.OptTime) param {
	p := base(name, ParamMoment)
	p.at = func(r *Request) any { return at(r) }
	p.get = func(r *Request) (ipld.Value, bool) { return ipld.IntValue(int64(at(r).Time)), at(r).Given }
	p.set = func(r *Request, v ipld.Value) { *at(r) = graph.At(graph.Time(v.Int())) }
	p.read = func(r *Request, m *memberParser) { *at(r) = m.time() }
	p.check = func(r *Request) error {
		if t := at(r).Time; t < graph.MinTime || t > graph.MaxTime {
			return badParam(name, "%d µs is outside %d to %d", int64(t), int64(graph.MinTime), int64(graph.MaxTime))
		}
		return nil
	}
	return p.own(ownAnswer)
}

// list is a parameter of a list, which receipts leave out if it is empty.
func list[T any](
	name string, kind ParamKind, at func(*Request) *[]T,
	encode func([]T) ipld.Value, decode func(ipld.Value) []T, read func(*memberParser) []T,
	sorted func([]T) []T, check func(*Request) error,
) param {
	p := base(name, kind)
	p.at = func(r *Request) any { return at(r) }
	p.get = func(r *Request) (ipld.Value, bool) { return encode(*at(r)), len(*at(r)) > 0 }
	p.set = func(r *Request, v ipld.Value) { *at(r) = decode(v) }
	p.read = func(r *Request, m *memberParser) { *at(r) = read(m) }
	p.fill = func(r *Request) { *at(r) = sorted(*at(r)) }
	p.check = check
	return p
}

// names is a list of names: of any, or of words.
func names[S ~string](
	name string, kind ParamKind, at func(*Request) *[]S, check func(*Request) error, words ...S,
) param {
	read := (*memberParser).texts
	if kind == ParamWords {
		read = (*memberParser).words
	}
	p := list(name, kind, at, encodeNames, decodeNames, func(m *memberParser) []S {
		var out []S
		for _, s := range read(m) {
			out = append(out, S(s))
		}
		return out
	}, sortedSet[S], check)
	for _, w := range words {
		p.Words = append(p.Words, string(w))
	}
	return p
}

// keyed is a list of items that each belong to another key: an object in a JSON request, a map in receipts.
type keyed[T any] struct {
	many, two string // what the items are in errors: all of them, and two of one key
	most      int
	at        func(*Request) *[]T
	key       func(T) string
	validate  func(T) error
	value     func(T) ipld.Value                  // as receipts have it
	item      func(string, ipld.Value) T          // the inverse
	parse     func(string, ipld.Value) (T, error) // from a JSON request
}

func (l keyed[T]) param(name string) param {
	p := list(name, ParamObject, l.at, l.encode, l.decode, l.read, l.sorted, nil)
	return p.only(func(r *Request) error { return l.check(name, *l.at(r)) })
}

func (l keyed[T]) check(name string, list []T) error {
	if len(list) > l.most {
		return badParam(name, "%d %s, limit %d", len(list), l.many, l.most)
	}
	for i, item := range list {
		if err := l.validate(item); err != nil {
			return err
		}
		same := func(other T) bool { return l.key(other) == l.key(item) }
		if slices.ContainsFunc(list[:i], same) {
			return badParam(name, "two %s %s", l.two, shortQuote(l.key(item)))
		}
	}
	return nil
}

// sorted returns a copy in bytewise order of the keys, nil for the empty list.
func (l keyed[T]) sorted(list []T) []T {
	out := slices.Clone(orNone(list))
	slices.SortStableFunc(out, func(a, b T) int { return cmp.Compare(l.key(a), l.key(b)) })
	return out
}

func (l keyed[T]) encode(list []T) ipld.Value {
	entries := make([]ipld.Entry, len(list))
	for i, item := range list {
		entries[i] = ipld.Entry{Key: l.key(item), Value: l.value(item)}
	}
	return ipld.MapValue(entries...)
}

func (l keyed[T]) decode(v ipld.Value) (out []T) {
	for _, e := range v.Entries() {
		out = append(out, l.item(e.Key, e.Value))
	}
	return out
}

// read keeps the first error.
func (l keyed[T]) read(p *memberParser) (out []T) {
	if p.v.Kind() != ipld.Map {
		p.fail("%s, want an object", p.v.Kind())
	}
	for _, e := range p.v.Entries() {
		one, err := l.parse(e.Key, e.Value)
		p.err = cmp.Or(p.err, err)
		out = append(out, one)
	}
	return out
}

// orNone returns the list, nil for an empty one.
func orNone[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
