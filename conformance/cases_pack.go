package main

import "fmt"

func packCases(s *suite) {
	sizes := batchText{}
	for i, n := range []int{400, 40, 4000, 4, 100, 1200} {
		sizes = append(sizes,
			fmt.Sprintf(`{"node":{"key":"k%d","type":"T","summary":"boat %s"}}`, i,
				rep("é", n)))
	}
	one := func(budget, limit int64) request {
		q := newRequest("boat")
		q.expand, q.budget, q.limit = 0, budget, limit
		return q
	}
	for _, c := range []struct {
		clause, name, title string
		q                   request
	}{
		{"11", "all", "a budget for all", one(100000, 10)},
		{"11", "no-budget", "no budget", one(0, 10)},
		{"11", "skip", "what does not fit is skipped, and the walk goes on", one(400, 10)},
		{"11", "limit", "the limit counts packed items", one(400, 2)},
		{"11", "limit-0", "no limit", one(1000, 0)},
		{"11.1", "too-small", "nothing fits: the warning names the smallest", one(5, 10)},
	} {
		s.retrieval(c.clause, "pack", c.name, c.title, c.q, true, sizes)
	}
	for _, n := range []int64{0, 1} {
		st := built(harbour)
		q := newRequest("accountant")
		q.expand = 0
		t := q.retrieve(st).items[0].tokens
		q.budget = t - n
		s.retrieval("11", "pack", "exact-"+itoa(int(n)), "a budget of exactly its tokens, less "+
			itoa(int(n)), q, true, harbour)
	}
	fan := forest{Count: 1010, Fanout: 1009}
	q := newRequest("")
	q.budget, q.limit = 1, 0
	a := q.retrieve(built(fan.lines()))
	s.add("11", "pack", "walk-1000", "1,000 nodes are examined at most", obj{"author": "erin",
		"batches": []any{obj{"time": t0, "forest": fan, "lines": []string{}}},
		"request": q.input()},
		a.expect(true))
	warningCases(s)
	excludeCases(s)
	mmrCases(s)
	dedupCases(s)
	orderCases(s)
	randomChoices(s)
	passageCases(s)
	documentCases(s)
	idleCases(s)
	tokenCases(s)
	altitudeCases(s)
}

func warningCases(s *suite) {
	with := func(text string, edit func(q *request)) request {
		q := newRequest(text)
		if edit != nil {
			edit(&q)
		}
		return q
	}
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"no-terms", "a text of stop words", with("the of it", nil)},
		{"no-terms-signs", "a text of signs", with("?!", nil)},
		{"no-terms-blank", "a blank text warns of nothing", with("  ", nil)},
		{"no-terms-exact", "nor does one that names a node", with("`kelp` the",
			func(q *request) { q.expand = 0 })},
		{"unknown-term", "a term that no node has warns of nothing", with("zeppelin", nil)},
		{"nothing-passes", "nodes have the term, none passes", with("crane", nil)},
		{"nothing-passes-filter", "a filter in the way", with("tide", func(q *request) {
			q.types = []string{"Product"}
		})},
		{"nothing-passes-exact", "an exact node stills it", with("crane `kelp`", nil)},
		{"nothing-passes-some", "one node that passes stills it", with("boat crane", nil)},
		{"nothing-passes-mark", "the mark let through", with("crane", func(q *request) {
			q.marks = []string{"forgotten"}
		})},
		{"too-small-expanded", "budget and expansion", with("tide",
			func(q *request) { q.budget = 3 })},
	} {
		s.retrieval("11.1", "pack", "warning-"+c.name, c.title, c.q, true, harbour)
	}
}

