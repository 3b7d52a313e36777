package main

import "fmt"

// chosen is a request that packs all candidates but those that edit leaves out.
func chosen(text string, edit func(q *request)) request {
	q := everything(text)
	edit(&q)
	return q
}

func excludeCases(s *suite) {
	alice, bob := nodeIDOfKey("alice"), nodeIDOfKey("bob")
	dock := nodeIDOfKey("dock/north")
	for _, c := range []struct {
		clause, name, title string
		q                   request
	}{
		{"8.3", "lane", "an excluded node is in no lane", chosen("harbour tide",
			func(q *request) { q.exclude = []string{alice} })},
		{"8.3", "recency", "nor in that of the newest", chosen("",
			func(q *request) { q.exclude = []string{alice, bob, alice} })},
		{"8.3", "key", "it has no tier by its key", chosen("alice",
			func(q *request) { q.exclude = []string{alice} })},
		{"8.3", "id", "nor by its id", chosen(uuid(alice),
			func(q *request) { q.exclude = []string{alice} })},
		{"8.3", "quoted", "nor quoted", chosen("`alice` tide",
			func(q *request) { q.exclude = []string{alice} })},
		{"8.3", "expand", "expansion neither finds it nor goes through it", chosen("mechanic",
			func(q *request) { q.exclude, q.expand = []string{dock}, 2 })},
		{"8.3", "expand-not", "and does both without", chosen("mechanic",
			func(q *request) { q.expand = 2 })},
		{"8.3", "unknown", "an id that no node has excludes nothing", chosen("tide",
			func(q *request) { q.exclude = []string{nodeIDOfKey("nobody")} })},
		{"8.3", "edges", "edges to it are shown", chosen("`bob`",
			func(q *request) { q.exclude, q.adjacency = []string{dock}, 5 })},
		{"11.1", "warns", "all are excluded", chosen("accountant",
			func(q *request) { q.exclude = []string{nodeIDOfKey("carol")} })},
		{"11.1", "unseen-cut", "a session that has shown too much", chosen("tide",
			func(q *request) { q.unseenFrom = 7 })},
	} {
		s.retrieval(c.clause, "pack", "exclude-"+c.name, c.title, c.q, true, harbour)
	}
	bad := func(name, title string, edit func(in obj)) {
		in := obj{"text": "tide"}
		edit(in)
		s.refuse("8.1", "pack", "refuse-"+name, title, "request", obj{"author": "erin",
			"batches": []any{obj{"time": t0, "lines": harbour}}, "request": in})
	}
	many := []any{}
	for i := range 1001 {
		many = append(many, uuid(nodeIDOfKey(itoa(i))))
	}
	bad("exclude-many", "1,001 excluded nodes", func(in obj) { in["exclude"] = many })
	bad("mmr-high", "a share above 1", func(in obj) { in["mmr"] = one + 1 })
	bad("mmr-low", "a share below 0", func(in obj) { in["mmr"] = -1 })
	bad("order", "an order that is none", func(in obj) { in["order"] = "random" })
}

func mmrCases(s *suite) {
	share := func(n int64) func(q *request) { return func(q *request) { q.mmr = &n } }
	for _, n := range []int64{0, 20000, 45875, one} {
		for name, text := range map[string]string{"text": "boat harbour tide", "newest": "",
			"exact": "tide of `rule/2` and `kelp`"} {
			q := chosen(text, share(n))
			s.retrieval("11.3", "pack", fmt.Sprintf("mmr-%s-%d", name, n),
				"relevance has a share of "+itoa(int(n)), q, true, harbour)
			q.expand, q.limit = 2, 4
			s.retrieval("11.3", "pack", fmt.Sprintf("mmr-%s-%d-expanded", name, n),
				"with expansion and a limit", q, true, harbour)
		}
	}
	window := batchText{}
	for i := range 103 {
		window = append(window, fmt.Sprintf(`{"node":{"key":"n%d","type":"T","summary":"boat %s"}}`,
			i, rep("x ", i/4)+words[i%20]))
	}
	s.retrieval("11.3", "pack", "mmr-window", "100 candidates take part",
		chosen("boat", share(30000)), false, window)
	none := batchText{`{"node":{"key":"a","type":"T"}}`, `{"node":{"key":"b","type":"T"}}`,
		`{"node":{"key":"c","type":"T","summary":"the"}}`}
	s.retrieval("11.3", "pack", "mmr-no-terms", "texts without terms are like nothing",
		chosen("t", share(0)), true, none)
}

// signing is long enough that one word more leaves nine tenths in common.
const signing = "rotate the signing keys of every service before the release and tell the owners " +
	"of each service that clients must fetch new keys"

