package dates

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
