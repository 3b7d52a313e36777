package main

import (
	"regexp"
	"strconv"
	"strings"
)

var dateMonths = strings.Split("january jan januar janvier enero janeiro gennaio januari;"+
	"february feb februar fevrier febrero fevereiro febbraio februari;"+
	"march mar marz mars marzo marco maart;april apr avril abril aprile;"+
	"may mai mayo maio maggio mei;june jun juni juin junio junho giugno;"+
	"july jul juli juillet julio julho luglio;august aug aout agosto augustus;"+
	"september sep sept septembre septiembre setiembre setembro settembre;"+
	"october oct oktober octobre octubre outubro ottobre;november nov novembre noviembre novembro;"+
	"december dec dezember decembre diciembre dezembro dicembre", ";")

var (
	dateDays    = strings.Fields("monday tuesday wednesday thursday friday saturday sunday")
	dateSeasons = []string{"", "", "spring", "", "", "summer", "", "", "autumn fall", "", "", "winter"}
	dateCounts  = []string{"a an one", "two couple", "three few", "four", "five", "six", "seven",
		"eight", "nine", "ten", "eleven", "twelve"}
	dateOrdinals = strings.Fields("first second third fourth")
	dateUnits    = strings.Fields("day week weekend month quarter year")
)

// place is the number of the list that has a word, from 1, or 0.
func place(lists []string, word string) int {
	for i, list := range lists {
		if has(strings.Fields(list), word) {
			return i + 1
		}
	}
	return 0
}

func anyOf(lists ...string) string {
	return strings.Join(strings.Fields(strings.Join(lists, " ")), "|")
}

var dateClasses = map[string]string{
	"Y": `#4:(?P<Y>[1-9]\d{3}) `, "M": `#[12]:(?P<M>[1-9]|1[0-2]) `,
	"D": `#[12]:(?P<D>[1-9]|[12]\d|3[01]) `, "Q": `#1:(?P<Q>[1-4]) `,
	"L": `=(?P<L>` + anyOf(dateMonths...) + `) `, "O": `=(?P<O>` + anyOf(dateOrdinals...) + `) `,
	"S": `=(?P<S>` + anyOf(dateSeasons...) + `) `, "W": `=(?P<W>` + anyOf(dateDays...) + `) `,
	"H": `(?:#1:(?P<H>[1-6]) |=(?P<SUN>日|天) )`,
	"N": `(?:#[123]:(?P<N>[1-9]\d{0,2}) |=(?P<NW>` + anyOf(dateCounts...) + `) )`,
	"U": `=(?P<U>` + anyOf(dateUnits...) + `)s? `,
	"y": `#4:(?P<y>19\d\d|20\d\d) `,
}

// dateRegexp makes a regular expression over the forms of tokens from a pattern.
func dateRegexp(pattern string) *regexp.Regexp {
	out := "^"
	for _, e := range strings.Fields(pattern) {
		optional := strings.HasPrefix(e, "[")
		e = strings.Trim(e, "[]")
		part, isClass := dateClasses[e]
		if !isClass {
			var quoted []string
			for _, s := range strings.Split(e, "|") {
				quoted = append(quoted, regexp.QuoteMeta(s))
			}
			part = "=(?:" + strings.Join(quoted, "|") + ") "
		}
		if optional {
			part = "(?:" + part + ")?"
		}
		out += part
	}
	return regexp.MustCompile(out)
}

// datePattern is a row of the tables of clause 6.11.
type datePattern struct {
	re    *regexp.Regexp
	means string
	shift int
	unit  string
}

func dateRows(means string, shift int, unit string, patterns ...string) []datePattern {
	var out []datePattern
	for _, p := range patterns {
		out = append(out, datePattern{dateRegexp(p), means, shift, unit})
	}
	return out
}

var plainDates = allRows(
	dateRows("day", 0, "", "Y - M - D", "Y / M / D", "Y . M . D", "D . M . Y", "Y 年 M 月 D [日|号|號]",
		"L [.] D [st|nd|rd|th] [,] [of] Y", "D [st|nd|rd|th] [.] [of|de] L [.] [,] [of|de] Y"),
	dateRows("month", 0, "", "Y - M", "Y / M", "Y 年 M 月 [份]", "L [.] [,] [of|de] Y"),
	dateRows("quarter", 0, "", "Y 年 [第] Q 季 度", "q Q [of|,] Y", "Y [-] q Q", "O quarter [of|,] Y",
		"Q st|nd|rd|th quarter [of|,] Y"),
	dateRows("season", 0, "", "S [of|,] Y"),
	dateRows("year", 0, "", "Y 年"),
	dateRows("day", 0, "", "L [.] D [st|nd|rd|th]", "D st|nd|rd|th [of] L", "D of|de L", "D . L",
		"M 月 D 日|号|號"),
	dateRows("month", 0, "", "M 月 [份]"),
)

var starDates = allRows(dateRows("month", 0, "", "L"), dateRows("year", 0, "", "y"))

var weekNames = []string{"周|週", "星 期", "礼|禮 拜"}

