package main

import (
	"fmt"
	"sort"
)

// wharf is a memory in which what belongs together is said in other words.
var wharf = batchText{
	`{"node":{"key":"a","type":"Note","summary":"The harbour crane","content":"A crane lifts ` +
		`containers, and a crane needs an operator."}}`,
	`{"node":{"key":"b","type":"Note","summary":"Operators of a crane","context":"Containers"}}`,
	`{"node":{"key":"c","type":"Note","summary":"Containers of salt","props":{"of":"harbour"}}}`,
	`{"node":{"key":"d","type":"Place","summary":"Harbour","content":"東京港の harbour, quay and ` +
		`quays."}}`,
	`{"node":{"key":"e","type":"Place","summary":"東京 quay"}}`,
	`{"node":{"key":"f","type":"Note","summary":"Salt","content":"Salt, salt and salt."}}`,
	`{"node":{"key":"crane","type":"Note","summary":"No part of this"}}`,
	`{"node":{"key":"h","type":"Note","summary":"A hidden harbour derrick derrick derrick"}}`,
	`{"edge":{"type":"near","src":"b","dst":"f"}}`,
	`{"mark":{"node":"h","state":"retired"}}`,
}

func fed(text string, n int64) request {
	q := everything(text)
	q.feedback = n
	return q
}

func feedbackCases(s *suite) {
	for _, c := range []struct {
		name, title, text string
		n                 int64
	}{
		{"one", "the best node", "harbour", 1},
		{"two", "the best two", "harbour", 2},
		{"all", "more than there are", "harbour", 20},
		{"long", "shares of a longer text", "salt harbour", 3},
		{"times", "a word twice weighs twice", "harbour harbour salt", 2},
		{"bigrams", "bigrams, and no single characters", "quay", 2},
		{"stems", "no term that the text has in another form", "containers crane operator", 3},
		{"spelling", "what is read otherwise is asked, and weighs half", "harbuor", 2},
		{"unknown", "what no node has weighs nothing", "harbour zzzz", 2},
		{"key", "a text that names a node", "crane", 2},
		{"common", "a rare word beside a common one", "nothing crane", 4},
	} {
		s.retrieval("9.11", "score", "feedback-"+c.name, c.title, fed(c.text, c.n), false, wharf)
	}
	hidden := fed("harbour", 3)
	hidden.marks = []string{"retired"}
	s.retrieval("9.11", "score", "feedback-marks", "a hidden node that is let through", hidden, false,
		wharf)
	typed := fed("harbour", 3)
	typed.types = []string{"Place"}
	s.retrieval("9.11", "score", "feedback-types", "nodes that pass alone", typed, false, wharf)
	expanded := fed("harbour crane", 2)
	expanded.expand = 2
	s.retrieval("9.11", "expand", "feedback-lends", "what is added does not spread", expanded, false,
		wharf)
	also := fed("salt", 1)
	also.rewrites = []string{"harbour"}
	s.retrieval("9.11", "rewrite", "feedback-rewrites", "a rewrite is not widened", also, false, wharf)
	local := fed("harbour crane", 2)
	local.rerank = "local"
	s.retrieval("9.11", "rerank", "feedback-local", "reranked by the text's own words", local, false,
		wharf)
	trimmed := newRequest("harbour")
	trimmed.feedback, trimmed.packing, trimmed.passageTokens = 2, "passages", new(int64(8))
	s.retrieval("9.11", "pack", "feedback-passages", "passages are by the text's own words", trimmed,
		true, wharf)
	feedbackBounds(s)
	feedbackWarnings(s)
	feedbackReceipts(s)
}

