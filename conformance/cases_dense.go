package main

import (
	"fmt"
	"strings"
)

// embedded is the line of an embedding.
func embedded(key, model, numbers string) string {
	return `{"embedding":{"node":"` + key + `","model":"` + model + `","vector":[` + numbers + `]}}`
}

// pier is the small collection with vectors: near and far nodes of the harbour by two models.
var pier = append(harbour[:len(harbour):len(harbour)],
	embedded("alice", "m", "1,0.5,0"), embedded("bob", "m", "0.2,1,0.1"),
	embedded("carol", "m", "-1,0.3,0.2"), embedded("dock/north", "m", "0.9,0.9,0.1"),
	embedded("rule/1", "m", "0.5,0.2,1"), embedded("rule/2", "m", "0,0,1"),
	embedded("rule/3", "m", "1,0.5,0.1"), embedded("incident/7", "m", "1,1,1"),
	embedded("kelp", "m", "1,1"), embedded("tide-table", "m", "1,1,1,1"),
	embedded("bob", "other/large", "3,4"), embedded("kelp", "other/large", "-4,3"),
	embedded("rule/2", "other/large", "4,3.5"),
	`{"embedding":{"node":"kelp","model":"words","sparse":{"booking":1.5}}}`)

// near is a request for all that is like a vector by the model m.
func near(text string, v ...int8) request {
	q := everything(text)
	q.vectors = map[string][]int8{"m": v}
	return q
}

func denseCases(s *suite) {
	edited := func(q request, edit func(q *request)) request {
		edit(&q)
		return q
	}
	two := func(text string) request {
		return edited(near(text, 10, 5, 1), func(q *request) {
			q.vectors["other/large"] = []int8{127, 3}
		})
	}
	for _, c := range []struct {
		clause, name, title string
		q                   request
	}{
		{"9.5", "alone", "a vector alone: no recency lane", near("", 127, 63, 0)},
		{"9.5", "blank", "nor with a blank text", near(" \t", 127, 63, 0)},
		{"9.5", "negative", "what is at a right angle or beyond is not in the list",
			near("", -100, 30, 0)},
		{"9.5", "one-dimension", "all but one dimension 0", near("", 0, 0, 1)},
		{"9.5", "types", "filters", edited(near("", 127, 63, 0), func(q *request) {
			q.types = []string{"Rule"}
		})},
		{"9.5", "marks", "a mark let through", edited(near("", 127, 63, 0), func(q *request) {
			q.marks = []string{"superseded", "forgotten"}
		})},
		{"11.1", "dimensions", "two dimensions: most vectors have three", near("", 1, 2)},
		{"11.1", "dimensions-none", "no vector of these dimensions", near("", 1, 2, 3, 4, 5)},
		{"11.1", "no-vectors", "a model of which there is no vector", edited(near("", 1),
			func(q *request) { q.vectors = map[string][]int8{"unknown": {1, 2, 3}} })},
		{"11.1", "no-vectors-sparse", "a model of which there are sparse ones only",
			edited(near("tide", 1), func(q *request) {
				q.vectors = map[string][]int8{"words": {1, 2, 3}}
			})},
		{"11.1", "warnings-two", "warnings of two models, each code apart", edited(near("", 1),
			func(q *request) {
				q.vectors = map[string][]int8{"m": {1}, "other/large": {1}, "y": {1}, "x": {1}}
			})},
		{"9.6", "fused", "text and vector", near("tide boat", 127, 63, 0)},
		{"9.6", "fused-two", "text and two vectors, which share their weight", two("tide boat")},
		{"9.6", "vectors-two", "two vectors without a text", two("")},
		{"9.6", "fused-empty", "an empty list of the text leaves the vector's scores as they are",
			near("zeppelin", 127, 63, 0)},
		{"9.6", "fused-exact", "an exact node outside of all lists", near("`kelp` the", 127, 63, 0)},
		{"10", "expanded", "expansion from text and vector", edited(near("tide boat", 127, 63, 0),
			func(q *request) { q.expand = 1 })},
		{"10", "expanded-alone", "expansion from a vector alone", edited(near("", 0, 0, 127),
			func(q *request) { q.expand = 2 })},
		{"10", "expanded-two", "expansion from two vectors and an exact node", edited(two("kelp"),
			func(q *request) { q.expand = 1 })},
	} {
		s.retrieval(c.clause, "dense", c.name, c.title, c.q, false, pier)
	}
	s.retrieval("11.1", "dense", "no-vectors-at-all", "no vectors of any model", near("tide", 1, 2),
		false, harbour)
	s.retrieval("11.1", "dense", "stale", "a text that was changed after it was embedded",
		near("", 127, 63, 0), false, pier, batchText{`{"node":{"key":"alice","summary":"Alice left."}}`,
			`{"node":{"key":"bob","props":{"age":30}}}`, `{"node":{"key":"carol","context":"Gone."}}`})
	denseSizes(s)
	denseReceipts(s)
	fusionCases(s)
}

