package main

import (
	"sort"
	"unicode/utf8"
)

func passagesOf(rs []rune) []span {
	var out []span
	for _, one := range sentenceSpans(rs, 240) {
		if len(out) > 0 {
			p := &out[len(out)-1]
			between := rs[p.to:one.from]
			if one.to-p.from <= 240 && !(p.to-p.from >= 120 && lineBreaks(between) >= 2) {
				p.to = one.to
				continue
			}
		}
		out = append(out, one)
	}
	return out
}

// mostTokens are those of the passages of a text.
func (q request) mostTokens() int64 {
	switch {
	case q.passageTokens != nil:
		return *q.passageTokens
	case q.packing == "passages":
		return 256
	}
	return 64
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
	left := q.mostTokens()
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
