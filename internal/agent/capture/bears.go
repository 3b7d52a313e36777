package capture

import (
	_ "embed" // the words
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

// enough is the least worth of the words that a prompt shares with a memory that bears on it: one rare
// word, or two that are not common.
const enough = 2

// Words are the terms of a prompt and what each is worth.
type Words map[string]int

// WordsOf divides a prompt into terms, as an index does.
func WordsOf(prompt string) Words {
	w := Words{}
	start, class := 0, text.KindOther
	end := func(at int) {
		if class != text.KindOther {
			w.add(prompt[start:at], class)
		}
	}
	text.EachFolded(prompt, func(at, _ int, kind text.CharClass, _ string) bool {
		if kind != class {
			end(at)
			start, class = at, kind
		}
		return true
	})
	end(len(prompt))
	return w
}

func (w Words) add(word string, kind text.CharClass) {
	worth := worthOf(word, kind)
	text.English.Each(word, func(term string) bool {
		if had, ok := w[term]; !ok || worth < had {
			w[strings.Clone(term)] = worth
		}
		return true
	})
}

func worthOf(word string, kind text.CharClass) int {
	n := utf8.RuneCountInString(word)
	switch {
	case kind == text.KindSingle: // its terms are parts of words
		return 1
	case kind == text.KindDigit && n < 3:
		return 1
	case n < 2:
		return 0
	}
	switch commonnessOf(strings.ToLower(word)) {
	case common:
		return 0
	case known:
		return 1
	default:
		return 2
	}
}

// Bear reports whether a memory that has some of the terms bears on the prompt.
func (w Words) Bear(terms []string) bool {
	sum := 0
	for _, term := range terms {
		sum += w[term]
	}
	return sum >= enough
}

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
