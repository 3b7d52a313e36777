package dates

import (
	"slices"
	"strings"
	"sync"
)

// monthNames are the months in English, German, French, Spanish, Portuguese, Italian and Dutch, folded.
var monthNames = numbered(1,
	"january jan januar janvier enero janeiro gennaio januari",
	"february feb februar fevrier febrero fevereiro febbraio februari",
	"march mar marz mars marzo marco maart",
	"april apr avril abril aprile",
	"may mai mayo maio maggio mei",
	"june jun juni juin junio junho giugno",
	"july jul juli juillet julio julho luglio",
	"august aug aout agosto augustus",
	"september sep sept septembre septiembre setiembre setembro settembre",
	"october oct oktober octobre octubre outubro ottobre",
	"november nov novembre noviembre novembro",
	"december dec dezember decembre diciembre dezembro dicembre",
)

var weekdayNames = numbered(0,
	"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
)

// seasonNames gives the first month of each season, which has three.
var seasonNames = map[string]int{
	"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
}

var countNames = numbered(1,
	"a an one", "two couple", "three few", "four", "five", "six", "seven", "eight", "nine", "ten",
	"eleven", "twelve",
)

var ordinals = numbered(1, "first", "second", "third", "fourth")

var unitNames = map[string]unit{
	"day": unitDay, "days": unitDay, "week": unitWeek, "weeks": unitWeek,
	"weekend": unitWeekend, "weekends": unitWeekend, "month": unitMonth, "months": unitMonth,
	"quarter": unitQuarter, "quarters": unitQuarter, "year": unitYear, "years": unitYear,
}

// numbered maps the names in each list to the number of the list, from first on.
func numbered(first int, lists ...string) map[string]int {
	out := map[string]int{}
	for i, list := range lists {
		for _, name := range strings.Fields(list) {
			out[name] = first + i
		}
	}
	return out
}

// What a pattern reads.
type meaning int

const (
	aDay      meaning = iota // D of M of Y, yearless without Y
	aMonth                   // M of Y, yearless without Y
	aQuarter                 // Q of Y
	aSeason                  // S of Y
	aYear                    // Y
	shiftUnit                // the unit U, shifted from now by the number given
	agoUnit                  // N units U ago
	rolling                  // the N units U until now, 1 without N
	lastCycle                // the last M, S or W
	thisCycle                // that of this year or week
	nextCycle                // the next
	pastDay                  // the last W before now
	shiftWeek                // W of a week shifted from now
)

// pattern is one row of the tables of clause 6.11: its text, and its meaning.
//
// An element is one of the classes Y (a year), M (a month by number), L (by name), D (a day by number), Q (1 to 4),
// O (first to fourth), S (a season), W (a weekday), N (a count), U (a unit), H (a weekday by Chinese number); or
// literal tokens, with | between alternatives; [x] is optional.
type pattern struct {
	elems []elem
	means meaning
	shift int
	unit  unit // if the pattern has no U
}

type elem struct {
	class    byte // 0 for literal tokens
	any      []string
	optional bool
}

func row(means meaning, shift int, u unit, texts ...string) []pattern {
	var out []pattern
	for _, text := range texts {
		p := pattern{means: means, shift: shift, unit: u}
		for _, f := range strings.Fields(text) {
			var e elem
			inner, optional := strings.CutPrefix(f, "[")
			if optional {
				inner, e.optional = strings.TrimSuffix(inner, "]"), true
			}
			if c := inner[0]; len(inner) == 1 && c >= 'A' && c <= 'Z' {
				e.class = c
			} else {
				e.any = strings.Split(inner, "|")
			}
			p.elems = append(p.elems, e)
		}
		out = append(out, p)
	}
	return out
}

// patterns are the tables of clause 6.11, in which the first match wins. They are built when the first text is
// read: most processes read none.
type patterns struct {
	absolute []pattern // of dates in the calendar
	relative []pattern // of dates that count from now
	// begins maps each token that a date may begin with to the patterns that may match there, in order; "" stands
	// for numbers. Most words of a text begin none.
	begins map[string][]*pattern
	// leads are the tokens that an expression may begin with, except numbers.
	leads map[string]bool
}

var allPatterns = sync.OnceValue(func() *patterns {
	p := &patterns{absolute: absolutePatterns(), relative: relativePatterns()}
	p.begins = begins(p)
	p.leads = map[string]bool{}
	for _, list := range [][]string{leadWords, prepositions} {
		for _, s := range list {
			p.leads[s] = true
		}
	}
	for s := range unitNames {
		p.leads[s] = true
	}
	for s := range p.begins {
		p.leads[s] = true
	}
	return p
})

// leadWords are the tokens that may precede a date within its expression, except prepositions, units and counts.
var leadWords = []string{
	"the", "last", "between", "from", "从", "從", "自", "since", "after", "before", "until", "till", "by", "through",
}

// prepositions may precede a date without changing its meaning.
var prepositions = []string{"in", "during", "on", "at", "of", "early", "mid", "late", "im", "en", "em", "au"}

func absolutePatterns() []pattern {
	return slices.Concat(
		row(aDay, 0, 0, "Y - M - D", "Y / M / D", "Y . M . D", "D . M . Y", "Y 年 M 月 D [日|号|號]",
			"L [.] D [st|nd|rd|th] [,] [of] Y", "D [st|nd|rd|th] [.] [of|de] L [.] [,] [of|de] Y"),
		row(aMonth, 0, 0, "Y - M", "Y / M", "Y 年 M 月 [份]", "L [.] [,] [of|de] Y"),
		row(aQuarter, 0, 0, "Y 年 [第] Q 季 度", "q Q [of|,] Y", "Y [-] q Q", "O quarter [of|,] Y",
			"Q st|nd|rd|th quarter [of|,] Y"),
		row(aSeason, 0, 0, "S [of|,] Y"),
		row(aYear, 0, 0, "Y 年"),
		row(aDay, 0, 0, "L [.] D [st|nd|rd|th]", "D st|nd|rd|th [of] L", "D of|de L", "D . L",
			"M 月 D 日|号|號"),
		row(aMonth, 0, 0, "M 月 [份]"),
	)
}

