package text

import (
	"strings"
	"unicode/utf8"
)

// EachWord calls yield with the words of s in text order until it returns false: the terms of an analyser without a
// language, but only whole words, without their parts. A word is telling if replacing it may change the meaning of
// the text: it has a digit; or an upper-case letter, and is no stop word; or is a negation; or is a bigram, since
// one character may be any of these.
//
// Any string will do. Time is linear in len(s) and extra memory constant.
func (a *Analyzer) EachWord(s string, yield func(word string, telling bool) bool) {
	a.surfaces(s, func(word string, w Surface, bigram bool) bool {
		capital := (w.Capital || w.Inner) && !isStopWord(word)
		return yield(word, w.Digit || bigram || capital || isNegation(word))
	})
}

// IsNegation reports whether a folded word negates a sentence, including short forms.
func IsNegation(word string) bool { return isNegation(word) || strings.HasSuffix(word, "n't") }

// isNegation reports whether a folded word negates a sentence: in English, German, French, Spanish, Italian,
// Portuguese, Russian and Arabic.
func isNegation(word string) bool {
	switch word {
	case "no", "not", "never", "none", "nor", "neither", "nobody", "nothing", "nowhere", "without",
		"cannot", "except", "unless":
		return true
	case "nicht", "kein", "keine", "keinem", "keinen", "keiner", "keines", "nichts", "nie",
		"niemals", "niemand", "ohne", "weder",
		"aucun", "aucune", "jamais", "ne", "pas", "rien", "sans",
		"jamas", "nada", "nadie", "ningun", "ninguna", "nunca", "sin", "tampoco",
		"mai", "nessuna", "nessuno", "niente", "non", "senza",
		"nao", "nem", "nenhum", "nenhuma", "ninguem", "sem",
		"без", "не", "нет", "ни", "никогда",
		"لا", "لم", "لن", "ليس":
		return true
	}
	return strings.HasSuffix(word, "n't") || strings.HasPrefix(word, "n'") // n'est
}

// Surface is a word as it occurs in a text.
type Surface struct {
	Token      string // as EachWord yields it, without a final 's unless nothing would be left
	Start, End int    // position of the word, or of the run that contains a bigram, in bytes
	Capital    bool   // whether it begins with an upper-case letter
	Inner      bool   // whether it has an upper-case letter after its first code point
	Digit      bool   // whether it has a digit
}

// EachSurface calls yield with the words of s in text order until it returns false: those of EachWord, with their
// positions and properties. Bigrams have none of the properties.
//
// Any string will do. Time is linear in len(s) and extra memory constant.
func (a *Analyzer) EachSurface(s string, yield func(Surface) bool) {
	a.surfaces(s, func(token string, word Surface, _ bool) bool {
		if word.Token = strings.TrimSuffix(token, "'s"); word.Token == "" {
			word.Token = token
		}
		return yield(word)
	})
}

// surfaces calls yield with the words of s in text order, and whether each is a bigram, until it returns false.
func (a *Analyzer) surfaces(s string, yield func(token string, word Surface, bigram bool) bool) {
	sc := a.scanner(s)
	defer a.leave(sc)
	var word Surface
	bigram := false
	sc.english = false
	sc.yield = func(token string) bool { return yield(token, word, bigram) }
	for pos, ok := 0, true; ok && pos < len(s); {
		_, entry, width := decode(s, pos)
		switch class := entry & classMask; {
		case isWordClass(class):
			end := sc.measure(pos)
			word, bigram = surfaceOf(s, pos, end), false
			pos, ok = end, sc.span(pos, end)
		case class >= classHan:
			word, bigram = Surface{Start: pos, End: runEnd(s, pos, class)}, true
			pos, ok = sc.run(pos, class)
		default:
			pos += width
		}
	}
}

// surfaceOf describes the word in s[start:end].
func surfaceOf(s string, start, end int) Surface {
	word := Surface{Start: start, End: end}
	for pos := start; pos < end; {
		_, entry, width := decode(s, pos)
		switch entry & classMask {
		case classDigit:
			word.Digit = true
		case classUpper:
			word.Capital = word.Capital || pos == start
			word.Inner = word.Inner || pos > start
		}
		pos += width
	}
	return word
}

// runEnd returns the end of the run of a bigram class at start, by the rule for words: ignored code points after it
// do not belong to it.
func runEnd(s string, start int, class uint8) (end int) {
	if class == classEmoji {
		_, end = emojiAt(s, start)
		return end
	}
	for pos := start; pos < len(s); {
		_, entry, width := decode(s, pos)
		c := entry & classMask
		if c != class && c != classIgnored {
			break
		}
		pos += width
		if c == class {
			end = pos
		}
	}
	return end
}