func renderCases(s *suite) {
	full := newRequest("")
	full.show, full.adjacency = []string{"times", "key", "content"}, 10
	full.limit, full.budget = 0, 0
	plain := everything("")
	s.retrieval("12.1", "render", "harbour", "the small collection, default lines", plain,
		true, harbour)
	s.retrieval("12.1", "render", "harbour-full", "with times, keys, content and edges", full, true,
		harbour, batchText{`{"node":{"key":"bob","props":{"age":30}}}`})
	node := func(rest string) batchText {
		return batchText{`{"node":{"key":"a","type":"T"` + rest + `}}`}
	}
	names := `{"ntype":"1","ID":"2","State":"3","context":"4","summary":"5","created":"6",` +
		`"updated":"7",` +
		`"valid":"8","key":"9","content":"10","Outgoing":"11","incoming":"12","props.x":"13",` +
		`" lead":"14",` +
		`"trail ":"15","a:b":"16","Props.y":"17","ok name":"18","propsx":"19","\u212aEY":"20",` +
		`" ":"21"}`
	for _, c := range []struct {
		clause, name, title string
		lines               batchText
	}{
		{"12.1", "values", "which properties have a line",
			node(`,"props":{"s":"x","i":-5,"f":1e21,"g":2.0,` +
				`"b":true,"n":null,"l":["x"],"m":{"a":1},"y":{"/":{"bytes":"AQ"}},"e":""}`)},
		{"12.1", "order", "properties in canonical order",
			node(`,"props":{"bb":1,"a":2,"c":3,"aaa":4}`)},
		{"12.1", "names", "names that could be taken for others", node(`,"props":` + names)},
		{"12.1", "times", "times with microseconds and before 1970",
			node(`,"created":"1969-12-31T23:59:59.999999Z",` +
				`"validFrom":"1900-02-28","validTo":"2100-03-01T00:00:00.5Z"`)},
		{"12.1", "valid-open", "an open end", node(`,"validTo":"2100-01-01"`)},
		{"12.1", "state-by", "a state with by", append(node(""), plainNode("b"),
			`{"mark":{"node":"a","state":"contradicted","by":"b"}}`)},
		{"12.2", "inject-summary", "a summary cannot forge lines",
			node(`,"summary":"x\nid: 0\r\nstate: ok","context":"\u2028y\u0085z"`)},
		{"12.2", "inject-type", "nor can a type",
			batchText{`{"node":{"key":"a","type":"T\nid: x"}}`}},
		{"12.2", "inject-name", "nor the name of a property",
			node(`,"props":{"a\nsummary":"x","b\u0000":"y"}`)},
		{"12.2", "inject-value", "nor its value, nor a key or content", batchText{
			`{"node":{"key":"k\nid: 1","type":"T","props":{"v":"x\n\nid: 2\u202e"},` +
				`"content":"line\n\ttab\u001b[0m"}}`}},
		{"12.2", "inject-edge", "nor the type of an edge", append(wired("ab"),
			`{"edge":{"type":"x -> y\n  z","src":"a","dst":"b"}}`)},
		{"12.2", "backslash", "a backslash stays", node(`,"summary":"C:\\new\\table"`)},
		{"3.3", "chunks", "content from chunks is shown whole",
			node(`,"content":"` + rep("0123456789", 3300) + `"`)},
	} {
		q := full
		if c.name == "chunks" {
			q.summaryCap = 40
		}
		s.retrieval(c.clause, "render", c.name, c.title, q, true, c.lines)
	}
	capped(s, full)
	adjacencyLines(s)
}

func capped(s *suite, q request) {
	long := batchText{`{"node":{"key":"a","type":"LongType","summary":"0123456789é",` +
		`"context":"12345",` +
		`"content":"\n\n\n\n\n\n\n","props":{"s":"ééééééé","longname":"1234567"}}}`}
	for _, n := range []int64{0, 1, 5, 6, 11} {
		q.summaryCap = n
		s.retrieval("12.2", "render", "cap-"+itoa(int(n)),
			"cut to "+itoa(int(n))+" scalars, then escaped",
			q, true, long)
	}
	q.summaryCap = 8192
	s.retrieval("12.2", "render", "cap-default", "the default cap", q, true,
		batchText{`{"node":{"key":"a","type":"T","summary":"` + rep("x", 8193) + `"}}`})
}

