package compare

import (
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

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
