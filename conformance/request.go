package main

import (
	"encoding/json"
	"math/big"
	"sort"
	"strings"
)

// predicate is NAME OP VALUE of clause 8.2. edges is out or in where it counts edges.
type predicate struct {
	name, op string
	value    any
	hasValue bool
	edges    string
}

// request is the resolved form of clause 8.1; nil times are absent.
type request struct {
	text                                         string
	types, marks, expandTypes, show              []string
	where                                        []predicate
	createdFrom, createdTo, updatedFrom, validAt *int64
	updatedTo                                    *int64
	limit, budget, expand, adjacency, summaryCap int64
	direction                                    string
	exclude                                      []string // ids
	unseenFrom                                   int64
	dedup                                        bool
	mmr                                          *int64
	order                                        string
	vectors                                      map[string][]int8
	sparse                                       map[string]map[string]int64
	fusion                                       string
	weights                                      map[string]int64
	spelling                                     string
	edgeWeights                                  map[string]int64
	profile                                      string
	packing                                      string // empty for "auto"
	later                                        bool   // whether the answer has an item before the node that is shown
	passageTokens                                *int64
	tokenizer                                    string
	expansion                                    string
	maxExpand, decay, damping                    int64
	community                                    bool
	summarize                                    int64
	rewrites                                     []string
	rewrite, rerank                              string
	rerankTop                                    *int64
	reranked                                     map[string]int64 // by id
	now                                          *int64
	feedback                                     int64
	intent                                       string
	oversample                                   *int64 // nil for the default
	pairs                                        string // "off", else on
	ranking                                      int64  // 0 for 1
	floor, format                                string // empty for the default
	altitude                                     string // likewise

	// outdated are, by what takes their place, the candidates that ranking 2 finds outdated.
	outdated map[string]string
}

// second reports whether ranking 2 answers.
func (q request) second() bool { return q.ranking == 2 }

func newRequest(text string) request {
	return request{text: text, limit: 10, budget: 2000, expand: 3, summaryCap: 8192,
		direction: "both", order: "rank", fusion: "convex",
		expansion: "lend", maxExpand: 100, decay: 45875, damping: 55706, spelling: "on"}
}

func sortedSet(list []string) []any {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s] = true
	}
	names := make([]string, 0, len(seen))
	for s := range seen {
		names = append(names, s)
	}
	sort.Strings(names)
	out := []any{}
	for _, s := range names {
		out = append(out, s)
	}
	return out
}

// times are the optional times of a request by name.
func (q request) times() map[string]*int64 {
	return map[string]*int64{"createdFrom": q.createdFrom, "createdTo": q.createdTo,
		"updatedFrom": q.updatedFrom, "updatedTo": q.updatedTo, "validAt": q.validAt}
}

// record is the field request of a receipt (clause 13.1).
func (q request) record() dict {
	r := dict{"text": cidOf(codecRaw, []byte(q.text)), "limit": q.limit, "budget": q.budget,
		"expand": q.expand, "direction": q.direction, "adjacency": q.adjacency,
		"summaryCap": q.summaryCap}
	if q.dedup {
		r["dedup"] = true
	}
	if q.order != "rank" {
		r["order"] = q.order
	}
	if q.mmr != nil {
		r["mmr"] = *q.mmr
	}
	q.recordForm(r)
	q.setOversample(r)
	if q.tokenizer != "" {
		r["tokenizer"] = q.tokenizer
	}
	if q.community {
		r["community"] = true
	}
	if q.summarize > 0 {
		r["summarize"] = q.summarize
	}
	if q.unseenFrom > 0 {
		r["unseenFrom"] = q.unseenFrom
	}
	q.setExpansion(r)
	if len(q.exclude) > 0 {
		ids := []any{}
		for _, id := range sortedSet(q.exclude) {
			ids = append(ids, []byte(id.(string)))
		}
		r["exclude"] = ids
	}
	for name, list := range map[string][]string{"types": q.types, "marks": q.marks,
		"expandTypes": q.expandTypes, "show": q.show} {
		if len(list) > 0 {
			r[name] = sortedSet(list)
		}
	}
	for name, t := range q.times() {
		if t != nil {
			r[name] = *t
		}
	}
	if now := q.keptNow(); now != nil {
		r["now"] = *now
	}
	if len(q.vectors) > 0 {
		vectors := dict{}
		for model, v := range q.vectors {
			vectors[model] = vectorBytes(v)
		}
		r["vectors"] = vectors
	}
	if len(q.sparse) > 0 {
		models := dict{}
		for model, v := range q.sparse {
			terms := dict{}
			for t, w := range v {
				terms[t] = w
			}
			models[model] = terms
		}
		r["sparse"] = models
	}
	if q.fusion != "convex" {
		r["fusion"] = q.fusion
	}
	if q.spelling != "on" {
		r["spelling"] = q.spelling
	}
	if q.feedback > 0 {
		r["feedback"] = q.feedback
	}
	if len(q.weights) > 0 {
		weights := dict{}
		for lane, w := range q.weights {
			weights[lane] = w
		}
		r["weights"] = weights
	}
	q.profileRecord(r)
	q.recordModels(r)
	q.recordWhere(r)
	return r
}

