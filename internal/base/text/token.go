package text

import "strings"

// EachToken calls yield with the terms that Each yields and the token of each: the folded word or part before
// stemming, or the bigram itself.
func (a *Analyzer) EachToken(s string, yield func(token, term string) bool) {
	sc := a.scanner(s)
	defer a.leave(sc)
	sc.yield = func(term string) bool {
		token := sc.token
		if sc.token = ""; token == "" {
			token = term
		}
		return yield(token, term)
	}
	sc.scan()
}

// EachOfField calls yield with the terms that Each yields, and with each unit of a longer run of Han, which a
// question may contain alone: unit is true for those.
func (a *Analyzer) EachOfField(s string, yield func(term string, unit bool) bool) {
	sc := a.scanner(s)
	defer a.leave(sc)
	sc.yield = func(term string) bool { return yield(term, false) }
	sc.unit = func(term string) bool { return yield(term, true) }
	sc.scan()
}

// Cased returns the length of a term in code points if all are lower-case letters of a script that has cases, such
// as Latin, Greek or Cyrillic; otherwise 0.
func Cased(term string) int {
	n := 0
	for pos := 0; pos < len(term); n++ {
		_, entry, width := decode(term, pos)
		if entry&classMask != classLower {
			return 0
		}
		pos += width
	}
	return n
}

// NearStopWord reports whether a token is one edit of clause 9.10 away from an English stop word of
// the same first letter.
func NearStopWord(token string) bool {
	// No stop word is longer than this, or has other characters.
	const longest, letters = 12, "abcdefghijklmnopqrstuvwxyz'"
	t := []rune(token)
	if len(t) > longest+1 {
		return false
	}
	buf := make([]rune, 0, longest+2)
	is := func(parts ...[]rune) bool {
		buf = buf[:0]
		for _, p := range parts {
			buf = append(buf, p...)
		}
		return isStopWord(string(buf))
	}
	for i := 1; i <= len(t); i++ {
		head, tail := t[:i], t[i:]
		for _, c := range letters {
			if is(head, []rune{c}, tail) || len(tail) > 0 && is(head, []rune{c}, tail[1:]) {
				return true
			}
		}
		if len(tail) > 0 && is(head, tail[1:]) ||
			len(tail) > 1 && is(head, []rune{tail[1], tail[0]}, tail[2:]) {
			return true
		}
	}
	return false
}

var british = strings.NewReplacer("our", "or", "is", "iz", "ys", "yz", "ogu", "og", "ll", "l", "ae", "e", "oe", "e", "gray", "grey")

// SameWord reports whether two analysed terms are one English word in its British and American spelling.
func SameWord(a, b string) bool {
	fold := func(s string) string {
		s = british.Replace(s)
		if head, ok := strings.CutSuffix(s, "er"); ok {
			return head + "r"
		}
		return s
	}
	return fold(a) == fold(b)
}
