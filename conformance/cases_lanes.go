package main

import (
	"fmt"
	"strings"
)

// sparsely is the line of a sparse embedding.
func sparsely(key, model, weights string) string {
	return `{"embedding":{"node":"` + key + `","model":"` + model + `","sparse":{` + weights + `}}}`
}

// pontoon is the small collection with sparse vectors.
var pontoon = append(pier[:len(pier):len(pier)],
	sparsely("alice", "s", `"tide":1.5,"lead":0.25`), sparsely("bob", "s", `"boat":2,"dock":0.5`),
	sparsely("dock/north", "s", `"dock":3,"boat":0.00002`), sparsely("rule/1", "s", `"tide":0.7,"boat":0.7`),
	sparsely("rule/3", "s", `"tide":9`), sparsely("incident/7", "s", `"boat":9`),
	sparsely("kelp", "s", `"Tide":3,"büro":1`), sparsely("carol", "s", `"tide":0.00002`),
	sparsely("rule/2", "big", `"a":32767.99998,"b":32767.99998,"c":32767.99998,"d":32767.99998,`+
		`"e":32767.99998`),
	sparsely("rule/1", "big", `"a":32767.99998,"b":32767.99998,"c":32767.99998,"d":32767.99998`),
	sparsely("bob", "big", `"a":32767.99998`))

func sparseRequest(text, model string, weights map[string]int64) request {
	q := everything(text)
	q.sparse = map[string]map[string]int64{model: weights}
	return q
}

func sparseCases(s *suite) {
	const most = 1<<31 - 1
	tide := map[string]int64{"tide": 65536, "boat": 30000}
	edited := func(q request, edit func(q *request)) request {
		edit(&q)
		return q
	}
	huge := map[string]int64{"a": most, "b": most, "c": most, "d": most, "e": most}
	for _, c := range []struct {
		clause, name, title string
		q                   request
	}{
		{"9.7", "alone", "a sparse vector alone: no recency lane", sparseRequest("", "s", tide)},
		{"9.7", "blank", "nor with a blank text", sparseRequest(" \n", "s", tide)},
		{"9.7", "least", "a product below 1 counts as 1",
			sparseRequest("", "s", map[string]int64{"tide": 1, "boat": 1})},
		{"9.7", "bytes", "terms are neither folded nor analysed",
			sparseRequest("", "s", map[string]int64{"Tide": 65536, "bu\u0308ro": 65536, "tides": 9})},
		{"9.7", "saturated", "sums that do not fit", sparseRequest("", "big", huge)},
		{"9.7", "nothing", "no term in common", sparseRequest("", "s", map[string]int64{"x": 1})},
		{"9.7", "types", "filters", edited(sparseRequest("", "s", tide), func(q *request) {
			q.types = []string{"Rule"}
		})},
		{"9.7", "marks", "marks let through", edited(sparseRequest("", "s", tide), func(q *request) {
			q.marks = []string{"superseded", "forgotten"}
		})},
		{"11.1", "sparse-nothing-passes", "all that the lane finds is filtered out",
			edited(sparseRequest("", "s", tide), func(q *request) { q.types = []string{"Product"} })},
		{"11.1", "sparse-no-effect", "one lane alone is weighed", edited(sparseRequest("", "s", tide),
			func(q *request) { q.weights = map[string]int64{"sparse:s": 5} })},
		{"9.7", "same-model", "a dense and a sparse vector of one model",
			edited(sparseRequest("", "m", tide), func(q *request) {
				q.vectors = map[string][]int8{"m": {127, 63, 0}}
			})},
		{"11.1", "no-sparse", "a model of which there is no vector",
			sparseRequest("", "unknown", tide)},
		{"11.1", "no-sparse-dense", "a model of which there are dense ones only",
			sparseRequest("tide", "m", tide)},
		{"11.1", "no-sparse-weight-0", "a lane that does not run warns of nothing",
			edited(sparseRequest("tide", "m", tide), func(q *request) {
				q.weights = map[string]int64{"sparse:m": 0}
			})},
		{"9.6", "sparse-fused", "text and sparse vector", sparseRequest("tide boat", "s", tide)},
		{"9.6", "sparse-three", "text, a dense and a sparse vector, which share their weight",
			edited(sparseRequest("tide boat", "s", tide), func(q *request) {
				q.vectors = map[string][]int8{"m": {127, 63, 0}}
			})},
		{"9.6", "sparse-weights", "weights", edited(sparseRequest("tide boat", "s", tide),
			func(q *request) { q.weights = map[string]int64{"sparse:s": 1 << 17, "text": 40000} })},
		{"9.6", "sparse-rrf", "ranks", edited(sparseRequest("tide boat", "s", tide),
			func(q *request) { q.fusion = "rrf" })},
		{"10", "sparse-expanded", "expansion from text and a sparse vector",
			edited(sparseRequest("tide boat", "s", tide), func(q *request) { q.expand = 2 })},
		{"10", "sparse-expanded-alone", "expansion from a sparse vector alone",
			edited(sparseRequest("", "s", map[string]int64{"lead": 9}), func(q *request) { q.expand = 2 })},
	} {
		s.retrieval(c.clause, "lane", c.name, c.title, c.q, false, pontoon)
	}
	s.retrieval("11.1", "lane", "sparse-stale", "a text that was changed after it was embedded",
		sparseRequest("", "s", tide), false, pontoon,
		batchText{`{"node":{"key":"alice","summary":"Alice left."}}`})
	many := batchText{}
	for i := range 1010 {
		k := fmt.Sprintf("n%d", i)
		many = append(many, `{"node":{"key":"`+k+`","type":"T"}}`,
			sparsely(k, "s", fmt.Sprintf(`"t":%d`, 1+i%7)))
	}
	q := sparseRequest("", "s", map[string]int64{"t": 65536})
	q.limit = 5
	s.retrieval("9.7", "lane", "sparse-depth", "the list has the best 1,000; ties by id", q, false, many)
	sparseReceipts(s, tide)
}

