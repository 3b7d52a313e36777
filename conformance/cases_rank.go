package main

import "strings"

// harbour is the small collection of most retrieval cases.
var harbour = batchText{
	`{"node":{"key":"alice","type":"Person","summary":"Alice leads the harbour team and the ` +
		`tide tables.","props":{"role":"Team lead","age":41,"tags":["harbour","tides"]},` +
		`"created":"2026-01-01"}}`,
	`{"node":{"key":"bob","type":"Person","summary":"Bob repairs boats in the north dock.",` +
		`"props":{"role":"Mechanic","age":29.5},"created":"2026-01-02"}}`,
	`{"node":{"key":"carol","type":"Person","summary":"Carol keeps the books of the harbour ` +
		`office.","context":"Finance.","props":{"role":"Accountant","age":35},` +
		`"created":"2026-01-03"}}`,
	`{"node":{"key":"dock/north","type":"Place","summary":"The north dock has 40 berths for ` +
		`small boats.","props":{"berths":40,"open":true},"created":"2026-01-04"}}`,
	`{"node":{"key":"dock/south","type":"Place","summary":"The south dock is closed in ` +
		`winter.","props":{"berths":25,"open":false},"validFrom":"2026-01-01",` +
		`"validTo":"2026-03-01","created":"2026-01-05"}}`,
	`{"node":{"key":"tide-table","type":"Document","summary":"Tide table of the year.",` +
		`"content":"High tide and low tide for every day, computed for the harbour mouth. ` +
		`Boats deeper than two metres wait for the tide.","created":"2026-01-06"}}`,
	`{"node":{"key":"rule/1","type":"Rule","summary":"No boat leaves the harbour at low ` +
		`tide.","context":"Rules of the harbour master.","props":{"level":3,"level.x":"a"},` +
		`"created":"2026-01-07"}}`,
	`{"node":{"key":"rule/2","type":"Rule","summary":"Guests pay for a berth on arrival.",` +
		`"props":{"level":1},"created":"2026-01-08"}}`,
	`{"node":{"key":"rule/3","type":"Rule","summary":"Guests pay on departure.",` +
		`"props":{"level":2},"created":"2026-01-09"}}`,
	`{"node":{"key":"kelp","type":"Product","summary":"Kelp is the booking program: ` +
		`harbourMaster module, BerthPlanner module.","props":{"name":"Kelp","version":"1.10"},` +
		`"created":"2026-01-10"}}`,
	`{"node":{"key":"incident/7","type":"Incident","summary":"The crane fell on a boat.",` +
		`"created":"2026-01-11"}}`,
	`{"node":{"type":"Note","summary":"A note without a key about nothing in particular.",` +
		`"created":"2025-12-01"}}`,
	`{"edge":{"type":"works_at","src":"alice","dst":"dock/north","weight":0.9}}`,
	`{"edge":{"type":"works_at","src":"bob","dst":"dock/north"}}`,
	`{"edge":{"type":"knows","src":"alice","dst":"bob","weight":0.5}}`,
	`{"edge":{"type":"knows","src":"bob","dst":"carol","weight":0.25}}`,
	`{"edge":{"type":"owns","src":"carol","dst":"kelp"}}`,
	`{"edge":{"type":"governs","src":"rule/1","dst":"dock/north","weight":0.75}}`,
	`{"edge":{"type":"replaces","src":"rule/2","dst":"rule/3"}}`,
	`{"edge":{"type":"cites","src":"rule/1","dst":"tide-table"}}`,
	`{"edge":{"type":"at","src":"incident/7","dst":"dock/south","weight":0.6}}`,
	`{"mark":{"node":"rule/3","state":"superseded","by":"rule/2"}}`,
	`{"mark":{"node":"incident/7","state":"forgotten"}}`,
	`{"mark":{"node":"tide-table","state":"stale"}}`,
	`{"mark":{"edge":{"type":"owns","src":"carol","dst":"kelp"},"state":"retired"}}`,
}

// built applies batches one second apart from t0.
func built(batches ...batchText) *store {
	st := newStore()
	for i, lines := range batches {
		next, _, err := st.apply(lines, "erin", t0+int64(i)*1_000_000)
		if err != nil {
			panic(err)
		}
		st = next
	}
	return st
}

// retrieval adds a case that runs one request; full also gives texts of items.
func (s *suite) retrieval(clause, layer, name, title string, q request, full bool,
	batches ...batchText) {
	list := []any{}
	for i, lines := range batches {
		list = append(list, obj{"time": t0 + int64(i)*1_000_000, "lines": lines})
	}
	a := q.retrieve(built(batches...))
	expect := a.expect(full)
	if q.summarize > 0 {
		shown := shownSummary(a.summary)
		expect["summary"], expect["summaryTokens"] = shown, tokensOf(shown)
	}
	s.add(clause, layer, name, title,
		obj{"author": "erin", "batches": list, "request": q.input()}, expect)
}

