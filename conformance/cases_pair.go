package main

import "fmt"

// pairCases are those of clause 11.8.
func pairCases(s *suite) {
	node := func(key, word string) string {
		return fmt.Sprintf(`{"node":{"key":%q,"type":"T","summary":"boat %s"}}`, key, word)
	}
	against := func(key, by string) string {
		return fmt.Sprintf(`{"mark":{"node":%q,"state":"contradicted","by":%q}}`, key, by)
	}
	base := batchText{node("a", "tide"), node("b", "harbour"), node("c", "crane"), node("d", "kelp"),
		node("e", "quay"), against("a", "b"), against("b", "a"), against("c", "a")}
	for _, c := range []struct {
		name, title, text string
		limit, budget     int64
		exclude           string
		more              batchText
	}{
		{"pair", "what contradicts an item follows it", "tide", 10, 2000, "", nil},
		{"found", "a node that was found itself follows out of turn", "boat tide", 10, 2000, "", nil},
		{"chain", "and what contradicts that follows too", "crane", 10, 2000, "", nil},
		{"limit", "within the limit", "crane", 2, 2000, "", nil},
		{"budget", "within the budget", "crane", 10, 60, "", nil},
		{"excluded", "what is excluded does not follow", "crane", 10, 2000, "a", nil},
		{"hidden", "nor what is hidden", "tide", 10, 2000, "", batchText{
			`{"mark":{"node":"b","state":"retired"}}`}},
		{"missing", "nor what is not there", "tide", 10, 2000, "", batchText{
			`{"remove":{"node":"b"}}`}},
		{"itself", "nor the item itself", "tide", 10, 2000, "", batchText{against("a", "a")}},
		{"no-by", "a mark that names nobody", "tide", 10, 2000, "", batchText{
			`{"mark":{"node":"a","state":"contradicted"}}`}},
		{"superseded", "only contradicted items are followed", "tide", 10, 2000, "", batchText{
			`{"mark":{"node":"a","state":"stale"}}`}},
		{"blank", "the newest nodes", "", 10, 2000, "", nil},
	} {
		q := newRequest(c.text)
		q.expand, q.limit, q.budget = 0, c.limit, c.budget
		if c.exclude != "" {
			q.exclude = []string{nodeIDOfKey(c.exclude)}
		}
		s.retrieval("11.8", "pack", "pair-"+c.name, c.title, q, true, base, c.more)
	}
	alone := newRequest("tide").with(func(q *request) { q.expand, q.pairs = 0, "off" })
	s.retrieval("11.8", "pack", "pair-off", "nothing follows where pairs is off", alone, true, base)
	pairReceipts(s, base, alone)
}

// pairReceipts are receipts of answers in which something might follow.
func pairReceipts(s *suite, base batchText, alone request) {
	st := built(base)
	commit := baseCommit(dict{"graph": recordCID(st.graphRecord()), "message": ""})
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"pair", "what contradicts an item followed it",
			newRequest("tide").with(func(q *request) { q.expand = 0 })},
		{"pair-none", "nothing followed: the request says no more than it did before there were pairs",
			newRequest("kelp").with(func(q *request) { q.expand = 0 })},
		{"pair-off", "nothing was to follow", alone},
	} {
		rec := c.q.receipt(st, recordCID(commit), c.q.retrieve(st))
		in := obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": base}},
			"request": c.q.input(), "commit": hx(encode(commit))}
		s.add("13.1", "receipt", c.name, c.title, in,
			obj{"receipt": recordCID(rec).String(), "json": jsonForm(rec)})
		s.add("13.3", "receipt", "replay-"+c.name, c.title+", again", in,
			obj{"receipt": recordCID(rec).String(), "replay": "identical"})
	}
	said := func(v any) dict {
		return dict{"request": with(newRequest("tide").record(), dict{"pairs": v})}
	}
	s.records("receipt", newRequest("tide").receipt(st, recordCID(commit), answer{}), []recordCase{
		{"13.1", "pairs-on", "something followed", "", said("on")},
		{"13.1", "pairs-off", "absent says so", "field", said("off")},
		{"8.1", "pairs-unknown", "neither on nor off", "field", said("maybe")},
	})
}
