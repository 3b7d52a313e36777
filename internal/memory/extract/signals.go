package extract

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

// MaxSignals is how many signals of a text are found.
const MaxSignals = 16

// Relation is the relation that a signal states between two things.
type Relation string

// The relations.
const (
	Causes   Relation = "causes"
	Enables  Relation = "enables"
	Prevents Relation = "prevents"
)

// Signal is a word or phrase that says that one thing leads to another, and the parts of the text for both. Either part
// may be empty: it then stands for an earlier statement.
type Signal struct {
	Relation   Relation
	Phrase     string // as the list has it
	Start, End int    // its position, in bytes
	Cause      string // the part of the text that leads to the other
	Effect     string
}

type phrase struct {
	relation    Relation
	effectFirst bool
	text        string
	parts       []string // around an ellipsis: the sentence must have both
}

func signalPhrases(l *lists) []phrase {
	var out []phrase
	for _, r := range []Relation{Causes, Enables, Prevents} {
		for _, order := range []string{"cause first", "effect first"} {
			for _, t := range l.order[string(r)+": "+order] {
				first, second, _ := strings.Cut(t, "…")
				parts := []string{normalise(first).s}
				if second != "" {
					parts = append(parts, normalise(second).s)
				}
				out = append(out, phrase{r, order == "effect first", t, parts})
			}
		}
	}
	// The longest first: "caused by" before "caused".
	slices.SortStableFunc(out, func(a, b phrase) int {
		return utf8.RuneCountInString(b.text) - utf8.RuneCountInString(a.text)
	})
	return out
}

// plain is a text as signals are looked for in it: letters, digits and characters folded, one blank
// for each run of anything else between two of them.
type plain struct {
	s  string
	at []int // of each byte of s the byte of the text
}

func normalise(s string) plain {
	p := plain{at: make([]int, 0, len(s))}
	var b strings.Builder
	b.Grow(len(s))
	blank := false
	text.EachFolded(s, func(at, _ int, kind text.CharClass, fold string) bool {
		if kind == text.KindOther {
			blank = b.Len() > 0
			return true
		}
		if blank {
			b.WriteByte(' ')
			p.at = append(p.at, at)
			blank = false
		}
		b.WriteString(fold)
		for range len(fold) {
			p.at = append(p.at, at)
		}
		return true
	})
	p.s = b.String()
	return p
}

// Signals returns the signals of cause in a text, in order, at most one at each position, and at most MaxSignals. A
// signal after a negation does not count, nor one in the passive voice. Only the first MaxText scalars of the text are
// read.
func Signals(s string) []Signal {
	s = text.FirstScalars(s, MaxText)
	all := allLists()
	var out []Signal
	last := ""
	text.EachSentence(s, maxSentence, func(at text.Sentence) bool {
		out = append(out, sentenceSignals(all, s, at, last)...)
		last = s[at.Start:at.End]
		return len(out) < MaxSignals
	})
	return out[:min(len(out), MaxSignals)]
}

// sentenceSignals returns the signals of a sentence. before is the one before it.
func sentenceSignals(all *lists, s string, at text.Sentence, before string) []Signal {
	sentence := s[at.Start:at.End]
	p := normalise(sentence)
	taken := make([]bool, len(p.s)) // by a longer phrase
	var out []Signal
	for i := range all.signals {
		ph := &all.signals[i]
		for from := 0; from < len(p.s); {
			i := strings.Index(p.s[from:], ph.parts[0])
			if i < 0 {
				break
			}
			start := from + i
			end := start + len(ph.parts[0])
			from = end
			if slices.Contains(taken[start:end], true) || !p.whole(start, end) ||
				len(ph.parts) > 1 && !strings.Contains(p.s[end:], ph.parts[1]) {
				continue
			}
			for k := start; k < end; k++ {
				taken[k] = true
			}
			if p.negated(all, start, end, ph.relation) ||
				all.by["passives"][ph.parts[0]] && p.passive(all, start) {
				continue
			}
			sig := Signal{Relation: ph.relation, Phrase: ph.text}
			first, next := p.at[start], len(sentence)
			if end < len(p.s) {
				next = p.at[end]
			}
			sig.split(sentence, first, next, ph.effectFirst, before)
			sig.Start = at.Start + first
			sig.End = at.Start + first + len(trim(sentence[first:next]))
			out = append(out, sig)
		}
	}
	slices.SortStableFunc(out, func(a, b Signal) int { return a.Start - b.Start })
	return out
}

