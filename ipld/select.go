package ipld

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Bounds of selectors.
const (
	MaxSelector = 64 << 10 // bytes of DAG-JSON
	// MaxSelectorPath is how many names and positions may lie between the first block and a selected one. A walk
	// recurses: without a bound, a long chain of links would exhaust the stack.
	MaxSelectorPath = 4096
)

var (
	// ErrSelector is wrapped by the error of ParseSelector for an invalid selector, and by that of Walk for a walk
	// beyond MaxSelectorPath.
	ErrSelector = errors.New("invalid selector")
	// ErrSkip is returned by the callback of Walk to skip a block and what is reachable only through it.
	ErrSkip = errors.New("skip this block")
)

// Selector says which blocks are reached from a first one: an IPLD selector of the forms matcher (.),
// explore all (a), fields (f), index (i), range (r), union (|), and recursive (R) with its edge (@).
// Conditions and interpret-as (!, &, ~) are refused.
type Selector struct{ of explorer }

// explorer is one form of a selector. An edge has no steps of its own: the enclosing recursion replaces it.
type explorer interface {
	// next returns the explorer for the value at a name or position of v, or nil.
	next(v Value, at string) explorer
	// of lists the names or positions of v to explore, in the order of the walk; any means all of v.
	of(v Value) (list []string, any bool)
}

type (
	matcher struct{}
	edge    struct{}
	all     struct{ then explorer }
	fields  struct {
		names []string // in the order of the selector
		then  map[string]explorer
	}
	// span is a range of list positions, excluding the last one.
	span struct {
		from, to int64
		then     explorer
	}
	union     []explorer
	recursion struct {
		sequence, current explorer
		depth             int64 // noDepth for any
	}
)

const noDepth = math.MaxInt64

// ParseSelector reads a selector in its DAG-JSON form. The error wraps ErrSelector or ErrJSON.
func ParseSelector(text []byte) (Selector, error) {
	if len(text) > MaxSelector {
		return Selector{}, fmt.Errorf("%w: %d bytes, limit %d", ErrSelector, len(text), MaxSelector)
	}
	v, err := ParseJSON(text)
	if err != nil {
		return Selector{}, err
	}
	edges := 0
	of, err := parseExplorer(v, &edges)
	if err == nil && edges > 0 {
		err = fmt.Errorf("%w: an edge (@) without a recursion (R) around it", ErrSelector)
	}
	return Selector{of}, err
}

// parseExplorer counts the edges that belong to an outer recursion.
func parseExplorer(v Value, edges *int) (explorer, error) {
	entries := v.Entries()
	if v.Kind() != Map || len(entries) != 1 {
		return nil, fmt.Errorf("%w: want a map with one member, got a %s of %d", ErrSelector, v.Kind(), len(entries))
	}
	form, body := entries[0].Key, entries[0].Value
	if form == "|" {
		return parseUnion(body, edges)
	}
	if body.Kind() != Map {
		return nil, fmt.Errorf("%w: %q has a %s, want a map", ErrSelector, form, body.Kind())
	}
	switch form {
	case ".":
		return matcher{}, members(body, form)
	case "@":
		*edges++
		return edge{}, members(body, form)
	case "a":
		then, err := parseMember(body, form, ">", edges)
		return all{then}, errors.Join(err, members(body, form, ">"))
	case "f":
		return parseFields(body, edges)
	case "i":
		then, err := parseMember(body, form, ">", edges)
		at, numErr := position(body, form, "i")
		return span{at, at + 1, then}, errors.Join(err, numErr, members(body, form, "i", ">"))
	case "r":
		then, err := parseMember(body, form, ">", edges)
		from, fromErr := position(body, form, "^")
		to, toErr := position(body, form, "$")
		return span{from, to, then}, errors.Join(err, fromErr, toErr, members(body, form, "^", "$", ">"))
	case "R":
		return parseRecursion(body)
	}
	return nil, fmt.Errorf("%w: the form %.20q is not known", ErrSelector, form)
}

// members refuses unknown members of a form.
func members(body Value, form string, known ...string) error {
	for _, e := range body.Entries() {
		if !slices.Contains(known, e.Key) {
			return fmt.Errorf("%w: %q has a member %.20q that is not known", ErrSelector, form, e.Key)
		}
	}
	return nil
}

func parseMember(body Value, form, name string, edges *int) (explorer, error) {
	v, ok := body.Get(name)
	if !ok {
		return nil, fmt.Errorf("%w: %q needs %q", ErrSelector, form, name)
	}
	return parseExplorer(v, edges)
}

func position(body Value, form, name string) (int64, error) {
	v, ok := body.Get(name)
	if !ok || v.Kind() != Int || v.Int() < 0 || v.Int() == math.MaxInt64 {
		return 0, fmt.Errorf("%w: %q needs %q, a position from 0", ErrSelector, form, name)
	}
	return v.Int(), nil
}

func parseFields(body Value, edges *int) (explorer, error) {
	v, _ := body.Get("f>")
	if v.Kind() != Map {
		return nil, fmt.Errorf("%w: \"f\" needs \"f>\", a map", ErrSelector)
	}
	f := fields{then: make(map[string]explorer)}
	for _, e := range v.Entries() {
		then, err := parseExplorer(e.Value, edges)
		if err != nil {
			return nil, err
		}
		f.names = append(f.names, e.Key)
		f.then[e.Key] = then
	}
	return f, members(body, "f", "f>")
}

func parseUnion(body Value, edges *int) (explorer, error) {
	if body.Kind() != List {
		return nil, fmt.Errorf("%w: \"|\" has a %s, want a list", ErrSelector, body.Kind())
	}
	var u union
	for _, v := range body.List() {
		e, err := parseExplorer(v, edges)
		if err != nil {
			return nil, err
		}
		u = append(u, e)
	}
	return u, nil
}

