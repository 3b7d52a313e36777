package dates

import "time"

// A day is the number of days since 1970-01-01 in the proleptic Gregorian calendar.
type day int

const dayMicros = 24 * 60 * 60 * 1_000_000

// date returns a day of a month; months and days out of range carry over.
func date(year, month, d int) day {
	return day(time.Date(year, time.Month(month), d, 0, 0, 0, 0, time.UTC).Unix() / 86_400)
}

// exists reports whether a month has a day.
func exists(year, month, d int) bool {
	return d >= 1 && d <= int(date(year, month+1, 1)-date(year, month, 1))
}

func (d day) civil() (year, month, dom int) {
	t := time.Unix(int64(d)*86_400, 0).UTC()
	return t.Year(), int(t.Month()), t.Day()
}

// weekday returns 0 for Monday to 6 for Sunday.
func (d day) weekday() int { return ((int(d)+3)%7 + 7) % 7 }

// addMonths returns the same day of another month, or its last day if it has no such day.
func (d day) addMonths(n int) day {
	year, month, dom := d.civil()
	first := date(year, month+n, 1)
	y, m, _ := first.civil()
	return min(first+day(dom)-1, date(y, m+1, 1)-1)
}

// unit is a length of time by name.
type unit int

const (
	unitNone unit = iota
	unitDay
	unitWeek
	unitWeekend
	unitMonth
	unitQuarter
	unitYear
)

// add returns the day that is n units after d.
func (u unit) add(d day, n int) day {
	switch u {
	case unitDay:
		return d + day(n)
	case unitWeek, unitWeekend:
		return d + day(7*n)
	case unitMonth:
		return d.addMonths(n)
	case unitQuarter:
		return d.addMonths(3 * n)
	}
	return d.addMonths(12 * n)
}

// around returns the nth unit after the one that contains d. A weekend belongs to d's week.
func (u unit) around(d day, n int) span {
	year, month, _ := d.civil()
	switch u {
	case unitDay:
		return span{d + day(n), d + day(n) + 1}
	case unitWeek, unitWeekend:
		monday := d - day(d.weekday()) + day(7*n)
		if u == unitWeekend {
			return span{monday + 5, monday + 7}
		}
		return span{monday, monday + 7}
	case unitMonth:
		return months(year, month+n, 1)
	case unitQuarter:
		return months(year, month-(month-1)%3+3*n, 3)
	}
	return months(year+n, 1, 12)
}

// span is a half-open range of days.
type span struct{ from, to day }

// months returns n whole months from the given one on.
func months(year, month, n int) span { return span{date(year, month, 1), date(year, month+n, 1)} }

// cycle recurs every year or week.
type cycle struct {
	month, day int // day is 0 for a whole month
	months     int // of a month or season, otherwise 0
	weekday    int // 0 to 6 if month is 0
}

// in returns the occurrence that begins in a year; ok is false if the year has no such day.
func (c cycle) in(year int) (s span, ok bool) {
	if c.day > 0 {
		d := date(year, c.month, c.day)
		return span{d, d + 1}, exists(year, c.month, c.day)
	}
	return months(year, c.month, c.months), true
}

// leapYears is how many years may pass without a February 29.
const leapYears = 8

// last returns the latest occurrence, near the year of d, for which fits holds. fits must hold for all early enough
// ones.
func (c cycle) last(d day, fits func(span) bool) (span, bool) {
	if c.month == 0 {
		for back := -7; back <= 7; back++ {
			s := span{d - day(back), d - day(back) + 1}
			if s.from.weekday() == c.weekday && fits(s) {
				return s, true
			}
		}
		return span{}, false
	}
	year, _, _ := d.civil()
	for y := year + 1; y >= year-leapYears; y-- {
		if s, ok := c.in(y); ok && fits(s) {
			return s, true
		}
	}
	return span{}, false
}

// before returns the latest occurrence that ends by d.
func (c cycle) before(d day) (span, bool) {
	return c.last(d, func(s span) bool { return s.to <= d })
}

// begun returns the latest occurrence that begins by d.
func (c cycle) begun(d day) (span, bool) {
	return c.last(d, func(s span) bool { return s.from <= d })
}

// after returns the first occurrence that begins on d or later.
func (c cycle) after(d day) (span, bool) {
	if c.month == 0 {
		s := span{d, d + 1}
		for s.from.weekday() != c.weekday {
			s.from, s.to = s.from+1, s.to+1
		}
		return s, true
	}
	year, _, _ := d.civil()
	for y := year; y <= year+leapYears; y++ {
		if s, ok := c.in(y); ok && s.from >= d {
			return s, true
		}
	}
	return span{}, false
}
