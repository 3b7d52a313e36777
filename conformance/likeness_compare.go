package main

import (
	"slices"
	"strings"
)

// lexKnown counts the words of a text that each language knows.
func lexKnown(list []lexeme) []int {
	out := make([]int, len(lexTongues))
	for i, t := range lexTongues {
		han, singles := 0, 0
		for _, l := range list {
			at := strings.IndexByte(l.form, '\'')
			form := l.form
			switch {
			case l.class == "single":
				singles++
				if lexHan([]rune(l.form)[0]) {
					han++
				}
			case at > 0 && t.name == "fr":
				if form = l.form[:at+1]; t.is("rewrite", form) {
					out[i]++
				}
			case at > 0 && t.name == "en" && l.class == "word":
				out[i]++
			}
			if l.class != "word" {
				continue
			}
			for _, class := range []string{"drop", "det", "keep", "not", "number", "front"} {
				if t.is(class, form) {
					out[i]++
					break
				}
			}
		}
		if t.name == "zh" && singles == han {
			out[i] = 2 * han
		}
	}
	return out
}

func lexHan(r rune) bool {
	return r == 0x3007 || r >= 0x3400 && r <= 0x4DBF || r >= 0x4E00 && r <= 0x9FFF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x20000 && r <= 0x323AF
}

// likeness compares two texts by clauses 24.2 and 24.3.
func likeness(a, b string) (alike int64, differs [][3]string) {
	la, lb := lexOf(a), lexOf(b)
	ka, kb := lexKnown(la), lexKnown(lb)
	best, most := len(lexTongues)-1, 0
	for i := range ka {
		if ka[i]+kb[i] > most {
			best, most = i, ka[i]+kb[i]
		}
	}
	for _, k := range [][]int{ka, kb} {
		if k[best] == 0 && slices.Max(k) > 0 {
			best = len(lexTongues) - 1
			break
		}
	}
	x, y := lexRead(la, lexTongues[best]), lexRead(lb, lexTongues[best])
	if x.says(y.list) {
		return 65536, nil
	}
	rest := slices.Clone(y.list)
	both := 0
	for _, l := range x.list {
		k := slices.IndexFunc(rest, func(o lexeme) bool { return o.class == l.class && o.stem == l.stem })
		if k >= 0 {
			rest = slices.Delete(rest, k, k+1)
			both++
		}
	}
	if n := len(x.list) + len(y.list); n > 0 {
		alike = int64(2*both) * 65536 / int64(n)
	}
	return alike, x.differences(y.list)
}

// same is rule 6 of two tokens; nouns remembers those that have -s, of the first and the second.
func (x *lexText) same(a, b lexeme, nouns *[2]int) bool {
	switch {
	case a.class != b.class, a.gender != "" && b.gender != "" && a.gender != b.gender:
		return false
	case a.form == b.form:
		return true
	case a.class != "word" || x.t.name == "none":
		return false
	}
	for _, p := range [][2]lexeme{{a, b}, {b, a}} {
		going := x.t.name == "es" && p[0].ending == "ing" && p[0].be
		if going && (p[1].form == p[0].stem+"a" || p[1].form == p[0].stem+"e") {
			return true
		}
	}
	det := a.det || b.det
	switch {
	case a.stem != b.stem, x.t.name == "en" && a.ending == b.ending,
		x.t.name != "de" && (a.proper || b.proper), a.capital && b.capital && !det:
		return false
	case x.t.name != "en":
		return det
	}
	for _, p := range [][2]lexeme{{a, b}, {b, a}} {
		if p[0].ending == "ing" {
			return p[0].be && (p[1].ending != "ed" || p[1].had)
		}
	}
	if a.ending == "ed" || b.ending == "ed" {
		return false
	}
	side := 0
	if b.ending == "s" {
		side = 1
	}
	if det {
		nouns[side]++
	}
	return det || nouns[1-side] > 0
}

func (x *lexText) equal(a, b []lexeme) bool {
	var nouns [2]int
	for i := range a {
		if len(a) != len(b) || !x.same(a[i], b[i], &nouns) {
			return false
		}
	}
	return len(a) == len(b)
}

func lexSentences(list []lexeme) [][]lexeme {
	var out [][]lexeme
	for i, l := range list {
		if i == 0 || list[i-1].sentence != l.sentence {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], l)
	}
	return out
}

// says is rule 7.
func (x *lexText) says(b []lexeme) bool {
	if len(x.list) == 0 || len(x.list) != len(b) {
		return false
	}
	if x.equal(x.list, b) {
		return true
	}
	as, bs := lexSentences(x.list), lexSentences(b)
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		if len(as[i]) != len(bs[i]) {
			return false
		}
		p, q := lexPaired(as[i]), lexPaired(bs[i])
		if !x.equal(as[i], bs[i]) && !x.equal(p, q) && !x.moved(p, q) && !x.moved(q, p) {
			return false
		}
	}
	return true
}

// lexPaired puts the names around an and, at the beginning and the end, in order.
func lexPaired(list []lexeme) []lexeme {
	out := slices.Clone(list)
	for k, i := range []int{0, len(out) - 3} {
		if k > 0 && i == 0 || i < 0 || i+2 >= len(out) || !has([]string{"and", "und", "et", "y"}, out[i+1].form) {
			continue
		}
		a, b := list[i], list[i+2]
		name := func(l lexeme) bool { return l.class == "word" && l.capital }
		if name(a) && name(b) && a.form > b.form {
			out[i], out[i+2] = out[i+2], out[i]
		}
	}
	return out
}

