package compare

import (
	"slices"
	"strconv"
)

// dates reads days, months and dates: rule 5.
func (r *lexemeReader) dates() {
	r.named()
	r.step(func(in, out []token) []token {
		for i := 0; i < len(in); {
			t, n := r.date(i)
			if n == 0 {
				t, n = in[i], 1
			}
			out = append(out, t)
			i += n
		}
		return out
	})
}

func (r *lexemeReader) named() {
	r.step(func(in, out []token) []token {
		for i := 0; i < len(in); {
			t, n := in[i], 1
			for _, find := range r.x.named(t.form) {
				v, m := phrase(r, find.table, find.in, i)
				if m == 0 || find.class == classMonth && !r.isMonth(in[i]) {
					continue
				}
				t.class, t.form, t.end, n = find.class, v, in[i+m-1].end, m
				break
			}
			out = append(out, t)
			i += n
		}
		return out
	})
}

// naming is a table of names of times.
type naming struct {
	table map[string]string
	in    tables
	class class
}

func (x *lexicon) named(word string) []naming {
	if x.starts[word]&(inHabit|inWeekday|inMonth) == 0 {
		return nil
	}
	return []naming{{x.habit, inHabit, classHabit}, {x.weekday, inWeekday, classWeekday}, {x.month, inMonth, classMonth}}
}

// isMonth reports whether a word that may be a month is one: in English some are other words too
// where they are not capital.
func (r *lexemeReader) isMonth(t token) bool {
	return r.x.name != "en" || t.capital ||
		!slices.Contains([]string{"may", "march", "august", "mar", "dec", "sep", "jan"}, t.form)
}

// at returns the token at i, one of no class behind the end and behind the sentence of from.
func (r *lexemeReader) at(i, from int) token {
	if i < len(r.out) && r.out[i].sentence == r.out[from].sentence {
		return r.out[i]
	}
	return token{class: classMark}
}

// skipOf returns the place after words that stand between the parts of a date.
func (r *lexemeReader) skipOf(i, from int) int {
	for t := r.at(i, from); t.class == classWord && r.x.of[t.form]; t = r.at(i, from) {
		i++
	}
	return i
}

// number returns the value of a whole number between two bounds at i, -1 for anything else.
func (r *lexemeReader) between(i, from, low, high int) int {
	t := r.at(i, from)
	if t.class == classWord && r.x.first[t.form] && low == 1 {
		return 1
	}
	if t.class != classNumber {
		return -1
	}
	if n := digitsIn(t.form, 4); n >= low && n <= high {
		return n
	}
	return -1
}

// date reads a date at i, and says how many tokens it takes: 0 for none.
func (r *lexemeReader) date(i int) (token, int) {
	t := r.out[i]
	year, month, day, end := -1, -1, -1, i
	switch {
	case r.x.name == "zh":
		year, month, day, end = r.hanDate(i)
	case t.class == classMonth:
		month = digitsIn(t.form, 2)
		end = i + 1
		if day = r.between(end, i, 1, 31); day > 0 {
			end++
		}
		year, end = r.year(end, i)
	default:
		if day = r.between(i, i, 1, 31); day > 0 {
			k := r.skipOf(i+1, i)
			if m := r.at(k, i); m.class == classMonth {
				month = digitsIn(m.form, 2)
				year, end = r.year(k+1, i)
			}
		}
	}
	if month < 0 || day < 0 && year < 0 {
		return t, 0
	}
	form := date(year, month, day)
	if day < 0 {
		form = strconv.Itoa(year) + "-" + two(month)
	}
	if form == "" {
		return t, 0
	}
	t.class, t.form, t.end = classDate, form, r.out[end-1].end
	return t, end - i
}

// year reads a year at k, and returns -1 and k for none.
func (r *lexemeReader) year(k, from int) (year, end int) {
	at := r.skipOf(k, from)
	if y := r.between(at, from, 1000, 9999); y > 0 {
		return y, at + 1
	}
	return -1, k
}

// hanDate reads 2025年3月3日 or a part of it that has a month.
func (r *lexemeReader) hanDate(i int) (year, month, day, end int) {
	sign := func(k int, s string) bool {
		t := r.at(k, i)
		return t.class == classSingle && t.form == s
	}
	year, month, day = -1, -1, -1
	k := i
	if y := r.between(k, i, 1000, 9999); y > 0 && sign(k+1, "年") {
		year = y
		k += 2
	}
	if m := r.between(k, i, 1, 12); m > 0 && sign(k+1, "月") {
		month = m
		k += 2
		if d := r.between(k, i, 1, 31); d > 0 && (sign(k+1, "日") || sign(k+1, "号")) {
			day = d
			k += 2
		}
	}
	return year, month, day, k
}

// clocks reads times of day: rule 5.
func (r *lexemeReader) clocks() {
	r.step(func(in, out []token) []token {
		for i := 0; i < len(in); i++ {
			t := in[i]
			next := token{}
			if i+1 < len(in) && in[i+1].sentence == t.sentence {
				next = in[i+1]
			}
			hour := -1
			if t.class == classNumber {
				hour = digitsIn(t.form, 2)
			}
			switch {
			case t.class == classTime && (next.form == "h" || next.form == "uhr"):
				t.end = next.end
				i++
			case r.x.name == "en" && hour > 0 && hour <= 12 && (next.form == "am" || next.form == "pm"):
				hour %= 12
				if next.form == "pm" {
					hour += 12
				}
				t.class, t.form, t.end = classTime, two(hour)+":00", next.end
				i++
			case r.x.name == "fr" && hour >= 0 && hour <= 24 && next.form == "h",
				r.x.name == "de" && hour >= 0 && hour <= 24 && next.form == "uhr":
				t.class, t.form, t.end = classTime, two(hour)+":00", next.end
				i++
			}
			out = append(out, t)
		}
		return out
	})
}
