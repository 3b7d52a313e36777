package main

import (
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	weakMarks   = ".!?\u2026"
	strongMarks = "\u3002\uff01\uff1f\uff61"
	closers     = "\"')]}\u201d\u2019\u00bb\u300d\u300f\uff09\u3011"
)

func isWhite(r rune) bool { return strings.ContainsRune(" \t\n\r", r) }

// sentences are those of clause 11.6, before long ones are cut.
func sentences(rs []rune) [][]rune {
	var out [][]rune
	for len(rs) > 0 {
		n := 0
		for n < len(rs) && !endsAt(rs, n) {
			n++
		}
		out = append(out, rs[:n])
		rs = rs[n:]
	}
	return out
}

// endsAt reports whether the first sentence of rs is the first n characters.
func endsAt(rs []rune, n int) bool {
	if n == 0 {
		return false
	}
	if rs[n-1] == '\n' {
		return true
	}
	end := n // behind the run of marks and closers
	for end > 0 && isWhite(rs[end-1]) {
		end--
	}
	if isWhite(rs[n]) {
		return false
	}
	begin := end
	for begin > 0 && strings.ContainsRune(weakMarks+strongMarks+closers, rs[begin-1]) {
		begin--
	}
	for begin < end && strings.ContainsRune(closers, rs[begin]) {
		begin++
	}
	if begin == end {
		return false
	}
	if end < n {
		return true
	}
	return strings.ContainsAny(string(rs[begin:end]), strongMarks) &&
		!strings.ContainsRune(weakMarks+strongMarks+closers, rs[n])
}

// shortSentences cuts those of more than 240.
func shortSentences(rs []rune) [][]rune {
	var out [][]rune
	for _, s := range sentences(rs) {
		for len(s) > 240 {
			at := 240
			for n := 240; n > 0; n-- {
				if s[n-1] == ' ' {
					at = n
					break
				}
			}
			out = append(out, s[:at])
			s = s[at:]
		}
		out = append(out, s)
	}
	return out
}

// span is a passage: characters of a text.
type span struct{ from, to int }

func passagesOf(rs []rune) []span {
	var raw []span
	at, open := 0, false
	for _, s := range shortSentences(rs) {
		if open && at+len(s)-raw[len(raw)-1].from > 240 {
			open = false
		}
		if !open {
			raw = append(raw, span{at, at})
			open = true
		}
		at += len(s)
		last := &raw[len(raw)-1]
		last.to = at
		if trimmed(string(s)) == "" && last.to-last.from >= 120 {
			open = false
		}
	}
	var out []span
	for _, p := range raw {
		for p.from < p.to && isWhite(rs[p.from]) {
			p.from++
		}
		for p.from < p.to && isWhite(rs[p.to-1]) {
			p.to--
		}
		if p.from < p.to {
			out = append(out, p)
		}
	}
	return out
}

// trim is clause 11.6 for one text.
func (q request) trim(st *store, s string) string {
	cut := s[:min(len(s), 65536)]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	rs := []rune(cut)
	list := passagesOf(rs)
	if len(list) == 0 {
		return ""
	}
	c := st.collect()
	query := q.terms(st, c)
	weight := make([]int64, len(list))
	order := make([]int, len(list))
	for i, p := range list {
		order[i] = i
		part := string(rs[p.from:p.to])
		here := append(analyse(part, "en"), hanUnits(part)...)
		for _, t := range unique(query) {
			if term, read := reads(t); c.df[term] > 0 && has(here, term) {
				weight[i] += halved(c.idf(term)*times(query, t), read)
			}
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return weight[order[a]] > weight[order[b]] })
	taken := map[int]bool{}
	left := *q.passageTokens
	for n, i := range order {
		t := tokensOf(escapeLine(string(rs[list[i].from:list[i].to])))
		if n > 0 && t > left {
			break
		}
		left -= t
		taken[i] = true
	}
	out, last := "", -1
	for i, p := range list {
		if !taken[i] {
			continue
		}
		if last < 0 && i > 0 {
			out += "<...> "
		} else if last >= 0 && last+1 == i {
			out += string(rs[list[last].to:p.from])
		} else if last >= 0 {
			out += " <...> "
		}
		out += string(rs[p.from:p.to])
		last = i
	}
	if last+1 < len(list) || len(cut) < len(s) {
		out += " <...>"
	}
	return out
}
