// Package compare tells how alike two short texts are and what differs between them, without a model: whether a memory
// repeats another one in other words, or says something else.
//
// Two texts say the same if no difference is left. These do not count as differences: letter case, punctuation,
// articles, filler words, contractions, numbers in words or digits, ways to write a date, the number of a noun after an
// article, and a phrase of time or place at the beginning or end. Anything else is a difference, so that in doubt two
// texts differ: a missed repetition costs a line, a false one a fact.
//
// docs/internals/memories.md has the rules, words.txt the words: English, German, French, Spanish and Chinese. A text
// in another language is compared word by word, or character by character if words are not separated. No clock, locale,
// map order or float affects the result; the time is linear in the length of the texts but for a factor that the rules
// bound.
package compare

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/fixed"
)

// Kind says what differs.
type Kind string

// The kinds of differences.
const (
	Number     Kind = "number"
	Unit       Kind = "unit"       // the unit of a number
	Date       Kind = "date"       // also a day, a month or a time
	Name       Kind = "name"       // a word that is capital where common words are not
	Identifier Kind = "identifier" // a path, version, address or the like
	Negation   Kind = "negation"   // a word that turns the text around, or one and its contrary
	Order      Kind = "order"      // the same words in another order
	Word       Kind = "word"       // any other word
)

// kinds lists the kinds in the order of output.
var kinds = []Kind{Negation, Number, Unit, Date, Name, Identifier, Word, Order}

// Difference is one difference between a first and a second text.
type Difference struct {
	Kind Kind   `json:"kind"`
	A    string `json:"a"` // the texts of the first and the second, "" for nothing; both "" for Order
	B    string `json:"b"`
}

// Comparison is the result of comparing two texts.
type Comparison struct {
	// Similarity is twice the words that both have, as many times as they have them, by the words of
	// both (Sørensen and Dice): 0 to 65,536 in units of 2^-16.
	Similarity int64
	// Differs are the differences, by kind and then by position. Empty if both texts say the same.
	Differs []Difference
}

// MaxDiffers bounds the differences that a comparison lists; further ones add no information.
const MaxDiffers = 32

// Opposes reports whether all that differs are words that turn the text around.
func (c Comparison) Opposes() bool {
	other := func(d Difference) bool { return d.Kind != Negation }
	return len(c.Differs) > 0 && !slices.ContainsFunc(c.Differs, other)
}

// Text is a text that was analysed, to be compared with many. It is not safe for concurrent use.
type Text struct {
	lexemes []lexeme
	known   []int       // words known of each language
	read    []*analysis // by each, nil if it was not asked for
}

// Analyse reads a text. Any string will do, valid UTF-8 or not.
func Analyse(s string) *Text {
	list := lexicons()
	t := &Text{lexemes: lex(s), known: make([]int, len(list)), read: make([]*analysis, len(list))}
	han, kana := 0, 0
	for _, l := range t.lexemes {
		if l.class == classSingle {
			if isHan([]rune(l.form)[0]) {
				han++
			} else {
				kana++
			}
		}
		for i, x := range list {
			form := l.form
			if at := strings.IndexByte(form, '\''); at > 0 && x.name == "fr" {
				form = form[:at+1]
				if x.rewrite[form] != nil {
					t.known[i]++
				}
			} else if at > 0 && x.name == "en" && (l.class == classWord) {
				t.known[i]++
			}
			if l.class == classWord && x.known[form] {
				t.known[i]++
			}
		}
	}
	if kana == 0 {
		t.known[slices.Index(languages, "zh")] = 2 * han
	}
	return t
}

// Compare compares two texts.
func Compare(a, b string) Comparison { return Analyse(a).Compare(Analyse(b)) }

// Compare compares two texts. In each Difference, A belongs to t.
func (t *Text) Compare(o *Text) Comparison { return t.CompareFrom(o, 0) }

