package compare

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Inflections that a stem was cut of.
const (
	inflNone = iota
	inflS    // the plural of a noun, or a person of a verb
	inflIng  // ongoing
	inflEd   // completed
)

// Bytes of units.
const (
	shortest     = 2 // units up to this length need a number before them: the ML team is no millilitre
	longestShort = 3 // units up to this length are case-sensitive: Mb is not MB
)

// token is the normalised form of a lexeme, for comparison: rules 3 to 6.
type token struct {
	class      class
	form       string
	stem       string
	infl       uint8
	det        bool // a determiner precedes it by one or two words
	be, have   bool // a form of to be, to have does
	capital    bool
	proper     bool // capital where common words are not
	not        bool
	unit       bool
	gender     string // of the article before it
	article    string // which has one
	sentence   int
	start, end int
	was        *lexeme // its source
}

// analysis is a text as one language reads it.
type analysis struct {
	lexicon  *lexicon
	tokens   []token
	measures []measure
	// Sorted once for all texts that this one is compared with, nil until then.
	stems, forms tally
}

func (a *analysis) byStem() tally {
	if a.stems == nil {
		a.stems = newTally(a.tokens, (*token).key)
	}
	return a.stems
}

func (a *analysis) byForm() tally {
	if a.forms == nil {
		a.forms = newTally(a.tokens, (*token).spelt)
	}
	return a.forms
}

// lexemeReader makes tokens of lexemes.
type lexemeReader struct {
	x     *lexicon
	in    []lexeme
	out   []token
	spare []token // the former out, for reuse
	key   []byte  // of phrase
}

// readers are used again: most of what reading allocates is tokens between two steps.
var readers = sync.Pool{New: func() any { return new(lexemeReader) }}

// step replaces the tokens by those that make appends for them.
func (r *lexemeReader) step(make func(in, out []token) []token) {
	r.out, r.spare = make(r.out, r.spare[:0]), r.out
}

// read analyses lexemes by the words of a language: rules 3 to 6.
func read(in []lexeme, x *lexicon) *analysis {
	r := readers.Get().(*lexemeReader)
	defer r.release()
	r.x, r.in = x, in
	r.expand()
	r.rewrite()
	r.count()
	r.dates()
	r.clocks()
	r.surroundings()
	r.finish()
	tokens := slices.Clone(r.out)
	return &analysis{lexicon: x, tokens: tokens, measures: x.measures(tokens)}
}

// release keeps the room of a reader, but nothing of the text, and no more room than most texts take.
func (r *lexemeReader) release() {
	const most = 256 // tokens
	x := lexemeReader{key: r.key[:0]}
	if cap(r.out) <= most && cap(r.spare) <= most {
		clear(r.out[:cap(r.out)])
		clear(r.spare[:cap(r.spare)])
		x.out, x.spare = r.out[:0], r.spare[:0]
	}
	*r = x
	readers.Put(r)
}

// expand takes contractions apart: rule 3.
func (r *lexemeReader) expand() {
	sentence, first := 0, true
	for i := range r.in {
		l := &r.in[i]
		t := token{
			class: l.class, form: l.form, capital: l.capital, start: l.start, end: l.end,
			sentence: sentence, was: l,
		}
		t.proper = l.capital && !first || l.inner
		if l.caps && (r.x.keep[l.form] || r.x.drop[l.form]) && !r.shouting() {
			t.form += "^" // US is not us
		}
		r.apart(t)
		first = false
		if l.ends != 0 && !r.ordinalPoint(i) {
			sentence++
			first = true
		}
	}
}

func (r *lexemeReader) shouting() bool {
	return !slices.ContainsFunc(r.in, func(l lexeme) bool { return l.class == classWord && !l.caps && len(l.form) > 1 })
}

// ordinalPoint reports whether the full stop after a number is before a month.
func (r *lexemeReader) ordinalPoint(i int) bool {
	l := r.in[i]
	return l.ends == '.' && l.class == classNumber && len(l.form) <= 2 && i+1 < len(r.in) &&
		r.x.month[r.in[i+1].form] != ""
}

// isPronoun reports whether 's after an English word is short for is.
func isPronoun(s string) bool {
	return slices.Contains([]string{"it", "he", "she", "that", "there", "what", "who", "where", "here", "this"}, s)
}

func (r *lexemeReader) apart(t token) {
	at := strings.IndexByte(t.form, '\'')
	switch {
	case t.class == classIdentifier && (t.form == "p.m" || t.form == "a.m") && r.x.name == "en":
		t.class, t.form = classWord, strings.Replace(t.form, ".", "", 1)
	case t.class != classWord || at < 0:
	case r.x.name == "fr" && r.x.rewrite[t.form[:at+1]] != nil:
		rest := t
		rest.form = t.form[at+1:]
		t.form, t.proper = t.form[:at+1], false
		r.out = append(r.out, t)
		r.apart(rest)
		return
	case r.x.name == "en":
		r.english(t)
		return
	}
	r.out = append(r.out, t)
}