func adjacencyLines(s *suite) {
	star := wired("abcdefg", wire("a", "b", ""), wire("a", "c", ""), wire("a", "d", ""),
		wire("a", "e", ""),
		wire("f", "a", ""), wire("g", "a", ""), wire("a", "a", ""),
		`{"edge":{"type":"s","src":"a","dst":"b"}}`)
	hidden := append(star[:len(star):len(star)], `{"mark":{"node":"b","state":"retired"}}`,
		`{"mark":{"edge":{"type":"t","src":"f","dst":"a"},"state":"expired"}}`,
		`{"mark":{"node":"c","state":"stale"}}`)
	for _, n := range []int64{1, 2, 5, 6, 1000} {
		q := newRequest(`"a"`)
		q.expand, q.adjacency = 0, n
		s.retrieval("12.3", "render", "edges-"+itoa(int(n)),
			itoa(int(n))+" edges a direction", q, true, star)
		s.retrieval("12.3", "render", "edges-hidden-"+itoa(int(n)),
			"hidden edges and ends are left out",
			q, true, hidden)
	}
	q := newRequest(`"a"`)
	q.expand, q.adjacency, q.marks = 0, 10, []string{"retired", "expired"}
	s.retrieval("12.3", "render", "edges-marks", "states let through", q, true, hidden)
	fan := forest{Count: 1004, Fanout: 1003, State: "retired"}
	q = newRequest(`"n0"`)
	q.expand, q.adjacency = 0, 5
	a := q.retrieve(built(fan.lines()))
	s.add("12.3", "render", "edges-examined", "1,000 entries are examined at most",
		obj{"author": "erin",
			"batches": []any{obj{"time": t0, "forest": fan, "lines": []string{}}},
			"request": q.input()},
		a.expect(true))
}

func receiptCases(s *suite) {
	at := t0
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"default", "the default request", newRequest("tide")},
		{"empty", "without a text", newRequest("")},
		{"full", "every parameter", request{text: "harbour", types: []string{"Rule", "Person",
			"Rule"},
			where: []predicate{{name: "level", op: "!=", value: 2.0, hasValue: true},
				{name: "age", op: "!exists"},
				{name: "cites", op: "<", value: int64(9), hasValue: true, edges: "in"}}, createdFrom: &at, updatedFrom: &at, validAt: &at,
			marks: []string{"superseded", "expired"}, limit: 5, budget: 500, expand: 2,
			expandTypes: []string{"governs", "cites"}, direction: "out", fusion: "convex", spelling: "on",
			adjacency: 3,
			show:      []string{"times", "key"}, summaryCap: 20, unseenFrom: 3, dedup: true,
			exclude: []string{nodeIDOfKey("kelp"), nodeIDOfKey("bob"), nodeIDOfKey("kelp")},
			mmr:     new(int64(45875)), order: "time",
			expansion: "lend", maxExpand: 100, decay: 45875, damping: 55706}},
		{"decay", "best paths", newRequest("tide").with(func(q *request) {
			q.expansion, q.decay, q.maxExpand, q.damping = "decay", 32768, 7, 55706
		})},
		{"ppr", "PageRank", newRequest("tide").with(func(q *request) {
			q.expansion, q.expand, q.damping = "ppr", 20, 32768
		})},
		{"ppr-default", "the defaults of PageRank are left out", newRequest("tide").with(
			func(q *request) { q.expansion, q.expand = "ppr", 20 })},
		{"dropped", "dropped nodes and a warning", func() request {
			q := newRequest("boat")
			q.budget = 3
			return q
		}()},
		{"no-terms", "a warning without parameters", newRequest("the")},
		{"passages", "passages as a document", func() request {
			q := trimming("tide", 40)
			q.order = "document"
			return q
		}()},
		{"exact", "an exact node", newRequest("kelp")},
	} {
		st := built(harbour)
		commit := baseCommit(dict{"graph": recordCID(st.graphRecord()), "message": ""})
		rec := c.q.receipt(st, recordCID(commit), c.q.retrieve(st))
		in := obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": harbour}},
			"request": c.q.input(), "commit": hx(encode(commit))}
		s.add("13.1", "receipt", c.name, c.title, in,
			obj{"receipt": recordCID(rec).String(), "json": jsonForm(rec)})
		s.add("13.3", "receipt", "replay-"+c.name,
			"the same request at the same commit again: "+c.title,
			in, obj{"receipt": recordCID(rec).String(), "replay": "identical"})
	}
	replayDifferent(s)
	st := built(harbour)
	base := newRequest("tide").receipt(st, recordCID(baseCommit(nil)), answer{})
	s.records("receipt", base, []recordCase{
		{"13.1", "record", "a receipt without items", "", nil},
		{"13.1", "unknown-field", "an unknown field survives", "", dict{"zeta": 1}},
		{"13.1", "other-engine", "the request of another engine is kept as it is", "",
			dict{"engine": dict{"analyser": 2, "language": "de", "ranking": 7},
				"request": dict{"sorcery": true, "text": cidOf(codecRaw, nil)}}},
		{"13.1", "request-text", "a request of another engine without the link to its text", "field",
			dict{"engine": dict{"analyser": 2, "language": "de", "ranking": 7},
				"request": dict{"sorcery": true}}},
		{"13.1", "engine-field", "an unknown field of the engine", "field",
			dict{"engine": dict{"analyser": 1, "language": "en", "ranking": 1, "zeta": 1}}},
		{"13.1", "engine-missing", "no engine", "field", dict{"engine": absent{}}},
		{"13.1", "warning-field", "an unknown field of a warning", "field",
			dict{"warnings": []any{dict{"code": "no_terms", "zeta": 1}}}},
		{"13.1", "items-missing", "no items", "field", dict{"items": absent{}}},
		{"13.1", "item-short", "an item without its node", "field",
			dict{"items": []any{dict{"id": []byte(nodeIDOfKey("alice"))}}}},
	})
}

