package main

import (
	"encoding/hex"
	"math/big"
	"sort"
	"strings"
)

// This file is clause 28, written from it alone.

// powersOfHalf are the constants of clause 28.1: entry i is ⌊2^32 · 2^-(2^(i-16))⌋, by square
// roots.
func powersOfHalf() [16]*big.Int {
	const bits = 600
	var out [16]*big.Int
	v := new(big.Int).Lsh(big.NewInt(1), bits-1)
	for i := 15; i >= 0; i-- {
		v = new(big.Int).Sqrt(new(big.Int).Lsh(v, bits))
		out[i] = new(big.Int).Rsh(v, bits-32)
	}
	return out
}

// decayed is 2^-x in units of 2^-16, x in the same units.
func decayed(x *big.Int) int64 {
	if x.Cmp(big.NewInt(17<<16)) >= 0 {
		return 0
	}
	n := x.Int64()
	r := new(big.Int).Lsh(big.NewInt(1), 32)
	for i := 15; i >= 0; i-- {
		if n>>uint(i)&1 == 1 {
			r.Rsh(r.Mul(r, powersOfHalf()[i]), 32)
		}
	}
	return r.Rsh(r, uint(16+n>>16)).Int64()
}

// factors are what effective importance is made of.
type factors struct{ importance, uses, linked, age, days int64 }

// weigh is clause 28.1.
func (f factors) weigh() (value, base, use, decay, links int64) {
	if f.importance < 1 || f.importance > 5 {
		f.importance = 3
	}
	base = []int64{9830, 19661, 32768, 52429, 65536}[f.importance-1]
	use = 65536 + logQ16(uint64(1+min(max(f.uses, 0), 15)))/4
	x := new(big.Int).Lsh(big.NewInt(max(f.age, 0)), 16)
	decay = decayed(x.Quo(x, big.NewInt(f.days*86_400_000_000)))
	links = 65536 + min(max(f.linked, 0), 10)*65536/20
	value = base * use >> 16 * decay >> 16 * links >> 16
	return value, base, use, decay, links
}

// halfLife is the half-life of a type in days.
func halfLife(typ string) int64 {
	days, ok := map[string]int64{"context": 7, "event": 14, "task": 14, "insight": 60, "decision": 90,
		"preference": 180}[typ]
	if !ok {
		return 30
	}
	return days
}

// stated is the importance that a node says it has.
func stated(node dict) int64 {
	n, ok := node["props"].(dict)["importance"].(int64)
	if !ok || n < 1 || n > 5 {
		return 3
	}
	return n
}

// factorsOf are the factors of a node at a time.
func (st *store) factorsOf(id string, now int64) factors {
	node := st.nodes[id]
	f := factors{importance: stated(node), days: halfLife(text(node, "type")),
		age: now - max(number(node, "created"), updatedOf(node))}
	for _, e := range st.edges {
		typ := text(e, "type")
		if typ == "observed" && text(e, "src") == id {
			f.uses++
		}
		if typ == "observed" || typ == "follows" || typ == "near" {
			continue
		}
		if text(e, "src") == id {
			f.linked++
		}
		if text(e, "dst") == id {
			f.linked++
		}
	}
	return f
}

// proposal is one of clause 28.3.
type proposal struct {
	kind      string
	nodes     []string
	tag       string
	spellings []string
}

func (p proposal) id(st *store) string {
	records, tags := []any{}, []any{}
	if p.kind == "tag" {
		tags = append(tags, p.tag)
		for _, s := range p.spellings {
			tags = append(tags, s)
		}
	} else {
		for _, id := range p.nodes {
			records = append(records, recordCID(st.nodes[id]))
		}
	}
	cid := cidOf(codecCBOR, encode([]any{"proposal", p.kind, records, tags}))
	return hex.EncodeToString([]byte(cid[4:12]))
}

// tidy is a look at a memory.
type tidy struct {
	st     *store
	now    int64
	cap    int
	out    []proposal
	hides  map[string]bool
	named  map[string]bool
	sorted []string // ids of visible nodes
}