func sparseReceipts(s *suite, tide map[string]int64) {
	st := built(pontoon)
	commit := baseCommit(dict{"graph": recordCID(st.graphRecord()), "message": "",
		"vectors": linkTree(st.vectors).root})
	q := sparseRequest("about Alice and the tide", "s", tide)
	q.sparse["zz"] = map[string]int64{"b": 1, "aa": 1<<31 - 1}
	q.weights = map[string]int64{"entity": 30000, "sparse:zz": 0}
	rec := q.receipt(st, recordCID(commit), q.retrieve(st))
	in := obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": pontoon}},
		"request": q.input(), "commit": hx(encode(commit))}
	s.add("13.1", "receipt", "sparse", "a request with sparse vectors and entities", in,
		obj{"receipt": recordCID(rec).String(), "json": jsonForm(rec)})
	s.add("13.3", "receipt", "replay-sparse", "the same request at the same commit again", in,
		obj{"receipt": recordCID(rec).String(), "replay": "identical"})
	bad := func(v any) dict {
		return dict{"request": with(newRequest("tide").record(), dict{"sparse": v})}
	}
	terms := func(n, length int) dict {
		out := dict{}
		for i := range n {
			out[fmt.Sprintf("%0*d", length, i)] = 1
		}
		return out
	}
	nine, full, over := dict{}, dict{}, dict{}
	for i := range 9 {
		nine[fmt.Sprint("m", i)] = dict{"a": 1}
	}
	for i := range 8 {
		full[fmt.Sprint("m", i)], over[fmt.Sprint("m", i)] = terms(1024, 8), terms(1024, 8)
	}
	over["m7"] = with(terms(1023, 8), dict{"000000000": 1})
	base := newRequest("tide").receipt(built(harbour), recordCID(baseCommit(nil)), answer{})
	s.records("receipt", base, []recordCase{
		{"8.1", "sparse-weight-0", "a weight of 0", "field", bad(dict{"m": dict{"a": 0}})},
		{"8.1", "sparse-weight-most", "the largest weight", "", bad(dict{"m": dict{"a": 1<<31 - 1}})},
		{"8.1", "sparse-weight-more", "a larger one", "field", bad(dict{"m": dict{"a": 1 << 31}})},
		{"8.1", "sparse-none", "a vector without terms", "field", bad(dict{"m": dict{}})},
		{"8.1", "sparse-1025", "a term more than there may be", "field", bad(dict{"m": terms(1025, 4)})},
		{"8.1", "sparse-65536", "the most terms and bytes", "", bad(full)},
		{"8.1", "sparse-65537", "a byte more", "field", bad(over)},
		{"8.1", "sparse-nine", "nine models", "field", bad(nine)},
		{"8.1", "sparse-empty-term", "an empty term", "field", bad(dict{"m": dict{"": 1}})},
		{"8.1", "sparse-long-term", "a term of 256 bytes", "field",
			bad(dict{"m": dict{rep("x", 256): 1}})},
		{"8.1", "sparse-unnamed", "no name of a model", "field", bad(dict{"": dict{"a": 1}})},
		{"13.1", "sparse-empty", "an empty map", "field", bad(dict{})},
		{"13.1", "sparse-float", "a weight that is no integer", "field",
			bad(dict{"m": dict{"a": 1.5}})},
		{"13.1", "sparse-list", "terms in a list", "field", bad(dict{"m": []any{"a"}})},
	})
	weighed := func(v dict) dict {
		return dict{"request": with(newRequest("tide").record(), dict{"weights": v})}
	}
	s.records("receipt", base, []recordCase{
		{"8.1", "weights-new", "weights of the sparse and the entity lane", "",
			weighed(dict{"entity": 1, "sparse:m": 2})},
		{"8.1", "weights-sparse", "a sparse lane of no model", "field", weighed(dict{"sparse:": 1})},
	})
}