// replayDifferent are pairs of receipts and the first thing in which they differ (clause 13.3).
func replayDifferent(s *suite) {
	st := built(harbour)
	q := newRequest("tide boat")
	old := q.receipt(st, recordCID(baseCommit(nil)), q.retrieve(st))
	items := old["items"].([]any)
	item := func(n int, field string, v any) []any {
		list := append([]any{}, items...)
		list[n] = with(items[n].(dict), dict{field: v})
		return list
	}
	engine := dict{"analyser": 1, "language": "none", "ranking": 1}
	other := []any{recordCID(baseCommit(dict{"message": "other"}))}
	for _, c := range []struct {
		name, title string
		edit        dict
		item        int
		field       string
	}{
		{"commits", "another commit comes first", dict{"commits": other, "engine": engine},
			-1, "commits"},
		{"engine", "then another engine", dict{"engine": engine,
			"request": newRequest("x").record()}, -1, "engine"},
		{"request", "then another request", dict{"request": newRequest("x").record(),
			"items": item(0, "score", 1)}, -1, "request"},
		{"node", "then the items in order", dict{"items": item(1, "node", recordCID(baseNode())),
			"candidates": 99}, 1, "node"},
		{"score", "a score", dict{"items": item(2, "score", 1)}, 2, "score"},
		{"rendered", "the text", dict{"items": item(0, "rendered", make([]byte, 32))}, 0,
			"rendered"},
		{"candidates", "then the rest", dict{"candidates": 99}, -1, "candidates"},
		{"dropped", "dropped nodes", dict{"dropped": 7, "candidates": 99}, -1, "dropped"},
		{"warnings", "warnings", dict{"warnings": []any{dict{"code": "no_terms"}}}, -1, "warnings"},
	} {
		s.add("13.3", "receipt", "different-"+c.name, c.title, obj{"before": hx(encode(old)),
			"after": hx(encode(with(old, c.edit)))}, obj{"item": c.item, "field": c.field})
	}
}
