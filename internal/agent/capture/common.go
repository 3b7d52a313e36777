package capture

import (
	_ "embed" // the words
	"strings"
)

// commonness tells how common a word is in the texts that the vocabulary o200k_base was made of. Its tokens are in the
// order in which they were found, the most frequent first.
type commonness int

// How common words are.
const (
	rare    commonness = iota // none of the others: a name, a term of a trade
	known                     // among the first knowns tokens
	common                    // among the first commons
	commons = 4_000
	knowns  = 20_000
)

// commonWords has the words that are not rare, in lower case, in the order of their bytes, one in a line. Behind a
// common one is a plus.
//
//go:embed common.txt
var commonWords string

// commonnessOf returns how common a word in lower case is.
func commonnessOf(word string) commonness {
	low, high := 0, len(commonWords) // beginnings of lines
	for low < high {
		at := low + (high-low)/2
		at = low + strings.LastIndexByte(commonWords[low:at], '\n') + 1
		end := at + strings.IndexByte(commonWords[at:], '\n')
		line, plus := strings.CutSuffix(commonWords[at:end], "+")
		switch strings.Compare(word, line) {
		case -1:
			high = at
		case 1:
			low = end + 1
		default:
			if plus {
				return common
			}
			return known
		}
	}
	return rare
}
