package extract

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

// sentence holds the properties of a sentence that the rules use.
type sentence struct {
	start, end int
	shouting   bool // most of its words are in capitals
	uncased    bool // it has a letter of a script without cases
	german     bool
	technical  bool // it speaks of programs
}

// unit is a word, or words joined by single hyphens or ampersands.
type unit struct {
	start, end int
	token      string // folded, without a final 's
	sentence   int
	initial    bool // begins a sentence or something similar
	capital    bool // begins with a capital
	inner      bool // has another one
	lower      bool // has a lower-case letter
	digit      bool
	owner      bool // has a final 's
	done       bool // part of a name already
}

// upper reports whether all letters of the unit are capitals, at least two.
func (u *unit) upper() bool { return u.capital && u.inner && !u.lower }

func (f *finder) read() {
	text.EachSentence(f.s, maxSentence, func(at text.Sentence) bool {
		f.sentences = append(f.sentences, sentence{start: at.Start, end: at.End})
		f.readUnits(len(f.sentences) - 1)
		return true
	})
	f.judge()
}

func (f *finder) readUnits(n int) {
	at := &f.sentences[n]
	s := f.s[at.start:at.end]
	first := len(f.units)
	text.Plain.EachSurface(s, func(w text.Surface) bool {
		start, end := at.start+w.Start, at.start+w.End
		end = start + withoutHangul(f.s[start:end])
		if kindOf(f.s[start:end]) == text.KindSingle {
			at.uncased = true
			return true
		}
		u := unit{start: start, end: end, token: strings.Clone(w.Token), sentence: n,
			capital: w.Capital, inner: w.Inner, digit: w.Digit, lower: hasLower(f.s[start:end])}
		if strings.HasSuffix(f.s[start:end], "'s") || strings.HasSuffix(f.s[start:end], "’s") {
			u.owner = true
			u.end -= len(f.s[start:end]) - strings.LastIndexAny(f.s[start:end], "'’")
		}
		if !u.capital && !u.lower && !u.digit {
			at.uncased = true
		}
		if len(f.units) > first {
			last := &f.units[len(f.units)-1]
			if between := f.s[last.end:u.start]; between == "-" || between == "&" {
				last.end, last.owner = u.end, u.owner
				last.token += between + u.token
				last.inner = last.inner || u.inner
				last.lower, last.digit = last.lower || u.lower, last.digit || u.digit
				return true
			}
		}
		u.initial = len(f.units) == first || f.opens(f.units[len(f.units)-1], u)
		f.units = append(f.units, u)
		return true
	})
}

// opens reports whether the text between two units makes a capital after it insignificant.
func (f *finder) opens(before, u unit) bool {
	between := f.s[before.end:u.start]
	if before.abbreviates() {
		between = strings.TrimPrefix(between, ".")
	}
	return strings.ContainsAny(between, ".:!?…\"“”„«»(•*—–-\n\r")
}

func (u *unit) abbreviates() bool {
	return u.capital && utf8.RuneCountInString(u.token) <= 3
}

// withoutHangul returns the length of a word that begins with an ASCII letter up to its first Hangul
// syllable: Korean writes particles after foreign names.
func withoutHangul(word string) int {
	if isLetter(word[0]) {
		for at, r := range word {
			if isHangul(r) {
				return at
			}
		}
	}
	return len(word)
}

func kindOf(s string) (kind text.CharClass) {
	text.EachFolded(s, func(_, _ int, k text.CharClass, _ string) bool {
		kind = k
		return false
	})
	return kind
}

func hasLower(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return text.Cased(string(r)) == 1 })
}

// judge decides the properties of the sentences. The language is the language of the whole text.
func (f *finder) judge() {
	german, english := map[string]bool{}, map[string]bool{}
	for i := range f.units {
		if t := f.units[i].token; f.has("german words", t) {
			german[t] = true
		} else if f.has("english words", t) {
			english[t] = true
		}
	}
	cased, upper := make([]int, len(f.sentences)), make([]int, len(f.sentences))
	for i := range f.units {
		u := &f.units[i]
		s := &f.sentences[u.sentence]
		if u.end-u.start > 1 && (u.lower || u.capital) {
			cased[u.sentence]++
		}
		if u.upper() {
			upper[u.sentence]++
		}
		s.technical = s.technical || f.has("technologies", u.token) ||
			f.has("technology context", u.token)
	}
	for i := range f.sentences {
		f.sentences[i].german = len(german) > 1 && len(german) > len(english)
		f.sentences[i].shouting = cased[i] > 3 && 2*upper[i] > cased[i]
	}
}

func (f *finder) names() {
	f.read()
	f.signed()
	for i := 0; i < len(f.units); {
		if !f.nameLike(i) {
			i++
			continue
		}
		j := f.runEnd(i)
		f.name(i, j)
		i = j
	}
	for i := range f.units {
		if u := &f.units[i]; !u.done && f.has("technologies", Fold(f.s[u.start:u.end])) {
			f.add(u.start, u.end, Technology)
		}
	}
}

