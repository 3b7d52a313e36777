package compare

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

// class is the kind of a lexeme.
type class uint8

const (
	classWord class = iota
	classNumber
	classIdentifier
	classSingle // a sign of a script without spaces
	classMark   // a sign that says something, as % or ?
	classMonth
	classWeekday
	classHabit // every such day
	classDate
	classTime
)

// lexeme is one word, number, identifier or sign of the text: rule 2.
type lexeme struct {
	class      class
	form       string
	exact      string // as written
	start, end int
	capital    bool // begins with an upper-case letter
	inner      bool // has one after its first
	caps       bool // has two letters or more, all upper-case
	ends       byte // '.' for a full stop after it, '!' for a surer end, 0
	tight      bool // no space before it
}

// Signs around words that say nothing.
const (
	opening = "([{\"'`«‹“‘„‚¿¡「『《（【*"
	closing = ")]}\"'`»›”’“‘,;:.!?…、，。；：！？）」』》】·*"
	joints  = "/\\_@=#+&~^|<>*$%"
)

type lexer struct {
	s   string
	g   []sign
	out []lexeme
}

func lex(s string) []lexeme {
	l := &lexer{s: s, g: signs(s)}
	l.out = make([]lexeme, 0, 4+len(l.g)/5) // words have some five letters
	for i := 0; i < len(l.g); {
		switch g := l.g[i]; {
		case g.space:
			if g.line {
				l.end('!')
			}
			i++
			continue
		case g.kind == text.KindSingle:
			l.add(classSingle, i, i+1)
			i++
		default:
			j := i
			for j < len(l.g) && !l.g[j].space && l.g[j].kind != text.KindSingle {
				j++
			}
			l.chunk(i, j)
			i = j
		}
	}
	return l.out
}

func (l *lexer) end(by byte) {
	if n := len(l.out); n > 0 && l.out[n-1].ends != '!' {
		l.out[n-1].ends = by
	}
}

// word returns signs i to j in lower case.
func (l *lexer) word(i, j int) string {
	var b strings.Builder
	for _, g := range l.g[i:j] {
		b.WriteRune(g.r)
	}
	return b.String()
}

func (l *lexer) add(c class, i, j int) {
	l.addForm(c, l.word(i, j), i, j)
}

func (l *lexer) addForm(c class, form string, i, j int) {
	x := lexeme{
		class: c, form: form, exact: l.s[l.g[i].start:l.g[j-1].end],
		start: l.g[i].start, end: l.g[j-1].end, capital: l.g[i].upper,
	}
	letters, upper := 0, 0
	for k, g := range l.g[i:j] {
		if g.kind == text.KindLetter {
			letters++
		}
		if g.upper {
			upper++
			x.inner = x.inner || k > 0
		}
	}
	x.caps = upper > 1 && upper == letters
	x.tight = i > 0 && !l.g[i-1].space
	l.out = append(l.out, x)
}

func isIn(set string, r rune) bool { return strings.ContainsRune(set, r) }

func (l *lexer) chunk(i, j int) {
	quoted := false
	for i < j && isIn(opening, l.g[i].r) {
		quoted = quoted || l.g[i].r == '`'
		i++
	}
	last := j
	for last > i && isIn(closing, l.g[last-1].r) {
		last--
	}
	if i < last {
		l.body(i, last, quoted)
	}
	for ; last < j; last++ {
		switch l.g[last].r {
		case '?', '？':
			l.addForm(classMark, "?", last, last+1)
			l.end('!')
		case '.':
			l.end('.')
		case '!', '。', '！', '…':
			l.end('!')
		}
	}
}

// body reads a chunk without the punctuation around it.
func (l *lexer) body(i, j int, quoted bool) {
	digits, letters, other := 0, 0, 0
	joined := false
	for k := i; k < j; k++ {
		switch g := l.g[k]; {
		case g.kind == text.KindDigit:
			digits++
		case g.kind == text.KindLetter:
			letters++
		default:
			other++
			inside := k > i && k+1 < j
			joined = joined || isIn(joints, g.r) || inside && (g.r == '.' || g.r == ':')
		}
	}
	switch {
	case digits == 0 && letters == 0:
		l.marks(i, j)
	case digits > 0 && l.number(i, j):
	case quoted || joined || l.s[l.g[i].start] == '-' || digits > 0 && (letters > 0 || other > 0):
		l.addForm(classIdentifier, l.s[l.g[i].start:l.g[j-1].end], i, j)
	default:
		l.words(i, j)
	}
}

// quiet reports whether a sign alone has no meaning: a dash, or an opening or closing mark.
func quiet(r rune) bool { return r == '-' || isIn(closing, r) || isIn(opening, r) }

// marks reads a chunk without letters and digits: dashes alone say nothing, but "!=" is not "=", and
// "->" not ">".
func (l *lexer) marks(i, j int) {
	if !slices.ContainsFunc(l.g[i:j], func(g sign) bool { return !quiet(g.r) }) {
		return
	}
	for k := i; k < j; k++ {
		l.add(classMark, k, k+1)
	}
}

// words reads words between hyphens and other signs.
func (l *lexer) words(i, j int) {
	for k := i; k < j; {
		if l.g[k].kind == text.KindOther {
			alone := i == 0 || l.g[i-1].space // "!x" is not "x"; after a single it ends a sentence
			if l.g[k].r != '\'' && !quiet(l.g[k].r) || k == i && l.g[k].r == '!' && alone {
				l.add(classMark, k, k+1)
			}
			k++
			continue
		}
		end := k
		for end < j && (l.g[end].kind != text.KindOther || l.g[end].r == '\'' && end+1 < j) {
			end++
		}
		l.add(classWord, k, end)
		k = end
	}
}

