package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lexTongue is the words of one language: class, phrase (words between spaces) and value.
type lexTongue struct {
	name  string
	words map[string]map[string]string
}

var lexTongues []*lexTongue

// loadLikeness reads the words of clause 24.2.
func loadLikeness(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, "compare-words.txt"))
	if err != nil {
		return err
	}
	lexTongues = nil
	for _, name := range []string{"en", "de", "fr", "es", "zh", "none"} {
		lexTongues = append(lexTongues, &lexTongue{name, map[string]map[string]string{}})
	}
	for _, line := range strings.Split(string(data), "\n") {
		part := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(part) < 3 || part[0][0] == '#' {
			continue
		}
		for _, t := range lexTongues {
			if t.name != part[0] {
				continue
			}
			if t.words[part[1]] == nil {
				t.words[part[1]] = map[string]string{}
			}
			for _, e := range strings.Split(part[2], ", ") {
				phrase, value, _ := strings.Cut(e, "=")
				t.words[part[1]][t.split(phrase)] = t.split(value)
			}
		}
	}
	return nil
}

func (t *lexTongue) split(s string) string {
	if t.name == "zh" {
		return strings.Join(strings.Split(s, ""), " ")
	}
	return strings.Join(strings.Fields(s), " ")
}

func (t *lexTongue) is(class, w string) bool { _, ok := t.words[class][w]; return ok }

// lexSign is a sign of rule 1.
type lexSign struct {
	r                  rune
	kind               string // digit, letter, single, other
	upper, space, line bool
	from, to           int
}

var lexAccents = map[rune]string{
	0x300: "aeiou àèìòù", 0x301: "aeiouycnsz áéíóúýćńśź", 0x302: "aeiou âêîôû", 0x303: "ano ãñõ",
	0x308: "aeiouy äëïöüÿ", 0x327: "cs çş", 0x30A: "au åů", 0x30C: "cszren čšžřěň",
}

func lexSigns(s string) []lexSign {
	var out []lexSign
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		at := i
		i += n
		if r >= 0x300 && r <= 0x36F && len(out) > 0 {
			last := &out[len(out)-1]
			base, with, _ := strings.Cut(lexAccents[r], " ")
			if k := slices.Index([]rune(base), last.r); k >= 0 {
				last.r, last.to = []rune(with)[k], i
			} else {
				out = append(out, lexSign{r: r, kind: last.kind, from: at, to: i})
			}
			continue
		}
		class := text6.class[r]
		if class == "Ignored" {
			continue
		}
		g := lexSign{r: r, from: at, to: i, kind: "other"}
		switch {
		case r == utf8.RuneError && n == 1:
		case class == "Digit":
			g.kind = "digit"
		case isWord(class):
			g.kind = "letter"
		case isBigram(class):
			g.kind = "single"
		}
		switch {
		case r >= 0xFF01 && r <= 0xFF5E:
			g.r = r - 0xFEE0
		case slices.Contains([]rune{0x3000, 0xA0, 0x202F, 0x205F}, r) || r >= 0x2000 && r <= 0x200A:
			g.r = ' '
		case r >= 0x2010 && r <= 0x2015 || r == 0x2212:
			g.r = '-'
		case slices.Contains([]rune{0x2018, 0x2019, 0x2BC}, r):
			g.r = '\''
		}
		low := lexLower(g.r)
		g.upper, g.r = low != g.r, low
		g.line = slices.Contains([]rune{'\n', '\r', 0x85, 0x2028, 0x2029}, r)
		g.space = g.line || slices.Contains([]rune{' ', '\t', '\v', '\f'}, g.r)
		out = append(out, g)
	}
	return out
}

func lexLower(r rune) rune {
	within := func(pairs ...rune) bool {
		for i := 0; i < len(pairs); i += 2 {
			if r >= pairs[i] && r <= pairs[i+1] {
				return true
			}
		}
		return false
	}
	switch {
	case r == 0xD7:
	case within('A', 'Z', 0xC0, 0xDE, 0x391, 0x3A9, 0x410, 0x42F):
		return r + 32
	case within(0x400, 0x40F):
		return r + 80
	case r == 0x178:
		return 0xFF
	case r == 0x130:
		return 'i'
	case r == 0x1E9E:
		return 0xDF
	case within(0x139, 0x148, 0x179, 0x17E):
		return r + r%2
	case within(0x100, 0x177, 0x1E00, 0x1E95, 0x1EA0, 0x1EFF, 0x460, 0x481, 0x48A, 0x4BF, 0x4D0, 0x52F):
		return r + 1 - r%2
	}
	return r
}