// feedbackBounds has more terms than may be added, and than are looked at.
func feedbackBounds(s *suite) {
	lines := batchText{}
	for i := range 6 {
		words := ""
		for j := range 20 + 60*i {
			words += fmt.Sprintf("w%d ", (j*j+7*i)%(50+9*j))
		}
		lines = append(lines, fmt.Sprintf(`{"node":{"key":"n%d","type":"T","summary":"tide %s"}}`, i,
			words))
	}
	s.retrieval("9.11", "score", "feedback-32", "32 terms of 256", fed("tide", 6), false, lines)
	s.retrieval("9.11", "score", "feedback-ties", "ties by the terms", fed("tide", 1), false, lines)
	few := batchText{`{"node":{"key":"a","type":"T","summary":"tide kelp"}}`}
	for i := range 40 {
		few = append(few, fmt.Sprintf(`{"node":{"key":"k%d","type":"T","summary":"kelp"}}`, i))
	}
	s.retrieval("9.11", "score", "feedback-cap", "no term counts more than a word of the text",
		fed("tide", 1), false, few)
	deep := batchText{`{"node":{"key":"a","type":"T","summary":"tide","content":"` + rep("a ", 4093) +
		` kelp seaweed"}}`, `{"node":{"key":"b","type":"T","summary":"kelp"}}`,
		`{"node":{"key":"c","type":"T","summary":"seaweed"}}`}
	s.retrieval("9.11", "score", "feedback-start", "the first 8,192 scalars of a text",
		fed("tide", 1), false, deep)
}

func feedbackWarnings(s *suite) {
	vector := near("", 127, 63, 0)
	vector.feedback = 3
	unweighted := near("harbour", 127, 63, 0)
	unweighted.feedback, unweighted.weights = 3, map[string]int64{"text": 0}
	filtered := fed("harbour", 3)
	filtered.types = []string{"Person", "Place"}
	filtered.exclude = []string{}
	for id, node := range built(wharf).nodes {
		if text(node, "type") == "Place" {
			filtered.exclude = append(filtered.exclude, id)
		}
	}
	sort.Strings(filtered.exclude)
	for _, c := range []struct {
		name, title string
		q           request
		lines       batchText
	}{
		{"blank", "no text", fed(" ", 3), wharf},
		{"vector", "a vector alone", vector, pier},
		{"unweighted", "a text lane that does not run", unweighted, pier},
		{"nothing", "nothing found", fed("zzzz", 3), wharf},
		{"filtered", "nothing passes", filtered, wharf},
		{"same", "no other word", fed("salt", 1),
			batchText{`{"node":{"key":"a","type":"T","summary":"Salt, salt"}}`}},
	} {
		s.retrieval("11.1", "score", "no-feedback-"+c.name, c.title, c.q, false, c.lines)
	}
}

func feedbackReceipts(s *suite) {
	st := built(wharf)
	commit := baseCommit(dict{"graph": recordCID(st.graphRecord()), "message": ""})
	for _, c := range []struct{ name, title, text string }{
		{"feedback", "a request with feedback", "harbour"},
		{"feedback-warning", "feedback that added nothing", "zzzz"},
	} {
		q := newRequest(c.text)
		q.feedback = 2
		rec := q.receipt(st, recordCID(commit), q.retrieve(st))
		in := obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": wharf}},
			"request": q.input(), "commit": hx(encode(commit))}
		s.add("13.1", "receipt", c.name, c.title, in,
			obj{"receipt": recordCID(rec).String(), "json": jsonForm(rec)})
		s.add("13.3", "receipt", "replay-"+c.name, c.title+", again", in,
			obj{"receipt": recordCID(rec).String(), "replay": "identical"})
	}
	bad := func(v any) dict {
		return dict{"request": with(newRequest("tide").record(), dict{"feedback": v})}
	}
	base := newRequest("tide").receipt(built(harbour), recordCID(baseCommit(nil)), answer{})
	s.records("receipt", base, []recordCase{
		{"13.1", "feedback-0", "the default is left out", "field", bad(0)},
		{"8.1", "feedback-21", "too many", "field", bad(21)},
		{"8.1", "feedback-negative", "less than none", "field", bad(-1)},
		{"13.1", "feedback-string", "another kind", "field", bad("3")},
	})
}
