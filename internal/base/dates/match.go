package dates

import (
	"cmp"
	"slices"
)

// found holds the values of a pattern's classes in a match.
type found struct {
	year, month, season, day int // 0 if the pattern has none
	quarter, count           int
	weekday                  int // from 0
	unit                     unit
}

// match matches a pattern at the beginning of a list and returns the number of tokens; 0 means no match. Optional
// elements are matched if present.
func (p *pattern) match(list []token) (f found, n int) {
	f.unit = p.unit
	for _, e := range p.elems {
		ok := n < len(list)
		if ok && e.class == 0 {
			ok = list[n].isOne(e.any)
		} else if ok {
			ok = f.take(e.class, list[n])
		}
		if !ok && !e.optional {
			return found{}, 0
		}
		if ok {
			n++
		}
	}
	if f.day > 0 && !f.possible() {
		return found{}, 0
	}
	return f, n
}

// possible reports whether the month has the day.
func (f *found) possible() bool {
	year := f.year
	if year == 0 {
		year = 2000 // February 29 may be meant
	}
	return exists(year, f.month, f.day)
}

func (t token) isOne(any []string) bool { return t.s != "" && slices.Contains(any, t.s) }

// number returns the value of a number with at most the given digits and within the bounds, otherwise 0.
func (t token) number(digits, low, high int) int {
	if t.digits == 0 || t.digits > digits || t.n < low || t.n > high {
		return 0
	}
	return t.n
}

// take matches a token against a class, and stores its value.
func (f *found) take(class byte, t token) bool {
	set := func(to *int, n int) bool {
		*to = n
		return n > 0
	}
	switch class {
	case 'Y':
		return set(&f.year, t.number(4, 1000, 9999))
	case 'M':
		return set(&f.month, t.number(2, 1, 12))
	case 'L':
		return set(&f.month, monthNames[t.s])
	case 'D':
		return set(&f.day, t.number(2, 1, 31))
	case 'Q':
		return set(&f.quarter, t.number(1, 1, 4))
	case 'O':
		return set(&f.quarter, ordinals[t.s])
	case 'S':
		return set(&f.season, seasonNames[t.s])
	case 'N':
		return set(&f.count, cmp.Or(t.number(3, 1, 999), countNames[t.s]))
	case 'U':
		f.unit = unitNames[t.s]
		return f.unit != unitNone
	}
	return f.takeWeekday(class, t)
}

func (f *found) takeWeekday(class byte, t token) bool {
	if class == 'W' {
		var ok bool
		f.weekday, ok = weekdayNames[t.s]
		return ok
	}
	f.weekday = 6
	if t.s == "日" || t.s == "天" {
		return true
	}
	f.weekday = t.number(1, 1, 6) - 1
	return f.weekday >= 0
}

// cycle returns the recurring part of the match.
func (f *found) cycle() cycle {
	switch {
	case f.season > 0:
		return cycle{month: f.season, months: 3}
	case f.month > 0:
		return cycle{month: f.month, day: f.day, months: 1}
	}
	return cycle{weekday: f.weekday}
}

// absolute returns the days of a date with a year.
func (f *found) absolute(m meaning) span {
	switch m {
	case aDay:
		d := date(f.year, f.month, f.day)
		return span{d, d + 1}
	case aMonth:
		return months(f.year, f.month, 1)
	case aQuarter:
		return months(f.year, 3*f.quarter-2, 3)
	case aSeason:
		return months(f.year, f.season, 3)
	}
	return months(f.year, 1, 12)
}

// relative returns the days of a date that counts from now.
func (f *found) relative(p *pattern, now day) (s span, ok bool) {
	switch p.means {
	case shiftUnit:
		return f.unit.around(now, p.shift), true
	case agoUnit:
		return f.unit.around(f.unit.add(now, -f.count), 0), true
	case rolling:
		return span{f.unit.add(now+1, -max(1, f.count)), now + 1}, true
	case shiftWeek:
		d := unitWeek.around(now, p.shift).from + day(f.weekday)
		return span{d, d + 1}, true
	case lastCycle, pastDay:
		return f.cycle().before(now)
	case nextCycle:
		return f.cycle().after(now + 1)
	}
	if f.season == 0 && f.month == 0 { // of this week
		d := unitWeek.around(now, 0).from + day(f.weekday)
		return span{d, d + 1}, true
	}
	year, _, _ := now.civil()
	return f.cycle().in(year)
}
