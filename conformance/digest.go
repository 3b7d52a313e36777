package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"strings"
)

// Constants of clause 29.
const (
	digestDims = 512
	leafMost   = 32
	leafTokens = 6000
	digestText = 8192
)

// hashedVector is the vector of the built-in embedder, nil for none.
func hashedVector(s string) []int64 {
	type feature struct {
		hash   uint64
		weight int64
	}
	counts := map[feature]uint64{}
	count := func(tag byte, s string, weight int64) {
		h := uint64(14695981039346656037)
		for _, c := range append([]byte{tag}, s...) {
			h = (h ^ uint64(c)) * 1099511628211
		}
		counts[feature{h, weight}]++
	}
	for _, term := range analyse(s, "en") {
		count('w', term, 4)
		padded := []rune("<" + term + ">")
		for n := 3; n <= 5 && n < len(padded); n++ {
			for i := 0; i+n <= len(padded); i++ {
				count('g', string(padded[i:i+n]), 1)
			}
		}
	}
	sums := make([]int64, digestDims)
	for f, n := range counts {
		h := f.hash
		for _, k := range []uint64{0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53} {
			h = (h ^ h>>33) * k
		}
		h ^= h >> 33
		w := f.weight * (one + logQ16(n))
		if h>>63 == 1 {
			w = -w
		}
		sums[h%digestDims] += w
	}
	most := int64(0)
	for _, x := range sums {
		most = max(most, x, -x)
	}
	if most == 0 {
		return nil
	}
	for i, x := range sums {
		sums[i] = int64(math.RoundToEven(float64(float64(x)*127) / float64(most)))
	}
	return sums
}

// semOf is clause 29.2.
func semOf(s string) uint64 {
	v := hashedVector(s)
	sem := uint64(0)
	for b := 0; b < 64 && v != nil; b++ {
		sum := int64(0)
		for d, x := range v {
			plane := sha256.Sum256([]byte(fmt.Sprintf("mnem:sem:1:%d:%d", b, d/256)))
			if plane[d%256/8]>>(7-d%8)&1 == 1 {
				x = -x
			}
			sum += x
		}
		if sum > 0 {
			sem |= 1 << (63 - b)
		}
	}
	return sem
}

// digestEntry is an entry of a trie.
type digestEntry struct {
	key                         string // 24 bytes
	size, facts, tokens, scopes int64
	source                      string
	until                       any
	link                        any
	said                        []quoting
}

// quoting is a sentence of a digest.
type quoting struct {
	fact    string
	created int64
	place   int64
	text    string
}

// digests makes the digests of a graph by clause 29, with the rules edge:part-of, edge:in, edge:about.
type digests struct {
	st     *store
	recipe [32]byte
	rules  []string
	up     map[string][]string // of nodes: scopes, by rule and id
	rule   map[[2]string]int
	scope  map[string]bool
	of     map[string]string // of scopes: the smallest id of their circle
	links  map[string]link
	made   map[string]dict // records by scope, a slash and label
}

func digestsOf(st *store) *digests {
	d := &digests{st: st, rules: []string{"part-of", "in", "about"}, up: map[string][]string{},
		rule: map[[2]string]int{}, scope: map[string]bool{}, of: map[string]string{}, links: map[string]link{},
		made: map[string]dict{}}
	d.recipe = sha256.Sum256([]byte("mnem:digests:2\nedge:part-of\nedge:in\nedge:about\n"))
	for id, e := range st.edges {
		src, dst := text(e, "src"), text(e, "dst")
		for n, rule := range d.rules {
			if text(e, "type") != rule || src == dst || d.hides("e"+id) {
				continue
			}
			d.scope[dst] = true
			if old, ok := d.rule[[2]string{src, dst}]; !ok {
				d.up[src] = append(d.up[src], dst)
				d.rule[[2]string{src, dst}] = n
			} else {
				d.rule[[2]string{src, dst}] = min(old, n)
			}
		}
	}
	for a := range d.scope { // two are one scope where each leads to the other
		d.of[a] = a
		for b := range d.scope {
			if d.reaches(a, b) && d.reaches(b, a) {
				d.of[a] = min(d.of[a], b)
			}
		}
	}
	return d
}

