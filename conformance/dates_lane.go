package main

import (
	"strconv"
	"strings"
)

// timeAsked is an expression that was read, in microseconds; nil ends are open.
type timeAsked struct {
	from, to *int64
	length   int64
}

// datesOf is what clause 6.11 reads in the text of a request.
type datesOf struct {
	asked    []timeAsked
	fromNow  bool // whether a date counts from now
	unread   int
	bareText bool
}

var askingWords = strings.Fields("anything d date didn doesn don everything going happen happened " +
	"happening happens isn list ll m new news occurred please re recap s show something summarise " +
	"summarize summary t tell time ve wasn weren went")

const askingSigns = "发生了什么发麼事情做过過有的我们們你您是吗嗎呢些干那这這在时時候间間请請告诉訴"

func (q request) dates() datesOf {
	list := dateTokens(q.text)
	list = list[:min(len(list), 512)]
	r := dateReader{}
	for _, t := range list {
		r.forms = append(r.forms, t.form)
	}
	if q.now != nil {
		d := *q.now / microsOfDay
		if *q.now%microsOfDay < 0 {
			d--
		}
		r.now = &d
	}
	var exprs []*dateExpr
	out := datesOf{bareText: true}
	for i := 0; i < len(list); {
		e, n := (*dateExpr)(nil), 0
		if len(exprs) < 8 {
			e, n = r.expression(i)
		}
		if n > 0 {
			exprs = append(exprs, e)
			i += n
			continue
		}
		word := strings.TrimSpace(list[i].form[1:])
		switch t := list[i]; {
		case t.number, t.word && !text6.stop[word] && !has(askingWords, word),
			t.single && !strings.Contains(askingSigns, word):
			out.bareText = false
		}
		i++
	}
	out.bareText = out.bareText && len(exprs) > 0
	r.findYears(exprs)
	for _, e := range exprs {
		last := e.dates[len(e.dates)-1]
		fromNow := e.dates[0].fromNow || last.fromNow
		out.fromNow = out.fromNow || fromNow
		if !e.dates[0].known || !last.known {
			if fromNow && q.now == nil {
				out.unread++
			}
			continue
		}
		out.asked = append(out.asked, e.asked())
	}
	return out
}

func (r dateReader) findYears(exprs []*dateExpr) {
	var all []*dateRead
	for _, e := range exprs {
		all = append(all, e.dates...)
	}
	for i, d := range all {
		if d.again == nil {
			continue
		}
		year := 0
		for k := len(all) - 1; k > i; k-- {
			if all[k].year > 0 {
				year = all[k].year
			}
		}
		if year == 0 {
			for k := 0; k < i; k++ {
				if all[k].year > 0 {
					year = all[k].year
				}
			}
		}
		if year > 0 {
			d.days, d.known = d.again(year)
			continue
		}
		if d.fromNow = true; r.now == nil {
			continue
		}
		for y, _, _ := dateOf(*r.now); !d.known; y-- {
			d.days, d.known = d.again(y)
			d.known = d.known && d.from <= *r.now
		}
	}
}

func (e *dateExpr) asked() timeAsked {
	a, b := e.dates[0].days, e.dates[len(e.dates)-1].days
	if e.dates[0].again != nil && a.from > b.from {
		y, _, _ := dateOf(a.from)
		if s, ok := e.dates[0].again(y - 1); ok {
			a = s
		}
	}
	s := days{min(a.from, b.from), max(a.to, b.to)}
	if e.bound == "near" {
		s = e.near(s)
	}
	from, to := s.from*microsOfDay, s.to*microsOfDay
	out := timeAsked{&from, &to, to - from}
	switch e.bound {
	case "since":
		out.to = nil
	case "after":
		out.from, out.to = &to, nil
	case "before":
		out.from, out.to = nil, &from
	case "until":
		out.from = nil
	}
	return out
}

// near is N units, or a weekend or weekday, before or after a time.
func (e *dateExpr) near(s days) days {
	if e.unit != "" && e.unit != "weekend" {
		if e.count < 0 {
			return days{later(s.from, e.unit, e.count), s.from}
		}
		return days{s.to, later(s.to, e.unit, e.count)}
	}
	length, first := int64(1), e.weekday
	if e.unit == "weekend" {
		length, first = 2, 5
	}
	d := s.to
	if e.count < 0 {
		d = s.from - length
	}
	for weekdayOf(d) != first {
		if e.count < 0 {
			d--
		} else {
			d++
		}
	}
	if e.count < 0 {
		d += 7 * int64(e.count+1)
	} else {
		d += 7 * int64(e.count-1)
	}
	return days{d, d + length}
}

