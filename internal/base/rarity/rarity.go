// Package rarity knows how common words are in a language, so that a word can be weighed before a memory has enough
// texts to count. Its table is frozen: another table needs another version of the ranking.
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

// Shares of short texts that contain a word, in units of 2^-16.
const (
	functionShare = 19_661 // of a word that holds sentences together: 0.3
	askingShare   = 3_277  // of a word that asks, as "kind" and "called" do: 0.05
)

// table is the parsed words.txt.
type table struct {
	common    map[string]int64 // the share of a term
	asking    map[string]bool
	starts    map[string]bool // folded words that questions start with
	languages []*Language
}

// Language has the function words of a language other than English, whose function words are not terms.
type Language struct {
	Name  string
	Nouns bool // whether nouns are capitalized, so that a capital does not indicate a name
	words map[string]bool
}

var read = sync.OnceValue(func() *table {
	t := &table{common: map[string]int64{}, asking: map[string]bool{}, starts: map[string]bool{}}
	of := map[string]*Language{}
	add := func(to map[string]bool, words []string) {
		for _, w := range words {
			to[w] = true
		}
	}
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
			add(t.asking, fields[1:])
		case "starts":
			add(t.starts, fields[1:])
		case "function":
			lang := of[fields[1]]
			if lang == nil {
				lang = &Language{Name: fields[1], words: map[string]bool{}}
				of[fields[1]], t.languages = lang, append(t.languages, lang)
			}
			add(lang.words, fields[2:])
		case "nouns":
			for _, name := range fields[1:] {
				of[name].Nouns = true
			}
		}
	}
	return t
})

// Of returns the share of short texts of the language that contain an analysed term, in units of 2^-16, 0 if the
// table does not have it. lang is a result of LanguageOf.
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

// LanguageOf returns the language whose function words outnumber the English stop words in a text of folded words, nil
// for English and for unknown languages. It needs two of them, or one at the beginning. If several languages
// tie it returns the first.
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
