package main

import "strings"

// The kinds of scalars of clause 6.10.
var (
	blanks6    = []rune{9, 10, 13, 32, 0xa0, 0x3000}
	softStops6 = []rune{'.', 0x2026}
	stops6     = append([]rune{'!', '?', 0x61f, 0x6d4, 0x964, 0x965}, softStops6...)
	wideStops6 = []rune{0x3002, 0xff01, 0xff1f, 0xff61}
	closers6   = []rune{'"', '\'', ')', ']', '}', 0x201d, 0x2019, 0xbb, 0x300d, 0x300f, 0xff09,
		0x3011, 0x300b}
	openers6 = []rune{'"', '\'', '(', '[', '{', 0x201c, 0x2018, 0xab, 0x300c, 0x300e, 0xff08,
		0x3010, 0x300a}
	abbreviations6 = []string{"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Jr", "Sr", "vs", "e.g",
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
	for i > 0 && !oneOf(rs[i-1], blanks6, openers6) {
		i--
	}
	word := rs[i:]
	return len(word) == 1 && text6.class[word[0]] == "Upper" || has(abbreviations6, string(word))
}

// sentenceEnds are the ends of the sentences of a text.
func sentenceEnds(rs []rune) []int {
	var ends []int
	for i := 0; i < len(rs); {
		if oneOf(rs[i], blanks6) {
			after := runOf(rs, i, blanks6)
			n := lineBreaks(rs[i:after])
			if n > 1 || n == 1 && !lowerAt(rs, after) {
				ends = append(ends, after)
			}
			i = after
			continue
		}
		if !oneOf(rs[i], stops6, wideStops6) {
			i++
			continue
		}
		after := runOf(rs, i, stops6, wideStops6, closers6)
		run := rs[i:after]
		beyond := runOf(rs, after, blanks6)
		switch {
		case !all(run, stops6, closers6) || after == len(rs):
			ends = append(ends, after)
		case beyond == after:
		case all(run, softStops6, closers6) && lowerAt(rs, beyond):
		case run[0] == '.' && all(run[1:], closers6) && abbreviation(rs[:i]):
		default:
			ends = append(ends, after)
		}
		i = after
	}
	return append(ends, len(rs))
}

func stripped(rs []rune) []rune {
	for len(rs) > 0 && oneOf(rs[0], blanks6) {
		rs = rs[1:]
	}
	for len(rs) > 0 && oneOf(rs[len(rs)-1], blanks6) {
		rs = rs[:len(rs)-1]
	}
	return rs
}

// cut divides a stripped sentence of more than n.
func cut(rs []rune, n int) [][]rune {
	if len(rs) <= n {
		return [][]rune{rs}
	}
	at := n
	for i := n; i > 0; i-- {
		if oneOf(rs[i-1], blanks6) {
			at = i
			break
		}
	}
	return append([][]rune{stripped(rs[:at])}, cut(stripped(rs[at:]), n)...)
}

// span is a part of a text.
type span struct{ from, to int }

// sentenceSpans are the places of the sentences of at most n.
func sentenceSpans(rs []rune, n int) []span {
	var out []span
	start := 0
	for _, end := range sentenceEnds(rs) {
		for _, part := range cut(stripped(rs[start:end]), n) {
			if len(part) > 0 {
				from := runOf(rs, start, blanks6)
				start = from + len(part)
				out = append(out, span{from, start})
			}
		}
		start = end
	}
	return out
}

// sentencesOf are the sentences of a text.
func sentencesOf(s string, n int) []string {
	rs := []rune(s)
	out := []string{}
	for _, at := range sentenceSpans(rs, n) {
		out = append(out, string(rs[at.from:at.to]))
	}
	return out
}