// CompareFrom is Compare, but lists no differences of texts whose similarity is below least: these
// differ, and the first difference says only that.
func (t *Text) CompareFrom(o *Text, least int64) Comparison {
	x := common(t, o)
	a, b := inOneUnit(t.by(x), o.by(x))
	alike := similarity(a, b)
	switch {
	case a.says(b):
		return Comparison{Similarity: fixed.One}
	case alike < least:
		return Comparison{Similarity: alike, Differs: []Difference{{Kind: Word}}}
	}
	return Comparison{Similarity: alike, Differs: differences(a, b)}
}

// common returns the language of two texts: the first of those with the most known words in both. If one text has no
// word of it but has words of another language, there is none.
func common(t, o *Text) *lexicon {
	list := lexicons()
	best, most := len(list)-1, 0
	for i := range list {
		if n := t.known[i] + o.known[i]; n > most {
			best, most = i, n
		}
	}
	for _, x := range []*Text{t, o} {
		if x.known[best] == 0 && slices.Max(x.known) > 0 {
			return list[len(list)-1]
		}
	}
	return list[best]
}

func (t *Text) by(x *lexicon) *analysis {
	if t.read[x.at] == nil {
		t.read[x.at] = read(t.lexemes, x)
	}
	return t.read[x.at]
}

// lemma identifies tokens that can replace each other.
type lemma struct {
	class class
	word  string
}

// key is the lemma by which likeness compares tokens.
func (t *token) key() lemma { return lemma{t.class, t.stem} }

func (t *token) spelt() lemma { return lemma{t.class, t.form} }

func similarity(a, b *analysis) int64 {
	of := len(a.tokens) + len(b.tokens)
	if of == 0 {
		return 0
	}
	both := a.byStem().pair(b.byStem(), nil)
	return 2 * int64(both) * fixed.One / int64(of)
}

// same reports whether two tokens in the same position say the same: rule 6. Two words of one stem do if only grammar
// requires different endings.
func (x *lexicon) same(a, b *token, agree *agreement) bool {
	if a.class != b.class {
		return false
	}
	if a.gender != b.gender && a.gender != "" && b.gender != "" {
		return false
	}
	if a.form == b.form {
		return true
	}
	if a.class != classWord || x.name == "none" {
		return false
	}
	if x.name == "es" && (goesOn(a, b) || goesOn(b, a)) {
		return true
	}
	if a.stem != b.stem || a.infl == b.infl && x.name == "en" {
		return false
	}
	if x.name != "de" && (a.proper || b.proper) || a.capital && b.capital && !(a.det || b.det) {
		return false
	}
	switch {
	case x.name != "en":
		return a.det || b.det
	case a.infl == inflIng || b.infl == inflIng:
		if b.infl == inflIng {
			a, b = b, a
		}
		return a.be && (b.infl != inflEd || b.have)
	case a.infl == inflEd || b.infl == inflEd:
		return false
	}
	return agree.number(a, b)
}

// agreement remembers the nouns whose number differs: verbs may follow them.
type agreement struct{ a, b int }

// number reports whether the number of two English words of a stem may differ, one with the ending
// -s. A noun may after a determiner, a verb where its noun did.
func (g *agreement) number(a, b *token) bool {
	more, less := &g.a, &g.b // nouns with -s in the first, in the second
	if b.infl == inflS {
		more, less = less, more
	}
	if a.det || b.det {
		*more++
		return true
	}
	return *less > 0
}

func goesOn(a, b *token) bool {
	return a.infl == inflIng && a.be && (b.form == a.stem+"a" || b.form == a.stem+"e")
}

func (x *lexicon) equal(a, b []token) bool {
	if len(a) != len(b) {
		return false
	}
	var g agreement
	for i := range a {
		if !x.same(&a[i], &b[i], &g) {
			return false
		}
	}
	return true
}

// says reports whether two analyses say the same: rule 7.
func (a *analysis) says(b *analysis) bool {
	if len(a.tokens) == 0 || len(a.tokens) != len(b.tokens) {
		return false
	}
	if a.lexicon.equal(a.tokens, b.tokens) {
		return true
	}
	restA, restB := a.tokens, b.tokens
	for len(restA) > 0 && len(restB) > 0 {
		n, m := sentence(restA), sentence(restB)
		if !a.lexicon.moved(restA[:n], restB[:m]) {
			return false
		}
		restA, restB = restA[n:], restB[m:]
	}
	return len(restA) == len(restB)
}

