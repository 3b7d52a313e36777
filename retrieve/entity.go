package retrieve

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
)

// Bounds of what is an entity in ranking version 1: clause 9.8.
const (
	maxEntities     = 32
	maxEntityWords  = 16
	maxAbbreviation = 3 // code points
	maxJoint        = 3 // bytes
)

// entity is a quoted phrase, identifier, number or name of a query.
type entity struct {
	shown string // as the query has it
	words []entityWord
	terms []string // of its words, but those of stop words
	idf   int64    // what it counts in a score
	nodes []graph.ID
}

// entityWord is a word of an entity, as a node must have it.
type entityWord struct {
	token   string
	capital bool // whether it must begin with an upper-case letter
}

// unit is words with nothing but punctuation between them, as in src/main.go.
type unit struct {
	words []text.Surface
	joint bool // whether that has anything but hyphens
}

// entityFinder collects the entities of a text.
type entityFinder struct {
	a     *text.Analyzer
	text  string
	found []*entity
}

// entitiesOf returns the entities of a text, the first maxEntities: quoted phrases, then
// identifiers and numbers, then names, each kind from left to right.
func entitiesOf(a *text.Analyzer, s string) []*entity {
	f := &entityFinder{a: a, text: s}
	for _, span := range quotedSpans(s) {
		f.quoted(span)
	}
	units := f.units()
	for _, u := range units {
		if u.identifies() {
			f.add(u.words, false)
		}
	}
	for from := 0; from < len(units); {
		to := f.nameEnd(units, from)
		f.name(units[from:to], from == 0 || f.beginsSentence(units[from-1], units[from]))
		from = max(to, from+1)
	}
	return f.found
}

// quoted adds a phrase, whose case does not matter.
func (f *entityFinder) quoted(span string) {
	part := entityFinder{a: f.a, text: span, found: f.found}
	var words []text.Surface
	f.a.EachSurface(span, func(w text.Surface) bool {
		words = append(words, w)
		return len(words) <= maxEntityWords
	})
	part.add(words, false)
	f.found = part.found
}

// add adds an entity, unless it has too many words, none but stop words, or is there already.
func (f *entityFinder) add(words []text.Surface, capitals bool) {
	if len(words) == 0 || len(words) > maxEntityWords || len(f.found) == maxEntities {
		return
	}
	e := &entity{}
	for _, w := range words {
		token := strings.Clone(w.Token)
		e.words = append(e.words, entityWord{token, capitals && w.Capital})
		if term, ok := f.a.WordTerm(token); ok && !slices.Contains(e.terms, term) {
			e.terms = append(e.terms, term)
		}
	}
	same := func(o *entity) bool {
		return slices.EqualFunc(o.words, e.words, func(a, b entityWord) bool { return a.token == b.token })
	}
	if len(e.terms) == 0 || slices.ContainsFunc(f.found, same) {
		return
	}
	e.shown = f.text[words[0].Start:words[len(words)-1].End]
	f.found = append(f.found, e)
}

// units returns the units of the text in order.
func (f *entityFinder) units() []unit {
	var units []unit
	f.a.EachSurface(f.text, func(w text.Surface) bool {
		w.Token = strings.Clone(w.Token)
		if n := len(units); n > 0 {
			u := &units[n-1]
			between := f.text[u.end():max(u.end(), w.Start)]
			if between != "" && len(between) <= maxJoint && strings.Trim(between, joints) == "" {
				u.words = append(u.words, w)
				u.joint = u.joint || strings.Trim(between, "-") != ""
				return true
			}
		}
		units = append(units, unit{words: []text.Surface{w}})
		return true
	})
	return units
}

// joints are the characters that may stand between the words of a unit.
const joints = `_-/\.:@#+~`

func (u unit) end() int { return u.words[len(u.words)-1].End }

// identifies reports whether a unit is an entity by itself: it has a digit, an upper-case letter
// within a word, or a joint that ordinary words do not have.
func (u unit) identifies() bool {
	return u.joint ||
		slices.ContainsFunc(u.words, func(w text.Surface) bool { return w.Digit || w.Inner })
}

func (u unit) capital() bool { return u.words[0].Capital }

func (u unit) digit() bool {
	return slices.ContainsFunc(u.words, func(w text.Surface) bool { return w.Digit })
}

// abbreviates reports whether a full stop after the unit is part of it rather than the end of a
// sentence.
func (u unit) abbreviates() bool {
	return len(u.words) == 1 && u.capital() &&
		utf8.RuneCountInString(u.words[0].Token) <= maxAbbreviation
}

// nameEnd returns where the name that begins with a unit ends, from where none does: capitalised
// units, and those with a digit that follow them.
func (f *entityFinder) nameEnd(units []unit, from int) int {
	if !units[from].capital() {
		return from
	}
	to := from + 1
	for to < len(units) && (units[to].capital() || units[to].digit()) {
		before := units[to-1]
		between := f.text[before.end():units[to].words[0].Start]
		if before.abbreviates() {
			between = strings.TrimPrefix(between, ".")
		}
		if between == "" || strings.Trim(between, " ") != "" {
			break
		}
		to++
	}
	return to
}

// beginsSentence reports whether a sentence ends between two units that follow each other.
func (f *entityFinder) beginsSentence(before, u unit) bool {
	between := f.text[before.end():max(before.end(), u.words[0].Start)]
	if before.abbreviates() {
		between = strings.TrimPrefix(between, ".")
	}
	return strings.ContainsAny(between, ".!?\n\r")
}

// name adds a name. The first word of a sentence has a capital anyway: it is none by itself, and
// what follows it may be one without it.
func (f *entityFinder) name(run []unit, first bool) {
	if len(run) == 0 {
		return
	}
	if !first || len(run) > 1 && f.telling(run[0]) {
		f.add(wordsOf(run), true)
	}
	if first && len(run) > 1 {
		f.add(wordsOf(run[1:]), true)
	}
}

// telling reports whether a unit has anything but stop words.
func (f *entityFinder) telling(u unit) bool {
	return slices.ContainsFunc(u.words, func(w text.Surface) bool {
		_, ok := f.a.WordTerm(w.Token)
		return ok
	})
}

func wordsOf(units []unit) []text.Surface {
	var words []text.Surface
	for _, u := range units {
		words = append(words, u.words...)
	}
	return words
}