func (a answer) expect(full bool) obj {
	items := []any{}
	for _, it := range a.items {
		o := obj{"id": uuid(it.id), "score": it.score}
		if s := a.signals[it.id]; s != nil {
			o["signals"] = []int64{s.keyword, s.entity, s.likeness, s.linking}
		}
		if it.band != "" {
			o["band"] = it.band
		}
		if full {
			o["tokens"], o["rendered"] = it.tokens, it.rendered
		}
		items = append(items, o)
	}
	warnings := append([]any{}, a.warnings...)
	e := obj{"items": items, "candidates": a.candidates, "warnings": warnings}
	if full {
		e["tokens"], e["dropped"] = a.tokens, a.dropped
	}
	if len(a.digests) > 0 {
		shown := []any{}
		for _, d := range a.digests {
			shown = append(shown, obj{"name": d.name, "band": d.band, "score": d.score, "tokens": d.tokens,
				"rendered": d.rendered, "covers": uuids(d.covers)})
		}
		e["digests"] = shown
	}
	if full && len(a.twins) > 0 {
		twins := []any{}
		for _, t := range a.twins {
			twins = append(twins, obj{"id": uuid(t[0]), "repeats": uuid(t[1])})
		}
		e["duplicates"] = twins
	}
	return e
}

// everything is a request that packs all candidates.
func everything(text string) request {
	q := newRequest(text)
	q.limit, q.budget, q.expand = 0, 0, 0
	return q
}

// stats are the numbers of clause 7.2. The field of cues is there where a node has any.
func (c collection) stats() obj {
	fields := []any{}
	for f, name := range []string{"summary", "context", "content", "props", "type", "cues"} {
		if name != "cues" || c.having[f] > 0 {
			fields = append(fields, obj{"field": name, "terms": c.total[f], "nodes": c.having[f]})
		}
	}
	return obj{"nodes": len(c.docs), "fields": fields, "df": c.df}
}

// addStats adds a case of the layer stats.
func (s *suite) addStats(name, title string, batches ...batchText) {
	list := []any{}
	for i, lines := range batches {
		list = append(list, obj{"time": t0 + int64(i)*1_000_000, "lines": lines})
	}
	clause := "7.2"
	if name == "document" || name == "cues" || strings.HasPrefix(name, "props") {
		clause = "7.1"
	}
	s.add(clause, "stats", name, title, obj{"author": "erin", "batches": list},
		built(batches...).collect().stats())
}

func statsCases(s *suite) {
	add := s.addStats
	add("empty", "no nodes", batchText{})
	add("harbour", "the small collection, marked nodes included", harbour)
	add("changed", "after changes and a removal", harbour, batchText{
		`{"node":{"key":"alice","summary":"Alice left."}}`, `{"remove":{"node":"tide-table"}}`,
		`{"node":{"key":"bob","unset":["summary","props.role"]}}`})
	for _, c := range []struct{ name, title, props string }{
		{"props-list", "strings in a list count, one by one",
			`{"a":["north dock","north"],"b":"dock"}`},
		{"props-nested", "strings deeper than that do not",
			`{"a":[["north"]],"b":{"c":"dock"},"d":[{"e":"x"}]}`},
		{"props-other", "other values do not",
			`{"a":5,"b":true,"c":null,"d":1.5,"e":{"/":{"bytes":"bm9ydGg"}}}`},
		{"props-names", "names of properties are no text", `{"harbour":"dock"}`},
		{"props-span", "no bigram spans two strings", `{"a":["東","京"],"b":"都","c":"東京"}`},
	} {
		st := batchText{`{"node":{"key":"a","type":"T","props":` + c.props + `}}`}
		add(c.name, c.title, st)
	}
	add("document", "the five fields of one node",
		batchText{`{"node":{"key":"a","type":"BoatType",` +
			`"summary":"The boat and the boat's berth.","context":"A harbour.","content":"Long ` +
			`text.",` +
			`"props":{"b":"boat","a":["berth","tide"]}}}`})
}