func (q request) recordWhere(r dict) {
	where := []any{}
	for _, p := range q.where {
		m := dict{"name": p.name, "op": p.op}
		if p.hasValue {
			m["value"] = p.value
		}
		if p.edges != "" {
			m["edges"] = p.edges
		}
		where = append(where, m)
	}
	if len(where) > 0 {
		r["where"] = where
	}
}

// recordForm adds the parameters of what is packed and in which form.
func (q request) recordForm(r dict) {
	if q.packing == "passages" {
		r["pack"], r["passageTokens"] = q.packing, *q.passageTokens
	}
	if q.floor != "" {
		r["floor"] = q.floor
	}
	if q.format != "" {
		r["format"] = q.format
	}
}

// input is the request in a vector file: what differs from the default.
func (q request) input() obj {
	d := newRequest("")
	if q.expansion == "ppr" {
		d.expand = 20
	}
	in := obj{}
	q.setExpansion(in)
	set := func(name string, v any, given bool) {
		if given {
			in[name] = v
		}
	}
	set("text", q.text, q.text != "")
	set("vectors", q.vectors, q.vectors != nil)
	set("sparse", q.sparse, q.sparse != nil)
	set("fusion", q.fusion, q.fusion != d.fusion)
	set("spelling", q.spelling, q.spelling != d.spelling)
	set("intent", q.intent, q.intent != "")
	set("pairs", q.pairs, q.pairs != "")
	set("feedback", q.feedback, q.feedback > 0)
	set("weights", q.weights, q.weights != nil)
	set("types", q.types, q.types != nil)
	set("marks", q.marks, q.marks != nil)
	set("expandTypes", q.expandTypes, q.expandTypes != nil)
	set("show", q.show, q.show != nil)
	set("limit", q.limit, q.limit != d.limit)
	set("budget", q.budget, q.budget != d.budget)
	set("expand", q.expand, q.expand != d.expand)
	set("direction", q.direction, q.direction != d.direction)
	set("adjacency", q.adjacency, q.adjacency != d.adjacency)
	set("summaryCap", q.summaryCap, q.summaryCap != d.summaryCap)
	set("dedup", q.dedup, q.dedup)
	set("ranking", q.ranking, q.second())
	set("floor", q.floor, q.floor != "")
	set("format", q.format, q.format != "")
	set("altitude", q.altitude, q.altitude != "")
	set("order", q.order, q.order != d.order)
	set("community", q.community, q.community)
	set("summarize", q.summarize, q.summarize > 0)
	set("unseenFrom", q.unseenFrom, q.unseenFrom > 0)
	set("edgeWeights", q.edgeWeights, q.edgeWeights != nil)
	set("exclude", uuids(q.exclude), q.exclude != nil)
	set("rewrites", q.rewrites, q.rewrites != nil)
	set("rewrite", q.rewrite, q.rewrite != "")
	set("rerank", q.rerank, q.rerank != "")
	set("reranked", byUUID(q.reranked), q.reranked != nil)
	if q.rerankTop != nil {
		in["rerankTop"] = *q.rerankTop
	}
	if q.oversample != nil {
		in["oversample"] = *q.oversample
	}
	if q.mmr != nil {
		in["mmr"] = *q.mmr
	}
	set("pack", q.packing, q.packing != "")
	if q.passageTokens != nil && (q.packing != "passages" || *q.passageTokens != 256) {
		in["passageTokens"] = *q.passageTokens
	}
	if q.now != nil {
		in["now"] = *q.now
	}
	for name, t := range q.times() {
		if t != nil {
			in[name] = *t
		}
	}
	where := []any{}
	for _, p := range q.where {
		m := obj{"name": p.name, "op": p.op}
		if p.hasValue {
			m["value"] = json.RawMessage(jsonForm(p.value))
		}
		if p.edges != "" {
			m["edges"] = p.edges
		}
		where = append(where, m)
	}
	set("where", where, len(where) > 0)
	return in
}