// proposals is clause 28.3, of the kinds duplicate and contradiction only if they are wanted.
func (st *store) proposals(now int64, limit int, pairs bool) []proposal {
	t := &tidy{st: st, now: now, cap: limit, hides: map[string]bool{}, named: map[string]bool{}}
	for id := range st.nodes {
		mark := st.marks["n"+id]
		if text(mark, "state") == "superseded" {
			t.named[text(mark, "by")] = true
		}
		if !(request{}).hides(st, "n"+id) {
			t.sorted = append(t.sorted, id)
		}
	}
	sort.Strings(t.sorted)
	t.expired()
	if pairs {
		same, oppose := t.alike()
		t.duplicates(same)
		t.contradictions(oppose)
	}
	t.tags()
	t.low()
	t.isolated()
	return t.out
}

func (t *tidy) add(p proposal, hides bool) bool {
	for _, id := range p.nodes {
		t.named[id] = t.named[id] || p.kind != "tag"
	}
	state := t.st.marks["n"+nodeIDOfKey("proposal/"+p.id(t.st))]
	if text(state, "state") == "retired" {
		return false
	}
	for _, id := range p.nodes {
		t.hides[id] = t.hides[id] || hides
	}
	t.out = append(t.out, p)
	return true
}

func (t *tidy) expired() {
	for _, id := range t.sorted {
		node := t.st.nodes[id]
		due := false
		if s, ok := node["props"].(dict)["expires"].(string); ok {
			at, err := parseTime(s)
			due = err == nil && at <= t.now
		}
		if to, ok := node["validTo"].(int64); ok && to <= t.now {
			due = true
		}
		if due {
			t.add(proposal{kind: "expired", nodes: []string{id}}, true)
		}
	}
}

func tagsOf(node dict) []string {
	var tags []string
	list, _ := node["props"].(dict)["tags"].([]any)
	for _, v := range list {
		if s, ok := v.(string); ok {
			tags = append(tags, s)
		}
	}
	return tags
}

// stem is what the spellings of a tag have in common.
func stem(tag string) string {
	var b strings.Builder
	for _, p := range pointsOf(tag) {
		switch {
		case isWord(p.class) || isBigram(p.class):
			b.WriteString(foldOf(p.r))
		case !strings.ContainsRune(" -_./\u00a0", p.r):
			b.WriteRune(p.r)
		}
	}
	s := b.String()
	if len(s) > 3 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") {
		s = s[:len(s)-1]
	}
	return s
}

func (t *tidy) tags() {
	users := map[string][]string{}
	groups := map[string][]string{}
	for _, id := range t.sorted {
		for _, tag := range tagsOf(t.st.nodes[id]) {
			if len(users[tag]) == 0 {
				groups[stem(tag)] = append(groups[stem(tag)], tag)
			}
			if !has(users[tag], id) {
				users[tag] = append(users[tag], id)
			}
		}
	}
	var stems []string
	for s, group := range groups {
		if s != "" && len(group) > 1 {
			stems = append(stems, s)
		}
	}
	sort.Strings(stems)
	for _, s := range stems {
		group := groups[s]
		sort.Slice(group, func(i, j int) bool {
			a, b := group[i], group[j]
			if len(users[a]) != len(users[b]) {
				return len(users[a]) > len(users[b])
			}
			if len(a) != len(b) {
				return len(a) < len(b)
			}
			return a < b
		})
		p := proposal{kind: "tag", tag: group[0], spellings: append([]string{}, group[1:]...)}
		sort.Strings(p.spellings)
		for _, id := range t.sorted {
			for _, tag := range p.spellings {
				if has(users[tag], id) && !has(p.nodes, id) {
					p.nodes = append(p.nodes, id)
				}
			}
		}
		t.add(p, false)
	}
}

// memories are the visible memories, the least important first.
func (t *tidy) memories() []string {
	var ids []string
	for _, id := range t.sorted {
		node := t.st.nodes[id]
		_, keyed := node["key"]
		_, content := node["content"]
		if !keyed && !content && text(node, "summary") != "" {
			ids = append(ids, id)
		}
	}
	value := func(id string) int64 {
		v, _, _, _, _ := t.st.factorsOf(id, t.now).weigh()
		return v
	}
	sort.SliceStable(ids, func(i, j int) bool { return value(ids[i]) < value(ids[j]) })
	return ids
}