// number reads a chunk that begins with a number, and reports whether it did.
func (l *lexer) number(i, j int) bool {
	k := i
	if l.g[k].r == '-' || l.g[k].r == '+' {
		k++
	}
	coin := -1
	if k < j && isIn("$€£¥", l.g[k].r) {
		coin = k
		k++
	}
	first := k
	for k < j && (l.g[k].kind == text.KindDigit || k > first && k+1 < j &&
		isIn(".,':-/", l.g[k].r) && l.g[k+1].kind == text.KindDigit) {
		k++
	}
	if k == first || coin >= 0 && k < j {
		return false
	}
	form := l.word(first, k)
	c := classNumber
	switch {
	case isClock(form):
		c = classTime
		form = clock(form)
	case dateOf(form) != "":
		c, form = classDate, dateOf(form)
	case strings.ContainsAny(form, ":-/"):
		return false
	}
	if l.g[i].r == '-' {
		form = "-" + form
	}
	rest := k
	if rest < j && l.g[rest].r == '-' && rest+1 < j {
		rest++
	}
	if rest < j && !l.unit(rest, j, rest > k) {
		return false
	}
	l.addForm(c, form, i, k)
	if coin >= 0 {
		l.add(classMark, coin, coin+1)
	}
	if rest < j {
		if l.g[rest].kind == text.KindLetter {
			l.add(classWord, rest, j)
		} else {
			l.add(classMark, rest, j)
		}
	}
	return true
}

// unit reports whether what follows a number is letters, three at most unless a hyphen is between,
// or one sign.
func (l *lexer) unit(i, j int, hyphen bool) bool {
	if j-i == 1 && isIn("%‰°€$£¥", l.g[i].r) {
		return true
	}
	other := func(g sign) bool { return g.kind != text.KindLetter }
	return !slices.ContainsFunc(l.g[i:j], other) && (j-i <= 3 || hyphen)
}

// sign is one code point of a text: rule 1.
type sign struct {
	r          rune // in lower case
	kind       text.CharClass
	upper      bool
	space      bool
	line       bool // ends a line
	start, end int  // bytes
}

// signs reads a text: rule 1. Accents stay: hatte is not hätte.
func signs(s string) []sign {
	out := make([]sign, 0, len(s))
	for pos, r := range s {
		end := pos + utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, n := utf8.DecodeRuneInString(s[pos:])
			end = pos + n
		}
		if n := len(out); n > 0 && isCombining(r) {
			if c := composed(out[n-1].r, r); c != 0 {
				out[n-1].r, out[n-1].end = c, end
				continue
			}
			out = append(out, sign{r: r, kind: out[n-1].kind, start: pos, end: end})
			continue
		}
		g := sign{start: pos, end: end, kind: text.KindOther}
		known := false
		text.EachFolded(s[pos:end], func(_, _ int, kind text.CharClass, _ string) bool {
			g.kind, known = kind, true
			return true
		})
		if !known { // an ignored one
			continue
		}
		plain := plainSign(r)
		g.r = lower(plain)
		g.upper = g.r != plain
		g.line = r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
		g.space = g.line || g.r == ' ' || r == '\t' || r == '\v' || r == '\f'
		out = append(out, g)
	}
	return out
}

// plainSign maps the forms of one sign to one: full width, spaces, dashes, apostrophes.
func plainSign(r rune) rune {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E:
		return r - 0xFEE0
	case r == 0x3000 || r == 0xA0 || r >= 0x2000 && r <= 0x200A || r == 0x202F || r == 0x205F:
		return ' '
	case r >= 0x2010 && r <= 0x2015 || r == 0x2212:
		return '-'
	case r == 0x2018 || r == 0x2019 || r == 0x02BC:
		return '\''
	}
	return r
}

// lower returns a code point in lower case. What it knows never changes with a release of Go.
func lower(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z', r >= 0xC0 && r <= 0xDE && r != 0xD7, r >= 0x410 && r <= 0x42F,
		r >= 0x391 && r <= 0x3A9:
		return r + 32
	case r >= 0x400 && r <= 0x40F:
		return r + 80
	case r == 0x178:
		return 0xFF
	case r == 0x130:
		return 'i'
	case r >= 0x139 && r <= 0x148, r >= 0x179 && r <= 0x17E:
		return r + r%2
	case r >= 0x100 && r <= 0x177, r >= 0x1E00 && r <= 0x1E95, r >= 0x1EA0 && r <= 0x1EFF,
		r >= 0x460 && r <= 0x481, r >= 0x48A && r <= 0x4BF, r >= 0x4D0 && r <= 0x52F:
		return r | 1
	case r == 0x1E9E:
		return 0xDF
	}
	return r
}

func isCombining(r rune) bool { return r >= 0x300 && r <= 0x36F }

// composites lists for each combining mark the letters it joins with, each before what they become.
var composites = map[rune]string{
	0x300: "aàeèiìoòuù", 0x301: "aáeéiíoóuúyýcćnńsśzź", 0x302: "aâeêiîoôuû", 0x303: "aãnñoõ",
	0x308: "aäeëiïoöuüyÿ", 0x327: "cçsş", 0x30A: "aåuů", 0x30C: "cčsšzžrřeěnň",
}

// composed returns the letter that a base and a mark make, 0 for none it knows.
func composed(base, mark rune) rune {
	found := false
	for i, r := range []rune(composites[mark]) {
		if found {
			return r
		}
		found = i%2 == 0 && r == base
	}
	return 0
}

func isHan(r rune) bool {
	return r >= 0x3400 && r <= 0x4DBF || r >= 0x4E00 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x20000 && r <= 0x323AF || r == 0x3007
}
