package text

import (
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
)

// scanner walks one text. The numbers in its comments are the steps of the package documentation.
type scanner struct {
	s       string
	yield   func(string) bool
	token   string // the token from which the yielded term was stemmed, "" for a bigram
	english bool

	buf  []byte // the folded term being built
	cuts []int  // where the parts of the current word begin, except the first
	gram gram   // the current run of a bigram class
	// unit is called with the units of longer runs of Han; nil if not needed.
	unit  func(string) bool
	split bool // whether it is for the current run
	env   snowballstem.Env
	memo  []memoEntry // a power of two of them
	// firsts, if not nil, has the first bytes of the terms that matter: others need no stem.
	firsts *firstBytes
	// lexicon, if not nil, receives the words.
	lexicon *Lexicon
}

// scan yields the terms of the text.
func (sc *scanner) scan() {
	for pos, ok := 0, true; ok && pos < len(sc.s); {
		_, entry, width := decode(sc.s, pos)
		switch class := entry & classMask; {
		case isWordClass(class):
			pos, ok = sc.word(pos)
		case class >= classHan:
			pos, ok = sc.run(pos, class)
		default:
			pos += width
		}
	}
}

// word yields the terms of the word at start and returns the end of the word; ok is false if yield asked to stop.
func (sc *scanner) word(start int) (end int, ok bool) {
	if end = sc.plainWord(start); end > start {
		term := sc.s[start:end]
		if sc.lexicon != nil {
			sc.lexicon.word(term)
			return end, true
		}
		return end, sc.english && isStopWord(term) || sc.finish(term)
	}
	end = sc.measure(start)
	if !sc.span(start, end) {
		return end, false
	}
	if len(sc.cuts) == 0 {
		return end, true
	}
	from := start
	for _, cut := range sc.cuts { // step 5: the parts
		if !sc.span(from, cut) {
			return end, false
		}
		from = cut
	}
	return end, sc.span(from, end)
}

// plainWord is the fast path for most text: it returns the end of a word of lower-case ASCII letters that needs no
// folding, joining, truncating or splitting, or start.
func (sc *scanner) plainWord(start int) int {
	i := start
	for i < len(sc.s) && sc.s[i] >= 'a' && sc.s[i] <= 'z' {
		i++
	}
	if i-start > MaxTermRunes {
		return start
	}
	if i < len(sc.s) {
		c := sc.s[i]
		if c >= utf8.RuneSelf || c == '\'' || isWordClass(entryOf(rune(c))&classMask) {
			return start
		}
	}
	return i
}

// Case of a code point within a word, as step 5 defines it.
const (
	caseNone = iota
	caseLower
	caseUpper
)

// measure returns the end of the word at start (step 4) and stores in sc.cuts where its parts begin (step 5).
func (sc *scanner) measure(start int) (end int) {
	sc.cuts = sc.cuts[:0]
	var (
		n          int   // code points so far
		last       uint8 // class of the code point before
		state      = caseNone
		upperAt    = -1       // position of the code point before, if it is Upper
		upperState = caseNone // and the case of the one before that
	)
	end = start
	for pos := start; pos < len(sc.s); {
		_, entry, width := decode(sc.s, pos)
		class := entry & classMask
		if class == classIgnored {
			pos += width
			continue
		}
		if !isWordClass(class) && !sc.joins(class, last, pos+width) {
			break
		}
		if n++; n > maxSplitRunes {
			sc.cuts = sc.cuts[:0]
			state, upperAt = caseNone, -1
		}
		nextUpper := -1
		switch {
		case class == classUpper:
			if state == caseLower && n <= maxSplitRunes {
				sc.cuts = append(sc.cuts, pos)
			}
			upperState, state, nextUpper = state, caseUpper, pos
		case class == classLower:
			if upperAt >= 0 && upperState == caseUpper {
				sc.cuts = append(sc.cuts, upperAt)
			}
			state = caseLower
		case class != classDigit:
			state = caseNone
		}
		upperAt, last = nextUpper, class
		pos += width
		end = pos
	}
	return end
}

// joins reports whether a code point of the given class, which follows one of class last and is
// followed by the text at next, joins the two into one word.
func (sc *scanner) joins(class, last uint8, next int) bool {
	switch class {
	case classApostrophe:
		return isWordClass(last) && isWordClass(sc.classFrom(next))
	case classFullStop, classComma:
		return last == classDigit && sc.classFrom(next) == classDigit
	}
	return false
}

// classFrom returns the class of the first code point at or after pos that is not ignored.
func (sc *scanner) classFrom(pos int) uint8 {
	for pos < len(sc.s) {
		_, entry, width := decode(sc.s, pos)
		if class := entry & classMask; class != classIgnored {
			return class
		}
		pos += width
	}
	return classSeparator
}

// span yields the word or part in s[from:to], folded and cut (steps 2, 4 and 7).
func (sc *scanner) span(from, to int) bool {
	buf := sc.buf[:0]
	for pos, n := from, 0; pos < to && n < MaxTermRunes; {
		r, entry, width := decode(sc.s, pos)
		pos += width
		switch class := entry & classMask; {
		case class == classIgnored || class == classComma:
		case class == classApostrophe:
			buf = append(buf, '\'')
			n++
		case r >= 'A' && r <= 'Z':
			buf = append(buf, byte(r)+'a'-'A')
			n++
		case entry&foldFlag == 0:
			buf = append(buf, sc.s[pos-width:pos]...)
			n++
		default:
			for _, f := range foldOf(r) {
				if n < MaxTermRunes {
					buf = utf8.AppendRune(buf, f)
					n++
				}
			}
		}
	}
	sc.buf = buf
	if sc.lexicon != nil {
		sc.lexicon.word(string(buf))
		return true
	}
	if sc.english && isStopWord(string(buf)) {
		return true
	}
	return sc.finish(sc.term(from))
}

