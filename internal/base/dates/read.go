package dates

// operand is one date of an expression.
type operand struct {
	span
	known bool
	year  int   // that the text gives it, 0 for none
	again cycle // of a date without a year: what recurs
	base  bool  // counts from now
}

// yearless reports whether the date takes its year from another date, or from now.
func (o *operand) yearless() bool { return o.again.month > 0 }

// bound says which part of time relative to its operand an expression means.
type bound int

const (
	within bound = iota // the days of the operand, or from the first to the last of two
	since               // from its first day on
	after               // from after its last day on
	before              // up to before its first day
	until               // up to its last day
	near                // count units before or after it
)

// expression is one time expression of a text.
type expression struct {
	ops     []*operand // one, or two of a range
	bound   bound
	count   int // of near: units before (negative) or after
	unit    unit
	weekday cycle // of near, instead of a unit: count is -1 or 1
	from    int   // first token
	to      int   // one past the last
}

// maxExpressions is how many expressions of a text are read: the first ones.
const maxExpressions = 8

// reader reads one text.
type reader struct {
	list []token
	now  day
	has  bool // whether there is a now
	// dates caches the dates read last, indexed by their first token modulo its length: an expression is tried in
	// several ways, which read a date at the same few tokens.
	dates [4]readDate
}

// readDate is the result of reading a date at a token, without standalone forms.
type readDate struct {
	at, n int // at is one more than the number of the token
	op    *operand
}

// word reports whether token i is one of the given ones.
func (r *reader) word(i int, any ...string) bool { return i < len(r.list) && r.list[i].isOne(any) }

// operand reads a date at token i and returns its number of tokens, 0 for none. With bare, a month by name and a
// year of this or the last century may stand alone.
func (r *reader) operand(i int, bare bool) (*operand, int) {
	if i >= len(r.list) {
		return nil, 0
	}
	first := r.list[i]
	fitting, ok := allPatterns().begins[first.s]
	if first.digits == 0 && (!ok || first.s == "") {
		return nil, 0
	}
	got := &r.dates[i%len(r.dates)]
	if got.at != i+1 {
		*got = readDate{at: i + 1}
		got.op, got.n = r.fit(r.list[i:], fitting)
	}
	if got.n > 0 {
		return got.op, got.n
	}
	return r.bare(first, bare)
}

// fit reads the first of the given patterns that matches at the beginning of a list.
func (r *reader) fit(list []token, fitting []*pattern) (*operand, int) {
	for _, p := range fitting {
		f, n := p.match(list)
		switch {
		case n == 0:
		case p.means >= shiftUnit:
			o := &operand{base: true}
			if r.has {
				o.span, o.known = f.relative(p, r.now)
			}
			return o, n
		case f.year > 0:
			return &operand{span: f.absolute(p.means), known: true, year: f.year}, n
		default:
			return &operand{again: f.cycle()}, n
		}
	}
	return nil, 0
}

func (r *reader) bare(t token, allowed bool) (*operand, int) {
	if !allowed {
		return nil, 0
	}
	if m := monthNames[t.s]; m > 0 {
		return &operand{again: cycle{month: m, months: 1}}, 1
	}
	if y := t.number(4, 1900, 2099); y > 0 {
		return &operand{span: months(y, 1, 12), known: true, year: y}, 1
	}
	return nil, 0
}

// expressions returns the time expressions of a text, in order.
func (r *reader) expressions() []*expression {
	var out []*expression
	for i := 0; i < len(r.list) && len(out) < maxExpressions; {
		e, n := r.expression(i)
		if n == 0 {
			i++
			continue
		}
		e.from, e.to = i, i+n
		out = append(out, e)
		i += n
	}
	return out
}