// signed adds technologies whose names end with signs, as C++ and C# do.
func (f *finder) signed() {
	for i := range f.units {
		u := &f.units[i]
		for _, sign := range []string{"++", "#"} {
			rest := f.s[u.end:]
			if strings.HasPrefix(rest, sign) && f.has("technologies", Fold(f.s[u.start:u.end]+sign)) {
				f.add(u.start, u.end+len(sign), Technology)
			}
		}
	}
}

// nameLike reports whether a unit may be a part of a name by its capitals.
func (f *finder) nameLike(i int) bool {
	u := &f.units[i]
	if f.sentences[u.sentence].shouting || !f.free(u.start, u.end) {
		return false
	}
	return u.capital || u.inner && u.lower
}

// next reports whether unit j follows unit i in a name.
func (f *finder) next(i, j int) bool {
	if j >= len(f.units) || f.units[i].sentence != f.units[j].sentence || f.units[i].owner {
		return false
	}
	between := f.s[f.units[i].end:f.units[j].start]
	if f.units[i].abbreviates() {
		between = strings.TrimPrefix(between, ".")
	}
	return between == " " || between == "\u00a0"
}

// runEnd returns the end of the name that begins with unit i: units with capitals, and between them at most two
// particles.
func (f *finder) runEnd(i int) int {
	j := i + 1
	for j < len(f.units) && f.next(j-1, j) {
		k := j
		if f.particle(i, k) && f.next(k, k+1) {
			if k++; f.has("second particles", f.units[k].token) && !f.units[k].capital &&
				f.next(k, k+1) {
				k++
			}
		}
		if !f.nameLike(k) {
			break
		}
		j = k + 1
	}
	return j
}

// particle reports whether unit k stands between the parts of the name that begins with unit i. In German a noun with
// an article is no name.
func (f *finder) particle(i, k int) bool {
	u := &f.units[k]
	if !f.has("particles", u.token) || u.capital {
		return false
	}
	return !f.sentences[u.sentence].german || i == 0 || !f.next(i-1, i) ||
		f.has("german before names", f.units[i-1].token) || f.units[i-1].capital
}

// numbered reports whether unit j is a number that belongs to the name before it, as in Go 1.26 or Apollo 11. A number
// that counts the next word, or a year, is none.
func (f *finder) numbered(j int) bool {
	if !f.next(j-1, j) {
		return false
	}
	u := &f.units[j]
	t := f.s[u.start:u.end]
	if !u.digit || u.lower || u.capital || len(t) > 6 || !f.free(u.start, u.end) ||
		len(t) == 4 && (t[:2] == "19" || t[:2] == "20") {
		return false
	}
	return strings.Contains(t, ".") || f.units[j-1].inner || !f.next(j, j+1) ||
		text.IsStopWord(f.units[j+1].token)
}

// name adds the name in units i to j without units that only their position, or a calendar, capitalised.
func (f *finder) name(i, j int) {
	initial := f.units[i].initial
	bare := func(u *unit) bool { return f.has("calendar", u.token) || f.has("never", u.token) }
	for i < j && (bare(&f.units[i]) || initial && f.starts(&f.units[i])) {
		i++
		initial = false
		for i < j && !f.nameLike(i) { // a particle begins no name
			i++
		}
	}
	for i < j && (bare(&f.units[j-1]) || !f.nameLike(j-1)) {
		j--
	}
	first := f.units[min(i, len(f.units)-1)]
	if i < j-1 && initial && f.leaning(first) {
		i++
		for i < j && !f.nameLike(i) {
			i++
		}
		initial = false
	}
	if i >= j || !f.isName(i, j, initial) {
		return
	}
	end, last := f.units[j-1].end, j
	if j < len(f.units) && f.numbered(j) {
		last = j + 1
	}
	kind := f.nameKind(i, j, last > j)
	if last > j && kind != Technology && kind != Known { // of these the number is the version
		end = f.units[j].end
	}
	f.add(f.units[i].start, end, kind)
	for k := i; k < last; k++ {
		f.units[k].done = true
	}
}

// starts reports whether a unit is a word that begins sentences.
func (f *finder) starts(u *unit) bool {
	return !u.inner && (f.has("starters", u.token) || text.IsStopWord(u.token))
}

// leaning reports whether the first word of a sentence, before a name, is likely a verb or an adverb: by its ending.
func (f *finder) leaning(u unit) bool {
	if u.inner || f.has("technologies", u.token) {
		return false
	}
	ends := func(end string) bool { return strings.HasSuffix(u.token, end) }
	return f.has("generic", u.token) || slices.ContainsFunc([]string{"ing", "ed", "ly"}, ends)
}

