package compare

import "slices"

// Bounds of a moved phrase, in words: rule 7.
const (
	maxPhrase  = 8
	maxSubject = 6
)

// moved reports whether two sentences say the same although a phrase of time or place moved, or two joined names are in
// another order.
func (x *lexicon) moved(a, b []token) bool {
	if len(a) != len(b) {
		return false
	}
	if x.equal(a, b) {
		return true
	}
	pa, pb := x.paired(a), x.paired(b)
	return x.equal(pa, pb) || x.turned(pa, pb) || x.turned(pb, pa) ||
		x.name == "de" && (x.inverted(pa, pb) || x.inverted(pb, pa)) ||
		x.name == "zh" && (x.inserted(pa, pb) || x.inserted(pb, pa))
}

// begins reports whether a phrase of time or place may begin at a token.
func (x *lexicon) begins(list []token) bool {
	t := list[0]
	switch t.class {
	case classWeekday, classHabit, classDate, classTime, classMonth:
		return true
	case classWord:
		return x.front[t.form]
	case classSingle:
		word := ""
		for i := 0; i < len(list) && i < 2 && list[i].class == classSingle; i++ {
			word += list[i].form
			if x.front[word] {
				return true
			}
			word += " "
		}
	}
	return false
}

// turned reports whether b is a with a phrase from its beginning at the end.
func (x *lexicon) turned(a, b []token) bool {
	if x.name == "zh" || !x.begins(a) {
		return false
	}
	for n := 1; n <= maxPhrase && n < len(a); n++ {
		if x.equal(a, slices.Concat(b[len(b)-n:], b[:len(b)-n])) {
			return true
		}
	}
	return false
}

// inverted reports whether a has a phrase of time or place before verb and subject, and b has subject and verb first,
// and the phrase somewhere after them.
func (x *lexicon) inverted(a, b []token) bool {
	if !x.begins(a) {
		return false
	}
	for n := 1; n <= maxPhrase && n+1 < len(a); n++ {
		verb := a[n]
		if verb.class != classWord || verb.capital {
			continue
		}
		for s := 1; s <= maxSubject && s < len(b); s++ {
			if !x.same(&verb, &b[s], &agreement{}) {
				continue
			}
			for at := s + 1; at+n <= len(b); at++ {
				back := slices.Concat(b[at:at+n], b[s:s+1], b[:s], b[s+1:at], b[at+n:])
				if x.equal(a, back) {
					return true
				}
			}
		}
	}
	return false
}

// inserted reports whether a begins with a phrase of time that b has behind its subject. With 的
// around, it may belong to something else there.
func (x *lexicon) inserted(a, b []token) bool {
	of := func(t token) bool { return t.form == "的" }
	if !x.begins(a) || slices.ContainsFunc(a, of) {
		return false
	}
	for n := 1; n <= maxPhrase && n < len(a); n++ {
		for at := 1; at <= maxSubject && at+n <= len(b); at++ {
			if x.equal(a, slices.Concat(b[at:at+n], b[:at], b[at+n:])) {
				return true
			}
		}
	}
	return false
}

// paired returns the tokens with two names around an "and" at the beginning or the end sorted by form: their order does
// not matter.
func (x *lexicon) paired(list []token) []token {
	at := func(i int) bool {
		if i < 0 || i+2 >= len(list) {
			return false
		}
		a, and, b := &list[i], &list[i+1], &list[i+2]
		return a.class == classWord && b.class == classWord && a.capital && b.capital &&
			(and.form == "and" || and.form == "und" || and.form == "et" || and.form == "y")
	}
	out := list
	for k, i := range []int{0, len(list) - 3} {
		if k > 0 && i == 0 || !at(i) || list[i].form <= list[i+2].form {
			continue
		}
		out = slices.Clone(out)
		out[i], out[i+2] = out[i+2], out[i]
	}
	return out
}