func (x *lexText) moved(a, b []lexeme) bool {
	if !x.begins(a) {
		return false
	}
	for n := 1; n <= 8 && n < len(a); n++ {
		m := len(b) - n
		if x.t.name != "zh" && x.equal(a, slices.Concat(b[m:], b[:m])) {
			return true
		}
		for at := 1; x.t.name == "zh" && at <= 6 && at+n <= len(b); at++ {
			of := slices.ContainsFunc(a, func(l lexeme) bool { return l.form == "的" })
			if !of && x.equal(a, slices.Concat(b[at:at+n], b[:at], b[at+n:])) {
				return true
			}
		}
		for s := 1; x.t.name == "de" && n+1 < len(a) && s <= 6 && s < len(b); s++ {
			verb := a[n]
			if verb.class != "word" || verb.capital || !x.same(verb, b[s], new([2]int)) {
				continue
			}
			for at := s + 1; at+n <= len(b); at++ {
				if x.equal(a, slices.Concat(b[at:at+n], b[s:s+1], b[:s], b[s+1:at], b[at+n:])) {
					return true
				}
			}
		}
	}
	return false
}

func (x *lexText) begins(a []lexeme) bool {
	switch a[0].class {
	case "weekday", "habit", "month", "date", "time":
		return true
	case "word":
		return x.t.is("front", a[0].form)
	case "single":
		two := len(a) > 1 && a[1].class == "single" && x.t.is("front", a[0].form+" "+a[1].form)
		return two || x.t.is("front", a[0].form)
	}
	return false
}

// lexStrike returns what of either list has nothing of the same key in the other.
func lexStrike(a, b []lexeme, key func(lexeme) string) (x, y []lexeme) {
	y = slices.Clone(b)
	for _, l := range a {
		k := slices.IndexFunc(y, func(o lexeme) bool { return key(o) == key(l) })
		if k < 0 {
			x = append(x, l)
		} else {
			y = slices.Delete(y, k, k+1)
		}
	}
	return x, y
}

// lexPiece is what differs of one text.
type lexPiece struct{ kind, form, stem, shown string }

func (x *lexText) pieces(list []lexeme) []lexPiece {
	var out []lexPiece
	for i, l := range list {
		kind := x.kind(l)
		if i > 0 && l.class == "single" && list[i-1].class == "single" && list[i-1].to == l.from {
			p := &out[len(out)-1]
			p.form += l.form
			p.stem, p.shown = p.form, p.shown+l.form
			if kind == "negation" || p.kind == "unit" {
				p.kind = kind
			}
			continue
		}
		p := lexPiece{kind, l.form, l.stem, l.form}
		if has([]string{"word", "weekday", "habit"}, l.class) {
			p.shown = l.shown
		}
		out = append(out, p)
	}
	return out
}

func (x *lexText) kind(l lexeme) string {
	word := l.class == "word" || l.class == "single"
	unit := word && x.t.is("unit", l.form) || l.counted ||
		l.class == "mark" && strings.Contains("%‰°"+lexMoney, l.form)
	switch {
	case word && x.t.is("not", l.form):
		return "negation"
	case l.class == "number":
		return "number"
	case unit:
		return "unit"
	case l.class == "identifier":
		return "identifier"
	case has([]string{"month", "weekday", "habit", "date", "time"}, l.class):
		return "date"
	case l.class == "word" && l.capital && !x.t.is("keep", l.form):
		return "name"
	}
	return "word"
}

// differences is clause 24.3: kind, first, second.
func (x *lexText) differences(b []lexeme) [][3]string {
	form := func(l lexeme) string { return l.class + " " + l.form }
	p, q := lexStrike(x.list, b, form)
	p2, q2 := lexStrike(p, q, func(l lexeme) string {
		if l.class == "word" && !l.proper && (!l.capital || l.det) {
			return l.class + " " + l.stem
		}
		return form(l)
	})
	if len(p2)+len(q2) > 0 {
		p, q = p2, q2
	}
	if len(p)+len(q) == 0 {
		for i, l := range x.list {
			if l.form != b[i].form {
				break
			}
			if l.gender != "" && b[i].gender != "" && l.gender != b[i].gender {
				return [][3]string{{"word", l.article, b[i].article}}
			}
		}
		return [][3]string{{"order", "", ""}}
	}
	var out [][3]string
	var left []lexPiece
	right := x.pieces(q)
	for _, l := range x.pieces(p) {
		k := slices.IndexFunc(right, func(o lexPiece) bool {
			return x.contrary(l.form, o.form) || x.contrary(l.stem, o.stem)
		})
		if k < 0 {
			left = append(left, l)
			continue
		}
		out = append(out, [3]string{"negation", l.shown, right[k].shown})
		right = slices.Delete(right, k, k+1)
	}
	for _, kind := range strings.Fields("negation number unit date name identifier word") {
		var sides [2][]string
		for side, list := range [][]lexPiece{left, right} {
			for _, l := range list {
				if l.kind == kind {
					sides[side] = append(sides[side], l.shown)
				}
			}
		}
		for i := range max(len(sides[0]), len(sides[1])) {
			d := [3]string{kind}
			for side := range sides {
				if i < len(sides[side]) {
					d[side+1] = sides[side][i]
				}
			}
			out = append(out, d)
		}
	}
	return out[:min(len(out), 32)]
}

func (x *lexText) contrary(a, b string) bool {
	for pair := range x.t.words["opposite"] {
		if x.t.name == "zh" {
			pair = strings.ReplaceAll(pair, " ", "")
		}
		l, r, _ := strings.Cut(pair, "/")
		if l == a && r == b || l == b && r == a {
			return true
		}
	}
	return false
}