func relativePatterns() []pattern {
	return slices.Concat(
		row(shiftUnit, 0, unitDay, "today|tonight", "今 天|日|晚|早"),
		row(shiftUnit, -1, unitDay, "yesterday", "last night", "昨 天|日|晚"),
		row(shiftUnit, 1, unitDay, "tomorrow", "明 天|日"),
		row(shiftUnit, -3, unitDay, "大 前 天"),
		row(shiftUnit, -2, unitDay, "前 天"),
		row(shiftUnit, 2, unitDay, "后|後 天"),
		row(agoUnit, 0, 0, "N [of] U ago"),
		row(agoUnit, 0, unitDay, "N 天|日 [之|以] 前"),
		row(agoUnit, 0, unitWeek, "N [个|個] 周|週 [之|以] 前", "N [个|個] 星 期 [之|以] 前",
			"N [个|個] 礼|禮 拜 [之|以] 前"),
		row(agoUnit, 0, unitMonth, "N 个|個 月 [之|以] 前"),
		row(agoUnit, 0, unitYear, "N 年 [之|以] 前"),
		row(rolling, 0, 0, "last|past|previous N [of] U", "past U"),
		row(rolling, 0, unitDay, "最 近 [的] N 天|日", "过|過 去 [的] N 天|日"),
		row(rolling, 0, unitWeek, "最 近 [的] N [个|個] 周|週", "过|過 去 [的] N [个|個] 周|週",
			"最 近 [的] N [个|個] 星 期", "过|過 去 [的] N [个|個] 星 期"),
		row(rolling, 0, unitMonth, "最 近 [的] N 个|個 月", "过|過 去 [的] N 个|個 月"),
		row(rolling, 0, unitYear, "最 近 [的] N 年", "过|過 去 [的] N 年"),
		row(shiftUnit, -1, 0, "last|previous U"),
		row(shiftUnit, 0, 0, "this|current U"),
		row(shiftUnit, 1, 0, "next U"),
		row(lastCycle, 0, 0, "last|previous L", "last|previous S", "last|previous W"),
		row(thisCycle, 0, 0, "this L", "this S", "this W"),
		row(nextCycle, 0, 0, "next L", "next S", "next W"),
		row(pastDay, 0, 0, "on W", "周|週 H", "星 期 H", "礼|禮 拜 H"),
		chineseWeeks(),
		row(shiftUnit, -1, unitMonth, "上 [个|個] 月", "先 月"),
		row(shiftUnit, 0, unitMonth, "这|這 [个|個] 月", "本|今 月"),
		row(shiftUnit, 1, unitMonth, "下 [个|個] 月", "来|來 月"),
		row(shiftUnit, -1, unitQuarter, "上 [个|個] 季 度"),
		row(shiftUnit, 0, unitQuarter, "这|這 [个|個] 季 度", "本 季 度"),
		row(shiftUnit, 1, unitQuarter, "下 [个|個] 季 度"),
		row(shiftUnit, -2, unitYear, "前 年"),
		row(shiftUnit, -1, unitYear, "去|昨 年"),
		row(shiftUnit, 0, unitYear, "今 年"),
		row(shiftUnit, 1, unitYear, "明|来|來 年"),
	)
}

// chineseWeeks are the patterns of weeks, their weekends and weekdays.
func chineseWeeks() []pattern {
	var out []pattern
	for _, w := range []struct {
		shift int
		names []string
	}{
		{-2, []string{"上 上 [个|個] "}}, {-1, []string{"上 [个|個] ", "先 "}},
		{0, []string{"这|這 [个|個] ", "本|今 "}}, {1, []string{"下 [个|個] ", "来|來 "}},
	} {
		for _, name := range w.names {
			for _, week := range []string{"周|週", "星 期", "礼|禮 拜"} {
				out = slices.Concat(out,
					row(shiftUnit, w.shift, unitWeekend, name+week+" 末"),
					row(shiftWeek, w.shift, 0, name+week+" H"),
					row(shiftUnit, w.shift, unitWeek, name+week))
			}
		}
	}
	return out
}

// begins indexes the patterns by their possible first tokens.
func begins(all *patterns) map[string][]*pattern {
	out := map[string][]*pattern{"": nil}
	for _, names := range []map[string]int{
		monthNames, weekdayNames, seasonNames, countNames, ordinals,
	} {
		for name := range names {
			out[name] = nil
		}
	}
	for _, list := range [][]pattern{all.absolute, all.relative} {
		for i := range list {
			for _, s := range list[i].elems[0].any { // the first is never optional
				out[s] = nil
			}
		}
	}
	for s := range out {
		for _, list := range [][]pattern{all.absolute, all.relative} {
			for i := range list {
				if list[i].mayBegin(s) {
					out[s] = append(out[s], &list[i])
				}
			}
		}
	}
	return out
}

// mayBegin reports whether a pattern may match at a token, or at any number if s is "".
func (p *pattern) mayBegin(s string) bool {
	first := &p.elems[0]
	switch {
	case first.class == 0:
		return s != "" && token{s: s}.isOne(first.any)
	case s == "":
		return strings.IndexByte("YMDQNH", first.class) >= 0
	}
	return new(found).take(first.class, token{s: s})
}