// sentence returns how many tokens the sentence has that a list begins with.
func sentence(list []token) int {
	n := 0
	for n < len(list) && list[n].sentence == list[0].sentence {
		n++
	}
	return n
}

// kindOf returns the kind of difference if the other text has nothing in place of a token.
func (x *lexicon) kindOf(t *token) Kind {
	switch {
	case t.not:
		return Negation
	case t.class == classNumber:
		return Number
	case t.unit:
		return Unit
	case t.class == classIdentifier:
		return Identifier
	case t.class >= classMonth:
		return Date
	case t.class == classWord && t.capital && !x.keep[t.form]:
		return Name
	}
	return Word
}

// differences lists the tokens that only one of two analyses has: rule 8.
func differences(a, b *analysis) []Difference {
	x := a.lexicon
	room := strikings.Get().(*striking)
	defer room.release()
	onlyA, onlyB := room.unmatched(a, b)
	if len(onlyA)+len(onlyB) == 0 {
		return []Difference{placed(a.tokens, b.tokens)}
	}
	as, bs := pieces(x, onlyA), pieces(x, onlyB)
	out := make([]Difference, 0, min(len(as)+len(bs), MaxDiffers))
	for i := 0; i < len(as); i++ { // words and their contraries
		if !x.opposed[as[i].form] && !x.opposed[as[i].stem] {
			continue
		}
		at := slices.IndexFunc(bs, func(p piece) bool { return x.contrary(as[i], p) })
		if at >= 0 {
			out = append(out, Difference{Negation, as[i].shown, bs[at].shown})
			as, bs = slices.Delete(as, i, i+1), slices.Delete(bs, at, at+1)
			i--
		}
	}
	for _, kind := range kinds {
		for i, k := next(as, -1, kind), next(bs, -1, kind); i < len(as) || k < len(bs); {
			d := Difference{Kind: kind}
			if i < len(as) {
				d.A = as[i].shown
				i = next(as, i, kind)
			}
			if k < len(bs) {
				d.B = bs[k].shown
				k = next(bs, k, kind)
			}
			if out = append(out, d); len(out) == MaxDiffers {
				return out
			}
		}
	}
	return out[:min(len(out), MaxDiffers)]
}

// placed returns the difference of texts of the same words: an article of another gender, or order.
func placed(a, b []token) Difference {
	for i := range a {
		if a[i].form != b[i].form {
			break
		}
		if a[i].gender != b[i].gender && a[i].gender != "" && b[i].gender != "" {
			return Difference{Word, a[i].article, b[i].article}
		}
	}
	return Difference{Kind: Order}
}

// piece is a token that differs, or neighbours that do of a script without spaces.
type piece struct {
	kind              Kind
	form, stem, shown string
}

func pieces(x *lexicon, list []*token) []piece {
	out := make([]piece, 0, len(list))
	end := -1
	for _, t := range list {
		kind := x.kindOf(t)
		if t.class == classSingle && t.start == end {
			p := &out[len(out)-1]
			p.form, p.shown = p.form+t.form, p.shown+t.form
			if p.stem = p.form; kind == Negation || p.kind == Unit {
				p.kind = kind
			}
		} else {
			p := piece{kind, t.form, t.stem, t.form}
			if t.class == classWord || t.class == classHabit || t.class == classWeekday {
				p.shown = t.was.form
			}
			out = append(out, p)
		}
		if end = -1; t.class == classSingle {
			end = t.end
		}
	}
	return out
}

// next returns the index of the first piece of a kind after i, the length of the list for none.
func next(list []piece, i int, kind Kind) int {
	for i++; i < len(list) && list[i].kind != kind; i++ {
	}
	return i
}

func (x *lexicon) contrary(a, b piece) bool {
	return x.opposite[a.form+"/"+b.form] || x.opposite[a.stem+"/"+b.stem]
}
