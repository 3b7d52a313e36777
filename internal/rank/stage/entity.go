package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Bounds of entities in ranking version 1: clause 26.4.
const (
	maxEntities      = 32
	maxEntityWords   = 16
	maxAbbreviation  = 3      // code points
	maxJoint         = 3      // bytes
	maxEntityContent = 32_768 // bytes of a content that are searched for entities
)

// entity is a quoted phrase, identifier, number or name of a query.
type entity struct {
	kind  string // retrieve.LackPhrase, LackNumber or LackName
	shown string // as the text has it
	words []entityWord
	terms []string // of its words, without stop words
	idf   int64    // its weight in a score
}

// entityWord is a word of an entity, as a node must have it.
type entityWord struct {
	token   string
	capital bool // whether it must begin with an upper-case letter
}

// unit is words with nothing but punctuation between them, as in src/main.go.
type unit struct {
	words []text.Surface
	joint bool // whether the joint has anything but hyphens
}

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
			kind := retrieve.LackName
			if u.digit() {
				kind = retrieve.LackNumber
			}
			f.add(u.words, false, kind)
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
	part.add(words, false, retrieve.LackPhrase)
	f.found = part.found
}

// add adds an entity, unless it has too many words, none but stop words, or is there already.
func (f *entityFinder) add(words []text.Surface, capitals bool, kind string) {
	if len(words) == 0 || len(words) > maxEntityWords || len(f.found) == maxEntities {
		return
	}
	e := &entity{kind: kind, shown: f.text[words[0].Start:words[len(words)-1].End]}
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
	f.found = append(f.found, e)
}

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

// joints are the characters that may connect the words of a unit.
const joints = `_-/\.:@#+~`

func (u unit) end() int { return u.words[len(u.words)-1].End }

// identifies reports whether a unit alone is an entity: it has a digit, an upper-case letter within a word, or a joint
// that ordinary words do not have.
func (u unit) identifies() bool {
	return u.joint ||
		slices.ContainsFunc(u.words, func(w text.Surface) bool { return w.Digit || w.Inner })
}

func (u unit) capital() bool { return u.words[0].Capital }

func (u unit) digit() bool {
	return slices.ContainsFunc(u.words, func(w text.Surface) bool { return w.Digit })
}

// abbreviates reports whether a full stop after the unit belongs to it and does not end a sentence.
func (u unit) abbreviates() bool {
	return len(u.words) == 1 && u.capital() &&
		utf8.RuneCountInString(u.words[0].Token) <= maxAbbreviation
}

// nameEnd returns the end of the name that begins with a unit, from if there is none: capitalised units, and following
// units with a digit.
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

// name adds a name. The first word of a sentence has a capital anyway: alone it is no name, and the words after it may
// be a name without it.
func (f *entityFinder) name(run []unit, first bool) {
	if len(run) == 0 {
		return
	}
	if !first || len(run) > 1 && f.telling(run[0]) {
		f.add(wordsOf(run), true, retrieve.LackName)
	}
	if first && len(run) > 1 {
		f.add(wordsOf(run[1:]), true, retrieve.LackName)
	}
}

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

// entitiesIn returns which of some entities a node has in one of its fields, as bits.
func (r *request) entitiesIn(ctx context.Context, m *matcher, n *graph.Node, list []*entity) (has uint32, err error) {
	all := uint32(1<<len(list) - 1)
	look := func(s string) {
		if has != all {
			has |= m.in(s, list, all&^has)
		}
	}
	look(n.Summary)
	look(n.Context)
	look(n.Type)
	for _, e := range n.Props {
		eachString(e.Value, look)
	}
	for _, cue := range n.Cues {
		look(cue)
	}
	if n.Content == nil || has == all {
		return has, nil
	}
	content, err := r.g.ContentStart(ctx, n.Content, maxEntityContent+utf8.UTFMax)
	if err != nil {
		return 0, fmt.Errorf("read content of %s: %w", n.ID, err)
	}
	look(text.FirstBytes(content, maxEntityContent))
	return has, nil
}

// eachString calls fn with the strings of field 3 of clause 7.1.
func eachString(v ipld.Value, fn func(string)) {
	if v.Kind() == ipld.String {
		fn(v.Text())
	}
	for _, item := range v.List() {
		if item.Kind() == ipld.String {
			fn(item.Text())
		}
	}
}

// matcher finds entities in texts. It gives each token of an entity a number; all others are 0.
type matcher struct {
	a       *text.Analyzer
	numbers map[string]uint32
	words   map[*entity][]uint32
	tokens  []uint32 // of the current text
	capital []bool
}

func newMatcher(a *text.Analyzer) *matcher {
	return &matcher{a: a, numbers: map[string]uint32{}, words: map[*entity][]uint32{}}
}

func (m *matcher) learn(e *entity) {
	for _, w := range e.words {
		if m.numbers[w.token] == 0 {
			m.numbers[w.token] = uint32(len(m.numbers) + 1)
		}
		m.words[e] = append(m.words[e], m.numbers[w.token])
	}
}

// in returns which of the wanted entities a text has.
func (m *matcher) in(s string, list []*entity, wanted uint32) (has uint32) {
	m.tokens, m.capital = m.tokens[:0], m.capital[:0]
	m.a.EachSurface(s, func(w text.Surface) bool {
		m.tokens = append(m.tokens, m.numbers[w.Token])
		m.capital = append(m.capital, w.Capital)
		return true
	})
	for i, e := range list {
		if wanted>>i&1 == 1 && m.has(e) {
			has |= 1 << i
		}
	}
	return has
}

// has reports whether the current text has an entity: its tokens, one after the other.
func (m *matcher) has(e *entity) bool {
	words := m.words[e]
	for at := 0; at+len(words) <= len(m.tokens); at++ {
		i := 0
		for i < len(words) && m.tokens[at+i] == words[i] &&
			(m.capital[at+i] || !e.words[i].capital) {
			i++
		}
		if i == len(words) {
			return true
		}
	}
	return false
}
