package main

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// placed is a code point and where it stands in a text, in bytes.
type placed struct {
	point
	at, end int
}

func placedPoints(s string) []placed {
	var out []placed
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		for _, p := range pointsOf(s[i : i+n]) {
			out = append(out, placed{p, i, i + n})
		}
		i += n
	}
	return out
}

// surface is a word of clause 9.8.
type surface struct {
	token                   string
	at, end                 int
	capital, inner, digital bool
}

func surfaces(s string) []surface {
	at := placedPoints(s)
	var ps []point
	for _, p := range at {
		ps = append(ps, p.point)
	}
	var out []surface
	for i := 0; i < len(ps); {
		j := i + 1
		switch {
		case inWord(ps, i):
			for j < len(ps) && inWord(ps, j) {
				j++
			}
			w := surface{token: tokenOf(ps[i:j]), at: at[i].at, end: at[j-1].end}
			if cut := strings.TrimSuffix(w.token, "'s"); cut != "" {
				w.token = cut
			}
			for n, p := range ps[i:j] {
				w.digital = w.digital || p.class == "Digit"
				w.capital = w.capital || p.class == "Upper" && n == 0
				w.inner = w.inner || p.class == "Upper" && n > 0
			}
			out = append(out, w)
		case isBigram(ps[i].class):
			for j < len(ps) && ps[j].class == ps[i].class {
				j++
			}
			for _, b := range bigrams(ps[i:j]) {
				out = append(out, surface{token: b, at: at[i].at, end: at[j-1].end})
			}
		}
		i = j
	}
	return out
}

// phrase is an entity.
type phrase struct {
	words []surface
	name  bool // whether capitals count
}

func (p phrase) key() string {
	var tokens []string
	for _, w := range p.words {
		tokens = append(tokens, w.token)
	}
	return strings.Join(tokens, " ")
}

func (p phrase) terms() []string {
	var out []string
	for _, w := range p.words {
		out = append(out, languageTerm(w.token, "en")...)
	}
	return unique(out)
}

// unit is a unit.
type unit struct {
	words  []surface
	joints string // all that stands between its words
}

func (g unit) has(is func(surface) bool) bool {
	for _, w := range g.words {
		if is(w) {
			return true
		}
	}
	return false
}

func (g unit) capital() bool { return g.words[0].capital }
func (g unit) digital() bool { return g.has(func(w surface) bool { return w.digital }) }
func (g unit) inner() bool   { return g.has(func(w surface) bool { return w.inner }) }
func (g unit) end() int      { return g.words[len(g.words)-1].end }

func (g unit) abbreviation() bool {
	return len(g.words) == 1 && g.capital() && len([]rune(g.words[0].token)) <= 3
}

func entityUnits(s string) []unit {
	var out []unit
	for _, w := range surfaces(s) {
		if n := len(out); n > 0 && w.at > out[n-1].end() {
			between := s[out[n-1].end():w.at]
			if len([]rune(between)) <= 3 && strings.Trim(between, `_-/\.:@#+~`) == "" {
				out[n-1].words = append(out[n-1].words, w)
				out[n-1].joints += between
				continue
			}
		}
		out = append(out, unit{words: []surface{w}})
	}
	return out
}

// gap is what stands between two units; a full stop that belongs to an abbreviation is left out.
func gap(s string, a, b unit) string {
	if b.words[0].at < a.end() { // bigrams of one run
		return ""
	}
	between := s[a.end():b.words[0].at]
	if a.abbreviation() {
		between = strings.TrimPrefix(between, ".")
	}
	return between
}

func wordsIn(gs []unit) []surface {
	var out []surface
	for _, g := range gs {
		out = append(out, g.words...)
	}
	return out
}

// entitiesIn are the entities of a text.
func entitiesIn(s string) []phrase {
	var all []phrase
	for _, span := range spans(s) {
		all = append(all, phrase{words: surfaces(span)})
	}
	groups := entityUnits(s)
	for _, g := range groups {
		if g.inner() || g.digital() || strings.Trim(g.joints, "-") != "" {
			all = append(all, phrase{words: g.words})
		}
	}
	for i := 0; i < len(groups); i++ {
		if !groups[i].capital() {
			continue
		}
		j := i + 1
		for j < len(groups) && (groups[j].capital() || groups[j].digital()) {
			if g := gap(s, groups[j-1], groups[j]); g == "" || strings.Trim(g, " ") != "" {
				break
			}
			j++
		}
		run := groups[i:j]
		begins := i == 0 || strings.ContainsAny(gap(s, groups[i-1], groups[i]), ".!?\n\r")
		first := phrase{words: run[0].words}
		if !begins || len(run) > 1 && len(first.terms()) > 0 {
			all = append(all, phrase{wordsIn(run), true})
		}
		if begins {
			all = append(all, phrase{wordsIn(run[1:]), true})
		}
		i = j - 1
	}
	var out []phrase
	seen := map[string]bool{}
	for _, p := range all {
		if len(p.words) == 0 || len(p.words) > 16 || len(p.terms()) == 0 || seen[p.key()] {
			continue
		}
		seen[p.key()] = true
		out = append(out, p)
	}
	return out[:min(len(out), 32)]
}

// has reports whether a document has each of some terms.
func (d document) has(terms []string) bool {
	for _, t := range terms {
		n := int64(0)
		for f := range d.counts {
			n += d.counts[f][t]
		}
		if n == 0 {
			return false
		}
	}
	return true
}

// entitiesCounted are the entities that count.
func (q request) entitiesCounted(st *store, c collection, all []phrase) []phrase {
	type counted struct {
		phrase
		m int
	}
	var list []counted
	for _, p := range all {
		m := 0
		for id := range st.nodes {
			if c.docs[id].has(p.terms()) && q.passes(st, id) {
				m++
			}
		}
		list = append(list, counted{p, m})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].m < list[j].m })
	var out []phrase
	sum := 0
	for _, p := range list {
		if sum += p.m; sum > 2048 {
			break
		}
		out = append(out, p.phrase)
	}
	return out
}

// textsOf are the strings that are analysed for a node's fields, as far as entities count in them.
func (s *store) textsOf(node dict) []string {
	content := s.contentText(node)
	for n := 32768; len(content) > 32768; n-- {
		if content[n]&0xc0 != 0x80 {
			content = content[:n]
		}
	}
	texts := append(propTexts(node["props"].(dict)), cuesOf(node)...)
	return append(texts, text(node, "summary"), text(node, "context"), content, text(node, "type"))
}

func (p phrase) in(s string) bool {
	words := surfaces(s)
	for i := 0; i+len(p.words) <= len(words); i++ {
		all := true
		for j, w := range p.words {
			all = all && words[i+j].token == w.token &&
				(words[i+j].capital || !p.name || !w.capital)
		}
		if all {
			return true
		}
	}
	return false
}

// entityList is the list of the entity lane (clause 9.8).
func (q request) entityList(st *store, c collection) map[string]int64 {
	scores := map[string]int64{}
	for _, p := range q.entitiesCounted(st, c, entitiesIn(q.text)) {
		for id, node := range st.nodes {
			if !c.docs[id].has(p.terms()) || !q.passes(st, id) {
				continue
			}
			found := false
			for _, s := range st.textsOf(node) {
				found = found || p.in(s)
			}
			if !found {
				continue
			}
			for _, t := range p.terms() {
				scores[id] += c.idf(t)
			}
		}
	}
	var hs []hit
	for id, s := range scores {
		hs = append(hs, hit{id: id, score: s})
	}
	return best1000(hs)
}
