package main

import (
	"fmt"
	"strings"
)

// diary is a collection of one text on many days, and facts with a validity.
var diary = func() batchText {
	var out batchText
	for _, d := range strings.Fields("0001-03-01 1969-12-31 2021-06-15 2022-02-01 2022-12-31 2023-01-01 " +
		"2023-03-03 2023-04-30 2023-05-01 2023-05-07 2023-05-08 2023-05-31 2023-06-01 2023-07-10 " +
		"2023-11-06 2024-02-28 2024-02-29 2024-03-01 2026-10-31 2026-11-09 2026-11-15 2026-11-20 " +
		"2026-11-21 2026-11-22 2027-01-01 9999-12-31") {
		out = append(out, fmt.Sprintf(`{"node":{"key":"d/%s","type":"Note","summary":"Met at the pier",`+
			`"created":"%sT10:30:00Z"}}`, d, d))
	}
	return append(out,
		`{"node":{"key":"fact/open","type":"Fact","summary":"The pier is shut","created":"2020-01-01",`+
			`"validFrom":"2023-05-20"}}`,
		`{"node":{"key":"fact/span","type":"Fact","summary":"The pier has two guards","created":"2020-01-01",`+
			`"validFrom":"2022-01-01","validTo":"2022-03-01"}}`,
		`{"node":{"key":"fact/end","type":"Fact","summary":"The pier is open","created":"2023-05-02",`+
			`"validTo":"2023-05-07"}}`,
		`{"node":{"key":"fact/past","type":"Fact","summary":"A pier of wood","created":"2023-05-02",`+
			`"validTo":"2021-05-07"}}`,
		`{"node":{"key":"gone","type":"Note","summary":"Met at the pier","created":"2023-05-07"}}`,
		`{"mark":{"node":"gone","state":"forgotten"}}`,
		`{"edge":{"type":"of","src":"d/2023-05-07","dst":"fact/open"}}`)
}()

func timeCases(s *suite) {
	now := int64(1795341600_000000) // 2026-11-22T10:00:00Z, a Sunday
	for name, texts := range dateTexts {
		s.dates(name, "texts, and the times that they name", strings.Split(texts, "\n"), &now)
	}
	s.dates("no-now", "texts without a now", strings.Split(dateTexts["now"], "\n"), nil)
	long := strings.Repeat("- ", 509)
	s.dates("long", "the first 512 tokens", []string{long + "in May 2023", long + "x in May 2023",
		"in 1999 " + long + "1999"}, &now)
	s.dates("random", "texts of random words", randomDates(400), &now)
	edit := func(text string, f func(q *request)) request {
		q := everything(text)
		f(&q)
		return q
	}
	saturday, before1970 := now-microsOfDay, int64(-62135596800000001)
	for _, c := range []struct {
		clause, name, title string
		q                   request
	}{
		{"9.9", "raised", "words and a date: what the words found", everything("met in May 2023")},
		{"9.9", "raised-expanded", "candidates of expansion are raised too", edit(
			"guards met on 7 May 2023", func(q *request) { q.expand = 2 })},
		{"9.9", "raised-exact", "nodes named are raised", edit("`fact/open` in May 2023",
			func(q *request) { q.expand = 1 })},
		{"9.9", "raised-validity", "validity goes before creation", everything("pier guards since 2024")},
		{"9.9", "raised-weight", "a weight of 16", edit("pier 2023-05-07",
			func(q *request) { q.weights = map[string]int64{"time": 1 << 20} })},
		{"9.9", "raised-weight-0", "a weight of 0: dates are words", edit("pier 2023-05-07 yesterday",
			func(q *request) { q.weights, q.now = map[string]int64{"time": 0}, &now })},
		{"9.9", "raised-rrf", "reciprocal ranks", edit("pier 2023-05-07",
			func(q *request) { q.fusion, q.expand = "rrf", 1 })},
		{"9.9", "raised-rrf-weight", "and the lane's weight", edit("pier 2023-05-07",
			func(q *request) { q.fusion, q.weights = "rrf", map[string]int64{"time": 1} })},
		{"9.9", "raised-norm", "score-norm", edit("pier shut 2023-05-07",
			func(q *request) { q.fusion = "score-norm" })},
		{"9.9", "alone-expand", "alone: no expansion", edit("7 May 2023",
			func(q *request) { q.expand = 3 })},
		{"9.9", "alone-text", "alone, and words of the date are in a text", everything("open 2023-05")},
		{"9.9", "alone-filter", "filters", edit("what happened in May 2023",
			func(q *request) { q.types = []string{"Fact"} })},
		{"9.9", "alone-marks", "a mark let through", edit("2023-05-07",
			func(q *request) { q.marks = []string{"forgotten"} })},
		{"9.9", "alone-weight", "a weight of its list", edit("pier pier on 2023-05-07",
			func(q *request) { q.weights = map[string]int64{"time": 1000, "text": 0} })},
		{"9.9", "alone-text-0", "no other lane runs", edit("met in May 2023",
			func(q *request) { q.weights = map[string]int64{"text": 0} })},
		{"9.9", "alone-norm", "score-norm of text and time", edit("happened 2023",
			func(q *request) { q.fusion = "score-norm" })},
		{"9.9", "alone-rrf", "a list of two", edit("happened 2023",
			func(q *request) { q.fusion = "weighted-rrf" })},
		{"9.9", "saturday", "last weekend, asked on a Saturday", edit("last weekend",
			func(q *request) { q.now = &saturday })},
		{"9.9", "now-early", "a now in the year 0", edit("two years ago",
			func(q *request) { q.now = &before1970 })},
		{"11.1", "no-now", "no now", everything("met last week, on May 7 and in 2023")},
		{"11.1", "no-now-alone", "no now, and nothing else", everything("last week")},
		{"11.1", "none-then", "no node of that time", everything("in 1950")},
		{"11.1", "none-then-filter", "none that passes", edit("in May 2023",
			func(q *request) { q.types = []string{"Person"} })},
		{"11.1", "none-then-found", "one of that time", everything("2022-01-15")},
	} {
		s.retrieval(c.clause, "time", c.name, c.title, c.q, false, diary)
	}
	s.retrieval("9.9", "time", "vectors", "a vector beside a time", edit("happened in 2000",
		func(q *request) { q.vectors = map[string][]int8{"m": {127, 63, 0}} }), false, pier)
	s.retrieval("9.9", "time", "vectors-raised", "text and vector are raised", edit("tide in 2000",
		func(q *request) { q.vectors, q.expand = map[string][]int8{"m": {127, 63, 0}}, 1 }), false, pier)
}
