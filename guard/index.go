package guard

import "slices"

// index finds keywords by their first two bytes. Keywords are in lower case, texts in any.
type index struct {
	begins [1 << 10]uint64 // a bit for each pair that a keyword begins with
	words  map[uint16][]keyword
}

// keyword leads to the rules that ask for it.
type keyword struct {
	text string
	rule *rule
}

// lower folds ASCII letters.
var lower = func() (table [256]byte) {
	for i := range table {
		table[i] = byte(i)
		if i >= 'A' && i <= 'Z' {
			table[i] += 'a' - 'A'
		}
	}
	return table
}()

func pair(a, b byte) uint16 { return uint16(lower[a])<<8 | uint16(lower[b]) }

func (x *index) add(text string, r *rule) {
	if x.words == nil {
		x.words = map[uint16][]keyword{}
	}
	p := pair(text[0], text[1])
	x.begins[p>>6] |= 1 << (p & 63)
	x.words[p] = append(x.words[p], keyword{text, r})
}

// sort puts the keywords of each pair in the order of their rules.
func (x *index) sort() {
	for _, list := range x.words {
		slices.SortStableFunc(list, func(a, b keyword) int { return a.rule.rank - b.rule.rank })
	}
}

// each calls fn with the place of every keyword that begins in s[from:to].
func (x *index) each(s string, from, to int, fn func(at int, r *rule)) {
	for at := from; at < min(to, len(s)-1); at++ {
		p := pair(s[at], s[at+1])
		if x.begins[p>>6]&(1<<(p&63)) == 0 {
			continue
		}
		for _, k := range x.words[p] {
			if folds(s[at:], k.text) {
				fn(at, k.rule)
			}
		}
	}
}

// folds reports whether s begins with a keyword.
func folds(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower[s[i]] != word[i] {
			return false
		}
	}
	return true
}
