package guard

import (
	"errors"
	"math"
)

// index finds keywords by their first two bytes. Keywords are lower case; texts may have any case.
type index struct {
	begins [1 << 16]uint8 // the list of words that begin with a pair, 0 for none
	words  [][]keyword    // the first is empty
}

// keyword refers to the rule that uses it.
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

// add adds a keyword. The index holds at most 255 pairs.
func (x *index) add(text string, r *rule) error {
	p := pair(text[0], text[1])
	if x.begins[p] == 0 {
		if x.words == nil {
			x.words = make([][]keyword, 1)
		}
		if len(x.words) > math.MaxUint8 {
			return errors.New("keywords begin in too many ways: index their pairs by more than a byte")
		}
		x.begins[p] = uint8(len(x.words))
		x.words = append(x.words, nil)
	}
	list := &x.words[x.begins[p]]
	*list = append(*list, keyword{text, r})
	return nil
}

// each calls fn with the position and length of every keyword that begins in s[from:to].
func (x *index) each(s string, from, to int, fn func(at, n int, r *rule)) {
	for at := from; at < min(to, len(s)-1); at++ {
		list := x.begins[pair(s[at], s[at+1])]
		if list == 0 {
			continue
		}
		for _, k := range x.words[list] {
			if folds(s[at:], k.text) {
				fn(at, len(k.text), k.rule)
			}
		}
	}
}

// folds reports whether s begins with a keyword, ignoring case.
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
