package main

import "strings"

// dateRead is one date of an expression.
type dateRead struct {
	days
	known   bool
	year    int                      // that the text gives it
	again   func(y int) (days, bool) // of a yearless one
	fromNow bool
}

// dateExpr is one expression.
type dateExpr struct {
	dates   []*dateRead
	bound   string // "", since, after, before, until or near
	count   int
	unit    string
	weekday int
}

// dateReader reads the tokens of a text.
type dateReader struct {
	forms []string
	now   *int64 // a day
}

func (r dateReader) from(i int) string { return strings.Join(r.forms[min(i, len(r.forms)):], "") }

// word reports whether one of some words, separated by |, stands at i.
func (r dateReader) word(i int, words string) bool {
	return i < len(r.forms) && has(strings.Split(words, "|"), strings.TrimSpace(r.forms[i][1:])) &&
		r.forms[i][0] == '='
}

// recurring is what a yearless pattern means in a year.
func recurring(f fields) func(y int) (days, bool) {
	return func(y int) (days, bool) {
		m := f.month()
		switch {
		case f["D"] != "":
			d := f.number("D")
			return days{dayOf(y, m, d), dayOf(y, m, d) + 1}, isDay(y, m, d)
		case f["S"] != "":
			return days{dayOf(y, m, 1), dayOf(y, m+3, 1)}, true
		}
		return days{dayOf(y, m, 1), dayOf(y, m+1, 1)}, true
	}
}

// seek is the occurrence nearest to a day, in the direction of step, that is right.
func seek(f fields, day int64, step int, right func(days) bool) days {
	if w := f.weekday(); w >= 0 {
		for d := day - int64(8*step); ; d += int64(step) {
			if s := (days{d, d + 1}); weekdayOf(d) == w && right(s) {
				return s
			}
		}
	}
	y, _, _ := dateOf(day)
	for y -= 2 * step; ; y += step {
		if s, ok := recurring(f)(y); ok && right(s) {
			return s
		}
	}
}

func (r dateReader) date(i int, star bool) (*dateRead, int) {
	forms := r.from(i)
	for _, p := range plainDates {
		if f, n := p.fit(forms); n > 0 {
			return plainDate(p, f), n
		}
	}
	for _, p := range nowDates {
		f, n := p.fit(forms)
		if n == 0 {
			continue
		}
		d := &dateRead{fromNow: true}
		if r.now != nil {
			d.known, d.days = true, nowDate(p, f, *r.now)
		}
		return d, n
	}
	for _, p := range starDates {
		if f, n := p.fit(forms); star && n > 0 {
			if f["y"] != "" {
				f["Y"] = f["y"]
			}
			return plainDate(p, f), n
		}
	}
	return nil, 0
}

func plainDate(p datePattern, f fields) *dateRead {
	y := f.number("Y")
	if y == 0 {
		return &dateRead{again: recurring(f)}
	}
	d := &dateRead{known: true, year: y}
	switch p.means {
	case "quarter":
		q := max(f.number("Q"), place(dateOrdinals, f["O"]))
		d.days = days{dayOf(y, 3*q-2, 1), dayOf(y, 3*q+1, 1)}
	case "year":
		d.days = days{dayOf(y, 1, 1), dayOf(y+1, 1, 1)}
	default:
		d.days, _ = recurring(f)(y)
	}
	return d
}

func nowDate(p datePattern, f fields, now int64) days {
	unit := p.unit
	if u := f["U"]; u != "" {
		unit = u
	}
	switch p.means {
	case "unit":
		return unitOf(now, unit, p.shift)
	case "ago":
		return unitOf(later(now, unit, -f.count()), unit, 0)
	case "rolling":
		return days{later(now+1, unit, -f.count()), now + 1}
	case "weekday":
		d := unitOf(now, "week", p.shift).from + int64(f.weekday())
		return days{d, d + 1}
	case "last":
		return seek(f, now, -1, func(s days) bool { return s.to <= now })
	case "next":
		return seek(f, now, 1, func(s days) bool { return s.from > now })
	}
	if f["W"] != "" {
		d := unitOf(now, "week", 0).from + int64(f.weekday())
		return days{d, d + 1}
	}
	y, _, _ := dateOf(now)
	s, _ := recurring(f)(y)
	return s
}

// expression reads one at token i; n is its tokens, 0 for none.
func (r dateReader) expression(i int) (*dateExpr, int) {
	for _, read := range []func(int) (*dateExpr, int){r.beside, r.between, r.bounded, r.chinese} {
		if e, n := read(i); n > 0 {
			return e, n
		}
	}
	if d, n := r.date(i, false); n > 0 {
		return &dateExpr{dates: []*dateRead{d}}, n
	}
	if !r.word(i, "in|during|on|at|of|early|mid|late|im|en|em|au") {
		return nil, 0
	}
	at := i + 1
	if r.word(at, "the") {
		at++
	}
	if d, n := r.date(at, true); n > 0 {
		return &dateExpr{dates: []*dateRead{d}}, at + n - i
	}
	return nil, 0
}

var besideForms = allRows(
	dateRows("", 0, "", "[the|last] U before|after", "[the|last] W before|after",
		"N [of] U before|after", "N [of] W before|after"))

func (r dateReader) beside(i int) (*dateExpr, int) {
	for _, p := range besideForms {
		f, n := p.fit(r.from(i))
		if n == 0 || f["W"] != "" && f.count() > 1 {
			continue
		}
		d, m := r.date(i+n, true)
		if m == 0 {
			return nil, 0
		}
		e := &dateExpr{dates: []*dateRead{d}, bound: "near", count: f.count(), unit: f["U"],
			weekday: f.weekday()}
		if r.word(i+n-1, "before") {
			e.count = -e.count
		}
		return e, n + m
	}
	return nil, 0
}

func (r dateReader) between(i int) (*dateExpr, int) {
	at, joins := i, "to|until|till|through|-|至|到"
	if r.word(at, "between") {
		joins = "and|-"
	}
	if r.word(at, "between|from|从|從|自") {
		at++
	}
	a, n := r.date(at, true)
	at += n
	if n == 0 || !r.word(at, joins) {
		return nil, 0
	}
	b, n := r.date(at+1, true)
	if n == 0 {
		return nil, 0
	}
	return &dateExpr{dates: []*dateRead{a, b}}, at + 1 + n - i
}

func (r dateReader) bounded(i int) (*dateExpr, int) {
	bound := ""
	for _, w := range []string{"since", "after", "before", "until"} {
		if r.word(i, w) || w == "until" && r.word(i, "till|by|through") {
			bound = w
		}
	}
	at := i + 1
	if r.word(at, "the") {
		at++
	}
	d, n := r.date(at, true)
	if bound == "" || n == 0 {
		return nil, 0
	}
	return &dateExpr{dates: []*dateRead{d}, bound: bound}, at + n - i
}

func (r dateReader) chinese(i int) (*dateExpr, int) {
	at := i
	if r.word(at, "从|從|自") {
		at++
	}
	d, n := r.date(at, false)
	if n == 0 {
		return nil, 0
	}
	at += n
	for _, c := range []struct{ bound, one, two string }{
		{"since", "以", "来|來"}, {"since", "起", ""}, {"after", "之|以", "后|後"},
		{"after", "后|後", ""}, {"before", "之|以", "前"}, {"before", "前", ""},
	} {
		if r.word(at, c.one) && (c.two == "" || r.word(at+1, c.two)) {
			if c.two != "" {
				at++
			}
			return &dateExpr{dates: []*dateRead{d}, bound: c.bound}, at + 1 - i
		}
	}
	return nil, 0
}
