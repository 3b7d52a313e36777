package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// tables are those of clause 6: class and fold of code points.
type tables struct {
	class map[rune]string
	fold  map[rune]string
	stop  map[string]bool
}

var text6 tables

// loadTables reads spec/text-tables.txt, whose head says what its lines mean.
func loadTables(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	t := tables{class: map[rune]string{}, fold: map[rune]string{}, stop: map[string]bool{}}
	for _, w := range strings.Fields(stopWords) {
		t.stop[w] = true
	}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		w := strings.Fields(sc.Text())
		if len(w) < 4 || w[0] == "#" {
			continue
		}
		switch {
		case w[0] == "class":
			for c := codePoint(w[1]); c <= codePoint(w[2]); c++ {
				t.class[c] = w[3]
			}
		case w[2] == "=":
			to := ""
			for _, x := range w[3:] {
				to += string(codePoint(x))
			}
			t.fold[codePoint(w[1])] = to
		default:
			shift, err := strconv.Atoi(w[3])
			if err != nil {
				return fmt.Errorf("%s: %w", sc.Text(), err)
			}
			for c := codePoint(w[1]); c <= codePoint(w[2]); c++ {
				t.fold[c] = string(c + rune(shift))
			}
		}
	}
	text6 = t
	return sc.Err()
}

func codePoint(s string) rune {
	n, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		panic(err)
	}
	return rune(n)
}

// point is a code point of a text with its class; Ignored ones never become points.
type point struct {
	r     rune
	class string
	cased string
}

func pointsOf(text string) []point {
	var ps []point
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		class := text6.class[r]
		if r == utf8.RuneError && n == 1 {
			class = ""
		}
		if class != "Ignored" {
			ps = append(ps, point{r: r, class: class})
		}
	}
	return ps
}

func isWord(c string) bool { return has([]string{"Letter", "Lower", "Upper", "Digit"}, c) }

func isBigram(c string) bool {
	return has([]string{"Han", "Kana", "Thai", "Lao", "Khmer", "Myanmar"}, c)
}

func foldOf(r rune) string {
	if s, ok := text6.fold[r]; ok {
		return s
	}
	return string(r)
}

func classAt(ps []point, i int) string {
	if i < 0 || i >= len(ps) {
		return ""
	}
	return ps[i].class
}

// inWord reports whether the code point i belongs to a word, as one of a word class or a joiner.
func inWord(ps []point, i int) bool {
	before, after := classAt(ps, i-1), classAt(ps, i+1)
	switch c := classAt(ps, i); c {
	case "Apostrophe":
		return isWord(before) && isWord(after)
	case "FullStop", "Comma":
		return before == "Digit" && after == "Digit"
	default:
		return isWord(c)
	}
}

// analyse returns the terms of a text in the language "en" or "none".
func analyse(text, language string) []string {
	ps := pointsOf(text)
	var terms []string
	for i := 0; i < len(ps); {
		j := i + 1
		switch {
		case inWord(ps, i):
			for j < len(ps) && inWord(ps, j) {
				j++
			}
			for _, token := range wordTokens(ps[i:j]) {
				terms = append(terms, languageTerm(token, language)...)
			}
		case isBigram(ps[i].class):
			for j < len(ps) && ps[j].class == ps[i].class {
				j++
			}
			terms = append(terms, bigrams(ps[i:j])...)
		}
		i = j
	}
	return terms
}

func tokenOf(ps []point) string {
	var b strings.Builder
	for _, p := range ps {
		switch p.class {
		case "Apostrophe":
			b.WriteByte('\'')
		case "FullStop":
			b.WriteByte('.')
		case "Comma":
		default:
			b.WriteString(foldOf(p.r))
		}
	}
	cut := []rune(b.String())
	return string(cut[:min(len(cut), 64)])
}

func wordTokens(ps []point) []string {
	for i := range ps {
		switch ps[i].class {
		case "Upper":
			ps[i].cased = "upper"
		case "Lower":
			ps[i].cased = "lower"
		case "Digit":
			if i > 0 {
				ps[i].cased = ps[i-1].cased
			}
		}
	}
	tokens := []string{tokenOf(ps)}
	start := 0
	for i := 1; i < len(ps); i++ {
		if ps[i].class != "Upper" {
			continue
		}
		before := ps[i-1].cased
		if before == "lower" || before == "upper" && classAt(ps, i+1) == "Lower" {
			tokens = append(tokens, tokenOf(ps[start:i]))
			start = i
		}
	}
	if start == 0 || len(ps) > 256 {
		return tokens[:1]
	}
	return append(tokens, tokenOf(ps[start:]))
}

// hanUnits are the units of the runs of Han that have more than one (clause 7.1).
func hanUnits(text string) []string {
	var out []string
	ps := pointsOf(text)
	for i := 0; i < len(ps); i++ {
		j := i
		for j < len(ps) && ps[j].class == "Han" {
			j++
		}
		if units := unitsOf(ps[i:j]); len(units) > 1 {
			out = append(out, units...)
		}
		i = j
	}
	return out
}

// unitsOf divides a run of a bigram class.
func unitsOf(ps []point) []string {
	var units []string
	voicing := func(r rune) bool { return r == 0x3099 || r == 0x309a }
	last := rune(0)
	for _, p := range ps {
		for _, r := range foldOf(p.r) {
			if voicing(r) && len(units) > 0 && !voicing(last) {
				units[len(units)-1] += string(r)
			} else {
				units = append(units, string(r))
			}
			last = r
		}
	}
	return units
}

func bigrams(ps []point) []string {
	units := unitsOf(ps)
	if len(units) == 1 {
		return units
	}
	var out []string
	for i := 1; i < len(units); i++ {
		out = append(out, units[i-1]+units[i])
	}
	return out
}

// languageTerm is clause 6.8: no term or one.
func languageTerm(token, language string) []string {
	if language == "none" {
		return []string{token}
	}
	if text6.stop[token] {
		return nil
	}
	if strings.Trim(token, "abcdefghijklmnopqrstuvwxyz'") != "" {
		return []string{token}
	}
	env := snowballstem.NewEnv(token)
	english.Stem(env)
	if s := env.Current(); s != "" {
		return []string{s}
	}
	return []string{token}
}

// escapeLine is clause 6.9.
func escapeLine(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x{%02X}`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case mustEscape(r):
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

var escapeRanges = [][2]rune{{0, 0x1f}, {0x7f, 0x7f}, {0x80, 0x9f}, {0x2028, 0x2029},
	{0x61c, 0x61c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}, {0xad, 0xad},
	{0x34f, 0x34f}, {0x180e, 0x180e}, {0x200b, 0x200b}, {0x115f, 0x1160}, {0x3164, 0x3164},
	{0xffa0, 0xffa0}, {0x17b4, 0x17b5}, {0x2060, 0x206f}, {0xfe00, 0xfe0d}, {0xfeff, 0xfeff},
	{0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	{0xfdd0, 0xfdef}}

func mustEscape(r rune) bool {
	for _, x := range escapeRanges {
		if x[0] <= r && r <= x[1] {
			return true
		}
	}
	return r&0xfffe == 0xfffe
}