// split divides a sentence at a signal. A signal that begins the sentence speaks of the sentence
// before, unless it names the cause and a comma follows, as in "Because X, Y".
func (g *Signal) split(s string, start, end int, effectFirst bool, before string) {
	left, right := trim(s[:start]), trim(s[end:])
	if left == "" {
		left = before
		if effectFirst {
			if cut := strings.IndexAny(s[end:], ",，、،"); cut >= 0 {
				right = trim(s[end : end+cut])
				left = trim(s[end+cut:])
			}
		}
	}
	if effectFirst {
		g.Cause, g.Effect = right, left
	} else {
		g.Cause, g.Effect = left, right
	}
}

// trim takes away blanks and punctuation at the ends.
func trim(s string) string {
	return strings.Trim(s, " \t\n\r\u00a0\u3000,.;:!?，。、；：！？،-–—")
}

// whole reports whether a span of a normalised text consists of whole words: letters and digits next to it belong to a
// script without spaces.
func (p plain) whole(start, end int) bool {
	edge := func(a, b string) bool {
		return a == "" || b == "" || a == " " || b == " " ||
			kindOf(a) == text.KindSingle || kindOf(b) == text.KindSingle
	}
	_, first := utf8.DecodeRuneInString(p.s[start:])
	_, before := utf8.DecodeLastRuneInString(p.s[:start])
	_, final := utf8.DecodeLastRuneInString(p.s[:end])
	_, after := utf8.DecodeRuneInString(p.s[end:])
	return edge(p.s[start-before:start], p.s[start:start+first]) &&
		edge(p.s[end-final:end], p.s[end:end+after])
}

// negated reports whether a signal is negated: by one of the three words or two characters before it or, for enabling
// and preventing, by the word after it.
func (p plain) negated(all *lists, start, end int, relation Relation) bool {
	words := strings.Fields(p.s[:start])
	for _, w := range words[max(0, len(words)-3):] {
		if all.by["negations"][w] {
			return true
		}
	}
	rest := p.s[:start]
	for range 2 {
		_, n := utf8.DecodeLastRuneInString(rest)
		if all.by["negations of one character"][rest[len(rest)-n:]] {
			return true
		}
		rest = rest[:len(rest)-n]
	}
	for word := range all.by["negations behind"] {
		rest := strings.TrimPrefix(p.s[end:], " ")
		if relation != Causes && strings.HasPrefix(rest, word) && p.whole(len(p.s)-len(rest), len(p.s)-len(rest)+len(word)) {
			return true
		}
	}
	return false
}

// passive reports whether a participle is in the passive voice, so that the text before it is the effect: a form of "to
// be" precedes it directly, or with one adverb between.
func (p plain) passive(all *lists, start int) bool {
	return p.behind(all.order["passive before"], start) >= 0 ||
		p.behind(all.order["passive before"], p.behind(all.order["passive between"], start)) >= 0
}

// behind returns the start of an entry of a list that ends, as whole words, directly before a position or a blank
// before it; -1 if none does.
func (p plain) behind(list []string, at int) int {
	if at < 0 {
		return -1
	}
	rest := strings.TrimSuffix(p.s[:at], " ")
	for _, entry := range list {
		word := normalise(entry).s
		if start := len(rest) - len(word); strings.HasSuffix(rest, word) && p.whole(start, len(rest)) {
			return start
		}
	}
	return -1
}
