package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

var (
	classes   = map[rune]string{}
	folds     = map[rune]string{}
	stopWords = map[string]bool{}
)

// loadTables reads the table of classes and folds, whose head says what its lines mean.
func loadTables(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	hex := func(s string) rune {
		n, e := strconv.ParseInt(s, 16, 32)
		if e != nil {
			err = e
		}
		return rune(n)
	}
	sc := bufio.NewScanner(strings.NewReader(string(data)))
	for sc.Scan() {
		w := strings.Fields(sc.Text())
		if len(w) < 4 || w[0] == "#" {
			continue
		}
		if w[0] == "fold" && w[2] == "=" {
			for _, x := range w[3:] {
				folds[hex(w[1])] += string(hex(x))
			}
			continue
		}
		for c := hex(w[1]); c <= hex(w[2]); c++ {
			if w[0] == "class" {
				classes[c] = w[3]
				continue
			}
			shift, e := strconv.Atoi(w[3])
			if e != nil {
				err = e
			}
			folds[c] = string(c + rune(shift))
		}
	}
	return err
}

// loadStopWords reads the list of clause 6.8.
func loadStopWords(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, list, ok := strings.Cut(string(data), "The stop words:\n\n")
	if !ok {
		return fmt.Errorf("%s: no list of stop words", path)
	}
	list, _, _ = strings.Cut(list, "\n\n")
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		stopWords[m[1]] = true
	}
	if len(stopWords) < 100 {
		return fmt.Errorf("%s: only %d stop words", path, len(stopWords))
	}
	return nil
}

// letter is a code point that is not ignored.
type letter struct {
	class string
	fold  string
}

func lettersOf(text string) []letter {
	var out []letter
	for _, r := range text {
		class, fold := classes[r], string(r)
		if f, ok := folds[r]; ok {
			fold = f
		}
		switch class {
		case "Ignored":
			continue
		case "Apostrophe":
			fold = "'"
		case "Comma":
			fold = ""
		}
		out = append(out, letter{class, fold})
	}
	return out
}

func isWord(l letter) bool {
	return l.class == "Letter" || l.class == "Lower" || l.class == "Upper" || l.class == "Digit"
}

// partOfWord reports whether ls[i] is of a word class or joins its neighbours.
func partOfWord(ls []letter, i int) bool {
	if isWord(ls[i]) || i == 0 || i+1 == len(ls) {
		return isWord(ls[i])
	}
	switch ls[i].class {
	case "Apostrophe":
		return isWord(ls[i-1]) && isWord(ls[i+1])
	case "FullStop", "Comma":
		return ls[i-1].class == "Digit" && ls[i+1].class == "Digit"
	}
	return false
}

// analyse returns the terms of a text in the language "en" or "none".
func analyse(text, language string) []string {
	var terms []string
	ls := lettersOf(text)
	for i := 0; i < len(ls); {
		j := i
		for j < len(ls) && partOfWord(ls, j) {
			j++
		}
		if j > i {
			for _, token := range tokens(ls[i:j]) {
				terms = append(terms, inLanguage(token, language)...)
			}
			i = j
			continue
		}
		switch ls[i].class {
		case "Han", "Kana", "Thai", "Lao", "Khmer", "Myanmar":
			for j < len(ls) && ls[j].class == ls[i].class {
				j++
			}
			terms = append(terms, bigrams(ls[i:j])...)
			i = j
		default:
			i++
		}
	}
	return terms
}

// tokens returns the token of a word and those of its parts.
func tokens(ls []letter) []string {
	states := make([]string, len(ls))
	for i, l := range ls {
		switch {
		case l.class == "Upper" || l.class == "Lower":
			states[i] = l.class
		case l.class == "Digit" && i > 0:
			states[i] = states[i-1]
		}
	}
	starts := []int{0}
	for i := 1; i < len(ls); i++ {
		if ls[i].class == "Upper" && (states[i-1] == "Lower" ||
			states[i-1] == "Upper" && i+1 < len(ls) && ls[i+1].class == "Lower") {
			starts = append(starts, i)
		}
	}
	out := []string{token(ls)}
	if len(starts) == 1 || len(ls) > 256 {
		return out
	}
	for k, from := range starts {
		to := len(ls)
		if k+1 < len(starts) {
			to = starts[k+1]
		}
		out = append(out, token(ls[from:to]))
	}
	return out
}

func token(ls []letter) string {
	s := ""
	for _, l := range ls {
		s += l.fold
	}
	r := []rune(s)
	return string(r[:min(len(r), 64)])
}

func bigrams(ls []letter) []string {
	var units []string
	marked := true // nothing for a voicing mark to belong to
	for _, l := range ls {
		for _, r := range l.fold {
			voicing := r == 0x3099 || r == 0x309A
			if voicing && !marked {
				units[len(units)-1] += string(r)
			} else {
				units = append(units, string(r))
			}
			marked = voicing
		}
	}
	if len(units) < 2 {
		return units
	}
	var out []string
	for i := range units[1:] {
		out = append(out, units[i]+units[i+1])
	}
	return out
}

func inLanguage(token, language string) []string {
	if language == "none" {
		return []string{token}
	}
	if stopWords[token] {
		return nil
	}
	if strings.Trim(token, "abcdefghijklmnopqrstuvwxyz'") == "" {
		env := snowballstem.NewEnv(token)
		english.Stem(env)
		if env.Current() != "" {
			token = env.Current()
		}
	}
	return []string{token}
}
