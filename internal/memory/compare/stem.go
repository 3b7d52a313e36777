package compare

import (
	"strings"
	"unicode/utf8"
)

// inflected returns the stem of a word and what was cut of it: rule 6. Only endings that say no
// more than number, gender or case are cut; same says where two words of a stem are one.
func (x *lexicon) inflected(t token) (stem string, infl uint8) {
	if utf8.RuneCountInString(t.form) < 4 {
		return t.form, inflNone
	}
	switch x.name {
	case "en":
		return englishStem(t.form)
	case "de":
		return germanStem(t)
	case "fr":
		return frenchStem(t.form)
	case "es":
		return spanishStem(t.form)
	}
	return t.form, inflNone
}

func cutAny(s string, endings ...string) (string, bool) {
	for _, e := range endings {
		if rest, ok := strings.CutSuffix(s, e); ok && utf8.RuneCountInString(rest) >= 3 {
			return rest, true
		}
	}
	return s, false
}

func hasVowel(s string) bool { return strings.ContainsAny(s, "aeiouy") }

// undouble writes a final double consonant once.
func undouble(s string) string {
	n := len(s)
	if n >= 3 && s[n-1] == s[n-2] && strings.IndexByte("bdfgmnprt", s[n-1]) >= 0 {
		return s[:n-1]
	}
	return s
}

func englishStem(s string) (string, uint8) {
	infl := uint8(inflNone)
	if rest, ok := strings.CutSuffix(s, "ing"); ok && len(rest) >= 2 && hasVowel(rest) {
		s, infl = undouble(rest), inflIng
	} else if rest, ok := strings.CutSuffix(s, "ied"); ok && len(rest) >= 2 {
		s, infl = rest+"y", inflEd
	} else if rest, ok := strings.CutSuffix(s, "ed"); ok && len(rest) >= 2 && hasVowel(rest) {
		s, infl = undouble(rest), inflEd
	} else if rest, ok := cutAny(s, "ies"); ok {
		s, infl = rest+"y", inflS
	} else if _, ok := cutAny(s, "sses", "shes", "ches", "xes", "zes"); ok {
		s, infl = s[:len(s)-2], inflS
	} else if _, ok := cutAny(s, "ss", "us", "is"); ok {
		return s, infl
	} else if rest, ok := cutAny(s, "s"); ok {
		s, infl = rest, inflS
	}
	return strings.TrimSuffix(s, "e"), infl
}

// germanStem cuts endings of case and number. A word in lower case may be a verb, whose endings in
// -te say when; -er says more than the word without it.
func germanStem(t token) (string, uint8) {
	s := t.form
	if !t.capital {
		if _, past := cutAny(s, "te", "ten", "test", "tet"); past {
			return s, inflNone
		}
	}
	if rest, ok := cutAny(s, "en", "es", "em", "e", "n", "s"); ok {
		return rest, inflS
	}
	return s, inflNone
}

func frenchStem(s string) (string, uint8) {
	if rest, ok := cutAny(s, "ées"); ok {
		return rest + "é", inflS
	}
	if rest, ok := cutAny(s, "ée"); ok {
		return rest + "é", inflS
	}
	if _, ok := cutAny(s, "ss", "us", "is"); ok {
		return s, inflNone
	}
	if rest, ok := cutAny(s, "s", "x"); ok {
		return rest, inflS
	}
	return s, inflNone
}

func spanishStem(s string) (string, uint8) {
	if isGerund(s) {
		rest, ok := strings.CutSuffix(s, "iendo")
		if !ok {
			rest = strings.TrimSuffix(s, "ando")
		}
		return rest, inflIng
	}
	for _, e := range []string{"res", "nes", "les", "des"} {
		if _, ok := cutAny(s, e); ok {
			return s[:len(s)-2], inflS
		}
	}
	for _, e := range []string{"as", "es", "os", "is", "us"} {
		if _, ok := cutAny(s, e); ok {
			return s[:len(s)-1], inflS
		}
	}
	return s, inflNone
}
