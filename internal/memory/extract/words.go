package extract

import (
	_ "embed"
	"strings"
	"sync"
)

// wordsFile has the word lists of the rules in docs/internals/memories.md.
//
//go:embed words.txt
var wordsFile string

// words is one list.
type words map[string]bool

// lists are the word lists, and what is made of them once.
type lists struct {
	by      map[string]words    // folded
	order   map[string][]string // as the file has them, in its order
	signals []phrase
}

// allLists returns the word lists. They are read once: a short program may need none.
var allLists = sync.OnceValue(func() *lists {
	l := &lists{by: map[string]words{}, order: map[string][]string{}}
	name := ""
	for line := range strings.Lines(wordsFile) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name = strings.Trim(line, "[]")
			l.by[name] = words{}
		default:
			for entry := range strings.SplitSeq(line, ",") {
				entry = strings.TrimSpace(entry)
				if key := Fold(entry); key != "" && !l.by[name][key] {
					l.by[name][key] = true
					l.order[name] = append(l.order[name], entry)
				}
			}
		}
	}
	l.signals = signalPhrases(l)
	return l
})
