package dates

// Place is where a text names a date of a calendar, in bytes.
type Place struct{ Start, End int }

// Places returns where a text names dates that do not count from now, in order, those without a
// year included: of the expressions that Read reads, so of at most 8, the dates, without the words
// before and after them; two that make a range are one place.
func Places(s string) []Place {
	r := &reader{list: tokens(s, maxTokens)}
	var out []Place
	for _, e := range r.expressions() {
		if p, ok := r.place(e); ok {
			out = append(out, p)
		}
	}
	return out
}

// place returns where the dates of an expression stand.
func (r *reader) place(e *expression) (Place, bool) {
	for _, o := range e.ops {
		if o.base {
			return Place{}, false
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
		return Place{r.list[i].at, r.list[last].end}, true
	}
	return Place{}, false
}
