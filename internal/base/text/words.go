package text

import "strings"

// EachWord calls yield with the words of s in text order until it returns false: the terms of an analyser without a
// language, but only whole words, without their parts. A word is telling if replacing it may change the meaning of
// the text: it has a digit; or an upper-case letter, and is no stop word; or is a negation; or is a bigram, since
// one character may be any of these.
//
// Any string will do. Time is linear in len(s) and extra memory constant.
func (a *Analyzer) EachWord(s string, yield func(word string, telling bool) bool) {
	sc := a.scanner(s)
	defer a.leave(sc)
	sign := uint8(classSeparator) // the classes in the word
	sc.english = false
	sc.yield = func(word string) bool { return yield(word, isTelling(word, sign)) }
	for pos, ok := 0, true; ok && pos < len(s); {
		_, entry, width := decode(s, pos)
		switch class := entry & classMask; {
		case isWordClass(class):
			end := sc.measure(pos)
			sign = signOf(s[pos:end])
			pos, ok = end, sc.span(pos, end)
		case class >= classHan:
			sign = classHan
			pos, ok = sc.run(pos, class)
		default:
			pos += width
		}
	}
}

// signOf returns classDigit for a word with a digit, otherwise classUpper for one with an upper-case letter,
// otherwise classLower.
func signOf(word string) uint8 {
	sign := uint8(classLower)
	for pos := 0; pos < len(word); {
		_, entry, width := decode(word, pos)
		switch entry & classMask {
		case classDigit:
			return classDigit
		case classUpper:
			sign = classUpper
		}
		pos += width
	}
	return sign
}

func isTelling(word string, sign uint8) bool {
	switch sign {
	case classDigit, classHan:
		return true
	case classUpper:
		return isNegation(word) || !isStopWord(word)
	}
	return isNegation(word)
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
