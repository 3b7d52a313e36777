package main

import (
	"bytes"
	"sort"
	"strings"
)

// items are the records of a store by the names of clause 14, marks as items of their own.
func (s *store) items() map[string]dict {
	out := map[string]dict{}
	for id, rec := range s.nodes {
		out["node/"+uuid(id)] = rec
	}
	for id, rec := range s.edges {
		out["edge/"+uuid(id)] = rec
	}
	for key, rec := range s.marks {
		out["mark/"+text(rec, "on")+"/"+uuid(key[1:])] = rec
	}
	return out
}

func kindOf(item string) string { return item[:4] }

// needsOf returns the items that an item needs (clause 14.3).
func needsOf(item string, rec dict) []string {
	switch kindOf(item) {
	case "mark":
		return []string{item[len("mark/"):]}
	case "edge":
		return []string{"node/" + uuid(text(rec, "src")), "node/" + uuid(text(rec, "dst"))}
	}
	return nil
}

// union merges stores by looking at everything.
type union struct {
	base, ours, theirs map[string]dict
	states             [3]*store
	out                map[string]dict
	virtual            bool
	conflicts          map[string]string
	fields             map[string][]string
	follow             map[string]bool
	vectors            map[string]dict
	dropped            int
}

func merge(base, ours, theirs *store, virtual bool) *union {
	u := &union{base: base.items(), ours: ours.items(), theirs: theirs.items(),
		states: [3]*store{base, ours, theirs}, out: map[string]dict{}, virtual: virtual,
		conflicts: map[string]string{}, fields: map[string][]string{}, follow: map[string]bool{}}
	names := itemNames(u.base, u.ours, u.theirs)
	for _, kind := range []string{"node", "edge", "mark/node", "mark/edge"} {
		for _, item := range names {
			if hasKind(item, kind) {
				u.item(item)
			}
		}
		for _, item := range names {
			if hasKind(item, kind) && u.out[item] != nil && !virtual {
				u.prune(item)
			}
		}
	}
	u.circles()
	u.vectors, u.dropped = u.embeddings()
	return u
}

func hasKind(item, kind string) bool { return strings.HasPrefix(item, kind+"/") }

func itemNames(maps ...map[string]dict) []string {
	all := mapping{}
	for _, m := range maps {
		for k := range m {
			all[k] = nil
		}
	}
	return sortedMap(all)
}

func (u *union) item(item string) {
	t := take("ours")
	if u.virtual {
		t = "base"
	}
	l, r := u.ours[item], u.theirs[item]
	rec, cause, fields := mergeRecord(kindOf(item), u.base[item], l, r, t)
	if cause == "delete_modify" && !u.virtual {
		remover, left := u.ours, r
		if l != nil {
			remover, left = u.theirs, l
		}
		lacking, all := u.lacking(item, left, remover)
		if all {
			cause = ""
			u.follow[item] = true
		} else if lacking {
			cause, rec = "end_removed", nil
		}
	}
	if cause != "" {
		u.conflicts[item], u.fields[item] = cause, fields
	}
	if rec != nil {
		u.out[item] = rec
	}
}

// lacking reports whether an item lacks something there, and whether all of that is in conflict.
func (u *union) lacking(item string, rec dict, there map[string]dict) (some, all bool) {
	all = true
	for _, need := range needsOf(item, rec) {
		if there[need] == nil {
			some = true
			all = all && (u.conflicts[need] != "" || u.follow[need])
		}
	}
	return some, some && all
}

func (u *union) prune(item string) {
	some, all := u.lacking(item, u.out[item], u.out)
	if !some {
		return
	}
	delete(u.out, item)
	if all {
		u.follow[item] = true
		return
	}
	u.conflicts[item], u.fields[item] = "end_removed", nil
}

