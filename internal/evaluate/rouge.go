package evaluate

import (
	"math/big"
	"strings"
)

// Rouge compares a text with one that was written for the same purpose: the share of what the written one
// has that is in the text too. Words are runs of letters and digits of ASCII in lower case; no word is left
// out or cut to its stem.
type Rouge struct {
	One *big.Rat // of its words, each as often as it is in both
	L   *big.Rat // of its words, those of the longest sequence that both have in the same order
}

// maxRougeWords bounds the words that are compared: more are left out.
const maxRougeWords = 4096

// ScoreRouge compares a text with a reference. The figures are nil for a reference without words.
func ScoreRouge(reference, candidate string) Rouge {
	want, got := rougeWords(reference), rougeWords(candidate)
	if len(want) == 0 {
		return Rouge{}
	}
	return Rouge{One: share(sharedWords(want, got), len(want)), L: share(longestCommon(want, got), len(want))}
}

// rougeWords returns the words of a text.
func rougeWords(s string) []string {
	words := strings.FieldsFunc(strings.ToLower(s), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
	return words[:min(len(words), maxRougeWords)]
}

// sharedWords counts the words of a that b has, each at most as often.
func sharedWords(a, b []string) (n int) {
	left := map[string]int{}
	for _, w := range b {
		left[w]++
	}
	for _, w := range a {
		if left[w] > 0 {
			left[w]--
			n++
		}
	}
	return n
}

// longestCommon returns the length of the longest sequence that both have.
func longestCommon(a, b []string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for _, x := range a {
		for j, y := range b {
			if x == y {
				row[j+1] = before[j] + 1
			} else {
				row[j+1] = max(before[j+1], row[j])
			}
		}
		before, row = row, before
	}
	return before[len(b)]
}
