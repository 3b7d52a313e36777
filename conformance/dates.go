package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateToken is a token of clause 6.11.
type dateToken struct {
	form     string // "=x " for a token x, "#digits:value " for a number, "? " for one that fits nothing
	from, to int    // code points, the Ignored left out
	single   bool
	word     bool
	number   bool
}

const dateDashes = "-\u2010\u2011\u2012\u2013\u2014\u2015~\u301c\uff5e"

func dateMark(r rune) string {
	switch {
	case strings.ContainsRune(dateDashes, r):
		return "=- "
	case r == '/' || r == '.':
		return "=" + string(r) + " "
	case r == ',' || r == '\uff0c':
		return "=, "
	case strings.ContainsRune(" \t\n\r\u00a0\u3000", r):
		return ""
	}
	return "? "
}

func isPlainDigit(p point) bool {
	f := foldOf(p.r)
	return p.class == "Digit" && len(f) == 1 && f[0] >= '0' && f[0] <= '9'
}

// dateTokens are the tokens of a text, Chinese numerals made numbers.
func dateTokens(s string) []dateToken {
	ps := pointsOf(s)
	var out []dateToken
	run := func(i int, in func(point) bool) (string, int) {
		folded := ""
		for i < len(ps) && in(ps[i]) {
			folded += foldOf(ps[i].r)
			i++
		}
		return folded, i
	}
	letter := func(p point) bool { return isWord(p.class) && p.class != "Digit" }
	for i := 0; i < len(ps); {
		t := dateToken{from: i}
		switch {
		case isPlainDigit(ps[i]):
			var digits string
			digits, t.to = run(i, isPlainDigit)
			t.form, t.number = numberForm(digits), true
		case letter(ps[i]):
			var word string
			word, t.to = run(i, letter)
			t.form, t.word = "="+word+" ", true
		case isBigram(ps[i].class):
			t.form, t.to, t.single = "="+foldOf(ps[i].r)+" ", i+1, true
		default:
			t.form, t.to = dateMark(ps[i].r), i+1
			if ps[i].class == "Digit" {
				t.form = "? "
			}
		}
		if t.form != "" {
			out = append(out, t)
		}
		i = t.to
	}
	return chineseNumbers(out)
}

func numberForm(digits string) string {
	value := strings.TrimLeft(digits, "0")
	if value == "" {
		value = "0"
	}
	return fmt.Sprintf("#%d:%s ", len(digits), value)
}

var chineseDigits = map[string]string{"〇": "0", "零": "0", "一": "1", "二": "2", "两": "2", "兩": "2",
	"三": "3", "四": "4", "五": "5", "六": "6", "七": "7", "八": "8", "九": "9", "十": "X"}

var tensForm = regexp.MustCompile(`^(\d?)X(\d?)$`)

func chineseNumbers(list []dateToken) []dateToken {
	var out []dateToken
	for i := 0; i < len(list); {
		run, end := "", i
		for end < len(list) && list[end].single && (end == i || list[end].from == list[end-1].to) {
			d := chineseDigits[strings.TrimSpace(list[end].form[1:])]
			if d == "" {
				break
			}
			run += d
			end++
		}
		t := dateToken{number: true, from: list[i].from}
		switch m := tensForm.FindStringSubmatch(run); {
		case run == "":
			out = append(out, list[i])
			i++
			continue
		case m != nil:
			tens, ones := 1, 0
			if m[1] != "" {
				tens, _ = strconv.Atoi(m[1])
			}
			if m[2] != "" {
				ones, _ = strconv.Atoi(m[2])
			}
			t.form = fmt.Sprintf("#2:%d ", 10*tens+ones)
		case !strings.Contains(run, "X"):
			t.form = numberForm(run)
		default:
			out = append(out, list[i:end]...)
			i = end
			continue
		}
		t.to = list[end-1].to
		out = append(out, t)
		i = end
	}
	return out
}

// Days are counted from 1970-01-01.
const microsOfDay = int64(86400) * 1000000

func dayOf(y, m, d int) int64 {
	return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / 86400
}

func dateOf(day int64) (y, m, d int) {
	t := time.Unix(day*86400, 0).UTC()
	return t.Year(), int(t.Month()), t.Day()
}

// weekdayOf is 0 on Mondays.
func weekdayOf(day int64) int { return int(time.Unix(day*86400, 0).UTC().Weekday()+6) % 7 }

func isDay(y, m, d int) bool {
	yy, mm, dd := dateOf(dayOf(y, m, d))
	return yy == y && mm == m && dd == d
}

// laterMonths is the same day n months later, or that month's last.
func laterMonths(day int64, n int) int64 {
	y, m, d := dateOf(day)
	first := dayOf(y, m+n, 1)
	fy, fm, _ := dateOf(first)
	for !isDay(fy, fm, d) {
		d--
	}
	return dayOf(fy, fm, d)
}

// later is n units after a day.
func later(day int64, unit string, n int) int64 {
	switch unit {
	case "day":
		return day + int64(n)
	case "week", "weekend":
		return day + 7*int64(n)
	case "month":
		return laterMonths(day, n)
	case "quarter":
		return laterMonths(day, 3*n)
	}
	return laterMonths(day, 12*n)
}

// days is a time in days, to exclusive.
type days struct{ from, to int64 }

// unitOf is the unit that a day is in, or the n-th after it.
func unitOf(day int64, unit string, n int) days {
	y, m, _ := dateOf(day)
	monday := day - int64(weekdayOf(day)) + 7*int64(n)
	switch unit {
	case "day":
		return days{day + int64(n), day + int64(n) + 1}
	case "week":
		return days{monday, monday + 7}
	case "weekend":
		return days{monday + 5, monday + 7}
	case "month":
		return days{dayOf(y, m+n, 1), dayOf(y, m+n+1, 1)}
	case "quarter":
		first := (m-1)/3*3 + 1 + 3*n
		return days{dayOf(y, first, 1), dayOf(y, first+3, 1)}
	}
	return days{dayOf(y+n, 1, 1), dayOf(y+n+1, 1, 1)}
}