func scoreCases(s *suite) {
	for _, c := range []struct{ name, title, text string }{
		{"one-term", "one rare term", "accountant books"},
		{"harbour", "a common term", "harbour"},
		{"two-terms", "two terms", "low tide"},
		{"repeated", "a term twice in the text counts twice", "tide tide boat"},
		{"parts", "parts of a word", "harbourMaster"},
		{"props", "a property's value", "mechanic"},
		{"type", "the type is text", "person"},
		{"summary-weight", "the summary weighs more than the content", "metres tide"},
		{"number", "numbers are terms", "40 1.10"},
		{"stop", "stop words are no terms", "the of tide is"},
		{"key-is-no-text", "keys are no text", "incident"},
		{"marked-counts", "hidden nodes count in the statistics", "guests pay"},
		{"long", "a long question",
			"who repairs the boats in the north dock when the tide is low?"},
		{"none", "no node has the term", "zeppelin"},
	} {
		s.retrieval("9.2", "score", "text-"+c.name, c.title, everything(c.text), false, harbour)
	}
	common := batchText{}
	for i := range 30 {
		common = append(common, `{"node":{"key":"n`+itoa(i)+`","type":"T","summary":"boat `+
			rep("x ", i%5)+`"}}`)
	}
	s.retrieval("9.2", "score", "text-in-all", "a term that all nodes have still scores",
		everything("boat"), false, common)
	s.retrieval("9.4", "score", "ties", "equal scores: the smaller id first", everything("t"),
		false,
		common[:10])
	for _, blank := range []struct{ name, text string }{{"empty", ""}, {"blank", " \t\r\n "}} {
		s.retrieval("9.3", "score", "recency-"+blank.name, "without a text the newest come first",
			everything(blank.text), false, harbour,
			batchText{`{"node":{"key":"bob","props":{"age":30}}}`})
	}
	s.retrieval("9.3", "score", "recency-negative", "times before 1970 score 0",
		everything(""), false,
		batchText{`{"node":{"key":"old","type":"T","created":"1950-01-01"}}`,
			`{"node":{"key":"older","type":"T","created":"1900-01-01"}}`,
			`{"node":{"key":"new","type":"T","created":"1970-01-01T00:00:00.000001Z"}}`})
	s.retrieval("9.3", "score", "recency-late", "times after 2^53 - 1 score that",
		everything(""), false,
		batchText{`{"node":{"key":"a","type":"T","created":"2255-06-05T23:47:34.740990Z"}}`,
			`{"node":{"key":"b","type":"T","created":"2255-06-05T23:47:34.740991Z"}}`,
			`{"node":{"key":"c","type":"T","created":"2255-06-05T23:47:34.740992Z"}}`,
			`{"node":{"key":"d","type":"T","created":"9999-12-31"}}`})
	tierCases(s)
}

func tierCases(s *suite) {
	alice := uuid(nodeIDOfKey("alice"))
	hexKey := `{"node":{"key":"` + alice[:8] + `","type":"T"}}`
	for _, c := range []struct{ name, title, text string }{
		{"key", "the text is a key", "dock/north"},
		{"key-spaces", "white space around it does not matter", " \tdock/north\r\n"},
		{"key-other-case", "case does", "Dock/North"},
		{"key-hidden", "a hidden node has no tier", "rule/3"},
		{"id", "the text is an id", alice},
		{"id-plain", "an id without hyphens",
			alice[:8] + alice[9:13] + alice[14:18] + alice[19:23] + alice[24:]},
		{"id-upper", "an id in upper case is none", upper(alice)},
		{"prefix-4", "four digits of one id", alice[:4]},
		{"prefix-3", "three digits are too few", alice[:3]},
		{"prefix-hyphen", "a prefix that ends in a hyphen", alice[:9]},
		{"prefix-long", "a longer prefix", alice[:13]},
		{"prefix-hyphen-early", "a hyphen elsewhere", alice[:4] + "-" + alice[4:8]},
		{"quoted", "a quoted key has tier 1", `what is "dock/south" for? mechanic`},
		{"backticks", "backticks and curly quotes", "`kelp` or “rule/2” mechanic boats"},
		{"quoted-open", "an open quote is skipped", `"dock/south and "kelp" mechanic boats`},
		{"quoted-pairs", "each opener takes its next closer", `"a" kelp "b" mechanic boats`},
		{"quoted-line", "no line break within", "\"ke\nlp\" `kelp` mechanic boats"},
		{"quoted-empty", "an empty span is none", `"" "kelp" mechanic boats`},
		{"quoted-spaces", "spaces belong to the span", `" kelp " mechanic boats`},
		{"both", "tiers before scores", `the tide tables of "bob"`},
	} {
		s.retrieval("8.4", "score", "tier-"+c.name, c.title, everything(c.text), false, harbour)
	}
	s.retrieval("8.4", "score", "tier-ambiguous", "a key that is a prefix of another id: both",
		everything(alice[:8]), false, append(harbour[:len(harbour):len(harbour)], hexKey))
	twins := batchText{`{"node":{"id":"abcdef01-0000-0000-0000-000000000001","type":"T"}}`,
		`{"node":{"id":"abcdef01-0000-0000-0000-000000000002","type":"T"}}`,
		`{"mark":{"node":"abcdef01-0000-0000-0000-000000000002","state":"forgotten"}}`}
	s.retrieval("8.4", "score", "tier-two-nodes",
		"a prefix of two ids counts for neither, passing or not",
		everything("abcdef01"), false, twins)
	s.retrieval("8.4", "score", "tier-unique", "a digit more decides",
		everything("abcdef01-0000-0000-0000-000000000001"), false, twins)
	many := ""
	for range 64 {
		many += `"x" `
	}
	s.retrieval("8.4", "score", "tier-span-64", "the 64th span counts",
		everything(many[4:]+`"kelp" mechanic boats`),
		false, harbour)
	s.retrieval("8.4", "score", "tier-span-65", "the 65th does not",
		everything(many+`"kelp" mechanic boats`), false,
		harbour)
}
