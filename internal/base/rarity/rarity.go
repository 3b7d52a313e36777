// Package rarity knows how common words are in a language, so that a word can be weighed before a memory has
// enough texts to tell. Its table is frozen: another one is another version of the ranking.
package rarity

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/base/text"
)

//go:embed words.txt
var wordsText string

// Shares of short texts that have a word, in units of 2^-16.
const (
	functionShare = 19_661 // of a word that holds sentences together: 0.3
	askingShare   = 3_277  // of a word that asks, as "kind" and "called" do: 0.05
)

// table is words.txt, read once.
type table struct {
	common    map[string]int64 // the share of a term
	asking    map[string]bool
	starts    map[string]bool // folded words that questions start with
	languages []*Language
}

// Language has the function words of one language but English, whose function words are no terms.
type Language struct {
	Name  string
	Nouns bool // whether nouns begin with a capital, so that a capital tells no name
	words map[string]bool
}

var read = sync.OnceValue(func() *table {
	t := &table{common: map[string]int64{}, asking: map[string]bool{}, starts: map[string]bool{}}
	of := map[string]*Language{}
	for line := range strings.Lines(wordsText) {
		fields := strings.Fields(line)
		switch fields[0] {
		case "common":
			share, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				panic(err) // the table is part of the program
			}
			for _, w := range fields[2:] {
				t.common[w] = share
			}
		case "asking":
			for _, w := range fields[1:] {
				t.asking[w] = true
			}
		case "starts":
			for _, w := range fields[1:] {
				t.starts[w] = true
			}
		case "function":
			lang := of[fields[1]]
			if lang == nil {
				lang = &Language{Name: fields[1], words: map[string]bool{}}
				of[fields[1]], t.languages = lang, append(t.languages, lang)
			}
			for _, w := range fields[2:] {
				lang.words[w] = true
			}
		case "nouns":
			for _, name := range fields[1:] {
				of[name].Nouns = true
			}
		}
	}
	return t
})

// Of returns the share of short texts of the language that have a term of the analyser, in units of 2^-16, 0 for one
// that the table does not have. lang is what LanguageOf returns.
func Of(term string, lang *Language) int64 {
	t := read()
	share := t.common[term]
	switch {
	case lang != nil && lang.words[term]:
		share = max(share, functionShare)
	case lang == nil && t.asking[term]:
		share = max(share, askingShare)
	}
	return share
}

// StartsQuestion reports whether questions start with a folded word.
func StartsQuestion(word string) bool { return read().starts[word] }

// LanguageOf returns the language whose function words a text of folded words has more of than English stop words, nil
// for English and for none that is known. It needs two of them, or one that the text begins with. Of several languages
// with as many it is the first.
func LanguageOf(words []string) *Language {
	most := 0
	for _, w := range words {
		if text.IsStopWord(w) {
			most++
		}
	}
	var best *Language
	for _, lang := range read().languages {
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