const (
	firstTime = int64(-62167219200000000)
	lastTime  = int64(253402300799999999)
)

// moments are the first and the last microsecond of a node's time.
func moments(node dict) (first, last int64) {
	first = number(node, "created")
	last = first
	if _, ok := node["validFrom"]; ok {
		first, last = number(node, "validFrom"), lastTime
	}
	if _, ok := node["validTo"]; ok {
		last = max(first, number(node, "validTo")-1)
	}
	return first, last
}

// nearness is Near of a node.
func (d datesOf) nearness(node dict) int64 {
	first, last := moments(node)
	best := int64(0)
	for _, a := range d.asked {
		gap := int64(0)
		switch {
		case a.from != nil && last < *a.from:
			gap = *a.from - last
		case a.to != nil && first >= *a.to:
			gap = (first - *a.to) / 8
		default:
			return one
		}
		n := rational(a.length)
		n.Mul(n, rational(int64(one)))
		n.Quo(n, rational(a.length+gap))
		whole := n.Num().Div(n.Num(), n.Denom()).Int64()
		best = max(best, min(one-1, whole))
	}
	return best
}

// timeAlone reports whether the time lane has a list of its own.
func (q request) timeAlone() bool {
	if w, ok := q.weights["time"]; ok && w == 0 {
		return false
	}
	d := q.dates()
	others := q.runsText()
	for model := range q.vectors {
		w, ok := q.weights["dense:"+model]
		others = others || !ok || w > 0
	}
	others = others || len(q.runsSparse()) > 0 || q.runsEntities()
	for i := range q.rewrites {
		w, ok := q.weights["text:"+strconv.Itoa(i+1)]
		others = others || !ok || w > 0
	}
	return len(d.asked) > 0 && (d.bareText || !others)
}

// timeList is the list of the lane, and whether a node of it is of the time asked about.
func (q request) timeList(st *store) (list map[string]int64, within bool) {
	d := q.dates()
	near := map[string]int64{}
	var hs []hit
	for id, node := range st.nodes {
		n := d.nearness(node)
		if n == 0 || !q.passes(st, id) {
			continue
		}
		first, _ := moments(node)
		near[id] = n
		hs = append(hs, hit{id: id, score: n<<36 + (first-firstTime)>>23})
	}
	sortHits(hs)
	list = map[string]int64{}
	for i, h := range hs[:min(len(hs), 1000)] {
		n := near[h.id]
		if n < one {
			n /= 2
		} else {
			within = true
		}
		list[h.id] = n + 16*int64(1000-i)
	}
	return list, within
}

// raised are the scores of the candidates after the time lane.
func (q request) raised(st *store, order []hit) {
	w := int64(32768)
	if given, ok := q.weights["time"]; ok {
		w = given
	}
	d := q.dates()
	if w == 0 || q.timeAlone() {
		return
	}
	for i, h := range order {
		more := rational(h.score)
		more.Mul(more, rational(d.nearness(st.nodes[h.id])*w))
		more.Quo(more, rational(int64(1<<32)))
		order[i].score = min(1<<53-1, h.score+more.Num().Div(more.Num(), more.Denom()).Int64())
	}
}

// keptNow is what the resolved request keeps of now.
func (q request) keptNow() *int64 {
	if w, ok := q.weights["time"]; q.now == nil || ok && w == 0 || !q.dates().fromNow {
		return nil
	}
	d := *q.now - (*q.now%microsOfDay+microsOfDay)%microsOfDay
	return &d
}

func (q request) timeWarnings(st *store, a *answer) {
	d := q.dates()
	if w, ok := q.weights["time"]; ok && w == 0 {
		return
	}
	if d.unread > 0 {
		a.warnings = append(a.warnings, dict{"code": "no_now", "params": dict{"dates": d.unread}})
	}
	if q.timeAlone() {
		if _, hit := q.timeList(st); !hit {
			a.warnings = append(a.warnings, dict{"code": "none_then"})
		}
	}
}
