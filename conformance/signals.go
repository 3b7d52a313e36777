package main

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// signal25 is a signal of clause 25.3.
type signal25 struct {
	relation, phrase string
	at               int
	cause, effect    string
}

// plain25 is a text made plain, and of each scalar of it the byte that it comes from.
func plain25(s string) (out []rune, at []int) {
	blank := false
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			r = 0
		}
		switch {
		case scalarKind(r) == "ignored":
			continue
		case !counts25(r):
			blank = len(out) > 0
			continue
		case blank:
			out, at, blank = append(out, ' '), append(at, i), false
		}
		for _, f := range foldOf(r) {
			out, at = append(out, f), append(at, i)
		}
	}
	return out, at
}

type listedSignal struct {
	relation, phrase string
	effectFirst      bool
}

func listedSignals() []listedSignal {
	var out []listedSignal
	for _, r := range []string{"causes", "enables", "prevents"} {
		for _, first := range []string{"cause", "effect"} {
			for _, e := range memWords.entries[r+": "+first+" first"] {
				out = append(out, listedSignal{r, e, first == "effect"})
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		return len([]rune(out[i].phrase)) > len([]rune(out[j].phrase))
	})
	return out
}

func plainString(s string) string {
	rs, _ := plain25(s)
	return string(rs)
}

// standsAt reports whether b is at i in a.
func standsAt(a, b []rune, i int) bool {
	return i+len(b) <= len(a) && string(a[i:i+len(b)]) == string(b)
}

// wholeWords reports whether a span has whole words.
func wholeWords(p []rune, from, to int) bool {
	meet := func(a, b rune) bool {
		return a == ' ' || b == ' ' || scalarKind(a) == "single" || scalarKind(b) == "single"
	}
	return (from == 0 || meet(p[from-1], p[from])) && (to == len(p) || meet(p[to-1], p[to]))
}

func stripped25(s string) string {
	return strings.Trim(s, " \t\n\r\u00a0\u3000,.;:!?，。、；：！？،-–—")
}

func signals25(s string) []signal25 {
	if rs := []rune(s); len(rs) > 8000 {
		s = string(rs[:8000])
	}
	rs := []rune(s)
	var out []signal25
	before := ""
	for _, at := range sentenceSpans(rs, 1000) {
		sentence := string(rs[at.from:at.to])
		out = append(out, sentenceSignals25(sentence, before, len(string(rs[:at.from])))...)
		before = sentence
	}
	return out[:min(len(out), 16)]
}

func sentenceSignals25(s, before string, base int) []signal25 {
	p, at := plain25(s)
	used := make([]bool, len(p))
	var out []signal25
	for _, l := range listedSignals() {
		head, tail, _ := strings.Cut(l.phrase, "…")
		look, second := []rune(plainString(head)), plainString(tail)
		for i := 0; i+len(look) <= len(p); {
			if !standsAt(p, look, i) {
				i++
				continue
			}
			from, to := i, i+len(look)
			i = to
			clash := false
			for k := from; k < to; k++ {
				clash = clash || used[k]
			}
			if clash || !wholeWords(p, from, to) || !strings.Contains(string(p[to:]), second) {
				continue
			}
			for k := from; k < to; k++ {
				used[k] = true
			}
			if negated25(p, from, to, l.relation) || inList("passives", keyOfName(l.phrase)) && passive25(p, from) {
				continue
			}
			rest := ""
			if to < len(p) {
				rest = s[at[to]:]
			}
			sig := signal25{relation: l.relation, phrase: l.phrase, at: base + at[from]}
			left, right := stripped25(s[:at[from]]), stripped25(rest)
			if left == "" {
				left = before
				if comma := strings.IndexAny(rest, ",，、،"); l.effectFirst && comma >= 0 {
					left, right = stripped25(rest[comma:]), stripped25(rest[:comma])
				}
			}
			sig.cause, sig.effect = left, right
			if l.effectFirst {
				sig.cause, sig.effect = right, left
			}
			out = append(out, sig)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].at < out[j].at })
	return out
}

// passive25 reports whether a form of to be stands before a place, or before an adverb before it.
func passive25(p []rune, from int) bool {
	if endsBefore(p, from, "passive before") >= 0 {
		return true
	}
	adverb := endsBefore(p, from, "passive between")
	return adverb >= 0 && endsBefore(p, adverb, "passive before") >= 0
}

// endsBefore is where an entry of a list begins that ends before a place, -1 for none.
func endsBefore(p []rune, place int, list string) int {
	if place > 0 && p[place-1] == ' ' {
		place--
	}
	for _, e := range memWords.entries[list] {
		w := []rune(plainString(e))
		if at := place - len(w); at >= 0 && standsAt(p, w, at) && wholeWords(p, at, place) {
			return at
		}
	}
	return -1
}

func negated25(p []rune, from, to int, relation string) bool {
	words := strings.Fields(string(p[:from]))
	for _, w := range words[max(0, len(words)-3):] {
		if inList("negations", w) {
			return true
		}
	}
	for k := max(0, from-2); k < from; k++ {
		if inList("negations of one character", string(p[k])) {
			return true
		}
	}
	rest := to
	if rest < len(p) && p[rest] == ' ' {
		rest++
	}
	for _, e := range memWords.entries["negations behind"] {
		w := []rune(keyOfName(e))
		if relation != "causes" && standsAt(p, w, rest) && wholeWords(p, rest, rest+len(w)) {
			return true
		}
	}
	return false
}
