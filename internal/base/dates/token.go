package dates

import (
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// token is a piece of a text: a word, a number, one character of Chinese or Japanese, or a mark.
type token struct {
	s       string // folded; "" for a number and for a mark that means nothing
	n       int    // of a number
	digits  int    // of a number: how many, otherwise 0
	word    bool   // letters
	single  bool   // one character of a script without spaces
	at, end int    // bytes of the text
}

// maxDigits is the length of the longest meaningful number; the value of a longer one is dropped.
const maxDigits = 4

// maxWord is how many bytes of a word are kept: no name is longer.
const maxWord = 32

// marks maps meaningful marks to their canonical form.
var marks = map[string]string{
	"-": "-", "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-",
	"\u2015": "-", "~": "-", "\uff5e": "-", "\u301c": "-",
	"/": "/", ".": ".", ",": ",", "\uff0c": ",",
}

// blanks separate tokens.
const blanks = " \t\n\r\u00a0\u3000"

// tokens returns the first tokens of a text, at most most. It reads no further, except to the end of a run of
// numerals that begins among them.
func tokens(s string, most int) []token {
	var out []token
	last := text.KindOther // of the code point before
	asIs := false          // whether the current word occurs in the text in folded form
	whole := 0             // how many of out are not numerals: each of these remains a token
	text.EachFolded(s, func(at, end int, kind text.CharClass, fold string) bool {
		digit := kind == text.KindDigit && len(fold) == 1 && fold[0] >= '0' && fold[0] <= '9'
		if kind == text.KindDigit && !digit {
			kind = text.KindOther
		}
		grown := kind == last
		last = kind
		switch {
		case kind == text.KindOther && strings.Contains(blanks, fold):
		case kind == text.KindDigit && grown:
			t := &out[len(out)-1]
			t.end = end
			if t.digits++; t.digits <= maxDigits {
				t.n = 10*t.n + int(fold[0]-'0')
			}
		case kind == text.KindLetter && grown:
			t := &out[len(out)-1]
			asIs = asIs && at == t.end && fold == s[at:end]
			t.end = end
			switch {
			case len(t.s) > maxWord: // a longer one means nothing
			case asIs:
				t.s = s[t.at:end]
			default:
				t.s += fold
			}
		default:
			t := token{s: fold, at: at, end: end}
			switch kind {
			case text.KindDigit:
				t.s, t.n, t.digits = "", int(fold[0]-'0'), 1
			case text.KindOther:
				t.s = marks[fold]
			case text.KindLetter:
				t.word, asIs = true, fold == s[at:end]
			default:
				t.single = true
			}
			if out = append(out, t); !isNumeral(t) {
				whole++
			}
		}
		return whole <= most
	})
	out = joinNumerals(out)
	return out[:min(len(out), most)]
}

// numerals are the Chinese ones, except 十, ten.
var numerals = map[string]int{
	"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7,
	"八": 8, "九": 9,
}

const ten = "十"

// joinNumerals joins runs of Chinese numerals into numbers: a run with one 十 has at most one digit of tens and one
// of ones, a run without it is digits. Any other run is unchanged.
func joinNumerals(list []token) []token {
	out := list[:0]
	for i := 0; i < len(list); {
		end := i
		for end < len(list) && isNumeral(list[end]) &&
			(end == i || list[end].at == list[end-1].end) {
			end++
		}
		if n, digits, ok := numeral(list[i:end]); ok {
			out = append(out, token{n: n, digits: digits, at: list[i].at, end: list[end-1].end})
			i = end
			continue
		}
		end = max(end, i+1)
		out = append(out, list[i:end]...)
		i = end
	}
	return out
}

func isNumeral(t token) bool {
	if !t.single {
		return false
	}
	_, ok := numerals[t.s]
	return ok || t.s == ten
}

// numeral reads a run of Chinese numerals.
func numeral(run []token) (n, digits int, ok bool) {
	if len(run) == 0 {
		return 0, 0, false
	}
	tens := -1
	for i, t := range run {
		switch {
		case t.s != ten:
			if i < maxDigits {
				n = 10*n + numerals[t.s]
			}
		case tens >= 0:
			return 0, 0, false
		default:
			tens = i
		}
	}
	if tens < 0 {
		return n, len(run), true
	}
	if tens > 1 || len(run) > tens+2 {
		return 0, 0, false
	}
	n = 10
	if tens == 1 {
		n = 10 * numerals[run[0].s]
	}
	if len(run) > tens+1 {
		n += numerals[run[tens+1].s]
	}
	return n, 2, true
}
