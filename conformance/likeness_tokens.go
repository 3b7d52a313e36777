package main

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lexText is a text as one language reads it.
type lexText struct {
	t    *lexTongue
	list []lexeme
}

// lexRead applies rules 3 to 6.
func lexRead(in []lexeme, t *lexTongue) lexText {
	x := lexText{t: t}
	x.contract(in)
	x.replace("rewrite", func(at lexeme, value string, last lexeme) []lexeme {
		var out []lexeme
		for _, w := range strings.Fields(value) {
			one := at
			one.form, one.to = w, last.to
			out = append(out, one)
		}
		return out
	})
	x.numbers()
	x.days()
	x.months()
	x.hours()
	x.around()
	x.finish()
	return x
}

func (x *lexText) contract(in []lexeme) {
	loud := true
	for _, l := range in {
		loud = loud && (l.class != "word" || l.caps || len(l.form) < 2)
	}
	sentence, first := 0, true
	for i, l := range in {
		l.sentence = sentence
		l.proper = l.inner || l.capital && !first
		if l.caps && !loud && (x.t.is("keep", l.form) || x.t.is("drop", l.form)) {
			l.form += "^"
		}
		x.open(l)
		first = false
		month := l.ends == "maybe" && l.class == "number" && len(l.form) < 3 && i+1 < len(in) &&
			x.t.is("month", in[i+1].form)
		if l.ends != "" && !month {
			sentence++
			first = true
		}
	}
}

// open takes one contraction apart.
func (x *lexText) open(l lexeme) {
	put := func(form string) {
		l.form = form
		x.list = append(x.list, l)
	}
	first, rest, cut := strings.Cut(l.form, "'")
	switch {
	case x.t.name == "en" && l.class == "identifier" && (l.form == "a.m" || l.form == "p.m"):
		l.class = "word"
		put(l.form[:1] + "m")
	case l.class != "word" || !cut:
		put(l.form)
	case x.t.name == "fr" && x.t.is("rewrite", first+"'"):
		tail := l
		tail.form = rest
		l.proper = false
		put(first + "'")
		x.open(tail)
	case x.t.name == "en" && strings.HasSuffix(l.form, "n't"):
		base := strings.TrimSuffix(l.form, "n't")
		if full, ok := map[string]string{"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}[base]; ok {
			base = full
		}
		put(base)
		put("not")
	case x.t.name == "en":
		at := strings.LastIndex(l.form, "'")
		base, tail := l.form[:at], l.form[at:]
		full := map[string]string{"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "'d",
			"'s": "'s"}[tail]
		if tail == "'s" && has(strings.Fields("it he she that there what who where here this"), base) {
			full = "is"
		}
		if full == "" {
			put(l.form)
			return
		}
		put(base)
		l.proper, l.capital = false, false
		put(full)
	default:
		put(l.form)
	}
}

// longest returns the value of the longest phrase at i, and how many tokens it has.
func (x *lexText) longest(class string, i int) (string, int) {
	value, n := "", 0
	var words []string
	for k := i; k < len(x.list); k++ {
		l := x.list[k]
		if l.class != "word" && l.class != "single" || l.sentence != x.list[i].sentence {
			break
		}
		words = append(words, l.form)
		if v, ok := x.t.words[class][strings.Join(words, " ")]; ok {
			value, n = v, len(words)
		}
		if len(words) == 12 { // longer than any phrase
			break
		}
	}
	return value, n
}

func (x *lexText) replace(class string, by func(lexeme, string, lexeme) []lexeme) {
	var out []lexeme
	for i := 0; i < len(x.list); {
		value, n := x.longest(class, i)
		if n == 0 {
			out = append(out, x.list[i])
			i++
			continue
		}
		out = append(out, by(x.list[i], value, x.list[i+n-1])...)
		i += n
	}
	x.list = out
}

func (x *lexText) numbers() {
	var out []lexeme
	for i := 0; i < len(x.list); {
		l, n := x.list[i], 1
		if l.class == "number" {
			l.form = x.plain(l.form)
			for x.t.name == "fr" && i+n < len(x.list) {
				next := x.list[i+n]
				if lexWhole(l.form, 9) < 0 || next.class != "number" || len(next.form) != 3 ||
					lexWhole(next.form, 3) < 0 || n == 1 && len(l.form) > 3 || next.from != l.to+1 {
					break
				}
				l.form, l.to = l.form+next.form, next.to
				n++
			}
			if i+n < len(x.list) {
				next := x.list[i+n]
				if next.class == "word" && next.tight && x.t.is("ordinal", next.form) {
					n++
				}
			}
		} else if value, m := x.spelled(i); m > 0 {
			n = m
			times, factor := strings.CutPrefix(value, "*")
			if factor && len(out) > 0 {
				last := &out[len(out)-1]
				if a := lexWhole(last.form, 7); last.class == "number" && last.sentence == l.sentence &&
					a >= 0 && a <= 1_000_000 {
					last.form = strconv.Itoa(a * lexWhole(times, 12))
					last.to = x.list[i+n-1].to
					i += n
					continue
				}
			}
			l.class, l.form, l.to = "number", times, x.list[i+n-1].to
		}
		out = append(out, l)
		i += n
	}
	x.list = out
}