func parseRecursion(body Value) (explorer, error) {
	edges := 0
	sequence, err := parseMember(body, "R", ":>", &edges)
	if err != nil {
		return nil, err
	}
	if edges == 0 {
		return nil, fmt.Errorf("%w: \"R\" needs an edge (@) in \":>\"", ErrSelector)
	}
	limit, _ := body.Get("l")
	depth := int64(noDepth)
	switch list := limit.Entries(); {
	case len(list) == 1 && list[0].Key == "none":
	case len(list) == 1 && list[0].Key == "depth" && list[0].Value.Kind() == Int && list[0].Value.Int() >= 0:
		depth = list[0].Value.Int()
	default:
		return nil, fmt.Errorf("%w: \"R\" needs \"l\": {\"none\":{}} or {\"depth\":N}", ErrSelector)
	}
	return recursion{sequence, sequence, depth}, members(body, "R", "l", ":>")
}

func (matcher) next(Value, string) explorer { return nil }
func (matcher) of(Value) ([]string, bool)   { return nil, false }
func (edge) next(Value, string) explorer    { return nil }
func (edge) of(Value) ([]string, bool)      { return nil, false }

func (a all) next(Value, string) explorer { return a.then }
func (all) of(Value) ([]string, bool)     { return nil, true }

func (f fields) next(_ Value, at string) explorer {
	if then, ok := f.then[at]; ok {
		return then
	}
	return nil
}
func (f fields) of(Value) ([]string, bool) { return f.names, false }

func (s span) next(v Value, at string) explorer {
	if i, err := strconv.ParseInt(at, 10, 64); v.Kind() == List && err == nil && i >= s.from && i < s.to {
		return s.then
	}
	return nil
}

func (s span) of(v Value) (out []string, any bool) {
	for i := s.from; i < min(s.to, int64(len(v.List()))); i++ {
		out = append(out, strconv.FormatInt(i, 10))
	}
	return out, false
}

func (u union) next(v Value, at string) explorer {
	var out union
	for _, e := range u {
		if then := e.next(v, at); then != nil {
			out = append(out, then)
		}
	}
	return out.simple()
}

// simple reduces a union of none or one.
func (u union) simple() explorer {
	switch len(u) {
	case 0:
		return nil
	case 1:
		return u[0]
	}
	return u
}

func (u union) of(v Value) (out []string, any bool) {
	seen := make(map[string]bool)
	for _, e := range u {
		list, any := e.of(v)
		if any {
			return nil, true
		}
		for _, at := range list {
			if !seen[at] {
				seen[at] = true
				out = append(out, at)
			}
		}
	}
	return out, false
}

func (r recursion) of(v Value) ([]string, bool) { return r.current.of(v) }

func (r recursion) next(v Value, at string) explorer {
	then := r.current.next(v, at)
	switch {
	case then == nil:
		return nil
	case !hasEdge(then):
		return recursion{r.sequence, then, r.depth}
	case r.depth < 2:
		return replaceEdge(then, nil)
	case r.depth != noDepth:
		r.depth--
	}
	return recursion{r.sequence, replaceEdge(then, r.sequence), r.depth}
}

// hasEdge reports whether an explorer is an edge, or a union with one.
func hasEdge(e explorer) bool {
	switch e := e.(type) {
	case edge:
		return true
	case union:
		for _, of := range e {
			if hasEdge(of) {
				return true
			}
		}
	}
	return false
}

func replaceEdge(e, by explorer) explorer {
	switch e := e.(type) {
	case edge:
		return by
	case union:
		var out union
		for _, of := range e {
			if r := replaceEdge(of, by); r != nil {
				out = append(out, r)
			}
		}
		return out.simple()
	}
	return e
}

// Walk reads every block that the selector reaches from a first one, each once, depth first: maps and lists in the
// order of the block, fields in that of the selector. A block is walked the first time it is reached; a selector
// with a limited depth does not enter it again on another path. get is called on the calling goroutine, and its
// result is verified. It may return ErrSkip to skip a block; other errors are returned wrapped.
func (s Selector) Walk(ctx context.Context, from CID, get func(ctx context.Context, c CID) ([]byte, error)) error {
	w := &selecting{ctx: ctx, get: get, seen: make(map[CID]struct{})}
	return w.block(from, s.of, 0)
}

type selecting struct {
	ctx  context.Context
	get  func(ctx context.Context, c CID) ([]byte, error)
	seen map[CID]struct{}
}

// block walks a block at a given depth of names and positions.
func (w *selecting) block(c CID, by explorer, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if _, ok := w.seen[c]; ok {
		return nil
	}
	w.seen[c] = struct{}{}
	if depth > MaxSelectorPath {
		return fmt.Errorf("%w: it leads further than %d names and positions: give its recursion a depth",
			ErrSelector, MaxSelectorPath)
	}
	v, err := loadValue(w.ctx, w.get, c)
	if errors.Is(err, ErrSkip) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.value(v, by, depth)
}

func (w *selecting) value(v Value, by explorer, depth int) error {
	list, any := by.of(v)
	if !any {
		for _, at := range list {
			if child, ok := v.at(at); ok {
				if err := w.child(v, at, child, by, depth); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, e := range v.Entries() {
		if err := w.child(v, e.Key, e.Value, by, depth); err != nil {
			return err
		}
	}
	for i, child := range v.List() {
		if err := w.child(v, strconv.Itoa(i), child, by, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *selecting) child(v Value, at string, child Value, by explorer, depth int) error {
	then := by.next(v, at)
	switch {
	case then == nil:
		return nil
	case child.Kind() == Link:
		return w.block(child.Link(), then, depth+1)
	}
	return w.value(child, then, depth+1)
}