var nowDates = allRows(
	dateRows("unit", 0, "day", "today|tonight", "今 天|日|晚|早"),
	dateRows("unit", -1, "day", "yesterday", "last night", "昨 天|日|晚"),
	dateRows("unit", 1, "day", "tomorrow", "明 天|日"), dateRows("unit", -3, "day", "大 前 天"),
	dateRows("unit", -2, "day", "前 天"), dateRows("unit", 2, "day", "后|後 天"),
	dateRows("ago", 0, "", "N [of] U ago"), dateRows("ago", 0, "day", "N 天|日 [之|以] 前"),
	eachWeek("ago", 0, "week", "N [个|個] ", " [之|以] 前"),
	dateRows("ago", 0, "month", "N 个|個 月 [之|以] 前"), dateRows("ago", 0, "year", "N 年 [之|以] 前"),
	dateRows("rolling", 0, "", "last|past|previous N [of] U", "past U"),
	dateRows("rolling", 0, "day", "最 近 [的] N 天|日", "过|過 去 [的] N 天|日"),
	dateRows("rolling", 0, "week", "最 近 [的] N [个|個] 周|週", "过|過 去 [的] N [个|個] 周|週",
		"最 近 [的] N [个|個] 星 期", "过|過 去 [的] N [个|個] 星 期"),
	dateRows("rolling", 0, "month", "最 近 [的] N 个|個 月", "过|過 去 [的] N 个|個 月"),
	dateRows("rolling", 0, "year", "最 近 [的] N 年", "过|過 去 [的] N 年"),
	dateRows("unit", -1, "", "last|previous U"), dateRows("unit", 0, "", "this|current U"),
	dateRows("unit", 1, "", "next U"),
	dateRows("last", 0, "", "last|previous L", "last|previous S", "last|previous W"),
	dateRows("this", 0, "", "this L", "this S", "this W"),
	dateRows("next", 0, "", "next L", "next S", "next W"),
	dateRows("last", 0, "", "on W"), eachWeek("last", 0, "", "", " H"),
	weeksOf(-2, "上 上 [个|個] "), weeksOf(-1, "上 [个|個] "), weeksOf(-1, "先 "),
	weeksOf(0, "这|這 [个|個] "), weeksOf(0, "本|今 "), weeksOf(1, "下 [个|個] "), weeksOf(1, "来|來 "),
	dateRows("unit", -1, "month", "上 [个|個] 月", "先 月"),
	dateRows("unit", 0, "month", "这|這 [个|個] 月", "本|今 月"),
	dateRows("unit", 1, "month", "下 [个|個] 月", "来|來 月"),
	dateRows("unit", -1, "quarter", "上 [个|個] 季 度"),
	dateRows("unit", 0, "quarter", "这|這 [个|個] 季 度", "本 季 度"),
	dateRows("unit", 1, "quarter", "下 [个|個] 季 度"),
	dateRows("unit", -2, "year", "前 年"), dateRows("unit", -1, "year", "去|昨 年"),
	dateRows("unit", 0, "year", "今 年"), dateRows("unit", 1, "year", "明|来|來 年"),
)

func allRows(lists ...[]datePattern) []datePattern {
	var out []datePattern
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func eachWeek(means string, shift int, unit, before, after string) []datePattern {
	var out []datePattern
	for _, k := range weekNames {
		out = append(out, dateRows(means, shift, unit, before+k+after)...)
	}
	return out
}

func weeksOf(shift int, name string) []datePattern {
	var out []datePattern
	for _, k := range weekNames {
		out = allRows(out, dateRows("unit", shift, "weekend", name+k+" 末"),
			dateRows("weekday", shift, "", name+k+" H"), dateRows("unit", shift, "week", name+k))
	}
	return out
}

// fields are the classes that a pattern has read.
type fields map[string]string

func (f fields) number(name string) int {
	n, _ := strconv.Atoi(f[name])
	return n
}

func (f fields) month() int {
	return max(f.number("M"), place(dateMonths, f["L"]), place(dateSeasons, f["S"]))
}

func (f fields) count() int { return max(1, f.number("N"), place(dateCounts, f["NW"])) }

// weekday is 0 on Mondays, -1 for none.
func (f fields) weekday() int {
	if f["SUN"] != "" {
		return 6
	}
	return max(f.number("H"), place(dateDays, f["W"])) - 1
}

// fit matches a pattern at the beginning of forms; n is the number of tokens.
func (p datePattern) fit(forms string) (f fields, n int) {
	at := p.re.FindStringSubmatchIndex(forms)
	if at == nil {
		return nil, 0
	}
	f = fields{}
	for i, name := range p.re.SubexpNames() {
		if name != "" && at[2*i] >= 0 {
			f[name] = forms[at[2*i]:at[2*i+1]]
		}
	}
	if f["D"] != "" {
		year := 2000
		if f["Y"] != "" {
			year = f.number("Y")
		}
		if !isDay(year, f.month(), f.number("D")) {
			return nil, 0
		}
	}
	return f, strings.Count(forms[:at[1]], " ")
}
