// Package dates finds the dates that a question names: clause 6.11 of docs/internals/ranking.md. It uses no locale, no time
// zone but UTC, and no clock; relative dates count from a given day.
package dates

import (
	"math"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// Range is a time named in a text, in microseconds since 1970-01-01T00:00:00Z.
type Range struct {
	From int64 // inclusive; math.MinInt64 for none
	To   int64 // exclusive; math.MaxInt64 for none
	// Scale is the length of its date, above 0.
	Scale int64
}

// Open ends of a Range.
const (
	NoFrom = math.MinInt64
	NoTo   = math.MaxInt64
)

// Reading lists the times named in a text.
type Reading struct {
	Ranges   []Range // in the order of the text, each once; at most 8
	Relative bool    // whether any of it counts from now
	Unread   int     // relative expressions for which no now was given
	Bare     bool    // whether the text asks for nothing but a time
}

// Now is the day from which relative dates count.
type Now struct {
	micros int64
	given  bool
}

// At returns the day with a time in microseconds since 1970-01-01T00:00:00Z.
func At(micros int64) Now { return Now{micros, true} }

// maxTokens is how many tokens of a text are read: trying all patterns at tens of thousands of tokens would take
// longer than the rest of a query.
const maxTokens = 512

// Read reads the first maxTokens tokens of a text, which may be any string.
func Read(s string, now Now) Reading {
	r := &reader{list: tokens(s, maxTokens), has: now.given}
	if now.given {
		r.now = day(floorDiv(now.micros, dayMicros))
	}
	exprs := r.expressions()
	var out Reading
	r.years(exprs)
	for _, e := range exprs {
		out.Relative = out.Relative || e.relative()
		got, ok := e.resolve()
		if !ok {
			if !now.given && e.relative() {
				out.Unread++
			}
		} else if !slices.Contains(out.Ranges, got) {
			out.Ranges = append(out.Ranges, got)
		}
	}
	out.Bare = len(exprs) > 0 && r.asksNothing(exprs)
	return out
}

func floorDiv(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// years determines the years of dates without one: the year of the next date that has one, otherwise of the last
// before it, otherwise the latest that has begun by now.
func (r *reader) years(list []*expression) {
	var ops []*operand
	for _, e := range list {
		ops = append(ops, e.ops...)
	}
	for i, o := range ops {
		if !o.yearless() {
			continue
		}
		year := 0
		for k := i + 1; k < len(ops) && year == 0; k++ {
			year = ops[k].year
		}
		for k := i - 1; k >= 0 && year == 0; k-- {
			year = ops[k].year
		}
		if year > 0 {
			o.span, o.known = o.again.in(year)
			continue
		}
		o.base = true
		if r.has {
			o.span, o.known = o.again.begun(r.now)
		}
	}
}

// relative reports whether a date of the expression counts from now.
func (e *expression) relative() bool { return e.ops[0].base || e.ops[len(e.ops)-1].base }

// resolve returns the time that an expression means; ok is false if it is unknown or empty.
func (e *expression) resolve() (r Range, ok bool) {
	o := *e.ops[0]
	last := *e.ops[len(e.ops)-1]
	if !o.known || !last.known {
		return r, false
	}
	if o.yearless() && o.from > last.from { // from November to February
		year, _, _ := o.from.civil()
		if s, ok := o.again.in(year - 1); ok {
			o.span = s
		}
	}
	s := span{min(o.from, last.from), max(o.to, last.to)}
	r.Scale = int64(s.to-s.from) * dayMicros
	r.From, r.To = NoFrom, NoTo
	switch e.bound {
	case since:
		r.From = s.from.micros()
		return r, true
	case after:
		r.From = s.to.micros()
		return r, true
	case before:
		r.To = s.from.micros()
		return r, true
	case until:
		r.To = s.to.micros()
		return r, true
	case near:
		if s, ok = e.near(s); !ok {
			return r, false
		}
		r.Scale = int64(s.to-s.from) * dayMicros
	}
	r.From, r.To = s.from.micros(), s.to.micros()
	return r, true
}

func (d day) micros() int64 { return int64(d) * dayMicros }

// near returns the units, or the weekday or weekend, before or after a span.
func (e *expression) near(s span) (span, bool) {
	switch {
	case e.unit == unitWeekend:
		if e.count < 0 {
			w := unitWeekend.around(s.from-1, 0)
			if w.to > s.from {
				w = unitWeekend.around(s.from-1, -1)
			}
			return unitWeekend.around(w.from, e.count+1), true
		}
		w := unitWeekend.around(s.to, 0)
		if w.from < s.to {
			w = unitWeekend.around(s.to, 1)
		}
		return unitWeekend.around(w.from, e.count-1), true
	case e.unit != unitNone && e.count < 0:
		return span{e.unit.add(s.from, e.count), s.from}, true
	case e.unit != unitNone:
		return span{s.to, e.unit.add(s.to, e.count)}, true
	case e.count < 0:
		return e.weekday.before(s.from)
	}
	return e.weekday.after(s.to)
}

// asking are words that, like stop words, carry no meaning beyond asking.
var asking = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields("anything d date didn doesn don everything going happen " +
		"happened happening happens isn list ll m new news occurred please re recap s show something " +
		"summarise summarize summary t tell time ve wasn weren went") {
		out[w] = true
	}
	return out
}()

// askingChars are Chinese characters of the same kind.
const askingChars = "发生了什么發麼事情做过過有的我们們你您是吗嗎呢些干那这這在时時候间間请請告诉訴"

// asksNothing reports whether a text has no content besides its time expressions.
func (r *reader) asksNothing(list []*expression) bool {
	at := 0
	for _, e := range list {
		if !silent(r.list[at:e.from]) {
			return false
		}
		at = e.to
	}
	return silent(r.list[at:])
}

func silent(list []token) bool {
	for _, t := range list {
		switch {
		case t.digits > 0:
			return false
		case t.word && !asking[t.s] && !text.IsStopWord(t.s):
			return false
		case t.single && !strings.Contains(askingChars, t.s):
			return false
		}
	}
	return true
}

// Span is the position of a calendar date in a text, in bytes.
type Span struct{ Start, End int }

// Places returns the positions of absolute dates in a text, in order, including those without a year. They come
// from the expressions that Read finds, so there are at most 8, without the words before and after them; two dates
// of a range are one place.
func Places(s string) []Span {
	r := &reader{list: tokens(s, maxTokens)}
	var out []Span
	for _, e := range r.expressions() {
		if p, ok := r.place(e); ok {
			out = append(out, p)
		}
	}
	return out
}

// place returns the position of an expression's dates.
func (r *reader) place(e *expression) (Span, bool) {
	for _, o := range e.ops {
		if o.base {
			return Span{}, false
		}
	}
	for i := e.from; i < e.to; i++ {
		_, n := r.operand(i, true)
		if n == 0 {
			continue
		}
		last := i + n - 1
		if len(e.ops) > 1 {
			last = e.to - 1
		}
		return Span{r.list[i].at, r.list[last].end}, true
	}
	return Span{}, false
}