func dedupCases(s *suite) {
	node := func(key, rest string) string {
		return `{"node":{"key":"` + key + `","type":"T","created":"2026-01-01"` + rest + `}}`
	}
	summary := func(text string) string { return `,"summary":"` + text + `"` }
	same := func(extra string) string { return summary(signing) + extra }
	cjk := rep("東京港の船", 3)
	terms := "aa ab ac ad ae af ag ah aj ak al ao ap aq ar au av aw ax"
	for _, c := range []struct {
		clause, name, title, a, b string
	}{
		{"11.4", "same", "the same text", same(""), same("")},
		{"11.4", "case", "a capital and a full stop", same(""),
			summary("Rotate" + signing[6:] + ".")},
		{"11.4", "stop", "a stop word more", same(""), summary("so " + signing)},
		{"11.4", "word", "a word more", same(""), summary(signing + " quickly")},
		{"11.4", "words", "too many words more", same(""),
			summary(signing + " quickly when storms allow")},
		{"11.4", "not", "a negation more", same(""), summary("do not " + signing)},
		{"11.4", "cannot", "a negation with an apostrophe", same(""),
			summary(signing + " they don\u2019t")},
		{"11.4", "nicht", "a negation of another language", same(""), summary(signing + " nicht")},
		{"11.4", "elided", "and one that is elided", same(""), summary(signing + " n\u2019est")},
		{"11.4", "number", "a number more", same(""), summary(signing + " v2")},
		{"11.4", "name", "a name more", same(""), summary(signing + " Bob")},
		{"11.4", "swapped", "the same words turned around", summary("Alice pays Bob 5 of 7"),
			summary("Bob pays Alice 5 of 7")},
		{"11.4", "swapped-numbers", "numbers turned around", summary("Alice pays Bob 5 of 7"),
			summary("Alice pays Bob 7 of 5")},
		{"11.4", "capitals", "a name in capitals in one text only",
			summary("Alice pays bob in the port"), summary("alice pays Bob in the port")},
		{"11.4", "cjk", "bigrams are telling", summary(cjk + "東"), summary(cjk + "東京")},
		{"11.4", "cjk-same", "and may be the same", summary(cjk), summary(cjk + "。")},
		{"11.4", "fields", "one has as context what the other has as summary", same(""),
			`,"context":"` + signing + `"`},
		{"11.4", "content", "content counts", same(""), same(`,"content":"other words altogether ` +
			`that are not there"`)},
		{"11.4", "beyond", "but not after 8,192 scalars", same(`,"content":"` + rep("é ", 4096) +
			`Bob"`), same(`,"content":"` + rep("é ", 4096) + `Carol"`)},
		{"11.4", "within", "up to there it does", same(`,"content":"` + rep("é ", 4095) + `1"`),
			same(`,"content":"` + rep("é ", 4095) + `2"`)},
		{"11.4", "type", "another type", same(""), same(`,"type":"U"`)},
		{"11.4", "props", "a property that differs", same(`,"props":{"a":1}`),
			same(`,"props":{"a":2}`)},
		{"11.4", "props-kind", "an integer and a float differ", same(`,"props":{"a":1}`),
			same(`,"props":{"a":1.0}`)},
		{"11.4", "props-more", "one that only one has", same(`,"props":{"a":1}`),
			same(`,"props":{"a":1,"b":[2]}`)},
		{"11.4", "valid", "another validity", same(""), same(`,"validTo":"2030-01-01"`)},
		{"11.4", "empty", "texts without terms repeat nothing", summary("the"), summary("the")},
		{"11.2", "nine-tenths", "18 of 20 terms in common are enough", summary(terms),
			summary(terms[:53] + " ay")},
		{"11.2", "less", "17 of 19 are not", summary(terms[:53]),
			summary(terms[:50] + " ay")},
	} {
		lines := batchText{node("a", c.a), node("b", c.b)}
		if c.name == "type" {
			lines[1] = `{"node":{"key":"b","type":"U","created":"2026-01-01"` + same("") + `}}`
		}
		q := chosen("", func(q *request) { q.dedup = true })
		s.retrieval(c.clause, "pack", "dedup-"+c.name, c.title, q, true, lines)
	}
	lines := batchText{node("a", same("")), node("b", same("")),
		`{"mark":{"node":"b","state":"stale"}}`}
	q := chosen("", func(q *request) { q.dedup = true })
	s.retrieval("11.4", "pack", "dedup-state", "another state", q, true, lines)
	s.retrieval("11.4", "pack", "dedup-states", "the same state", q, true, append(lines,
		`{"mark":{"node":"a","state":"stale"}}`))
	q.dedup = false
	s.retrieval("11.4", "pack", "dedup-off", "what was not asked for", q, true, lines[:2])
	dedupWalk(s, node, same)
}