// stays is clause 14.3.
func (u *union) stays(key string, e dict, node dict) bool {
	if e == nil || node == nil {
		return false
	}
	for _, s := range u.states[1:] {
		if sameRecord(s.vectors[key], e) && sameRecord(s.nodes[key[:16]], node) {
			return true
		}
	}
	content := ""
	if c, ok := node["content"]; ok {
		for _, s := range u.states {
			if t, ok := s.contents[recordCID(c).String()]; ok {
				content = t
			}
		}
	}
	return string(embeddedText(node, content)) == text(e, "text")
}

func (u *union) best(key string, node dict, candidates ...dict) dict {
	var best dict
	for _, e := range candidates {
		if u.stays(key, e, node) && (best == nil ||
			bytes.Compare([]byte(recordCID(e)), []byte(recordCID(best))) < 0) {
			best = e
		}
	}
	return best
}

func (u *union) embeddings() (map[string]dict, int) {
	out, dropped := map[string]dict{}, 0
	b, l, r := u.states[0].vectors, u.states[1].vectors, u.states[2].vectors
	for _, key := range itemNames(b, l, r) {
		var e dict
		item := "node/" + uuid(key[:16])
		lost := false
		switch {
		case sameRecord(l[key], r[key]), sameRecord(r[key], b[key]):
			e = l[key]
		case sameRecord(l[key], b[key]):
			e = r[key]
		case u.virtual:
			e = b[key]
		default:
			e = u.best(key, u.out[item], l[key], r[key])
			lost = e == nil
		}
		if e != nil && !u.virtual && !u.stays(key, e, u.out[item]) {
			e, lost = nil, true
		}
		if lost && u.conflicts[item] == "" {
			dropped++
		}
		if e != nil {
			out[key] = e
		}
	}
	return out, dropped
}

// storeOf is a store of items and embeddings.
func (u *union) storeOf(items, vectors map[string]dict) *store {
	s := newStore()
	for _, from := range u.states {
		for k, v := range from.contents {
			s.contents[k] = v
		}
	}
	for item, rec := range items {
		id := text(rec, "id")
		switch kindOf(item) {
		case "node":
			s.nodes[id] = rec
		case "edge":
			s.edges[id] = rec
		case "mark":
			s.marks[text(rec, "on")[:1]+id] = rec
		}
	}
	s.vectors = vectors
	return s
}

func (u *union) partial() *store { return u.storeOf(u.out, u.vectors) }

// conflictList is the conflicts in the order of their items.
func (u *union) conflictList() []any {
	list := []any{}
	all := mapping{}
	for item := range u.conflicts {
		all[item] = nil
	}
	for _, item := range sortedMap(all) {
		c := obj{"item": item, "kind": u.conflicts[item]}
		if len(u.fields[item]) > 0 {
			c["fields"] = u.fields[item][:min(len(u.fields[item]), 512)] // clause 14.8
		}
		list = append(list, c)
	}
	return list
}

// resolution is clause 14.4 with one side taken for all.
type resolution struct {
	*union
	take    take
	items   map[string]dict
	decided map[string]dict
	touched map[string]bool // node ids
}

func (u *union) resolved(t take) *store {
	r := &resolution{union: u, take: t, items: copyOf(u.out), decided: map[string]dict{},
		touched: map[string]bool{}}
	for item, cause := range u.conflicts {
		b, l, th := u.base[item], u.ours[item], u.theirs[item]
		r.decided[item] = choose(t, b, l, th)
		if cause == "edit_edit" || cause == "add_add" {
			r.decided[item], _, _ = mergeRecord(kindOf(item), b, l, th, t)
		}
	}
	r.nodes()
	for _, kind := range []string{"edge", "mark/node", "mark/edge"} {
		for _, item := range itemNames(r.decided) {
			if hasKind(item, kind) {
				r.rest(item)
			}
		}
	}
	vectors := copyOf(u.vectors)
	for id := range r.touched {
		for _, key := range itemNames(u.states[1].vectors, u.states[2].vectors) {
			if key[:16] != id {
				continue
			}
			delete(vectors, key)
			e := u.best(key, r.items["node/"+uuid(id)], u.states[1].vectors[key], u.states[2].vectors[key])
			if e != nil {
				vectors[key] = e
			}
		}
	}
	for key := range vectors {
		if r.items["node/"+uuid(key[:16])] == nil {
			delete(vectors, key)
		}
	}
	return u.storeOf(r.items, vectors)
}

