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
}