// plain writes a number without signs for thousands.
func (x *lexText) plain(s string) string {
	s = strings.ReplaceAll(s, "'", "")
	thousands, point := ",", "."
	if has([]string{"de", "fr", "es"}, x.t.name) {
		thousands, point = point, thousands
	}
	whole, _, _ := strings.Cut(s, point)
	groups := strings.Split(whole, thousands)
	good := len(groups) > 1 && groups[0] != "0"
	for i, g := range groups {
		good = good && len(g) > 0 && len(g) <= 3 && (i == 0 || len(g) == 3)
	}
	if good {
		return strings.Replace(strings.ReplaceAll(s, thousands, ""), point, ".", 1)
	}
	if strings.Count(s, ",")+strings.Count(s, ".") == 1 {
		return strings.Replace(s, ",", ".", 1)
	}
	return s
}

// spelled reads a number in words or Chinese signs.
func (x *lexText) spelled(i int) (string, int) {
	if x.t.name != "zh" {
		return x.longest("number", i)
	}
	run := ""
	n := 0
	for k := i; k < len(x.list) && x.list[k].class == "single" &&
		strings.Contains("〇零一二两三四五六七八九十百千", x.list[k].form); k++ {
		run += x.list[k].form
		n++
	}
	digits := []rune("〇一二三四五六七八九")
	sum, last, row, powers := 0, -1, "", false
	for _, r := range strings.NewReplacer("零", "〇", "两", "二").Replace(run) {
		if d := slices.Index(digits, r); d >= 0 {
			last = d
			row += strconv.Itoa(d)
			continue
		}
		power := map[rune]int{'十': 10, '百': 100, '千': 1000}[r]
		if last < 0 && (power > 10 || sum > 0) {
			return "", 0
		}
		sum += max(last, 1) * power
		last, powers = -1, true
	}
	if powers {
		return strconv.Itoa(sum + max(last, 0)), n
	}
	return row, n
}

func (x *lexText) days() {
	var out []lexeme
	for i := 0; i < len(x.list); {
		l, n := x.list[i], 1
		for _, class := range []string{"habit", "weekday", "month"} {
			v, m := x.longest(class, i)
			other := x.t.name == "en" && !l.capital &&
				has(strings.Fields("may march august mar dec sep jan"), l.form)
			if m == 0 || class == "month" && other {
				continue
			}
			l.class, l.form, l.to, n = class, v, x.list[i+m-1].to, m
			break
		}
		out = append(out, l)
		i += n
	}
	x.list = out
}

func (x *lexText) months() {
	var out []lexeme
	for i := 0; i < len(x.list); {
		form, end := x.date(i)
		l := x.list[i]
		if form != "" {
			l.class, l.form, l.to = "date", form, x.list[end-1].to
			i = end
		} else {
			i++
		}
		out = append(out, l)
	}
	x.list = out
}

func (x *lexText) date(i int) (string, int) {
	at := func(k int) lexeme {
		if k < len(x.list) && x.list[k].sentence == x.list[i].sentence {
			return x.list[k]
		}
		return lexeme{}
	}
	number := func(k, low, high int) int {
		l := at(k)
		if l.class == "word" && low == 1 && x.t.is("first", l.form) {
			return 1
		}
		if n := lexWhole(l.form, 4); l.class == "number" && n >= low && n <= high {
			return n
		}
		return -1
	}
	skip := func(k int) int {
		for at(k).class == "word" && x.t.is("of", at(k).form) {
			k++
		}
		return k
	}
	sign := func(k int, s string) bool { return at(k).class == "single" && at(k).form == s }
	year, month, day, end := -1, -1, -1, i
	if x.t.name == "zh" {
		if y := number(end, 1000, 9999); y > 0 && sign(end+1, "年") {
			year, end = y, end+2
		}
		if m := number(end, 1, 12); m > 0 && sign(end+1, "月") {
			month, end = m, end+2
			if d := number(end, 1, 31); d > 0 && (sign(end+1, "日") || sign(end+1, "号")) {
				day, end = d, end+2
			}
		}
	} else {
		if at(i).class == "month" {
			month, end = lexWhole(at(i).form, 2), i+1
			if day = number(end, 1, 31); day > 0 {
				end++
			}
		} else if d := number(i, 1, 31); d > 0 && at(skip(i+1)).class == "month" {
			day, end = d, skip(i+1)+1
			month = lexWhole(at(end-1).form, 2)
		}
		if month > 0 {
			if y := number(skip(end), 1000, 9999); y > 0 {
				year, end = y, skip(end)+1
			}
		}
	}
	if month < 0 || day < 0 && year < 0 {
		return "", i
	}
	return lexDate(year, month, day), end
}

