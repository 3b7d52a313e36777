package text

import (
	"strconv"
	"unicode/utf8"
)

// FirstBytes returns the first n bytes of a text, without a scalar that is cut, or all of a shorter one.
func FirstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// FirstScalars returns the first n scalars of s.
func FirstScalars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// CapScalars returns s unchanged if it has at most n scalars, otherwise its first n followed by " <...+N chars>", N
// being the number omitted. n <= 0 means no cap. A byte that is not UTF-8 counts as one scalar.
//
// Cap before escaping: otherwise the cut could split an escape.
func CapScalars(s string, n int) string {
	if n <= 0 || len(s) <= n {
		return s
	}
	count := 0
	for i := range s {
		if count == n {
			left := utf8.RuneCountInString(s[i:])
			return s[:i] + " <...+" + strconv.Itoa(left) + " chars>"
		}
		count++
	}
	return s
}

// EstimateTokens estimates how many tokens a language model sees in s: one for each four bytes of ASCII and two for
// each three other scalars, both rounded up. A byte that is not UTF-8 counts as a non-ASCII scalar.
func EstimateTokens(s string) int {
	ascii, other := 0, 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			ascii++
			i++
			continue
		}
		_, width := utf8.DecodeRuneInString(s[i:])
		other++
		i += width
	}
	return (ascii+3)/4 + (2*other+2)/3
}