func (d *digests) hides(key string) bool {
	return has([]string{"forgotten", "superseded", "expired", "retired"}, text(d.st.marks[key], "state"))
}

func (d *digests) reaches(a, b string) bool {
	seen, todo := map[string]bool{}, []string{a}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if at == b {
			return true
		}
		if !seen[at] {
			seen[at] = true
			todo = append(todo, d.up[at]...)
		}
	}
	return false
}

// factText is clause 29.1.
func (d *digests) factText(node dict) string {
	var parts []string
	for _, s := range []string{text(node, "context"), text(node, "summary"), d.st.contentText(node)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		parts = []string{text(node, "key")}
		if parts[0] == "" {
			parts[0] = text(node, "type")
		}
	}
	rs := []rune(strings.Join(parts, "\n"))
	return string(rs[:min(len(rs), digestText)])
}

func (d *digests) visible(id string) bool { return d.st.nodes[id] != nil && !d.hides("n"+id) }

// homes are the scopes that some nodes are in, the home first; "" is the root.
func (d *digests) homes(nodes []string, own string) []string {
	least := map[string]int{}
	for _, id := range nodes {
		for _, to := range d.up[id] {
			s, n := d.of[to], d.rule[[2]string{id, to}]
			if old, ok := least[s]; s != own && (!ok || n < old) {
				least[s] = n
			}
		}
	}
	out := sortedKeys(least)
	sort.Slice(out, func(i, j int) bool {
		if least[out[i]] != least[out[j]] {
			return least[out[i]] < least[out[j]]
		}
		return out[i] < out[j]
	})
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

func keyOf(sem uint64, id string) string { return string(binary.BigEndian.AppendUint64(nil, sem)) + id }

// entries are those of a scope.
func (d *digests) entries(scope string) []digestEntry {
	var out []digestEntry
	for id, node := range d.st.nodes {
		if !d.visible(id) {
			continue
		}
		homes := []string{d.of[id]}
		if !d.scope[id] {
			homes = d.homes([]string{id}, "")
		}
		s := d.factText(node)
		e := digestEntry{key: keyOf(semOf(s), id), size: max(1, tokensOf(s))}
		sum := sha256.Sum256([]byte("fact\x00" + string(d.recipe[:]) + s))
		e.source = string(sum[:])
		if t, ok := node["validTo"]; ok {
			e.until = t
		}
		for _, one := range digestSentences(s) {
			e.said = append(e.said, quoting{id, number(node, "created"), int64(len(e.said)), one})
		}
		for i, home := range homes {
			if home == scope {
				if i == 0 {
					e.facts, e.tokens = 1, e.size
				}
				out = append(out, e)
			}
		}
	}
	for id := range d.scope {
		if d.of[id] != id {
			continue
		}
		var nodes []string
		for other, of := range d.of {
			if of == id {
				nodes = append(nodes, other)
			}
		}
		for i, home := range d.homes(nodes, id) {
			if home != scope {
				continue
			}
			rec, c := d.digest(id)
			if rec == nil {
				continue
			}
			h := sha256.Sum256([]byte("mnem:scope:" + id))
			sem := binary.BigEndian.Uint64(h[:])
			if d.visible(id) {
				sem = semOf(d.factText(d.st.nodes[id]))
			}
			e := digestEntry{key: keyOf(sem, id), size: 120, scopes: 1, source: text(rec, "source"), until: rec["until"],
				link: c, said: saidIn(rec)}
			if i == 0 {
				e.facts, e.tokens = number(rec, "facts"), number(rec, "tokens")
			}
			out = append(out, e)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].key < out[j].key })
	return out
}

func saidIn(rec dict) []quoting {
	var out []quoting
	for _, item := range rec["text"].([]any) {
		t := item.([]any)
		out = append(out, quoting{string(t[0].([]byte)), t[1].(int64), t[2].(int64), t[3].(string)})
	}
	return out
}

