package main

import (
	"math/big"
	"sort"
	"strings"
)

// word is a word of clause 11.2.
type word struct {
	text    string
	telling bool
}

var negations = []string{"no", "not", "never", "none", "nor", "neither", "nobody", "nothing",
	"nowhere", "without", "cannot", "except", "unless",
	"nicht", "kein", "keine", "keinem", "keinen", "keiner", "keines", "nichts", "nie",
	"niemals", "niemand", "ohne", "weder",
	"aucun", "aucune", "jamais", "ne", "pas", "rien", "sans",
	"jamas", "nada", "nadie", "ningun", "ninguna", "nunca", "sin", "tampoco",
	"mai", "nessuna", "nessuno", "niente", "non", "senza",
	"nao", "nem", "nenhum", "nenhuma", "ninguem", "sem",
	"без", "не", "нет", "ни", "никогда",
	"لا", "لم", "لن", "ليس",
}

func isNegation(w string) bool {
	return has(negations, w) || strings.HasSuffix(w, "n't") || strings.HasPrefix(w, "n'")
}

// wordsOf are the words of a text.
func wordsOf(s string) []word {
	ps := pointsOf(s)
	var out []word
	for i := 0; i < len(ps); {
		j := i + 1
		switch {
		case inWord(ps, i):
			for j < len(ps) && inWord(ps, j) {
				j++
			}
			w := word{text: tokenOf(ps[i:j])}
			w.telling = isNegation(w.text)
			for _, p := range ps[i:j] {
				if p.class == "Digit" || p.class == "Upper" && !text6.stop[w.text] {
					w.telling = true
				}
			}
			out = append(out, w)
		case isBigram(ps[i].class):
			for j < len(ps) && ps[j].class == ps[i].class {
				j++
			}
			for _, b := range bigrams(ps[i:j]) {
				out = append(out, word{b, true})
			}
		}
		i = j
	}
	return out
}

// compared are the texts of a node that similarity looks at.
func (s *store) compared(node dict) []string {
	texts := []string{text(node, "summary"), text(node, "context"), s.contentText(node)}
	for i, t := range texts {
		rs := []rune(t)
		texts[i] = string(rs[:min(len(rs), 8192)])
	}
	return texts
}

func (s *store) termSet(node dict) map[string]bool {
	set := map[string]bool{}
	for _, t := range s.compared(node) {
		for _, term := range analyse(t, "en") {
			set[term] = true
		}
	}
	return set
}

// similarity is clause 11.2.
func similarity(a, b map[string]bool) int64 {
	all := map[string]bool{}
	both := int64(0)
	for t := range a {
		all[t] = true
		if b[t] {
			both++
		}
	}
	for t := range b {
		all[t] = true
	}
	if len(all) == 0 {
		return 0
	}
	return both * one / int64(len(all))
}

// repeats is clause 11.4: whether two nodes say the same.
func (s *store) repeats(x, y string) bool {
	a, b := s.nodes[x], s.nodes[y]
	if text(a, "type") != text(b, "type") ||
		text(s.marks["n"+x], "state") != text(s.marks["n"+y], "state") {
		return false
	}
	for _, name := range []string{"validFrom", "validTo"} {
		if string(encode(a[name])) != string(encode(b[name])) {
			return false
		}
	}
	for name, v := range a["props"].(dict) {
		if w, both := b["props"].(dict)[name]; both && string(encode(v)) != string(encode(w)) {
			return false
		}
	}
	if similarity(s.termSet(a), s.termSet(b)) < 58982 {
		return false
	}
	telling := map[string]bool{}
	var words [2][]word
	for i, n := range []dict{a, b} {
		for _, t := range s.compared(n) {
			words[i] = append(words[i], wordsOf(t)...)
		}
		for _, w := range words[i] {
			telling[w.text] = telling[w.text] || w.telling
		}
	}
	said := [2]string{}
	for i, ws := range words {
		for _, w := range ws {
			if telling[w.text] {
				said[i] += w.text + "\n"
			}
		}
	}
	return said[0] == said[1]
}

// diversified is clause 11.3.
func (q request) diversified(st *store, order []hit) []hit {
	if q.mmr == nil {
		return order
	}
	rest := append([]hit{}, order[:min(len(order), 100)]...)
	sets := map[string]map[string]bool{}
	for _, h := range rest {
		sets[h.id] = st.termSet(st.nodes[h.id])
	}
	var out []hit
	best := int64(0)
	for len(rest) > 0 && rest[0].tier > 0 {
		out, rest = append(out, rest[0]), rest[1:]
	}
	for _, h := range rest {
		best = max(best, h.score)
	}
	for len(rest) > 0 {
		at, most := 0, (*big.Int)(nil)
		for i, h := range rest {
			v := new(big.Int)
			if best > 0 {
				v.Mul(big.NewInt(h.score), big.NewInt(one)).Div(v, big.NewInt(best))
			}
			near := int64(0)
			for _, o := range out {
				near = max(near, similarity(sets[h.id], sets[o.id]))
			}
			v.Mul(v, big.NewInt(*q.mmr)).Sub(v, big.NewInt((one-*q.mmr)*near))
			if most == nil || v.Cmp(most) > 0 {
				at, most = i, v
			}
		}
		out = append(out, rest[at])
		rest = append(rest[:at:at], rest[at+1:]...)
	}
	return append(out, order[min(len(order), 100):]...)
}

// arranged is clause 11.5.
func (q request) arranged(st *store, items []item) []item {
	if q.order == "document" {
		items, _ = q.document(st, items)
	}
	if q.order != "time" {
		return items
	}
	sort.Slice(items, func(i, j int) bool {
		a, b := number(st.nodes[items[i].id], "created"), number(st.nodes[items[j].id], "created")
		if a != b {
			return a < b
		}
		return items[i].id < items[j].id
	})
	return items
}

// shown is one record of a session: what its receipt shows.
type shown struct {
	seq int64
	ids []string
}

// unseen is clause 13.4: the ids to exclude and unseenFrom. The records are newest first.
func unseen(own []string, records []shown) ([]string, int64) {
	out := map[string]bool{}
	for _, id := range own {
		out[id] = true
	}
	from := int64(0)
	for i, r := range records {
		next := map[string]bool{}
		for id := range out {
			next[id] = true
		}
		for _, id := range r.ids {
			next[id] = true
		}
		if i == 1000 || len(next) > 1000 {
			from = r.seq + 1
			break
		}
		out = next
	}
	var ids []string
	for id := range out {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids, from
}
