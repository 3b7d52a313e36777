package compare

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed words.txt
var wordsFile string

// lexicon holds the words of one language.
type lexicon struct {
	name                                  string
	at                                    int // of all lexicons
	drop, det, keep, not, unit, front     map[string]bool
	of, first, ordinal                    map[string]bool
	opposite                              map[string]bool // "A/B" both ways
	opposed                               map[string]bool // words with an opposite
	rewrite                               map[string][]string
	number, month, weekday, habit, gender map[string]string
	measure                               map[string]string // "N BASE" of each unit
	longest                               int               // words in a phrase
	starts                                map[string]tables // tables of phrases, by first word
	known                                 map[string]bool   // words that identify the language

	sets    map[string]map[string]bool // by the name of a class, of those above
	phrases map[string]phraseTable     // likewise
}

type phraseTable struct {
	of map[string]string
	in tables
}

// tables is a set of tables of phrases.
type tables uint8

const (
	inRewrite tables = 1 << iota
	inNumber
	inMonth
	inWeekday
	inHabit
)

// languages are in the order in which they are tried.
var languages = []string{"en", "de", "fr", "es", "zh"}

// everyLanguage begins the lines of what holds in all of them, and in none.
const everyLanguage = "*"

// lexicons reads words.txt once. The last lexicon stands for unknown languages and is empty.
var lexicons = sync.OnceValue(func() []*lexicon {
	var list []*lexicon
	for i, name := range append(languages, "none") {
		list = append(list, newLexicon(name))
		list[i].at = i
	}
	for line := range strings.Lines(wordsFile) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		class, entries, _ := strings.Cut(rest, " ")
		for _, x := range list {
			if x.name != name && name != everyLanguage {
				continue
			}
			for _, e := range strings.Split(entries, ", ") {
				x.add(class, e)
			}
		}
	}
	return list
})

func newLexicon(name string) *lexicon {
	x := &lexicon{
		name: name, opposite: map[string]bool{}, opposed: map[string]bool{}, known: map[string]bool{},
		rewrite: map[string][]string{}, measure: map[string]string{}, starts: map[string]tables{},
		sets: map[string]map[string]bool{}, phrases: map[string]phraseTable{},
	}
	for class, set := range map[string]*map[string]bool{
		"drop": &x.drop, "det": &x.det, "keep": &x.keep, "not": &x.not, "unit": &x.unit, "front": &x.front, "of": &x.of,
		"first": &x.first, "ordinal": &x.ordinal,
	} {
		*set = map[string]bool{}
		x.sets[class] = *set
	}
	set := func(class string, in tables) map[string]string {
		x.phrases[class] = phraseTable{map[string]string{}, in}
		return x.phrases[class].of
	}
	x.number, x.month, x.weekday = set("number", inNumber), set("month", inMonth), set("weekday", inWeekday)
	x.habit, x.gender = set("habit", inHabit), set("gender", 0)
	return x
}

// units returns the parts of a phrase: words, or characters in Chinese.
func (x *lexicon) units(phrase string) []string {
	if x.name == "zh" {
		return strings.Split(phrase, "")
	}
	return strings.Fields(phrase)
}

func (x *lexicon) add(class, entry string) {
	phrase, value, _ := strings.Cut(entry, "=")
	switch class {
	case "measure":
		x.measure[phrase] = value
		return
	case "opposite":
		a, b, _ := strings.Cut(entry, "/")
		x.opposite[a+"/"+b], x.opposite[b+"/"+a] = true, true
		x.opposed[a], x.opposed[b] = true, true
	}
	words := x.units(phrase)
	x.longest = max(x.longest, len(words))
	key := strings.Join(words, " ")
	if set, ok := x.sets[class]; ok {
		set[key] = true
	}
	if table, ok := x.phrases[class]; ok {
		table.of[key] = value
		x.starts[words[0]] |= table.in
	}
	switch class {
	case "rewrite":
		x.rewrite[key] = x.units(value)
		x.starts[words[0]] |= inRewrite
	case "drop", "det", "keep", "not", "number", "front":
		if len(words) == 1 {
			x.known[key] = true
		}
	}
}

// times returns n times a multiplier such as "*100", "" if the result is too large.
func times(n, by string) string {
	a, err := strconv.ParseInt(n, 10, 64)
	b, _ := strconv.ParseInt(strings.TrimPrefix(by, "*"), 10, 64)
	if err != nil || a > 1_000_000 || a < 0 {
		return ""
	}
	return strconv.FormatInt(a*b, 10)
}