// digest makes the digest of a scope, nil for one of nothing.
func (d *digests) digest(scope string) (dict, link) {
	list := d.entries(scope)
	if len(list) == 0 {
		return nil, ""
	}
	rec, c := d.node(scope, "", list)
	if scope != "" {
		d.links[scope] = c
	}
	return rec, c
}

func digitOf(key string, i int) string { return string("0123"[key[i/4]>>(6-2*(i%4))&3]) }

func digitsOf(key string, n int) string {
	out := ""
	for i := range n {
		out += digitOf(key, i)
	}
	return out
}

// node makes a node of a trie.
func (d *digests) node(scope, label string, list []digestEntry) (dict, link) {
	first, last := list[0].key, list[len(list)-1].key
	at := 0
	for at < 96 && digitOf(first, at) == digitOf(last, at) {
		at++
	}
	size, facts, tokens, scopes := int64(0), int64(0), int64(0), int64(0)
	var until any
	for _, e := range list {
		size, facts, tokens, scopes = size+e.size, facts+e.facts, tokens+e.tokens, scopes+e.scopes
		if e.until != nil && (until == nil || e.until.(int64) < until.(int64)) {
			until = e.until
		}
	}
	kids, entries := []any{}, []any{}
	var sources []string
	var texts []quoting
	votes := [64]int64{}
	vote := func(sem uint64, n int64) {
		for b := range votes {
			if sem>>b&1 == 1 {
				votes[b] += n
			} else {
				votes[b] -= n
			}
		}
	}
	if len(list) == 1 || len(list) <= leafMost && size <= leafTokens {
		for _, e := range list {
			entries = append(entries, []any{[]byte(e.key), e.size, e.facts, e.tokens, []byte(e.source), e.until, e.link})
			sources, texts = append(sources, e.source), append(texts, e.said...)
			vote(binary.BigEndian.Uint64([]byte(e.key)), 1)
		}
	} else {
		for len(list) > 0 {
			below := digitsOf(list[0].key, at+1)
			n := sort.Search(len(list), func(i int) bool { return digitsOf(list[i].key, at+1) > below })
			rec, c := d.node(scope, below, list[:n])
			list = list[n:]
			sem := binary.BigEndian.Uint64(rec["sem"].([]byte))
			kids = append(kids, []any{below, c, rec["source"], rec["sem"], rec["members"], rec["size"], rec["facts"],
				rec["tokens"], rec["until"], rec["scopes"]})
			sources, texts = append(sources, text(rec, "source")), append(texts, saidIn(rec)...)
			vote(sem, number(rec, "members"))
		}
	}
	sem := uint64(0)
	for b, n := range votes {
		if n > 0 {
			sem |= 1 << b
		}
	}
	sort.Strings(sources)
	source := sha256.Sum256([]byte("digest\x00" + string(d.recipe[:]) + strings.Join(sources, "")))
	members := int64(len(entries))
	for _, k := range kids {
		members += k.([]any)[4].(int64)
	}
	budget, early := int64(120), int64(8)
	id := scope
	if scope == "" {
		id = string(make([]byte, 16))
		if label == "" {
			budget, early = 240, 0
		}
	}
	said := []any{}
	for _, s := range chosenFrom(texts, budget, early) {
		said = append(said, []any{[]byte(s.fact), s.created, s.place, s.text})
	}
	rec := dict{"v": 1, "kind": "digest", "at": digitsOf(first, at), "sem": binary.BigEndian.AppendUint64(nil, sem),
		"kids": kids, "size": size, "text": said, "facts": facts, "label": label, "scope": []byte(id),
		"scopes": scopes, "source": source[:], "tokens": tokens, "entries": entries, "members": members}
	if until != nil {
		rec["until"] = until
	}
	d.made[scope+"/"+label] = rec
	return rec, recordCID(rec)
}

