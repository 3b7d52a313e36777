package main

// bandReceipts are receipts with what ranking 2 has more: `floor`, `format` and its engine.
func bandReceipts(s *suite) {
	st := built(harbour)
	commit := baseCommit(dict{"graph": recordCID(st.graphRecord()), "message": ""})
	for _, c := range []struct {
		name, title string
		edit        func(q *request)
	}{
		{"ranking-2", "ranking 2 at its defaults", func(q *request) { q.ranking = 2 }},
		{"floor", "every band, of ranking 2", func(q *request) { q.ranking, q.floor = 2, "rest" }},
		{"floor-answer", "answers alone", func(q *request) { q.ranking, q.floor = 2, "answer" }},
		{"format", "the brief form", func(q *request) { q.ranking, q.format = 2, "brief" }},
		{"floor-1", "a floor is kept in ranking 1, where it does nothing",
			func(q *request) { q.floor = "answer" }},
	} {
		q := newRequest("low tide of the harbour").with(c.edit)
		rec := q.receipt(st, recordCID(commit), q.retrieve(st))
		in := obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": harbour}},
			"request": q.input(), "commit": hx(encode(commit))}
		s.add("13.1", "receipt", c.name, c.title, in,
			obj{"receipt": recordCID(rec).String(), "json": jsonForm(rec)})
		s.add("13.3", "receipt", "replay-"+c.name, c.title+", again", in,
			obj{"receipt": recordCID(rec).String(), "replay": "identical"})
	}
	asked := func(param string, v any) dict {
		return dict{"request": with(newRequest("tide").record(), dict{param: v})}
	}
	second := dict{"engine": dict{"analyser": 1, "language": "en", "ranking": 2}}
	base := newRequest("tide").receipt(st, recordCID(baseCommit(nil)), answer{})
	s.records("receipt", base, []recordCase{
		{"13.1", "floor-record", "a floor", "", both(second, asked("floor", "rest"))},
		{"13.1", "floor-default", "the default is left out", "field", both(second, asked("floor", "maybe"))},
		{"8.1", "floor-unknown", "no band", "field", both(second, asked("floor", "most"))},
		{"8.1", "floor-unknown-1", "nor in ranking 1", "field", asked("floor", "most")},
		{"13.1", "floor-empty", "an empty one", "field", both(second, asked("floor", ""))},
		{"13.1", "floor-number", "another kind", "field", both(second, asked("floor", int64(1)))},
		{"13.1", "format-default", "the default form is left out", "field",
			both(second, asked("format", "yaml"))},
		{"8.1", "format-unknown", "no form", "field", both(second, asked("format", "json"))},
		{"13.1", "format-bool", "another kind", "field", both(second, asked("format", true))},
	})
	node := dict{"kind": "profile", "v": 1, "default": "p",
		"profiles": dict{"p": dict{"params": dict{"floor": "rest", "format": "brief"}}}}
	s.choice("23.2", "floor-format", "floor and format of a profile", node, dict{"text": "tide"})
	s.choice("23.2", "floor-given", "a given floor, at its default", node,
		dict{"text": "tide", "floor": "maybe"})
	s.records("profile", node, []recordCase{
		{"23.1", "floor", "a floor and a format", "", nil},
		{"23.1", "floor-default", "a floor at its default", "field", dict{"profiles": dict{
			"p": dict{"params": dict{"floor": "maybe"}}}}},
		{"23.1", "format-default", "a format at its default", "field", dict{"profiles": dict{
			"p": dict{"params": dict{"format": "yaml"}}}}},
		{"23.1", "ranking", "a ranking is no parameter that is read", "", dict{"profiles": dict{
			"p": dict{"params": dict{"ranking": int64(1)}}}}},
	})
}
