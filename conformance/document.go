package main

import (
	"bytes"
	"sort"
)

// hanging is an entry of clause 11.5.
type hanging struct{ typ, far string }

// entries are those of one of an item's buckets.
func (q request) entries(st *store, side int, id string) []hanging {
	var out []hanging
	n := 0
	for _, k := range st.bucket(side, id) {
		edge, far := k[len(k)-16:], k[len(k)-32:len(k)-16]
		typ := text(st.edges[edge], "type")
		if len(q.expandTypes) > 0 && !has(q.expandTypes, typ) {
			continue
		}
		if n++; n > 256 {
			break
		}
		if !q.hides(st, "e"+edge) && !q.hides(st, "n"+far) {
			out = append(out, hanging{typ, far})
		}
	}
	return out
}

// joinedPair reports whether two items are joined without a third.
func (q request) joinedPair(st *store, a, b string) bool {
	for side := range 2 {
		mine, others := q.entries(st, side, a), q.entries(st, side, b)
		for _, e := range mine {
			if e.far == b {
				return true
			}
		}
		for _, e := range others {
			if e.far == a {
				return true
			}
		}
		for _, e := range mine {
			for _, o := range others {
				if e == o && len(st.bucket(0, e.far))+len(st.bucket(1, e.far)) <= 256 {
					return true
				}
			}
		}
	}
	return false
}

// document is clause 11.5 for items in packing order; joined tells whether any two are.
func (q request) document(st *store, items []item) (out []item, joined bool) {
	group := make([]int, len(items))
	for i := range items {
		group[i] = i
	}
	for changed := true; changed; {
		changed = false
		for i := range items {
			for j := range items {
				if group[i] < group[j] && q.joinedPair(st, items[i].id, items[j].id) {
					group[j], changed, joined = group[i], true, true
				}
			}
		}
	}
	for g := range items {
		var rest []item
		for i := range items {
			if group[i] == g {
				rest = append(rest, items[i])
			}
		}
		for len(rest) > 0 {
			at := q.nextRead(st, rest)
			out = append(out, rest[at])
			rest = append(rest[:at:at], rest[at+1:]...)
		}
	}
	return out, joined
}

// nextRead is the place of the item that is read first.
func (q request) nextRead(st *store, rest []item) int {
	led := func(i int) bool {
		for j := range rest {
			if i == j || number(st.nodes[rest[i].id], "created") !=
				number(st.nodes[rest[j].id], "created") {
				continue
			}
			for _, e := range q.entries(st, 0, rest[j].id) {
				if e.far == rest[i].id {
					return true
				}
			}
		}
		return false
	}
	places := make([]int, len(rest))
	for i := range places {
		places[i] = i
	}
	sort.Slice(places, func(x, y int) bool {
		i, j := places[x], places[y]
		a, b := number(st.nodes[rest[i].id], "created"), number(st.nodes[rest[j].id], "created")
		if a != b {
			return a < b
		}
		if led(i) != led(j) {
			return led(j)
		}
		return bytes.Compare([]byte(rest[i].id), []byte(rest[j].id)) < 0
	})
	return places[0]
}

// unfiltered is the request without anything that keeps nodes from passing.
func (q request) unfiltered() request {
	q.types, q.where, q.exclude = nil, nil, nil
	q.createdFrom, q.createdTo, q.updatedFrom, q.updatedTo, q.validAt = nil, nil, nil, nil, nil
	q.marks = []string{"forgotten", "superseded", "expired", "retired"}
	return q
}

// blocked is the second half of the condition of nothing_passes.
func (q request) blocked(st *store, c collection) bool {
	if len(q.rankings(st, c)) > 0 {
		return false
	}
	if q.blank() {
		return len(st.nodes) > 0
	}
	if q.timeAlone() {
		list, _ := q.unfiltered().timeList(st)
		return len(list) > 0
	}
	for _, m := range q.runs() {
		if len(q.unfiltered().denseList(st, m)) > 0 {
			return true
		}
	}
	for _, m := range q.runsSparse() {
		if len(q.unfiltered().sparseList(st, m)) > 0 {
			return true
		}
	}
	return q.entitiesBlocked(st, c)
}

// entitiesBlocked reports whether a node that does not pass has all terms of an entity, and no
// entity is left out.
func (q request) entitiesBlocked(st *store, c collection) bool {
	if !q.runsEntities() {
		return false
	}
	all := entitiesIn(q.text)
	if len(q.entitiesCounted(st, c, all)) < len(all) {
		return false
	}
	for _, p := range all {
		for id := range st.nodes {
			if c.docs[id].has(p.terms()) && !q.passes(st, id) {
				return true
			}
		}
	}
	return false
}

// idleWarnings are the last two of clause 11.1.
func (q request) idleWarnings(st *store, c collection, a *answer) {
	var missing []any
	for _, t := range sortedSet(q.types) {
		found := false
		for _, n := range st.nodes {
			found = found || text(n, "type") == t.(string)
		}
		if !found {
			missing = append(missing, t)
		}
	}
	if len(missing) > 0 {
		a.warnings = append(a.warnings, dict{"code": "no_type", "params": dict{"types": missing}})
	}
	if names := q.idle(st, c, a); len(a.items) > 0 && len(names) > 0 {
		a.warnings = append(a.warnings, dict{"code": "no_effect",
			"params": dict{"parameters": names}})
	}
}

// idle are the parameters that had nothing to work on.
func (q request) idle(st *store, c collection, a *answer) []any {
	var names []any
	add := func(name string, idle bool) {
		if idle {
			names = append(names, name)
		}
	}
	expands := q.expand > 0 && !q.blank()
	one := len(q.rankings(st, c)) <= 1
	zero := false
	for _, w := range q.weights {
		zero = zero || w == 0
	}
	add("fusion", q.fusion != "convex" && one && !expands)
	add("weights", len(q.weights) > 0 && one && !zero && !(q.fusion == "weighted-rrf" && expands))
	add("expandTypes", len(q.expandTypes) > 0 && !expands && q.order != "document")
	add("direction", q.direction != "both" && !expands)
	lines, keys, contents, trims := false, false, false, false
	for _, it := range a.items {
		node := st.nodes[it.id]
		bare, later := q, q
		bare.adjacency, later.adjacency, later.later = 0, 0, true
		lines = lines || it.rendered != bare.render(st, it.id) && it.rendered != later.render(st, it.id)
		keys = keys || text(node, "key") != ""
		contents = contents || st.contentText(node) != ""
		if q.packing == "passages" {
			trims = trims || q.trim(st, st.contentText(node)) != "" ||
				q.trim(st, text(node, "summary")) != text(node, "summary")
		}
	}
	add("adjacency", q.adjacency > 0 && !lines)
	add("show", has(q.show, "key") && !keys || has(q.show, "content") && !contents)
	plain := 0
	for _, h := range a.order[:min(100, len(a.order))] {
		if h.tier == 0 {
			plain++
		}
	}
	add("mmr", q.mmr != nil && plain < 2)
	if q.order == "document" && len(a.items) > 1 {
		_, joined := q.document(st, a.items)
		add("order", !joined)
	}
	add("pack", q.packing == "passages" && !trims)
	return names
}