// english takes an English contraction apart.
func (r *lexemeReader) english(t token) {
	put := func(form string) {
		t.form = form
		r.out = append(r.out, t)
	}
	if base, ok := strings.CutSuffix(t.form, "n't"); ok {
		put(cmp.Or(map[string]string{"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}[base], base))
		put("not")
		return
	}
	at := strings.LastIndexByte(t.form, '\'')
	base, rest := t.form[:at], t.form[at+1:]
	long := map[string]string{"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "'d"}[rest]
	switch {
	case long == "" && rest == "s" && isPronoun(base):
		long = "is"
	case long == "" && rest == "s":
		long = "'s"
	case long == "":
		put(t.form)
		return
	}
	put(base)
	t.proper, t.capital = false, false
	put(long)
}

func phrase[V any](r *lexemeReader, table map[string]V, of tables, i int) (value V, n int) {
	if r.x.starts[r.out[i].form]&of == 0 {
		return value, 0
	}
	key := r.key[:0]
	for k := i; k < len(r.out) && k < i+r.x.longest; k++ {
		t := &r.out[k]
		if t.class != classWord && t.class != classSingle {
			break
		}
		if k > i {
			if t.sentence != r.out[i].sentence {
				break
			}
			key = append(key, ' ')
		}
		key = append(key, t.form...)
		if v, ok := table[string(key)]; ok {
			value, n = v, k-i+1
		}
	}
	r.key = key
	return value, n
}

// rewrite writes words in other words: rule 3.
func (r *lexemeReader) rewrite() {
	if len(r.x.rewrite) == 0 {
		return
	}
	r.step(func(in, out []token) []token {
		for i := 0; i < len(in); {
			words, n := phrase(r, r.x.rewrite, inRewrite, i)
			if n == 0 {
				out = append(out, in[i])
				i++
				continue
			}
			for _, w := range words {
				t := in[i]
				t.form, t.end = w, in[i+n-1].end
				out = append(out, t)
			}
			i += n
		}
		return out
	})
}

// count reads numbers: rule 4.
func (r *lexemeReader) count() {
	r.step(func(in, out []token) []token {
		for i := 0; i < len(in); {
			t := in[i]
			n := 1
			if t.class == classNumber {
				t.form = decimal(t.form, r.x.name)
				n = r.spaced(&t, i)
				if i+n < len(in) && in[i+n].class == classWord && in[i+n].was.tight &&
					r.x.ordinal[in[i+n].form] {
					n++
				}
			} else if v, m := r.numeral(i); m > 0 {
				n = m
				if by, ok := strings.CutPrefix(v, "*"); ok {
					if k := len(out) - 1; k >= 0 && out[k].class == classNumber &&
						out[k].sentence == t.sentence && times(out[k].form, v) != "" {
						out[k].form, out[k].end = times(out[k].form, v), in[i+n-1].end
						i += n
						continue
					}
					v = by
				}
				t.class, t.form, t.end = classNumber, v, in[i+n-1].end
			}
			out = append(out, t)
			i += n
		}
		return out
	})
}

// numeral returns a number in words at a token, and how many tokens it takes.
func (r *lexemeReader) numeral(i int) (string, int) {
	if r.x.name != "zh" {
		return phrase(r, r.x.number, inNumber, i)
	}
	n, s := 0, ""
	for k := i; k < len(r.out) && r.out[k].class == classSingle &&
		strings.Contains(hanNumeral, r.out[k].form); k++ {
		s += r.out[k].form
		n++
	}
	if v := hanNumber(s); v != "" {
		return v, n
	}
	return "", 0
}

// spaced joins groups of three digits that a French number is written in, and returns how many tokens it takes.
func (r *lexemeReader) spaced(t *token, i int) int {
	n := 1
	for r.x.name == "fr" && digitsIn(t.form, 9) >= 0 && i+n < len(r.out) {
		next := r.out[i+n]
		if next.class != classNumber || len(next.form) != 3 || digitsIn(next.form, 3) < 0 ||
			n == 1 && len(t.form) > 3 || next.start != r.out[i+n-1].end+1 {
			break
		}
		t.form, t.end = t.form+next.form, next.end
		n++
	}
	return n
}

// surroundings records the words before each word, before any are dropped.
func (r *lexemeReader) surroundings() {
	for i := range r.out {
		t := &r.out[i]
		for k := i - 1; k >= 0 && k >= i-2 && r.out[k].sentence == t.sentence; k-- {
			w := r.out[k].form
			if k == i-1 {
				if t.gender = r.x.gender[w]; t.gender != "" {
					t.article = w
				}
			}
			t.det = t.det || r.x.det[w] || r.out[k].class == classNumber
			if r.x.name == "en" {
				switch w {
				case "is", "are", "am", "was", "be", "been", "being":
					t.be = true
				case "have", "had":
					t.have = true
				}
			}
			t.be = t.be || r.x.name == "es" && k == i-1 && w == "está"
		}
	}
}

// finish drops what says nothing and finds stems: rules 5 and 6.
func (r *lexemeReader) finish() {
	r.step(func(in, out []token) []token {
		for i, t := range in {
			word := t.class == classWord || t.class == classSingle
			if word && (r.x.drop[t.form] || r.skipped(i)) {
				continue
			}
			t.not = word && r.x.not[t.form]
			counted := i > 0 && in[i-1].class == classNumber
			t.unit = word && r.x.unit[t.form] && (counted || t.class == classSingle || len(t.form) > shortest) ||
				t.class == classMark && strings.Contains("%‰°€$£¥", t.form)
			if counted && t.unit && t.class == classWord && len(t.form) <= longestShort {
				t.form = t.was.exact
			}
			t.stem = t.form
			if t.class == classWord && !r.x.keep[t.form] && !t.not {
				t.stem, t.infl = r.x.inflected(t)
			}
			out = append(out, t)
		}
		return out
	})
}

// skipped reports whether a word goes with the one after it: está before a gerund, been before -ing.
func (r *lexemeReader) skipped(i int) bool {
	if i+1 == len(r.out) {
		return false
	}
	next := r.out[i+1].form
	return r.x.name == "es" && r.out[i].form == "está" && isGerund(next) ||
		r.x.name == "en" && r.out[i].form == "been" && strings.HasSuffix(next, "ing")
}

func isGerund(s string) bool {
	return len(s) > 5 && (strings.HasSuffix(s, "ando") || strings.HasSuffix(s, "iendo"))
}