func (t *tidy) low() {
	beyond := -t.cap
	for _, id := range t.memories() {
		if !t.hides[id] {
			beyond++
		}
	}
	for _, id := range t.memories() {
		if t.cap == 0 || beyond <= 0 || t.hides[id] || stated(t.st.nodes[id]) >= 4 {
			continue
		}
		if t.add(proposal{kind: "low", nodes: []string{id}}, true) {
			beyond--
		}
	}
}

func (t *tidy) isolated() {
	all := t.memories()
	var lone []string
	for _, id := range all {
		f := t.st.factorsOf(id, t.now)
		if t.hides[id] || t.named[id] || t.st.counted(id) != nil || f.importance >= 4 ||
			f.linked > 0 || f.uses > 0 || f.age < 2*f.days*86_400_000_000 {
			continue
		}
		lone = append(lone, id)
	}
	if 2*len(lone) > len(all) {
		return
	}
	for _, id := range lone {
		t.add(proposal{kind: "isolated", nodes: []string{id}}, false)
	}
}

// counted is the mark of a node as clauses 27 and 28.3 count it: none where it is contradicted by a
// hidden node.
func (st *store) counted(id string) dict {
	m := st.marks["n"+id]
	if text(m, "state") == "contradicted" && text(m, "by") != "" &&
		markWeight[text(st.marks["n"+text(m, "by")], "state")] > 2 {
		return nil
	}
	return m
}

// markWeight is how much a state says: clause 28.2.
var markWeight = map[string]int{"": 0, "stale": 1, "contradicted": 2, "expired": 3, "retired": 3,
	"superseded": 3, "forgotten": 4}

// marked is clause 28.2: the marks of nodes after a verb, and whether it is not refused. Without a
// state marks are taken off.
func (st *store) marked(state string, nodes []string, by string) (list []string, ok bool) {
	type mark struct{ state, by string }
	now := map[string]mark{}
	for id := range st.nodes {
		if m := st.marks["n"+id]; m != nil {
			now[id] = mark{text(m, "state"), text(m, "by")}
		}
	}
	judge := ""
	if by != "" {
		judge = nodeIDOfKey(by)
		if hidden := now[judge].state; markWeight[hidden] > 2 {
			return nil, false
		}
	}
	settle := func(id string, old mark) {
		if other := now[old.by]; old.state == "contradicted" && other == (mark{old.state, id}) {
			delete(now, old.by)
			least := ""
			for k, m := range now {
				if m == (mark{"contradicted", old.by}) && (least == "" || k < least) {
					least = k
				}
			}
			if least != "" {
				now[old.by] = mark{"contradicted", least}
			}
		}
	}
	set := func(id string, m mark) bool {
		old := now[id]
		if old != m && markWeight[old.state] >= markWeight[m.state] {
			return false
		}
		now[id] = m
		return true
	}
	for _, key := range nodes {
		id := nodeIDOfKey(key)
		old := now[id]
		if id == judge {
			return nil, false
		}
		switch {
		case state == "":
			delete(now, id)
			settle(id, old)
		case state == "contradicted":
			keeps := 0
			for _, m := range [][2]string{{id, judge}, {judge, id}} {
				at := now[m[0]]
				if at.state == state && at.by != m[1] && markWeight[now[at.by].state] > 2 {
					delete(now, m[0]) // by what is hidden
					at = mark{}
				}
				if at.state == state && at.by != m[1] {
					keeps++
				} else if !set(m[0], mark{state, m[1]}) {
					return nil, false
				}
			}
			if keeps == 2 {
				return nil, false
			}
		default:
			if !set(id, mark{state, judge}) {
				return nil, false
			}
			if markWeight[state] > 2 {
				settle(id, old)
			}
		}
	}
	list = []string{}
	for id, m := range now {
		line := uuid(id) + " " + m.state
		if m.by != "" {
			line += " " + uuid(m.by)
		}
		list = append(list, line)
	}
	sort.Strings(list)
	return list, true
}