// side returns the items that an item's resolution is taken from.
func (r *resolution) side(item string) map[string]dict {
	if r.take == "ours" || r.take == "base" && r.ours[item] != nil {
		return r.ours
	}
	return r.theirs
}

func (r *resolution) nodes() {
	for _, item := range itemNames(r.decided) {
		if kindOf(item) != "node" {
			continue
		}
		if rec := r.decided[item]; rec != nil {
			r.items[item] = rec
			r.touched[text(rec, "id")] = true
		} else {
			r.remove(item)
		}
	}
	for _, item := range itemNames(r.decided) {
		if kindOf(item) == "node" && r.decided[item] != nil && r.conflicts[item] == "delete_modify" {
			r.around(r.side(item), item)
		}
	}
}

func (r *resolution) remove(item string) {
	delete(r.items, item)
	for _, other := range itemNames(r.items) {
		if rec := r.items[other]; rec != nil && has(needsOf(other, rec), item) {
			r.remove(other)
		}
	}
}

// rest resolves an edge or mark.
func (r *resolution) rest(item string) {
	rec := r.decided[item]
	if rec == nil {
		r.remove(item)
		return
	}
	from := r.side(item)
	for _, need := range needsOf(item, rec) {
		r.bring(from, need)
	}
	had := r.items[item] != nil
	r.items[item] = rec
	if kindOf(item) == "edge" && !had {
		r.mark(from, item)
	}
}

func (r *resolution) mark(from map[string]dict, item string) {
	mark := "mark/" + item
	if r.conflicts[mark] == "" && r.items[mark] == nil && from[mark] != nil {
		r.items[mark] = from[mark]
	}
}

// around brings back what goes with a node.
func (r *resolution) around(from map[string]dict, node string) {
	r.mark(from, node)
	for _, item := range itemNames(from) {
		if kindOf(item) != "edge" || r.conflicts[item] != "" || r.items[item] != nil ||
			!has(needsOf(item, from[item]), node) {
			continue
		}
		if lacking, _ := r.lacking(item, from[item], r.items); !lacking {
			r.items[item] = from[item]
			r.mark(from, item)
		}
	}
}

// bring brings back a node or edge that is needed.
func (r *resolution) bring(from map[string]dict, item string) {
	rec := from[item]
	if r.items[item] != nil || rec == nil {
		return
	}
	for _, need := range needsOf(item, rec) {
		r.bring(from, need)
	}
	r.items[item] = rec
	if kindOf(item) == "node" {
		r.touched[text(rec, "id")] = true
		r.around(from, item)
	}
}

// commits is a history of stores.
type commits struct {
	stores  []*store
	parents [][]int
}

func (c *commits) ancestors(i int) map[int]bool {
	out := map[int]bool{i: true}
	for _, p := range c.parents[i] {
		for a := range c.ancestors(p) {
			out[a] = true
		}
	}
	return out
}

// base is clause 14.5, for at most two bases, whose order does not matter. Virtual commits
// are appended.
func (c *commits) base(i, j int) *store {
	a, b := c.ancestors(i), c.ancestors(j)
	var best []int
	for x := range a {
		ok := b[x]
		for y := range a {
			ok = ok && (y == x || !b[y] || !c.ancestors(y)[x])
		}
		if ok {
			best = append(best, x)
		}
	}
	sort.Ints(best)
	if len(best) == 0 {
		return newStore()
	}
	at := best[0]
	for _, next := range best[1:] {
		u := merge(c.base(at, next), c.stores[at], c.stores[next], true)
		c.stores = append(c.stores, u.partial())
		c.parents = append(c.parents, []int{at, next})
		at = len(c.stores) - 1
	}
	return c.stores[at]
}
