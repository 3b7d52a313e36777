package check

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/base/text"
)

// checkWordsText has the word lists of the rules in docs/check.md.
//
//go:embed check_words.txt
var checkWordsText string

// checkLanguage is the function and question words of a language.
type checkLanguage struct {
	name  string
	nouns bool // whether every noun begins with a capital, so that capitals tell no names
	words map[string]bool
}

// checkLists are the words by list.
type checkLists struct {
	sets      map[string]map[string]bool // folded, by name
	lists     map[string][]string        // as they are given, by name
	languages []*checkLanguage
	gaps      *strings.Replacer
}

// wordLists reads the lists once.
var wordLists = sync.OnceValue(func() *checkLists {
	l := &checkLists{sets: make(map[string]map[string]bool), lists: make(map[string][]string)}
	of := make(map[string]*checkLanguage)
	for line := range strings.Lines(checkWordsText) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		name, words := words[0], words[1:]
		if name == "language" {
			lang := of[words[0]]
			if lang == nil {
				lang = &checkLanguage{name: words[0], words: make(map[string]bool)}
				of[words[0]], l.languages = lang, append(l.languages, lang)
			}
			for _, w := range words[1:] {
				lang.words[foldedWord(w)] = true
			}
			continue
		}
		if l.sets[name] == nil {
			l.sets[name] = make(map[string]bool)
		}
		for _, w := range words {
			w = strings.ReplaceAll(w, "_", " ")
			l.lists[name] = append(l.lists[name], w)
			l.sets[name][foldedWord(w)] = true
		}
	}
	for _, lang := range l.languages {
		lang.nouns = l.sets["nouns"][lang.name]
	}
	var pairs []string
	for _, run := range l.lists["gaps"] {
		pairs = append(pairs, run, strings.Repeat(" ", len(run))) // what follows stays in its place
	}
	l.gaps = strings.NewReplacer(pairs...)
	return l
})

func foldedWord(word string) string {
	var b strings.Builder
	text.EachFolded(word, func(_, _ int, _ text.Kind, fold string) bool {
		b.WriteString(fold)
		return true
	})
	return b.String()
}

// has reports whether a folded word is in a list.
func (l *checkLists) has(name, word string) bool { return l.sets[name][word] }

// within reports whether a text has anything of a list.
func (l *checkLists) within(name, s string) bool {
	for _, w := range l.lists[name] {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// languageOf returns the language whose function words a question has more of than English stop
// words: two at least, or one that it begins with; nil for none. Of several with as many the first.
func (l *checkLists) languageOf(words []string) *checkLanguage {
	most := 0
	for _, w := range words {
		if text.IsStopWord(w) {
			most++
		}
	}
	var best *checkLanguage
	for _, lang := range l.languages {
		n := 0
		for _, w := range words {
			if lang.words[w] {
				n++
			}
		}
		if n > most && (n > 1 || lang.words[words[0]]) {
			best, most = lang, n
		}
	}
	return best
}

// negates reports whether a folded word, or a run of a script without spaces, negates.
func (l *checkLists) negates(word string) bool {
	return l.has("negations", word) || strings.HasSuffix(word, "n't") || l.within("negationRunes", word)
}

// saysNumber reports whether a folded word or run says a number in letters.
func (l *checkLists) saysNumber(word string) bool {
	return l.has("numbers", word) || l.within("numberRunes", word)
}

// isQuestion reports whether a text ends as a question does.
func isQuestion(s string) bool {
	s = strings.TrimRight(s, " \t\r\n\"'”’»」』)）]")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}

// isHiragana reports whether a token is of hiragana alone: mostly what holds a sentence together.
func isHiragana(token string) bool {
	for _, r := range token {
		if r < 0x3041 || r > 0x309f {
			return false
		}
	}
	return true
}