func (x *lexText) hours() {
	var out []lexeme
	for i := 0; i < len(x.list); i++ {
		l := x.list[i]
		next := ""
		if i+1 < len(x.list) && x.list[i+1].sentence == l.sentence {
			next = x.list[i+1].form
		}
		hour := -1
		if l.class == "number" {
			hour = lexWhole(l.form, 2)
		}
		takes := l.class == "time" && (next == "h" || next == "uhr")
		switch half := next == "am" || next == "pm"; {
		case x.t.name == "en" && half && hour >= 1 && hour <= 12:
			if hour %= 12; next == "pm" {
				hour += 12
			}
		case x.t.name == "fr" && next == "h" || x.t.name == "de" && next == "uhr":
		default:
			hour = -1
		}
		if hour >= 0 && hour <= 24 {
			l.class, l.form, takes = "time", strconv.Itoa(100 + hour)[1:]+":00", true
		}
		if takes {
			i++
			l.to = x.list[i].to
		}
		out = append(out, l)
	}
	x.list = out
}

func (x *lexText) around() {
	for i := range x.list {
		l := &x.list[i]
		for k := max(0, i-2); k < i; k++ {
			by := x.list[k]
			if by.sentence != l.sentence {
				continue
			}
			l.det = l.det || by.class == "number" || x.t.is("det", by.form)
			if x.t.name == "en" {
				l.be = l.be || has(strings.Fields("is are am was be been being"), by.form)
				l.had = l.had || by.form == "have" || by.form == "had"
			}
			if k == i-1 {
				l.be = l.be || x.t.name == "es" && by.form == "está"
				if l.gender = x.t.words["gender"][by.form]; l.gender != "" {
					l.article = by.form
				}
			}
		}
	}
}

func lexGerund(s string) bool {
	return len(s) > 5 && (strings.HasSuffix(s, "iendo") || strings.HasSuffix(s, "ando"))
}

func (x *lexText) finish() {
	var out []lexeme
	for i, l := range x.list {
		word := l.class == "word" || l.class == "single"
		next := ""
		if i+1 < len(x.list) {
			next = x.list[i+1].form
		}
		gone := x.t.name == "es" && l.form == "está" && lexGerund(next) ||
			x.t.name == "en" && l.form == "been" && strings.HasSuffix(next, "ing")
		if word && (gone || x.t.is("drop", l.form)) {
			continue
		}
		if i > 0 && l.class == "word" && x.t.is("unit", l.form) && len(l.form) < 4 &&
			x.list[i-1].class == "number" {
			l.form = l.raw
			l.counted = true
		}
		l.stem = l.form
		if l.class == "word" && !x.t.is("keep", l.form) && !x.t.is("not", l.form) &&
			utf8.RuneCountInString(l.form) > 3 {
			l.stem, l.ending = x.stem(l)
		}
		out = append(out, l)
	}
	x.list = out
}

// stem applies the endings of rule 6.
func (x *lexText) stem(l lexeme) (string, string) {
	s := l.form
	ends := func(list string) string {
		for _, e := range strings.Fields(list) {
			if strings.HasSuffix(s, e) && utf8.RuneCountInString(s)-utf8.RuneCountInString(e) >= 3 {
				return e
			}
		}
		return ""
	}
	off := func(e string) string { return strings.TrimSuffix(s, e) }
	once := func(s string) string {
		n := len(s)
		if n > 2 && s[n-1] == s[n-2] && strings.Contains("bdfgmnprt", s[n-1:]) {
			return s[:n-1]
		}
		return s
	}
	long := func(e string) bool {
		return strings.HasSuffix(s, e) && len(off(e)) > 1 && strings.ContainsAny(off(e), "aeiouy")
	}
	switch x.t.name {
	case "en":
		end := ""
		switch {
		case long("ing"):
			s, end = once(off("ing")), "ing"
		case strings.HasSuffix(s, "ied") && len(s) > 4:
			s, end = off("ied")+"y", "ed"
		case long("ed"):
			s, end = once(off("ed")), "ed"
		case ends("ies") != "":
			s, end = off("ies")+"y", "s"
		case ends("sses shes ches xes zes") != "":
			s, end = off("es"), "s"
		case ends("ss us is") != "":
			return s, ""
		case ends("s") != "":
			s, end = off("s"), "s"
		}
		return strings.TrimSuffix(s, "e"), end
	case "de":
		if !l.capital && ends("te ten test tet") != "" {
			return s, ""
		}
		if e := ends("en es em e n s"); e != "" {
			return off(e), "s"
		}
	case "fr":
		if e := ends("ées ée"); e != "" {
			return off(e) + "é", "s"
		}
		if ends("ss us is") != "" {
			return s, ""
		}
		if e := ends("s x"); e != "" {
			return off(e), "s"
		}
	case "es":
		if lexGerund(s) {
			if strings.HasSuffix(s, "iendo") {
				return off("iendo"), "ing"
			}
			return off("ando"), "ing"
		}
		if ends("res nes les des") != "" {
			return off("es"), "s"
		}
		if ends("as es os is us") != "" {
			return off("s"), "s"
		}
	}
	return s, ""
}