// dedupWalk are cases of several repeats in one answer.
func dedupWalk(s *suite, node func(key, rest string) string, same func(extra string) string) {
	var lines batchText
	for i := range 6 {
		lines = append(lines, node("n"+itoa(i), same("")))
	}
	lines = append(lines, node("m", `,"summary":"keys"`), node("l", `,"summary":"a dull text",`+
		`"context":"about keys of all kinds"`), node("k", `,"context":"`+rep("other keys ", 60)+`"`))
	q := newRequest("keys")
	q.dedup, q.limit = true, 4
	s.retrieval("11.4", "pack", "dedup-limit", "the walk goes on to what repeats nothing", q, true,
		lines)
	q.limit, q.budget = 10, 90
	s.retrieval("11.4", "pack", "dedup-budget", "a repeat is none of what does not fit", q, true,
		lines)
	q.budget = 12
	s.retrieval("11.4", "pack", "dedup-dropped", "what does not fit is repeated by nothing", q,
		true, lines[:2])
}

func orderCases(s *suite) {
	for _, c := range []struct{ name, text string }{{"text", "boat harbour tide"}, {"newest", ""},
		{"exact", "tide of `rule/2`"}} {
		q := newRequest(c.text)
		q.order = "time"
		s.retrieval("11.5", "pack", "order-"+c.name, "oldest first", q, true, harbour)
		q.limit, q.budget = 3, 150
		s.retrieval("11.5", "pack", "order-"+c.name+"-cut", "limit and budget come before", q, true,
			harbour)
	}
	var lines batchText
	for i := range 6 {
		lines = append(lines, fmt.Sprintf(
			`{"node":{"key":"n%d","type":"T","summary":"boat","created":"20%d-01-01"}}`, i, 10+i/3))
	}
	q := newRequest("boat")
	q.order = "time"
	s.retrieval("11.5", "pack", "order-ties", "at the same time the smaller id", q, true, lines)
}

// randomChoices are random requests with everything of this file.
func randomChoices(s *suite) {
	for i := range 12 {
		r := rng(uint64(i)*40503 + 99)
		memory := randomMemory(&r, 14+i*3)
		for j := range 5 { // some that repeat others
			memory[0] = append(memory[0], fmt.Sprintf(
				`{"node":{"key":"m%d","type":"Note","summary":"%s boat"}}`, j,
				[]string{signing, signing + " soon", signing + " 7"}[r.below(3)]))
		}
		q := randomRequest(&r)
		q.types, q.where = nil, nil
		q.dedup = r.below(3) > 0
		if r.below(3) > 0 {
			q.mmr = new(int64(r.below(one + 1)))
		}
		q.order = []string{"rank", "time"}[r.below(2)]
		for range r.below(6) {
			q.exclude = append(q.exclude, nodeIDOfKey("n"+itoa(r.below(14))))
		}
		s.retrieval("11", "pack", fmt.Sprintf("random-choice-%02d", i),
			"a random choice of a random memory", q, true, memory...)
	}
}

// unseenCases are what of a session's receipts is excluded (clause 13.4).
func unseenCases(s *suite) {
	ids := func(from, to int) []string {
		var out []string
		for i := from; i < to; i++ {
			out = append(out, nodeIDOfKey("n"+itoa(i)))
		}
		return out
	}
	empty := make([]shown, 1001)
	for i := range empty {
		empty[i].seq = int64(1000 - i)
	}
	for _, c := range []struct {
		name, title string
		own         []string
		records     []shown
	}{
		{"none", "a session that has shown nothing", nil, []shown{{0, nil}}},
		{"all", "all of it", nil, []shown{{3, ids(0, 3)}, {2, nil}, {1, ids(2, 6)}, {0, nil}}},
		{"own", "beside what the request excludes", ids(5, 8), []shown{{1, ids(0, 6)}, {0, nil}}},
		{"full", "1,000 fit", ids(0, 1), []shown{{2, ids(1, 500)}, {1, ids(300, 1000)}, {0, nil}}},
		{"cut", "1,001 do not", ids(0, 1), []shown{{2, ids(1, 500)}, {1, ids(300, 1001)},
			{0, ids(0, 2)}}},
		{"cut-first", "nor does the newest", ids(0, 1), []shown{{8, ids(1, 1001)}}},
		{"records-1000", "1,000 records are read", nil, empty[1:]},
		{"records-1001", "and no more", nil, empty},
	} {
		records := []any{}
		for _, r := range c.records {
			records = append(records, obj{"seq": r.seq, "shows": uuids(r.ids)})
		}
		got, from := unseen(c.own, c.records)
		s.add("13.4", "unseen", c.name, c.title,
			obj{"exclude": uuids(c.own), "records": records},
			obj{"exclude": uuids(got), "unseenFrom": from})
	}
}