// digestSentences are the sentences of a text by clause 29.5.
func digestSentences(s string) []string {
	var out []string
	for _, one := range sentencesOf(s, digestText) {
		for one != "" {
			n := sentencePart(one)
			if part := strings.TrimSpace(one[:n]); part != "" {
				out = append(out, escapeLine(part))
			}
			one = one[n:]
		}
	}
	return out
}

// sentencePart is the length of the first part of a sentence.
func sentencePart(s string) int {
	rs := []rune(s)
	if len(rs) <= 300 {
		return len(s)
	}
	head := string(rs[:300])
	blank, plain := 0, 0
	for i := 1; i < len(head); i++ {
		if !strings.ContainsRune(" \n\t", rune(head[i])) {
			continue
		}
		blank = i
		before := head[strings.LastIndexAny(head[:i], " \n\t")+1 : i]
		after, _, _ := strings.Cut(s[i+1:], " ")
		if i > len(head)/3 && plainWord(before) && plainWord(after) {
			plain = i
		}
	}
	if plain > 0 {
		return plain
	}
	if blank > 0 {
		return blank
	}
	return len(head)
}

func plainWord(w string) bool {
	negations := strings.Fields(`not no never none nor neither without cannot nicht kein keine nie pas jamais sans
		nunca sin non mai senza niet geen não`)
	return !strings.ContainsAny(w, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") &&
		!has(negations, strings.Trim(w, ".,;:!?\"'()")) && !strings.HasSuffix(w, "n't")
}

func sortSaid(list []quoting) {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.created != b.created {
			return a.created < b.created
		}
		if c := bytes.Compare([]byte(a.fact), []byte(b.fact)); c != 0 {
			return c < 0
		}
		return a.place < b.place
	})
}

// chosenFrom is clause 29.5.
func chosenFrom(all []quoting, budget, early int64) []quoting {
	list := append([]quoting(nil), all...)
	sortSaid(list)
	weight, names := map[string]int64{}, map[string]bool{}
	seen := map[string]bool{}
	var from []quoting
	for _, s := range list[:min(len(list), 2000)] {
		if seen[s.text] {
			continue
		}
		seen[s.text] = true
		terms := termsOf(s.text)
		for t := range terms {
			weight[t]++
		}
		for _, word := range strings.Split(s.text, " ")[1:] {
			if word != "" && word[0] >= 'A' && word[0] <= 'Z' {
				for t := range termsOf(word) {
					names[t] = true
				}
			}
		}
		if len(terms) > 0 && tokensOf(s.text) <= budget {
			from = append(from, s)
		}
	}
	for t, n := range weight {
		weight[t] = logQ16(uint64(1 + n))
		if names[t] || strings.ContainsAny(t, "0123456789") {
			weight[t] += 2 * one
		}
	}
	for t := range termsOf("wow hey hi hello thanks thank yeah yes oh ok okay bye lol haha sure great awesome cool nice " +
		"amazing glad totally definitely really absolutely congrats congratulations") {
		if weight[t] > 0 {
			weight[t] = 0
		}
	}
	covered, taken := map[string]bool{}, map[int]bool{}
	var out []quoting
	for len(out) < 64 {
		best, most := -1, int64(0)
		for i, s := range from {
			fresh, other := int64(0), int64(0)
			for t := range termsOf(s.text) {
				if covered[t] {
					other += weight[t]
				} else {
					fresh += weight[t]
				}
			}
			if taken[i] || tokensOf(s.text) > budget || fresh == 0 {
				continue
			}
			v := fresh + other*8/16
			if s.place == 0 {
				v += v * 8 / 16
			}
			n := int64(len(from))
			v += v * early / 16 * ((n - int64(i)) * one / n) / one
			if v /= tokensOf(s.text) + 12; v > most {
				best, most = i, v
			}
		}
		if best < 0 {
			break
		}
		taken[best] = true
		budget -= tokensOf(from[best].text)
		out = append(out, from[best])
		for t := range termsOf(from[best].text) {
			covered[t] = true
		}
	}
	sortSaid(out)
	return out
}