// lexeme is one of rule 2, and then a token of rules 3 to 6.
type lexeme struct {
	class, form, raw     string
	from, to             int
	capital, inner, caps bool
	tight                bool   // no space before it
	ends                 string // "maybe" or "surely" where it ends a sentence

	shown, stem, ending  string
	gender, article      string
	sentence             int
	proper, det, be, had bool
	counted              bool // a unit behind a number
}

const (
	lexOpen  = "([{\"'`«‹“‘„‚¿¡「『《（【*"
	lexClose = ")]}\"'`»›”’“‘,;:.!?…、，。；：！？）」』》】·*"
	lexJoint = "/\\_@=#+&~^|<>*$%"
	lexMoney = "$€£¥"
)

type lexReader struct {
	s   string
	g   []lexSign
	out []lexeme
}

func lexOf(s string) []lexeme {
	l := &lexReader{s: s, g: lexSigns(s)}
	i := 0
	for i < len(l.g) {
		j := i + 1
		if g := l.g[i]; g.space {
			if g.line {
				l.stop("surely")
			}
		} else if g.kind == "single" {
			l.put("single", i, j)
		} else {
			for j < len(l.g) && !l.g[j].space && l.g[j].kind != "single" {
				j++
			}
			l.chunk(i, j)
		}
		i = j
	}
	return l.out
}

func (l *lexReader) stop(how string) {
	if n := len(l.out); n > 0 && l.out[n-1].ends != "surely" {
		l.out[n-1].ends = how
	}
}

func (l *lexReader) text(i, j int) string {
	var rs []rune
	for _, g := range l.g[i:j] {
		rs = append(rs, g.r)
	}
	return string(rs)
}

func (l *lexReader) put(class string, i, j int) *lexeme {
	x := lexeme{class: class, form: l.text(i, j), from: l.g[i].from, to: l.g[j-1].to,
		capital: l.g[i].upper, tight: i > 0 && !l.g[i-1].space}
	x.raw = l.s[x.from:x.to]
	letters, uppers := 0, 0
	for k := i; k < j; k++ {
		if l.g[k].kind == "letter" {
			letters++
		}
		if l.g[k].upper {
			uppers++
			x.inner = x.inner || k > i
		}
	}
	x.caps = uppers >= 2 && uppers == letters
	x.shown = x.form
	l.out = append(l.out, x)
	return &l.out[len(l.out)-1]
}

func (l *lexReader) chunk(i, j int) {
	code := false
	for ; i < j && strings.ContainsRune(lexOpen, l.g[i].r); i++ {
		code = code || l.g[i].r == '`'
	}
	end := j
	for end > i && strings.ContainsRune(lexClose, l.g[end-1].r) {
		end--
	}
	if i < end {
		l.inside(i, end, code)
	}
	for ; end < j; end++ {
		switch l.g[end].r {
		case '?', '？':
			x := l.put("mark", end, end+1)
			x.form, x.shown = "?", "?"
			l.stop("surely")
		case '!', '。', '！', '…':
			l.stop("surely")
		case '.':
			l.stop("maybe")
		}
	}
}

