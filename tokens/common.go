package tokens

import (
	_ "embed" // the words
	"strings"
)

// Commonness is how common a word is in the texts of which o200k_base was made: its tokens stand in the order in
// which they were found, the most frequent first.
type Commonness int

// How common words are.
const (
	Rare    Commonness = iota // none of the others: a name, a term of a trade
	Known                     // among the first 20,000 tokens
	Common                    // among the first 4,000
	commons = 4_000
	knowns  = 20_000
)

// commonWords has the words that are not rare, in lower case, in the order of their bytes, one in a line. Behind a
// common one is a plus.
//
//go:embed common.txt
var commonWords string

// CommonnessOf returns how common a word in lower case is. No vocabulary is unpacked for it.
func CommonnessOf(word string) Commonness {
	low, high := 0, len(commonWords) // beginnings of lines
	for low < high {
		at := low + (high-low)/2
		at = low + strings.LastIndexByte(commonWords[low:at], '\n') + 1
		end := at + strings.IndexByte(commonWords[at:], '\n')
		line, common := strings.CutSuffix(commonWords[at:end], "+")
		switch strings.Compare(word, line) {
		case -1:
			high = at
		case 1:
			low = end + 1
		default:
			if common {
				return Common
			}
			return Known
		}
	}
	return Rare
}
