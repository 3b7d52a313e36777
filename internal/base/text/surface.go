package text

import "strings"

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
	sc := a.scanner(s)
	defer a.leave(sc)
	var word Surface
	sc.english = false
	sc.yield = func(token string) bool {
		if word.Token = strings.TrimSuffix(token, "'s"); word.Token == "" {
			word.Token = token
		}
		return yield(word)
	}
	for pos, ok := 0, true; ok && pos < len(s); {
		_, entry, width := decode(s, pos)
		switch class := entry & classMask; {
		case isWordClass(class):
			end := sc.measure(pos)
			word = surfaceOf(s, pos, end)
			pos, ok = end, sc.span(pos, end)
		case class >= classHan:
			word = Surface{Start: pos, End: runEnd(s, pos, class)}
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