// crew is a collection of names.
var sailors = batchText{
	`{"node":{"key":"a","type":"Note","summary":"Ann Lee sails the Boeing 747."}}`,
	`{"node":{"key":"b","type":"Note","summary":"Lee Ann sails.","props":{"ticket":"INC-4711"}}}`,
	`{"node":{"key":"c","type":"Note","summary":"the ann lee of inc_4711","context":"get_user"}}`,
	`{"node":{"key":"d","type":"Note","summary":"ANN LEE's boat","content":"It calls getUser in ` +
		`src/main.go, on May 3, 2023."}}`,
	`{"node":{"key":"e","type":"Ann Lee","summary":"x","props":{"list":["by C. S. Lewis","Ann"],"n":747}}}`,
	`{"node":{"key":"f","type":"Note","summary":"Annie Lee; 3 May 2023; 東京港 and Öl"}}`,
	`{"node":{"key":"g","type":"Note","summary":"May he go? the boat's sail, user get"}}`,
	`{"node":{"key":"h","type":"Note","summary":"Ann","context":"Lee","content":"To be or not to be Ann’s."}}`,
	`{"mark":{"node":"d","state":"superseded"}}`,
	`{"edge":{"type":"t","src":"a","dst":"g"}}`,
}

func ofEntities(text string) request {
	q := everything(text)
	q.weights = map[string]int64{"entity": one, "text": 0}
	return q
}

