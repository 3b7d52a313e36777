package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// class is the analyser's class of a code point, in the order of the generated constants.
type class uint8

const (
	separator class = iota
	ignored
	letter
	lower
	upper
	digit
	apostrophe
	fullStop
	comma
	han
	kana
	thai
	lao
	khmer
	myanmar
	emoji
)

// classNames are the names in testdata/tables.txt and, with a prefix, in tables.go.
var classNames = []string{
	"Separator", "Ignored", "Letter", "Lower", "Upper", "Digit", "Apostrophe", "FullStop",
	"Comma", "Han", "Kana", "Thai", "Lao", "Khmer", "Myanmar", "Emoji",
}

// codePoints is the size of the code space.
const codePoints = unicode.MaxRune + 1

// tables holds the derived properties of every code point. fold omits code points that fold to themselves, and
// those whose class never uses the fold.
type tables struct {
	class [codePoints]class
	fold  map[rune]string
}

// derive computes the tables and checks the analyser's assumptions.
func derive() (*tables, error) {
	if norm.Version != unicode.Version || cases.UnicodeVersion != unicode.Version {
		return nil, fmt.Errorf("unicode versions differ: go %s, norm %s, cases %s",
			unicode.Version, norm.Version, cases.UnicodeVersion)
	}
	t := &tables{fold: map[rune]string{}}
	f := folder{caser: cases.Fold()}
	for r := rune(0); r < codePoints; r++ {
		folded := f.fold(r)
		c := classify(r, folded)
		t.class[r] = c
		if c >= letter && !isJoiner(c) && folded != string(r) {
			t.fold[r] = folded
		}
	}
	return t, t.check(&f)
}

// folder computes folds.
type folder struct{ caser cases.Caser }

// fold returns full case folding of NFKD(r) without U+0300..U+036F, repeated until nothing
// changes. Hangul syllables stay whole: as conjoining letters they would be three times as long.
func (f *folder) fold(r rune) string {
	if r >= 0xAC00 && r <= 0xD7A3 {
		return string(r)
	}
	if r >= 0xD800 && r <= 0xDFFF {
		return "" // not a scalar value
	}
	s := string(r)
	for {
		next := f.fullFold(strings.Map(dropMark, norm.NFKD.String(s)))
		if next == s {
			return s
		}
		s = next
	}
}

// fullFold returns the full case folding of s. Cherokee, whose capitals came first, folds to
// capitals; golang.org/x/text exchanges its capitals and small letters instead.
func (f *folder) fullFold(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); first >= 0x13A0 && first <= 0x13F5 {
		return s
	}
	return f.caser.String(s)
}

// dropMark removes the combining diacritical marks.
func dropMark(r rune) rune {
	if r >= 0x0300 && r <= 0x036F {
		return -1
	}
	return r
}

// classify returns the class of r, given its fold. The first matching rule wins.
func classify(r rune, folded string) class {
	switch {
	case r == 0x27 || r == 0x2019 || r == 0x2BC:
		return apostrophe
	case r == '.':
		return fullStop
	case r == ',':
		return comma
	case isIgnored(r, folded):
		return ignored
	}
	if c := scriptClass(r); c != separator {
		return c
	}
	if isEmoji(r, folded) {
		return emoji
	}
	if !isWord(r) || strings.ContainsFunc(folded, isNotWord) {
		return separator
	}
	switch {
	case unicode.IsDigit(r):
		return digit
	case unicode.Is(unicode.Lu, r), unicode.Is(unicode.Lt, r):
		return upper
	case unicode.Is(unicode.Ll, r):
		return lower
	}
	return letter
}

// isWord reports whether r is a letter, mark or number. U+02BC, by its category a letter, counts as the apostrophe
// it looks like.
func isWord(r rune) bool { return r != 0x2BC && unicode.In(r, unicode.L, unicode.M, unicode.N) }

func isNotWord(r rune) bool { return !isWord(r) }

// isIgnored reports whether r neither separates nor contributes: characters that fold to nothing, the four invisible
// joiners and hyphens met inside words, letters and marks that Unicode says to ignore when they cannot be shown
// (variation selectors, fillers), and marks for symbols such as the keycap.
func isIgnored(r rune, folded string) bool {
	switch r {
	case 0xAD, 0x200C, 0x200D, 0x2060:
		return true
	}
	if !isWord(r) {
		return false
	}
	return folded == "" || r >= 0x20D0 && r <= 0x20F0 ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// scriptClass returns the class of r if r belongs to a script written without spaces, otherwise separator.
func scriptClass(r rune) class {
	switch r {
	case 0x3099, 0x309A, 0x30FC, 0xFF70, 0xFF9E, 0xFF9F:
		return kana // voicing and length marks, shared by the two syllabaries
	}
	if unicode.IsPunct(r) {
		return separator
	}
	switch { // symbols such as radicals and squared words are written with their script
	case unicode.Is(unicode.Han, r):
		return han
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		return kana
	}
	if !isWord(r) {
		return separator
	}
	switch {
	case unicode.Is(unicode.Thai, r):
		return thai
	case unicode.Is(unicode.Lao, r):
		return lao
	case unicode.Is(unicode.Khmer, r):
		return khmer
	case unicode.Is(unicode.Myanmar, r):
		return myanmar
	}
	return separator
}

// isJoiner reports whether c is punctuation that can join.
func isJoiner(c class) bool { return c == apostrophe || c == fullStop || c == comma }

// check verifies the assumptions of the analyser and its documentation.
func (t *tables) check(f *folder) error {
	var errs []error
	for r := rune(0); r < codePoints; r++ {
		c := t.class[r]
		for _, part := range t.fold[r] {
			if t.fold[part] != "" {
				errs = append(errs, fmt.Errorf("fold of %U is not stable at %U", r, part))
			}
			if c >= han && t.class[part] != c {
				errs = append(errs, fmt.Errorf("fold of %U leaves its script at %U", r, part))
			}
			if pc := t.class[part]; c < han && (pc < letter || isJoiner(pc)) {
				errs = append(errs, fmt.Errorf("fold of %U holds %U, not of a word", r, part))
			}
		}
		// Letters that differ only in case fold alike, or one is a mark that folds to nothing.
		next := f.fold(unicode.SimpleFold(r))
		if c >= letter && !isJoiner(c) && next != "" && next != f.fold(r) {
			errs = append(errs, fmt.Errorf("%U and %q fold differently", r, next))
		}
	}
	return errors.Join(errs...)
}