func fusionCases(s *suite) {
	for _, fusion := range []string{"convex", "rrf", "weighted-rrf", "score-norm"} {
		for _, c := range []struct {
			name, title, text string
			expand            int64
			vectors           map[string][]int8
			weights           map[string]int64
		}{
			{"two", "two lanes", "tide boat", 0, map[string][]int8{"m": {127, 63, 0}}, nil},
			{"three", "three lanes", "tide boat", 0,
				map[string][]int8{"m": {10, 5, 1}, "other/large": {127, 3}}, nil},
			{"exact", "an exact node", "dock/north", 1, map[string][]int8{"m": {1, 0, 0}}, nil},
			{"expanded", "expansion", "tide boat", 2, map[string][]int8{"m": {127, 63, 0}}, nil},
			{"text", "the text alone", "tide boat", 0, nil, nil},
			{"text-expanded", "the text alone, with expansion", "tide boat", 1, nil, nil},
			{"one-hit", "lists of one node", "accountant", 1, map[string][]int8{"other/large": {-4, 3}},
				nil},
			{"blank", "a blank request", "", 1, nil, nil},
			{"weights", "weights", "tide boat", 1, map[string][]int8{"m": {127, 63, 0}},
				map[string]int64{"text": 30000, "dense:m": 1 << 20}},
			{"weight-one", "a weight for one of three lanes", "tide boat", 0,
				map[string][]int8{"m": {10, 5, 1}, "other/large": {127, 3}},
				map[string]int64{"dense:m": 1}},
			{"weight-0", "a lane of weight 0 neither finds nor warns", "the zeppelin", 0,
				map[string][]int8{"m": {10, 5, 1}, "none": {1}},
				map[string]int64{"text": 0, "dense:none": 0}},
			{"weight-0-terms", "nor does that of a text without terms", "the", 0,
				map[string][]int8{"m": {10, 5, 1}}, map[string]int64{"text": 0}},
		} {
			q := everything(c.text)
			q.expand, q.vectors, q.fusion, q.weights = c.expand, c.vectors, fusion, c.weights
			if fusion == "rrf" && c.weights != nil {
				continue
			}
			s.retrieval("9.6", "dense", fusion+"-"+c.name, fusion+": "+c.title, q, false, pier)
		}
	}
	bad := func(edit dict) dict {
		return dict{"request": with(newRequest("tide").record(), edit)}
	}
	base := newRequest("tide").receipt(built(harbour), recordCID(baseCommit(nil)), answer{})
	s.records("receipt", base, []recordCase{
		{"8.1", "fusion-other", "no such fusion", "field", bad(dict{"fusion": "max"})},
		{"13.1", "fusion-convex", "convex is left out", "field", bad(dict{"fusion": "convex"})},
		{"8.1", "weights-most", "the largest weight and the least", "",
			bad(dict{"weights": dict{"text": 1 << 20, "dense:m": 0}})},
		{"8.1", "weights-more", "a larger one", "field", bad(dict{"weights": dict{"text": 1<<20 + 1}})},
		{"8.1", "weights-negative", "a negative one", "field", bad(dict{"weights": dict{"text": -1}})},
		{"8.1", "weights-lane", "no such lane", "field", bad(dict{"weights": dict{"recency": 1}})},
		{"8.1", "weights-dense", "a dense lane of no model", "field",
			bad(dict{"weights": dict{"dense:": 1}})},
		{"8.1", "weights-rrf", "weights where lanes count alike", "field",
			bad(dict{"weights": dict{"text": 1}, "fusion": "rrf"})},
		{"13.1", "weights-float", "a weight that is no integer", "field",
			bad(dict{"weights": dict{"text": 1.5}})},
	})
}