func (l *lexReader) inside(i, j int, code bool) {
	count := map[string]int{}
	joint := code
	for k := i; k < j; k++ {
		g := l.g[k]
		count[g.kind]++
		if g.kind == "other" {
			joint = joint || strings.ContainsRune(lexJoint, g.r) ||
				k > i && k < j-1 && (g.r == '.' || g.r == ':')
		}
	}
	quiet := func(r rune) bool { return strings.ContainsRune("-"+lexOpen+lexClose, r) }
	switch {
	case count["digit"]+count["letter"] == 0:
		loud := false
		for _, g := range l.g[i:j] {
			loud = loud || !quiet(g.r)
		}
		for k := i; loud && k < j; k++ {
			l.put("mark", k, k+1)
		}
	case count["digit"] > 0 && l.number(i, j):
	case joint || l.s[l.g[i].from] == '-' || count["digit"] > 0 && count["letter"]+count["other"] > 0:
		x := l.put("identifier", i, j)
		x.form, x.shown = x.raw, x.raw
	default:
		for k := i; k < j; k++ {
			if l.g[k].kind == "other" {
				not := l.g[k].r == '!' && k == i && (k == 0 || l.g[k-1].space)
				if !quiet(l.g[k].r) && l.g[k].r != '\'' || not {
					l.put("mark", k, k+1)
				}
				continue
			}
			end := k
			for end < j && (l.g[end].kind != "other" || l.g[end].r == '\'' && end < j-1) {
				end++
			}
			l.put("word", k, end)
			k = end - 1
		}
	}
}

func (l *lexReader) number(i, j int) bool {
	k, money := i, -1
	if slices.Contains([]rune{'-', '+'}, l.g[k].r) {
		k++
	}
	if k < j && strings.ContainsRune(lexMoney, l.g[k].r) {
		money = k
		k++
	}
	begin := k
	for k < j {
		joint := k > begin && k+1 < j && strings.ContainsRune(".,':-/", l.g[k].r) &&
			l.g[k+1].kind == "digit"
		if l.g[k].kind != "digit" && !joint {
			break
		}
		k++
	}
	if k == begin || money >= 0 && k < j {
		return false
	}
	class, form := "number", l.text(begin, k)
	if clock := lexClock(form); clock != "" {
		class, form = "time", clock
	} else if day := lexDay(form); day != "" {
		class, form = "date", day
	} else if strings.ContainsAny(form, ":-/") {
		return false
	}
	if l.g[i].r == '-' {
		form = "-" + form
	}
	rest := k
	if rest < j-1 && l.g[rest].r == '-' {
		rest++
	}
	kind := "word"
	if rest < j {
		letters := true
		for _, g := range l.g[rest:j] {
			letters = letters && g.kind == "letter"
		}
		if j-rest == 1 && strings.ContainsRune("%‰°"+lexMoney, l.g[rest].r) {
			kind = "mark"
		} else if !letters || rest == k && j-rest > 3 {
			return false
		}
	}
	x := l.put(class, i, k)
	x.form, x.shown = form, form
	if money >= 0 {
		l.put("mark", money, money+1)
	}
	if rest < j {
		l.put(kind, rest, j)
	}
	return true
}

// lexWhole reads a whole number of at most so many ASCII digits, -1 for anything else.
func lexWhole(s string, most int) int {
	if len(s) > most || s == "" || strings.Trim(s, "0123456789") != "" {
		return -1
	}
	n, _ := strconv.Atoi(s)
	return n
}

func lexClock(s string) string {
	part := strings.Split(s, ":")
	if len(part) != 2 && len(part) != 3 {
		return ""
	}
	for i, p := range part {
		n := lexWhole(p, 2)
		if n < 0 || i == 0 && n > 24 || i > 0 && (n > 59 || len(p) < 2) {
			return ""
		}
	}
	if len(part[0]) == 1 {
		s = "0" + s
	}
	return s
}

func lexDay(s string) string {
	for _, sep := range []string{".", "/", "-"} {
		p := strings.Split(s, sep)
		if len(p) != 3 {
			continue
		}
		if sep == "." {
			slices.Reverse(p)
		}
		if len(p[0]) != 4 {
			return ""
		}
		return lexDate(lexWhole(p[0], 4), lexWhole(p[1], 2), lexWhole(p[2], 2))
	}
	return ""
}

// lexDate writes a date; year and day may be -1 for none, if not both.
func lexDate(year, month, day int) string {
	pad := func(n int) string { return strconv.Itoa(100 + n)[1:] }
	if month < 1 || month > 12 || day > 31 || day == 0 || year >= 0 && (year < 1000 || year > 9999) {
		return ""
	}
	y := "-"
	if year >= 0 {
		y = strconv.Itoa(year)
	}
	if day < 0 {
		return y + "-" + pad(month)
	}
	return y + "-" + pad(month) + "-" + pad(day)
}