func uuids(ids []string) []any {
	out := []any{}
	for _, id := range ids {
		out = append(out, uuid(id))
	}
	return out
}

func isNumber(v any) bool { _, ok := asFloat(v); return ok }

// compareNumbers compares by exact value.
func compareNumbers(a, b any) int { return rational(a).Cmp(rational(b)) }

func rational(v any) *big.Rat {
	if n, ok := v.(int64); ok {
		return new(big.Rat).SetInt64(n)
	}
	return new(big.Rat).SetFloat64(v.(float64))
}

func equalValues(a, b any) bool {
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b) == 0
	}
	return string(encode(a)) == string(encode(b))
}

// order is the sign of a compared to b; ok where both are numbers or both strings.
func order(a, b any) (sign int, ok bool) {
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b), true
	}
	x, isX := a.(string)
	y, isY := b.(string)
	return strings.Compare(x, y), isX && isY
}

// refusal is the class of a predicate that no value could satisfy, or empty.
func (p predicate) refusal() string {
	_, isList := p.value.([]any)
	_, isString := p.value.(string)
	bad := false
	if p.edges != "" {
		list := []any{p.value}
		if p.op == "in" {
			list, _ = p.value.([]any)
		}
		for _, v := range list {
			bad = bad || p.hasValue && !isNumber(v)
		}
		bad = bad || p.op == "prefix"
	}
	switch p.op {
	case "exists", "!exists":
		bad = bad || p.hasValue
	case "in":
		bad = bad || !isList
	case "prefix":
		bad = bad || !isString
	case "<", "<=", ">", ">=":
		bad = bad || !isString && !isNumber(p.value)
	}
	if bad {
		return "request"
	}
	return ""
}

func (p predicate) holds(props dict) bool {
	v, exists := props[p.name]
	if p.op == "!exists" || !exists || p.op == "exists" {
		return exists == (p.op == "exists") && (p.op == "exists" || p.op == "!exists")
	}
	switch p.op {
	case "=":
		return equalValues(v, p.value)
	case "!=":
		return !equalValues(v, p.value)
	case "in":
		for _, e := range p.value.([]any) {
			if equalValues(v, e) {
				return true
			}
		}
		return false
	case "prefix":
		s, ok := v.(string)
		return ok && strings.HasPrefix(s, p.value.(string))
	}
	sign, ok := order(v, p.value)
	return ok && map[string]bool{"<": sign < 0, "<=": sign <= 0, ">": sign > 0,
		">=": sign >= 0}[p.op]
}

// countEdges is how many edges of the node a predicate counts.
func (q request) countEdges(st *store, id string, p predicate) (n int64) {
	for edge, e := range st.edges {
		near, far := string(e["src"].([]byte)), string(e["dst"].([]byte))
		if p.edges == "in" {
			near, far = far, near
		}
		if near == id && text(e, "type") == p.name && !q.hides(st, "e"+edge) && !q.hides(st, "n"+far) {
			n++
		}
	}
	return n
}

func (p predicate) holdsFor(n int64) bool {
	props := dict{}
	if n > 0 || p.hasValue {
		props[p.name] = n
	}
	return p.holds(props)
}

// hides reports whether the mark of key (n or e ‖ id) hides what it is on.
func (q request) hides(st *store, key string) bool {
	state := text(st.marks[key], "state")
	hidden := has([]string{"forgotten", "superseded", "expired", "retired"}, state)
	return hidden && !has(q.marks, state)
}

func within(t int64, from, to *int64) bool {
	return (from == nil || t >= *from) && (to == nil || t < *to)
}

func updatedOf(node dict) int64 {
	if _, ok := node["updated"]; ok {
		return number(node, "updated")
	}
	return number(node, "created")
}

// passes is clause 8.3.
func (q request) passes(st *store, id string) bool {
	node := st.nodes[id]
	if has(q.exclude, id) {
		return false
	}
	if len(q.types) > 0 && !has(q.types, text(node, "type")) || q.hides(st, "n"+id) {
		return false
	}
	for _, p := range q.where {
		if p.edges != "" && !p.holdsFor(q.countEdges(st, id, p)) ||
			p.edges == "" && !p.holds(node["props"].(dict)) {
			return false
		}
	}
	if !within(number(node, "created"), q.createdFrom, q.createdTo) ||
		!within(updatedOf(node), q.updatedFrom, q.updatedTo) {
		return false
	}
	if q.validAt == nil {
		return true
	}
	if from, ok := node["validFrom"]; ok && from.(int64) > *q.validAt {
		return false
	}
	to, ok := node["validTo"]
	return !ok || *q.validAt < to.(int64)
}
