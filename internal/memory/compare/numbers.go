package compare

import (
	"fmt"
	"strconv"
	"strings"
)

// digitsIn reads 1 to most decimal digits as a number, -1 for anything else.
func digitsIn(s string, most int) int {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || len(s) > most {
		return -1
	}
	return int(n)
}

func two(n int) string { return fmt.Sprintf("%02d", n) }

// isClock reports whether s is hours and minutes, and seconds maybe.
func isClock(s string) bool {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	for i, p := range parts {
		n := digitsIn(p, 2)
		if n < 0 || i == 0 && n > 24 || i > 0 && (n > 59 || len(p) != 2) {
			return false
		}
	}
	return true
}

func clock(s string) string {
	h, rest, _ := strings.Cut(s, ":")
	return two(digitsIn(h, 2)) + ":" + rest
}

// dateOf returns YYYY-MM-DD of a date written so, with slashes, or as D.M.YYYY; "" for anything else.
func dateOf(s string) string {
	sep := ""
	for _, c := range []string{"-", "/", "."} {
		if strings.Count(s, c) == 2 {
			sep = c
		}
	}
	if sep == "" {
		return ""
	}
	p := strings.Split(s, sep)
	if sep == "." {
		p[0], p[2] = p[2], p[0]
	}
	if len(p[0]) != 4 {
		return ""
	}
	return date(digitsIn(p[0], 4), digitsIn(p[1], 2), digitsIn(p[2], 2))
}

// date returns YYYY-MM-DD, with --MM-DD if there is no year; "" if it is none.
func date(year, month, day int) string {
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return ""
	}
	y := "-"
	if year >= 0 {
		if year < 1000 || year > 9999 {
			return ""
		}
		y = strconv.Itoa(year)
	}
	return y + "-" + two(month) + "-" + two(day)
}

// decimal returns a number with a point before its fraction and no other sign: rule 4. Which sign
// is which depends on the language where a group of three digits follows it.
func decimal(s, language string) string {
	s = strings.ReplaceAll(s, "'", "")
	thousands, point := ",", "."
	if language == "de" || language == "fr" || language == "es" {
		thousands, point = ".", ","
	}
	switch {
	case strings.Count(s, thousands) > 0 && grouped(s, thousands, point):
		s = strings.ReplaceAll(s, thousands, "")
		return strings.Replace(s, point, ".", 1)
	case strings.Count(s, ",")+strings.Count(s, ".") == 1:
		return strings.Replace(s, ",", ".", 1)
	}
	return s
}

// grouped reports whether the whole part of s is in groups of three.
func grouped(s, thousands, point string) bool {
	whole, _, _ := strings.Cut(s, point)
	parts := strings.Split(whole, thousands)
	for i, p := range parts {
		if len(p) > 3 || i > 0 && len(p) != 3 || len(p) == 0 {
			return false
		}
	}
	return len(parts) > 1 && parts[0] != "0"
}

// Chinese numerals.
const (
	hanDigits  = "〇一二三四五六七八九"
	hanPowers  = "十百千"
	hanNumeral = hanDigits + hanPowers + "零两"
)

// hanNumber reads Chinese numerals as a number: digits in a row, or digits and powers of ten. It is
// "" if they make none.
func hanNumber(s string) string {
	var row strings.Builder
	total, digit := 0, -1
	powers := false
	for _, r := range s {
		switch r {
		case '零':
			r = '〇'
		case '两':
			r = '二'
		}
		if i := strings.IndexRune(hanDigits, r); i >= 0 {
			digit = i / len("〇")
			row.WriteByte(byte('0' + digit))
			continue
		}
		i := strings.IndexRune(hanPowers, r) / len("十")
		if digit < 0 && !(i == 0 && total == 0) {
			return ""
		}
		power := []int{10, 100, 1000}[i]
		total += max(digit, 1) * power
		digit, powers = -1, true
	}
	if !powers {
		return row.String()
	}
	return strconv.Itoa(total + max(digit, 0))
}