// denseReceipts keep the quantised vectors, so that a replay needs nothing else.
func denseReceipts(s *suite) {
	st := built(pier)
	commit := baseCommit(dict{"graph": recordCID(st.graphRecord()), "message": "",
		"vectors": linkTree(st.vectors).root})
	q := near("tide boat", 127, -63, 0)
	q.vectors["zz"] = []int8{1}
	q.fusion, q.weights = "weighted-rrf", map[string]int64{"text": 70000, "dense:zz": 0}
	rec := q.receipt(st, recordCID(commit), q.retrieve(st))
	in := obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": pier}},
		"request": q.input(), "commit": hx(encode(commit))}
	s.add("13.1", "receipt", "vectors", "a request with vectors", in,
		obj{"receipt": recordCID(rec).String(), "json": jsonForm(rec)})
	s.add("13.3", "receipt", "replay-vectors", "the same request at the same commit again", in,
		obj{"receipt": recordCID(rec).String(), "replay": "identical"})
	bad := func(v any) dict {
		return dict{"request": with(newRequest("tide").record(), dict{"vectors": v})}
	}
	nine := dict{}
	for i := range 9 {
		nine[fmt.Sprint("m", i)] = []byte{1}
	}
	base := newRequest("tide").receipt(built(harbour), recordCID(baseCommit(nil)), answer{})
	s.records("receipt", base, []recordCase{
		{"8.1", "vectors-128", "a vector with -128", "field", bad(dict{"m": []byte{0x80, 1}})},
		{"8.1", "vectors-zeros", "a vector of zeros", "field", bad(dict{"m": []byte{0, 0}})},
		{"8.1", "vectors-none", "a vector without dimensions", "field", bad(dict{"m": []byte{}})},
		{"8.1", "vectors-65536", "the most dimensions", "",
			bad(dict{"m": []byte(rep("\x01", 65536))})},
		{"8.1", "vectors-65537", "a dimension more", "field",
			bad(dict{"m": []byte(rep("\x01", 65537))})},
		{"8.1", "vectors-nine", "nine models", "field", bad(nine)},
		{"8.1", "vectors-nul", "NUL in the name of a model", "field",
			bad(dict{"a\x00": []byte{1}})},
		{"8.1", "vectors-unnamed", "no name of a model", "field", bad(dict{"": []byte{1}})},
		{"13.1", "vectors-empty", "an empty map", "field", bad(dict{})},
		{"13.1", "vectors-text", "a vector that is text", "field", bad(dict{"m": "ab"})},
		{"13.1", "vectors-list", "vectors in a list", "field", bad([]any{[]byte{1}})},
	})
}

func denseSizes(s *suite) {
	wide, wideness := []int8{}, []string{}
	for i := range 1536 {
		x := i*37%255 - 127
		wide = append(wide, int8(x))
		wideness = append(wideness, fmt.Sprint(x*(i%3)))
	}
	s.retrieval("9.5", "dense", "wide", "many dimensions", near("", wide...), false, batchText{
		plainNode("a"), embedded("a", "m", strings.Join(wideness, ","))})
	many := batchText{}
	for i := range 1010 {
		k := fmt.Sprintf("n%d", i)
		many = append(many, `{"node":{"key":"`+k+`","type":"T"}}`, embedded(k, "m",
			fmt.Sprintf("127,%d", i%7)))
	}
	q := near("", 127, 1)
	q.limit = 5
	s.retrieval("9.5", "dense", "depth", "the list has the best 1,000; ties by id", q, false, many)
	names := batchText{plainNode("a")}
	for i := range 20 {
		names = append(names, embedded("a", fmt.Sprintf("model-%02d", 19-i), "1,2"))
	}
	s.retrieval("11.1", "dense", "no-vectors-many", "the first 16 models there are",
		near("", 1, 2), false, names)
}