// expression reads the expression at token i and returns its number of tokens, 0 for none.
func (r *reader) expression(i int) (*expression, int) {
	if first := r.list[i]; first.digits == 0 && (first.s == "" || !allPatterns().leads[first.s]) {
		return nil, 0
	}
	for _, read := range []func(int) (*expression, int){
		r.nearby, r.pair, r.prefixed, r.suffixed,
	} {
		if e, n := read(i); n > 0 {
			return e, n
		}
	}
	at := i
	if r.word(at, prepositions...) {
		at++
		if r.word(at, "the") {
			at++
		}
	}
	o, n := r.operand(i, false) // "on Tuesday" has its own preposition
	if n > 0 {
		return &expression{ops: []*operand{o}}, n
	}
	if o, n = r.operand(at, at > i); n > 0 {
		return &expression{ops: []*operand{o}}, at + n - i
	}
	return nil, 0
}

// nearby reads [the|last|N] U|W before|after DATE.
func (r *reader) nearby(i int) (*expression, int) {
	e := &expression{bound: near, count: 1}
	at := i
	var f found
	switch {
	case r.word(at, "the", "last"):
		at++
	case at < len(r.list) && f.take('N', r.list[at]):
		e.count = f.count
		at++
		if r.word(at, "of") {
			at++
		}
	}
	if at >= len(r.list) {
		return nil, 0
	}
	switch {
	case f.take('U', r.list[at]):
		e.unit = f.unit
	case e.count == 1 && f.take('W', r.list[at]):
		e.weekday = f.cycle()
	default:
		return nil, 0
	}
	at++
	switch {
	case r.word(at, "before"):
		e.count = -e.count
	case !r.word(at, "after"):
		return nil, 0
	}
	at++
	o, n := r.operand(at, true)
	if n == 0 {
		return nil, 0
	}
	e.ops = []*operand{o}
	return e, at + n - i
}

// pair reads [between] DATE and DATE, [from] DATE to DATE.
func (r *reader) pair(i int) (*expression, int) {
	at := i
	joins := []string{"to", "until", "till", "through", "-", "至", "到"}
	switch {
	case r.word(at, "between"):
		joins, at = []string{"and", "-"}, at+1
	case r.word(at, "from", "从", "從", "自"):
		at++
	}
	left, n := r.operand(at, true)
	at += n
	if n == 0 || !r.word(at, joins...) {
		return nil, 0
	}
	at++
	right, n := r.operand(at, true)
	if n == 0 {
		return nil, 0
	}
	return &expression{ops: []*operand{left, right}}, at + n - i
}

// prefixes are the words before a date that say which part of time it bounds.
var prefixes = map[string]bound{
	"since": since, "after": after, "before": before, "until": until, "till": until, "by": until, "through": until,
}

// prefixed reads since|after|before|until DATE.
func (r *reader) prefixed(i int) (*expression, int) {
	b, ok := prefixes[r.list[i].s]
	if !ok {
		return nil, 0
	}
	at := i + 1
	if r.word(at, "the") {
		at++
	}
	o, n := r.operand(at, true)
	if n == 0 {
		return nil, 0
	}
	return &expression{bound: b, ops: []*operand{o}}, at + n - i
}

// suffixes are the Chinese words after a date: for each token, the ones that fit.
var suffixes = []struct {
	words [][]string
	bound bound
}{
	{[][]string{{"以"}, {"来", "來"}}, since},
	{[][]string{{"起"}}, since},
	{[][]string{{"之", "以"}, {"后", "後"}}, after},
	{[][]string{{"之", "以"}, {"前"}}, before},
	{[][]string{{"后", "後"}}, after},
	{[][]string{{"前"}}, before},
}

// suffixed reads the Chinese forms, in which the bound follows the date.
func (r *reader) suffixed(i int) (*expression, int) {
	at := i
	if r.word(at, "从", "從", "自") {
		at++
	}
	o, n := r.operand(at, false)
	if at += n; n == 0 {
		return nil, 0
	}
	for _, x := range suffixes {
		fits := true
		for k, any := range x.words {
			fits = fits && r.word(at+k, any...)
		}
		if fits {
			return &expression{bound: x.bound, ops: []*operand{o}}, at + len(x.words) - i
		}
	}
	return nil, 0
}
