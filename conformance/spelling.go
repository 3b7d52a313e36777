package main

import (
	"sort"
	"strings"
)

// A term of a text that is read as another is written as both with a space between, which no term
// has.

// reads is what a term of a text is looked up as, and whether that is another term.
func reads(t string) (as string, read bool) {
	term, other, read := strings.Cut(t, " ")
	if read {
		return other, true
	}
	return term, false
}

// halved is what a term adds to a score, by what it would add if it were not read as another.
func halved(n int64, read bool) int64 {
	if read {
		return max(1, n*32768/65536)
	}
	return n
}

func times(list []string, s string) int64 {
	n := int64(0)
	for _, t := range list {
		if t == s {
			n++
		}
	}
	return n
}

// readAs are the terms of a text that is part of the query, each as what it is looked up as.
func readAs(query []string, part string) []string {
	as := map[string]string{}
	for _, t := range query {
		term, _, _ := strings.Cut(t, " ")
		as[term], _ = reads(t)
	}
	var out []string
	for _, term := range analyse(part, "en") {
		out = append(out, as[term])
	}
	return out
}

// firstAs is the first of some terms that is looked up as t, empty where none is.
func firstAs(terms []string, t string) string {
	for _, term := range terms {
		if as, _ := reads(term); as == t {
			return term
		}
	}
	return ""
}

// terms are the terms of the text in order, those that clause 9.10 reads as others included.
func (q request) terms(st *store, c collection) []string { return q.reads(st, c, q.text) }

// reads are the terms of a text, read as those of the request's are.
func (q request) reads(st *store, c collection, of string) []string {
	list := analyse(of, "en")
	as := map[string]string{}
	if q.spelling == "on" && q.runsText() && len(q.tiers(st)) == 0 {
		as = c.readings(q.text)
	}
	for i, t := range list {
		if other, ok := as[t]; ok {
			list[i] = t + " " + other
		}
	}
	return list
}

// wordOf is the first token of a text that becomes a term.
func wordOf(of, term string) string {
	for _, token := range analyse(of, "none") {
		if made := languageTerm(token, "en"); len(made) == 1 && made[0] == term {
			return token
		}
	}
	return ""
}

// readings is clause 9.10: term to what it is read as.
func (c collection) readings(of string) map[string]string {
	all := analyse(of, "en")
	out := map[string]string{}
	looked := 0
	distinct := unique(all)
	for _, t := range distinct[:min(len(distinct), 256)] {
		lower := true
		for _, r := range t {
			lower = lower && text6.class[r] == "Lower"
		}
		if c.df[t] > 0 || !lower || len([]rune(t)) < 4 {
			continue
		}
		if looked++; looked > 16 {
			break
		}
		near := false
		for stop := range text6.stop {
			w := wordOf(of, t)
			near = near || stop[0] == w[0] && editsOf(w, stop, 1) <= 1
		}
		if as := c.closest(t); !near && as != "" && !has(all, as) {
			out[t] = as
		}
	}
	return out
}

func (c collection) closest(t string) string {
	limit := 1
	if len([]rune(t)) >= 8 {
		limit = 2
	}
	var close []string
	for other := range c.df {
		if []rune(other)[0] == []rune(t)[0] && editsOf(t, other, replacing(t)) <= limit {
			close = append(close, other)
		}
	}
	sort.Slice(close, func(i, j int) bool {
		a, b := close[i], close[j]
		if x, y := editsOf(t, a, replacing(t)), editsOf(t, b, replacing(t)); x != y {
			return x < y
		}
		if c.df[a] != c.df[b] {
			return c.df[a] > c.df[b]
		}
		return a < b
	})
	if len(close) == 0 {
		return ""
	}
	return close[0]
}

// replacing is the r of clause 9.10 for a term.
func replacing(t string) int {
	if len([]rune(t)) == 4 {
		return 2
	}
	return 1
}

// editsOf is the table of clause 9.10.
func editsOf(s, t string, r int) int {
	a, b := []rune(s), []rune(t)
	d := map[[2]int]int{}
	for i := 0; i <= len(a); i++ {
		for j := 0; j <= len(b); j++ {
			if i == 0 || j == 0 {
				d[[2]int{i, j}] = i + j
				continue
			}
			same := r
			if a[i-1] == b[j-1] {
				same = 0
			}
			n := min(d[[2]int{i - 1, j}]+1, d[[2]int{i, j - 1}]+1, d[[2]int{i - 1, j - 1}]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, d[[2]int{i - 2, j - 2}]+1)
			}
			d[[2]int{i, j}] = n
		}
	}
	return d[[2]int{len(a), len(b)}]
}

func (q request) spellingWarnings(st *store, c collection, a *answer) {
	for _, t := range unique(q.terms(st, c)) {
		if as, read := reads(t); read {
			term, _, _ := strings.Cut(t, " ")
			a.warnings = append(a.warnings, dict{"code": "respelled",
				"params": dict{"word": wordOf(q.text, term), "term": as}})
		}
	}
}