// isName reports whether units i to j, of a run, are a name.
func (f *finder) isName(i, j int, initial bool) bool {
	u := &f.units[i]
	count := 0
	for k := i; k < j; k++ {
		if f.nameLike(k) {
			count++
		}
	}
	switch {
	case count > maxWords:
		return false
	case f.sentences[u.sentence].german:
		return f.germanName(i, j, initial)
	case count > 1:
		return true
	case utf8.RuneCountInString(f.s[u.start:u.end]) < 2:
		return false
	case (!u.inner || u.upper()) && (f.has("generic", u.token) || f.starts(u)):
		return false
	}
	return !initial || f.evident(i, j)
}

// germanName decides in a language that writes all nouns with capitals.
func (f *finder) germanName(i, j int, initial bool) bool {
	last := f.units[j-1]
	if f.evidentAlone(i) {
		return true
	}
	for _, end := range f.lists.order["german suffixes"] {
		if strings.HasSuffix(last.token, end) {
			return false
		}
	}
	if f.has("generic", last.token) || f.starts(&f.units[i]) {
		return false
	}
	if j-i > 1 {
		return true
	}
	if initial {
		return f.evident(i, j)
	}
	return i > 0 && f.next(i-1, i) && f.has("german before names", f.units[i-1].token)
}

// evidentAlone reports whether a unit is a name in any position.
func (f *finder) evidentAlone(i int) bool {
	u := &f.units[i]
	key := Fold(f.s[u.start:u.end])
	return u.inner || f.known[key] || f.has("technologies", key) ||
		f.has("ambiguous", key) && f.technicalBut(i)
}

// evident reports whether there is evidence for a name of one word at the beginning of a sentence.
func (f *finder) evident(i, j int) bool {
	u := &f.units[i]
	s := f.sentences[u.sentence]
	if f.evidentAlone(i) || s.uncased || u.owner || j < len(f.units) && f.numbered(j) {
		return true
	}
	if j < len(f.units) && f.next(j-1, j) && f.units[j].lower {
		t := f.units[j].token
		if f.has("person verbs", t) {
			return true
		}
		if f.has("joining words", t) && f.next(j, j+1) && f.nameLike(j+1) && !s.german {
			return true
		}
	}
	for k := range f.units {
		if o := &f.units[k]; o.token == u.token && o.capital && !o.initial && !s.german {
			return true
		}
	}
	return false
}

// technicalBut reports whether the sentence of a unit speaks of programs in other words.
func (f *finder) technicalBut(i int) bool {
	if !f.sentences[f.units[i].sentence].technical {
		return i+1 < len(f.units) && f.numbered(i+1)
	}
	for k := range f.units {
		u := &f.units[k]
		if k != i && u.sentence == f.units[i].sentence &&
			(f.has("technologies", u.token) || f.has("technology context", u.token)) {
			return true
		}
	}
	return false
}

func (f *finder) nameKind(i, j int, numbered bool) Kind {
	u := &f.units[i]
	key := Fold(f.s[u.start:f.units[j-1].end])
	switch {
	case f.has("technologies", key):
		return Technology
	case j-i == 1 && f.has("ambiguous", key) && (numbered || f.technicalBut(i)):
		return Technology
	case f.known[key]:
		return Known
	case j-i == 1 && u.inner && u.lower:
		return Identifier
	}
	return Name
}

const maxFullName = 4 // words of a person's name

// notGiven are the lists of words that no name of a person has.
var notGiven = []string{"technologies", "technology context", "generic", "calendar", "companies and products"}

// GivenName returns the folded first word of a text that may be the full name of a person: two to four words of letters
// with capitals, none known as something else. Otherwise it returns "".
func GivenName(full string) string {
	list := strings.Fields(full)
	if len(list) < 2 || len(list) > maxFullName {
		return ""
	}
	for i, w := range list {
		small := i > 0 && i < len(list)-1 && (allLists().by["particles"][Fold(w)] ||
			allLists().by["second particles"][Fold(w)])
		if !small && (!capital(w) || FirstName(w) == "") {
			return ""
		}
	}
	return Fold(list[0])
}

// FirstName returns a folded word if it may be the first name of a person, else "".
func FirstName(word string) string {
	folded, other := Fold(word), false
	text.EachFolded(word, func(_, _ int, kind text.CharClass, fold string) bool {
		other = kind == text.KindDigit || kind == text.KindOther && !strings.Contains("-'’.", fold)
		return !other
	})
	if folded == "" || other {
		return ""
	}
	for _, list := range notGiven {
		if allLists().by[list][folded] {
			return ""
		}
	}
	return folded
}

func capital(word string) (is bool) {
	text.Plain.EachSurface(word, func(s text.Surface) bool {
		is = s.Start == 0 && s.Capital
		return false
	})
	return is
}
