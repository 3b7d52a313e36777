// Package intent determines by rules what a question asks for: a reason, a time, a person or thing, or none of
// these in particular. It uses no model and knows twelve languages by their question words, which words.txt lists:
// clause 26.1 of docs/internals/ranking.md.
package intent

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

// Intent is the kind of answer that a question asks for.
type Intent uint8

// The intents. If two phrases of equal length begin at one position, the lower intent wins.
const (
	Why     Intent = iota // a reason
	When                  // a time
	Entity                // who, what, which or where
	General               // nothing in particular, or no question
)

// maxScalars is how much of a text is read. A longer text is not a question but quoted material.
const maxScalars = 4096

//go:embed words.txt
var wordList string

// place restricts where a phrase counts.
type place uint8

const (
	anywhere place = iota
	first          // at the beginning of a sentence, or after lead words
	marked         // if the first word has a letter that is not ASCII
)

// phrase is a sequence of words that indicates an intent.
type phrase struct {
	intent Intent
	place  place
	words  []string
}

// part is a run of characters that indicates an intent.
type part struct {
	intent Intent
	text   string
}

// lists holds the words of words.txt that indicate intents, those that ask about the past, or those that give a reason.
type lists struct {
	phrases map[string][]phrase // by their first words
	parts   map[rune][]part     // by their first characters
	lead    map[string]bool
	past    *lists // nil in itself and in because
	because *lists // likewise
}

func newLists() *lists {
	return &lists{phrases: map[string][]phrase{}, parts: map[rune][]part{}, lead: map[string]bool{}}
}

var known = sync.OnceValue(func() *lists {
	l, err := parse(wordList)
	if err != nil {
		panic(err) // a mistake in words.txt, which a test finds
	}
	return l
})

// Read returns the intent of a text. Of all its phrases, one that asks for a reason takes precedence, then the one
// that begins first, then the longest. Time is linear in the first 4,096 scalars.
func Read(s string) Intent {
	s = text.FirstScalars(s, maxScalars)
	best := match{intent: General, at: len(s) + 1}
	l := known()
	l.readWords(s, best.take)
	l.readParts(s, best.take)
	return best.intent
}

// Past reports whether a text asks how things were before, until when they were so, or what changed. Time is linear in
// the first 4,096 scalars.
func Past(s string) bool { return known().past.any(s) }

// Explains reports whether a text gives a reason for what it says. Time is linear in the first 4,096 scalars.
func Explains(s string) bool { return known().because.any(s) }

// any reports whether a text has one of the phrases.
func (l *lists) any(s string) (is bool) {
	s = text.FirstScalars(s, maxScalars)
	found := func(Intent, int) { is = true }
	l.readWords(s, found)
	l.readParts(s, found)
	return is
}

// match is a phrase that was found.
type match struct {
	intent Intent
	at     int // in bytes
}

// take keeps the match with precedence. Phrases arrive in order, only the longest at each position.
func (m *match) take(in Intent, at int) {
	switch {
	case in == General || m.intent == Why:
		return
	case in == Why || at < m.at || at == m.at && in < m.intent:
		m.intent, m.at = in, at
	}
}

// word is a word of a text.
type word struct {
	token   string
	at, end int
	starts  bool // whether a clause begins with it
	marked  bool // whether it has a letter that is not ASCII
}

// wordsOf returns the words of a text.
func wordsOf(s string) []word {
	var words []word
	end := 0
	text.Plain.EachSurface(s, func(w text.Surface) bool {
		between := s[min(end, w.Start):w.Start]
		words = append(words, word{
			token: strings.Clone(w.Token), at: w.Start, end: w.End,
			starts: len(words) == 0 || strings.Trim(between, " ,") != "",
			marked: strings.ContainsFunc(s[w.Start:w.End], notASCII),
		})
		end = max(end, w.End)
		return true
	})
	return words
}

func notASCII(c rune) bool { return c >= utf8.RuneSelf }

// readWords finds the phrases of words; phrases do not overlap.
func (l *lists) readWords(s string, found func(Intent, int)) {
	words := wordsOf(s)
	led := true // whether nothing but lead words stands before, in the sentence
	for i := 0; i < len(words); {
		led = led || words[i].starts
		p := l.longest(words[i:], led)
		if p == nil {
			led = led && l.lead[words[i].token]
			i++
			continue
		}
		found(p.intent, words[i].at)
		led = false
		i += len(p.words)
	}
}

// longest returns the longest phrase at the beginning of words, nil for none.
func (l *lists) longest(words []word, led bool) *phrase {
	var best *phrase
	list := l.phrases[words[0].token]
	for i := range list {
		p := &list[i]
		if p.place == first && !led || p.place == marked && !words[0].marked ||
			len(p.words) > len(words) ||
			best != nil && (len(p.words) < len(best.words) ||
				len(p.words) == len(best.words) && p.intent >= best.intent) {
			continue
		}
		if slices.EqualFunc(p.words, words[:len(p.words)],
			func(a string, b word) bool { return a == b.token }) {
			best = p
		}
	}
	return best
}

// readParts finds the runs of characters; runs do not overlap.
func (l *lists) readParts(s string, found func(Intent, int)) {
	for at := 0; at < len(s); {
		c, width := utf8.DecodeRuneInString(s[at:])
		var best *part
		list := l.parts[c]
		for i := range list {
			p := &list[i]
			if strings.HasPrefix(s[at:], p.text) && (best == nil || len(p.text) > len(best.text)) {
				best = p
			}
		}
		if best == nil {
			at += width
			continue
		}
		found(best.intent, at)
		at += len(best.text)
	}
}

var names = map[string]Intent{"why": Why, "when": When, "entity": Entity, "none": General}

// parse parses a list of phrases, whose head explains its lines.
func parse(list string) (*lists, error) {
	all := newLists()
	all.past, all.because = newLists(), newLists()
	for n, line := range strings.Split(list, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		head, rest, _ := strings.Cut(line, " ")
		where := "lead"
		if head != where {
			where, rest, _ = strings.Cut(rest, " ")
		}
		in, ok := names[head]
		l := all
		switch head {
		case "past":
			l, in, ok = all.past, General, true
		case "because":
			l, in, ok = all.because, General, true
		}
		if !ok && head != "lead" {
			return nil, fmt.Errorf("line %d: no intent %q", n+1, head)
		}
		for item := range strings.SplitSeq(rest, ";") {
			if err := l.add(in, where, strings.TrimSpace(item)); err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
		}
	}
	return all, nil
}

// add adds one phrase.
func (l *lists) add(in Intent, where, item string) error {
	var words []string
	for _, w := range wordsOf(item) {
		words = append(words, w.token)
	}
	if len(words) == 0 {
		return fmt.Errorf("%q has no word", item)
	}
	p := phrase{intent: in, words: words}
	switch where {
	case "lead":
		l.lead[words[0]] = true
		return nil
	case "part":
		c, _ := utf8.DecodeRuneInString(item)
		l.parts[c] = append(l.parts[c], part{in, item})
		return nil
	case "any":
	case "first":
		p.place = first
	case "marked":
		p.place = marked
	default:
		return fmt.Errorf("no place %q", where)
	}
	l.phrases[words[0]] = append(l.phrases[words[0]], p)
	return nil
}
