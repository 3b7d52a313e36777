package dates

import (
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// token is a piece of a text: a word, a number, one character of Chinese or Japanese, or a mark.
type token struct {
	s       string // folded; "" for a number and for a mark that means nothing
	n       int    // of a number
	digits  int    // of a number: how many, 0 for all else
	word    bool   // letters
	single  bool   // one character of a script without spaces
	at, end int    // bytes of the text
}

// maxDigits is the length of the longest number that can mean anything; of a longer one the value
// is not kept.
const maxDigits = 4

// maxWord is the length in bytes from which on no more is kept of a word: no name is longer.
const maxWord = 32

// marks are the marks that mean something, each with what it stands for.
var marks = map[string]string{
	"-": "-", "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-",
	"\u2015": "-", "~": "-", "\uff5e": "-", "\u301c": "-",
	"/": "/", ".": ".", ",": ",", "\uff0c": ",",
}

// blanks separate tokens and are none.
const blanks = " \t\n\r\u00a0\u3000"

// tokens returns the first tokens of a text, at most most. What comes after is not looked at, but for
// a run of numerals that begins among them.
func tokens(s string, most int) []token {
	var out []token
	last := text.KindOther // of the code point before
	asIs := false          // whether the word at hand stands in the text as it is folded
	whole := 0             // how many of out are no numerals: each of these stays a token
	text.EachFolded(s, func(at, end int, kind text.Kind, fold string) bool {
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

// numerals are the Chinese ones; 十, ten, is not among them.
var numerals = map[string]int{
	"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7,
	"八": 8, "九": 9,
}

const ten = "十"

// joinNumerals makes numbers of runs of Chinese numerals: a run with one 十 is at most one digit of
// tens and one of ones, one without it is digits. Any other run stays as it is.
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