func entityCases(s *suite) {
	for i, text := range []string{
		"who is Ann Lee", "Ann Lee", "Who is it", "Boats of ann lee", "When did Ann Lee's boat go?",
		"about INC-4711", "about inc_4711 and get_user", "`ann lee` sailed", "\"the boat\" in May",
		"a May 3 or 2023", "does getUser call src/main.go", "by C. S. Lewis", "with a Boeing 747",
		"\"東京\"", "\"京港\" and Öl", "\"to be or not to be\" \"the\"", "It went. Ann went. So Lee went",
		"Ann, Lee and Annie", "Would Ann go\nLee", "the 747", "and/or he/she", "“lee ann” “Ann Lee”",
		"of A. Ann of St. Lee", "see Ann (Lee)", "see Ann-Lee", "x Ann  Lee", "x Ann\tLee", "see AnnLee",
		"see Ann\u00ad Lee", "see \xc3\x84nn", "see ann's Ann's 's", "a.b..c...d....e",
	} {
		s.retrieval("9.8", "lane", fmt.Sprintf("entity-%02d", i), "entities of: "+
			strings.ReplaceAll(text, "\n", " "), ofEntities(text), false, sailors)
	}
	plain := everything("who is Ann Lee")
	s.retrieval("9.8", "lane", "entity-off", "the lane does not run unasked", plain, false, sailors)
	edited := func(edit func(q *request)) request {
		q := ofEntities("who is Ann Lee of INC-4711")
		edit(&q)
		return q
	}
	for _, c := range []struct {
		clause, name, title string
		q                   request
	}{
		{"11.1", "nothing-passes", "all that the lane may find is filtered out",
			edited(func(q *request) { q.types = []string{"Person"} })},
		{"11.1", "nothing-passes-phrase", "what is left has the terms and not the phrase",
			edited(func(q *request) {
				q.text, q.where = "see getUser", []predicate{{name: "n", op: "exists"}}
			})},
		{"11.1", "no-effect", "a weight that finds nothing", edited(func(q *request) {
			q.text, q.weights = "who sails", map[string]int64{"entity": one}
		})},
		{"9.8", "marks", "a mark let through", edited(func(q *request) {
			q.marks = []string{"superseded"}
		})},
		{"9.8", "exclude", "a node excluded", edited(func(q *request) { q.types = []string{"Ann Lee"} })},
		{"9.6", "fused", "beside the text", edited(func(q *request) { delete(q.weights, "text") })},
		{"9.6", "ranks", "ranks", edited(func(q *request) {
			q.fusion, q.weights["text"] = "weighted-rrf", 5000
		})},
		{"9.6", "rrf", "not in rrf", edited(func(q *request) { q.fusion, q.weights = "rrf", nil })},
		{"10", "expanded", "expansion from entities alone", edited(func(q *request) { q.expand = 2 })},
		{"10", "expanded-both", "expansion from text and entities", edited(func(q *request) {
			q.expand = 2
			delete(q.weights, "text")
		})},
	} {
		s.retrieval(c.clause, "lane", "entity-"+c.name, c.title, c.q, false, sailors)
	}
	entitySizes(s)
	for i := range 12 {
		r := rng(uint64(i)*40503 + 3)
		memory := randomMemory(&r, 12+i*2)
		q := randomRequest(&r)
		q.text += " \"" + sentence(&r, 2) + "\" of TideTable 2026"
		q.weights = map[string]int64{"entity": int64(1 + r.below(1<<17))}
		s.retrieval("9.8", "lane", fmt.Sprintf("entity-random-%02d", i),
			"entities in a random request of a random memory", q, false, memory...)
	}
}

func entitySizes(s *suite) {
	many := batchText{}
	for i := range 1025 {
		rest := ""
		if i < 3 {
			rest = " 77"
		}
		many = append(many, fmt.Sprintf(`{"node":{"key":"n%d","type":"T","summary":"Common%s"}}`, i, rest))
	}
	few := func(text string) request {
		q := ofEntities(text)
		q.limit = 4
		return q
	}
	s.retrieval("9.8", "lane", "entity-common", "an entity too many: the rarer one counts",
		few("by Common \"common\" 77 and T \"t\""), false, many)
	s.retrieval("9.8", "lane", "entity-common-two", "two entities of 2,050 nodes: one counts",
		few("by Common of \"t\""), false, many)
	long := rep("é ", 10_921) // 32,763 bytes
	s.retrieval("9.8", "lane", "entity-content", "the part of a content in which entities count",
		ofEntities("by Ann and of Lee"), false, batchText{
			`{"node":{"key":"a","type":"T","content":"` + long + `Ann Lee"}}`,
			`{"node":{"key":"b","type":"T","content":"` + long + `Lee Ann"}}`,
			`{"node":{"key":"c","type":"T","content":"` + long + `xxéLee Ann"}}`,
		})
	numbers := "x"
	for i := range 40 {
		numbers += fmt.Sprintf(" %d", 100+i)
	}
	s.retrieval("9.8", "lane", "entity-32", "the first 32 count", ofEntities(numbers), false, batchText{
		plainNode("a"), `{"node":{"key":"b","type":"T","summary":"131 132"}}`,
		`{"node":{"key":"c","type":"T","summary":"132"}}`})
	name := "x" + rep(" Ann", 16)
	for i, n := range []string{name, name + " Ann"} {
		s.retrieval("9.8", "lane", fmt.Sprintf("entity-words-%d", 16+i), "a name of so many words",
			ofEntities(n), false, batchText{`{"node":{"key":"b","type":"T","summary":"` + n + `"}}`})
	}
}