// term returns the contents of the buffer, as a slice of the text if the bytes from at are equal, which saves an
// allocation.
func (sc *scanner) term(at int) string {
	if end := at + len(sc.buf); end <= len(sc.s) && sc.s[at:end] == string(sc.buf) {
		return sc.s[at:end]
	}
	return string(sc.buf)
}

// finish yields a folded word unless it is a stop word, stemmed if the language requires it.
func (sc *scanner) finish(term string) bool {
	if sc.token = term; sc.english && sc.matters(term) {
		term = sc.stem(term)
	}
	return sc.yield(term)
}

// matters reports whether a word may have a stem that matters. Stemming does not change the first byte of a word,
// unless that is an apostrophe.
func (sc *scanner) matters(word string) bool {
	return sc.firsts == nil || sc.firsts.has(word[0]) || word[0] == '\''
}

// gram is the position in a run of a bigram class. The buffer holds the previous unit, if there is one, and the
// current one.
type gram struct {
	before   int  // bytes of the unit before
	beforeAt int  // position it was folded from
	at       int  // position the current unit was folded from
	last     rune // last folded code point
}

// run yields the bigrams of the run of one bigram class at start, or the emoji there (step 6), and returns its end.
func (sc *scanner) run(start int, class uint8) (end int, ok bool) {
	if class == classEmoji {
		term, end := emojiAt(sc.s, start)
		return end, sc.yield(term)
	}
	sc.buf, sc.gram = sc.buf[:0], gram{}
	sc.split = sc.unit != nil && class == classHan
	pos := start
	for pos < len(sc.s) {
		r, entry, width := decode(sc.s, pos)
		c := entry & classMask
		if c != class && c != classIgnored {
			break
		}
		if c == class && !sc.foldInto(r, entry, pos) {
			return pos, false
		}
		pos += width
	}
	if sc.gram.before == 0 {
		return pos, sc.yield(sc.term(sc.gram.at))
	}
	return pos, sc.yield(sc.term(sc.gram.beforeAt)) && sc.yieldUnit()
}

// yieldUnit yields the current unit of a longer run if units are wanted.
func (sc *scanner) yieldUnit() bool { return !sc.split || sc.unit(string(sc.buf[sc.gram.before:])) }

// foldInto adds the fold of r, found at pos, to the current run.
func (sc *scanner) foldInto(r rune, entry uint8, pos int) bool {
	if entry&foldFlag == 0 {
		return sc.add(r, pos)
	}
	for _, f := range foldOf(r) {
		if !sc.add(f, pos) {
			return false
		}
	}
	return true
}

// add takes the next folded code point of a run. It completes the bigram in the buffer unless it is a voicing mark
// that belongs to it.
func (sc *scanner) add(r rune, pos int) bool {
	g := &sc.gram
	if isVoicing(r) && len(sc.buf) > 0 && !isVoicing(g.last) {
		sc.buf, g.last = utf8.AppendRune(sc.buf, r), r
		return true
	}
	if g.before > 0 && !sc.yield(sc.term(g.beforeAt)) || len(sc.buf) > 0 && !sc.yieldUnit() {
		return false
	}
	n := copy(sc.buf, sc.buf[g.before:])
	*g = gram{before: n, beforeAt: g.at, at: pos, last: r}
	sc.buf = utf8.AppendRune(sc.buf[:n], r)
	return true
}

// isVoicing reports whether r is one of the two marks that change the consonant of a kana. Folding splits them off;
// a bigram keeps them with their letters.
func isVoicing(r rune) bool { return r == 0x3099 || r == 0x309A }

// isRegional reports whether r is one of the letters that make flags in pairs.
func isRegional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// emojiAt returns the term of the emoji at start, and its end.
func emojiAt(s string, start int) (term string, end int) {
	first, width := utf8.DecodeRuneInString(s[start:])
	end = start + width
	if !isRegional(first) {
		return s[start:end], end
	}
	for pos := end; pos < len(s); {
		r, entry, width := decode(s, pos)
		pos += width
		if isRegional(r) {
			return string([]rune{first, r}), pos
		}
		if entry&classMask != classIgnored {
			break
		}
	}
	return s[start:end], end
}

// CharClass is the kind of a code point for readers of single characters.
type CharClass uint8

// The kinds: those classes of clause 6.3 that matter to other packages.
const (
	KindOther  CharClass = iota // separates words
	KindLetter                  // part of a word
	KindDigit
	KindSingle // of a script written without spaces between words
)

// EachFolded calls yield with the code points of s except ignored ones, in order and until yield returns false:
// start and end of each, its kind, and its fold, or itself if it is KindOther. A byte that is not UTF-8 is
// KindOther and yields U+FFFD. It does not allocate.
func EachFolded(s string, yield func(at, end int, kind CharClass, fold string) bool) {
	for pos := 0; pos < len(s); {
		r, entry, width := decode(s, pos)
		end := pos + width
		class := entry & classMask
		kind := KindOther
		switch {
		case class == classIgnored:
			pos = end
			continue
		case class == classDigit:
			kind = KindDigit
		case isWordClass(class):
			kind = KindLetter
		case class >= classHan && class != classEmoji:
			kind = KindSingle
		}
		fold := s[pos:end]
		if r == '\uFFFD' {
			fold = "\uFFFD"
		}
		if kind != KindOther && entry&foldFlag != 0 {
			fold = foldOf(r)
		}
		if !yield(pos, end, kind, fold) {
			return
		}
		pos = end
	}
}

// IsStopWord reports whether the English analyser drops a folded word.
func IsStopWord(word string) bool { return isStopWord(word) }