// WordTerm returns the term of a whole word's token; ok is false for a stop word.
func (a *Analyzer) WordTerm(token string) (term string, ok bool) {
	if !a.english {
		return token, true
	}
	if isStopWord(token) {
		return "", false
	}
	sc := a.scanner("")
	defer a.leave(sc)
	return sc.stem(token), true
}

// EachToken calls yield with the terms that Each yields and the token of each: the folded word or part before
// stemming, or the bigram itself.
func (a *Analyzer) EachToken(s string, yield func(token, term string) bool) {
	sc := a.scanner(s)
	defer a.leave(sc)
	sc.yield = func(term string) bool {
		token := sc.token
		if sc.token = ""; token == "" {
			token = term
		}
		return yield(token, term)
	}
	sc.scan()
}

// EachOfField calls yield with the terms that Each yields, and with each unit of a longer run of Han, which a
// question may contain alone: unit is true for those.
func (a *Analyzer) EachOfField(s string, yield func(term string, unit bool) bool) {
	sc := a.scanner(s)
	defer a.leave(sc)
	sc.yield = func(term string) bool { return yield(term, false) }
	sc.unit = func(term string) bool { return yield(term, true) }
	sc.scan()
}

// Cased returns the length of a term in code points if all are lower-case letters of a script that has cases, such
// as Latin, Greek or Cyrillic; otherwise 0.
func Cased(term string) int {
	n := 0
	for pos := 0; pos < len(term); n++ {
		_, entry, width := decode(term, pos)
		if entry&classMask != classLower {
			return 0
		}
		pos += width
	}
	return n
}

// NearStopWord reports whether a token is one edit of clause 9.10 away from an English stop word of
// the same first letter.
func NearStopWord(token string) bool {
	// No stop word is longer than this, or has other characters.
	const longest, letters = 12, "abcdefghijklmnopqrstuvwxyz'"
	t := []rune(token)
	if len(t) > longest+1 {
		return false
	}
	buf := make([]rune, 0, longest+2)
	is := func(parts ...[]rune) bool {
		buf = buf[:0]
		for _, p := range parts {
			buf = append(buf, p...)
		}
		return isStopWord(string(buf))
	}
	for i := 1; i <= len(t); i++ {
		head, tail := t[:i], t[i:]
		for _, c := range letters {
			if is(head, []rune{c}, tail) || len(tail) > 0 && is(head, []rune{c}, tail[1:]) {
				return true
			}
		}
		if len(tail) > 0 && is(head, tail[1:]) ||
			len(tail) > 1 && is(head, []rune{tail[1], tail[0]}, tail[2:]) {
			return true
		}
	}
	return false
}

var british = strings.NewReplacer("our", "or", "is", "iz", "ys", "yz", "ogu", "og", "ll", "l", "ae", "e", "oe", "e", "gray", "grey")

// SameWord reports whether two analysed terms are one English word in its British and American spelling.
func SameWord(a, b string) bool {
	fold := func(s string) string {
		s = british.Replace(s)
		if head, ok := strings.CutSuffix(s, "er"); ok {
			return head + "r"
		}
		return s
	}
	return fold(a) == fold(b)
}

// classMask selects the class in a class table entry; the rest is foldFlag.
const classMask = foldFlag - 1

// Variation selectors lie so far beyond all other characters that the tables end before them.
const (
	firstSelector = 0xE0100
	lastSelector  = 0xE01EF
)

// entryOf returns the class of r together with foldFlag.
func entryOf(r rune) uint8 {
	if r < tableLimit {
		return classBlocks[int(classIndex[r>>blockShift])<<blockShift|int(r&(1<<blockShift-1))]
	}
	if r >= firstSelector && r <= lastSelector {
		return classIgnored
	}
	return classSeparator
}

// foldOf returns the fold of a code point whose entry has foldFlag.
func foldOf(r rune) string {
	at := foldBlocks[int(foldIndex[r>>blockShift])<<blockShift|int(r&(1<<blockShift-1))]
	n := uint(foldData[at])
	return foldData[uint(at)+1 : uint(at)+1+n]
}

// isWordClass reports whether class is a word class.
func isWordClass(class uint8) bool { return class >= classLetter && class <= classDigit }

// decode returns the code point at s[i:], its entry and its width in bytes. A byte that is not
// UTF-8 decodes as U+FFFD with width 1, which the tables call a separator.
func decode(s string, i int) (r rune, entry uint8, width int) {
	if c := s[i]; c < utf8.RuneSelf {
		return rune(c), entryOf(rune(c)), 1
	}
	r, width = utf8.DecodeRuneInString(s[i:])
	return r, entryOf(r), width
}
