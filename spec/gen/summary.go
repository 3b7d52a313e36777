package main

import (
	"math/big"
	"sort"
	"strings"
)

// The kinds of scalars of clause 20.3.
var (
	blanks20    = []rune{9, 10, 13, 32, 0xa0, 0x3000}
	softStops20 = []rune{'.', 0x2026}
	stops20     = append([]rune{'!', '?', 0x61f, 0x6d4, 0x964, 0x965}, softStops20...)
	wideStops20 = []rune{0x3002, 0xff01, 0xff1f, 0xff61}
	closers20   = []rune{'"', '\'', ')', ']', '}', 0x201d, 0x2019, 0xbb, 0x300d, 0x300f, 0xff09,
		0x3011, 0x300b}
	openers20 = []rune{'"', '\'', '(', '[', '{', 0x201c, 0x2018, 0xab, 0x300c, 0x300e, 0xff08,
		0x3010, 0x300a}
	abbreviations20 = []string{"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Jr", "Sr", "vs", "e.g",
		"i.e", "cf", "Fig"}
)

func oneOf(r rune, kinds ...[]rune) bool {
	for _, kind := range kinds {
		for _, x := range kind {
			if x == r {
				return true
			}
		}
	}
	return false
}

// runOf is the end of the run of scalars of some kinds.
func runOf(rs []rune, i int, kinds ...[]rune) int {
	for i < len(rs) && oneOf(rs[i], kinds...) {
		i++
	}
	return i
}

func all(rs []rune, kinds ...[]rune) bool { return runOf(rs, 0, kinds...) == len(rs) }

func lowerAt(rs []rune, i int) bool { return i < len(rs) && text6.class[rs[i]] == "Lower" }

// lineBreaks counts those of a run of blanks.
func lineBreaks(run []rune) int {
	s := strings.ReplaceAll(string(run), "\r\n", "\n")
	return strings.Count(s, "\n") + strings.Count(s, "\r")
}

func abbreviation(rs []rune) bool {
	i := len(rs)
	for i > 0 && !oneOf(rs[i-1], blanks20, openers20) {
		i--
	}
	word := rs[i:]
	return len(word) == 1 && text6.class[word[0]] == "Upper" || has(abbreviations20, string(word))
}

// sentenceEnds are the ends of the sentences of a text.
func sentenceEnds(rs []rune) []int {
	var ends []int
	for i := 0; i < len(rs); {
		if oneOf(rs[i], blanks20) {
			after := runOf(rs, i, blanks20)
			n := lineBreaks(rs[i:after])
			if n > 1 || n == 1 && !lowerAt(rs, after) {
				ends = append(ends, after)
			}
			i = after
			continue
		}
		if !oneOf(rs[i], stops20, wideStops20) {
			i++
			continue
		}
		after := runOf(rs, i, stops20, wideStops20, closers20)
		run := rs[i:after]
		beyond := runOf(rs, after, blanks20)
		switch {
		case !all(run, stops20, closers20) || after == len(rs):
			ends = append(ends, after)
		case beyond == after:
		case all(run, softStops20, closers20) && lowerAt(rs, beyond):
		case run[0] == '.' && all(run[1:], closers20) && abbreviation(rs[:i]):
		default:
			ends = append(ends, after)
		}
		i = after
	}
	return append(ends, len(rs))
}

func stripped(rs []rune) []rune {
	for len(rs) > 0 && oneOf(rs[0], blanks20) {
		rs = rs[1:]
	}
	for len(rs) > 0 && oneOf(rs[len(rs)-1], blanks20) {
		rs = rs[:len(rs)-1]
	}
	return rs
}

// sentencesOf are the sentences of a text.
func sentencesOf(s string) []string {
	rs := []rune(s)
	out := []string{}
	start := 0
	for _, end := range sentenceEnds(rs) {
		rest := stripped(rs[start:end])
		for len(rest) > 0 {
			n := min(500, len(rest))
			if piece := stripped(rest[:n]); len(piece) > 0 {
				out = append(out, string(piece))
			}
			rest = rest[n:]
		}
		start = end
	}
	return out
}

// quote is a sentence of an item.
type quote struct {
	id, text string
	terms    map[string]bool
}

func termsOf(s string) map[string]bool {
	set := map[string]bool{}
	for _, t := range analyse(s, "en") {
		set[t] = true
	}
	return set
}

// counting are the sentences that a summary is chosen from.
func (q request) counting(st *store, items []item) []quote {
	var out []quote
	seen := map[string]bool{}
	for _, it := range items {
		node := st.nodes[it.id]
		texts := []string{text(node, "context"), text(node, "summary")}
		if has(q.show, "content") {
			texts = append(texts, st.contentText(node))
		}
		for _, t := range texts {
			most := int64(8192)
			if q.summaryCap > 0 {
				most = min(most, q.summaryCap)
			}
			rs := []rune(t)
			rs = rs[:min(len(rs), int(most))]
			for _, s := range sentencesOf(string(rs)) {
				terms := termsOf(s)
				if !seen[s] && len(terms) > 0 && len(out) < 2000 {
					out = append(out, quote{it.id, s, terms})
				}
				seen[s] = true
			}
		}
	}
	return out
}

// summary is clause 20.3.
func (q request) summary(st *store, items []item) []quote {
	list := q.counting(st, items)
	if q.summarize == 0 || len(list) == 0 {
		return nil
	}
	weight := map[string]int64{}
	for _, s := range list {
		for t := range s.terms {
			weight[t]++
		}
	}
	squares := int64(0)
	asked := termsOf(q.text)
	for t := range weight {
		if asked[t] {
			weight[t] *= 2
		}
		squares += weight[t] * weight[t]
	}
	relevance := make([]int64, len(list))
	top := int64(1)
	for i, s := range list {
		sum := int64(0)
		for t := range s.terms {
			sum += weight[t]
		}
		root := new(big.Int).Sqrt(big.NewInt(int64(len(s.terms)) * squares)).Int64()
		relevance[i] = one * sum / root
		top = max(top, relevance[i])
	}
	var chosen []int
	for int64(len(chosen)) < q.summarize && len(chosen) < len(list) {
		best, most := -1, int64(0)
		for i, s := range list {
			near := int64(0)
			for _, j := range chosen {
				near = max(near, similarity(s.terms, list[j].terms))
			}
			v := 45875*(one*relevance[i]/top) - 19661*near
			if !contains(chosen, i) && (best < 0 || v > most) {
				best, most = i, v
			}
		}
		chosen = append(chosen, best)
	}
	sort.Ints(chosen)
	var out []quote
	for _, i := range chosen {
		out = append(out, list[i])
	}
	return out
}

func shownSummary(list []quote) string {
	if len(list) == 0 {
		return ""
	}
	out := "Summary:\n"
	for _, s := range list {
		out += "  " + uuid(s.id) + ": " + escapeLine(s.text) + "\n"
	}
	return out
}
