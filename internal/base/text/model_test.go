package text

import (
	"strings"
	"unicode/utf8"
)

// symbol is a code point as the rules see it: its class and its fold.
type symbol struct {
	class uint8
	fold  []rune
}

// modelTerms is the analysis for "none" as the package documentation states it: step by step over
// whole lists, with no regard to speed.
func modelTerms(s string) []string {
	list := symbols(s)
	var terms []string
	for i := 0; i < len(list); {
		class := list[i].class
		j := i + 1
		switch {
		case isWordClass(class):
			for j < len(list) && (isWordClass(list[j].class) || modelJoins(list, j)) {
				j++
			}
			terms = append(terms, modelWord(list[i:j])...)
		case class == classEmoji:
			if isRegional(list[i].fold[0]) && j < len(list) && isRegional(list[j].fold[0]) {
				j++
			}
			var term []rune
			for _, s := range list[i:j] {
				term = append(term, s.fold...)
			}
			terms = append(terms, string(term))
		case class >= classHan:
			for j < len(list) && list[j].class == class {
				j++
			}
			terms = append(terms, modelRun(list[i:j])...)
		}
		i = j
	}
	return terms
}

// symbols does steps 1 to 3.
func symbols(s string) []symbol {
	var list []symbol
	for len(s) > 0 {
		r, width := utf8.DecodeRuneInString(s)
		s = s[width:]
		entry := entryOf(r)
		sym := symbol{entry & classMask, []rune{r}}
		switch {
		case sym.class == classIgnored:
			continue
		case sym.class == classApostrophe:
			sym.fold = []rune{'\''}
		case sym.class == classComma:
			sym.fold = nil
		case entry&foldFlag != 0:
			sym.fold = []rune(foldOf(r))
		}
		list = append(list, sym)
	}
	return list
}

// modelJoins reports whether the symbol at i joins its neighbours (step 4).
func modelJoins(list []symbol, i int) bool {
	if i == 0 || i+1 == len(list) {
		return false
	}
	before, after := list[i-1].class, list[i+1].class
	switch list[i].class {
	case classApostrophe:
		return isWordClass(before) && isWordClass(after)
	case classFullStop, classComma:
		return before == classDigit && after == classDigit
	}
	return false
}

// modelWord returns the token of a word and those of its parts (steps 5 and 7).
func modelWord(word []symbol) []string {
	starts := []int{0}
	for i := 1; i < len(word); i++ {
		before := modelCase(word[:i])
		lowerNext := i+1 < len(word) && word[i+1].class == classLower
		if word[i].class == classUpper &&
			(before == classLower || before == classUpper && lowerNext) {
			starts = append(starts, i)
		}
	}
	terms := []string{modelToken(word)}
	if len(starts) == 1 || len(word) > maxSplitRunes {
		return terms
	}
	for k, start := range starts {
		end := len(word)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		terms = append(terms, modelToken(word[start:end]))
	}
	return terms
}

// modelCase returns the class that determines the case of the last symbol of a word.
func modelCase(word []symbol) uint8 {
	i := len(word) - 1
	for i > 0 && word[i].class == classDigit {
		i--
	}
	return word[i].class
}

// modelToken folds and cuts (steps 2 and 7).
func modelToken(word []symbol) string {
	var token []rune
	for _, sym := range word {
		token = append(token, sym.fold...)
	}
	return string(token[:min(len(token), MaxTermRunes)])
}

// modelRun returns the bigrams of a run (step 6).
func modelRun(run []symbol) []string {
	var units []string
	var last rune
	for _, sym := range run {
		for _, r := range sym.fold {
			const marks = "\u3099\u309a"
			if len(units) > 0 && strings.ContainsRune(marks, r) &&
				!strings.ContainsRune(marks, last) {
				units[len(units)-1] += string(r)
			} else {
				units = append(units, string(r))
			}
			last = r
		}
	}
	if len(units) == 1 {
		return units
	}
	var terms []string
	for i := 1; i < len(units); i++ {
		terms = append(terms, units[i-1]+units[i])
	}
	return terms
}
