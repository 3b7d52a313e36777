package main

func filterCases(s *suite) {
	p := func(name, op string, v any) predicate {
		return predicate{name: name, op: op, value: v, hasValue: true}
	}
	nodes := batchText{
		`{"node":{"key":"i1","type":"T","props":{"n":1,"s":"b"}}}`,
		`{"node":{"key":"f1","type":"T","props":{"n":1.0,"s":"bc"}}}`,
		`{"node":{"key":"f15","type":"T","props":{"n":1.5,"s":"B"}}}`,
		`{"node":{"key":"m0","type":"T","props":{"n":-0.0,"s":""}}}`,
		`{"node":{"key":"big","type":"T","props":{"n":9007199254740993,"s":"é"}}}`,
		`{"node":{"key":"bigf","type":"T","props":{"n":9007199254740992.0,"s":"e\u0301"}}}`,
		`{"node":{"key":"max","type":"T","props":{"n":9223372036854775807}}}`,
		`{"node":{"key":"maxf","type":"T","props":{"n":9223372036854775808.0}}}`,
		`{"node":{"key":"text","type":"T","props":{"n":"1"}}}`,
		`{"node":{"key":"bool","type":"T","props":{"n":true}}}`,
		`{"node":{"key":"null","type":"T","props":{"n":null}}}`,
		`{"node":{"key":"list","type":"T","props":{"n":[1]}}}`,
		`{"node":{"key":"map","type":"T","props":{"n":{"b":1,"a":2}}}}`,
		`{"node":{"key":"bytes","type":"T","props":{"n":{"/":{"bytes":"AQ"}}}}}`,
		`{"node":{"key":"none","type":"U"}}`,
	}
	for _, c := range []struct {
		name, title string
		pred        predicate
	}{
		{"eq-int", "1 equals 1.0", p("n", "=", int64(1))},
		{"eq-float", "1.0 equals 1", p("n", "=", 1.0)},
		{"eq-zero", "0 equals -0.0", p("n", "=", int64(0))},
		{"eq-big", "2^53 + 1 is not 2^53", p("n", "=", int64(9007199254740993))},
		{"eq-max", "2^63 - 1 is not 2^63", p("n", "=", float64(1<<63))},
		{"eq-text", "a string is no number", p("n", "=", "1")},
		{"eq-list", "a list by its encoding", p("n", "=", []any{int64(1)})},
		{"eq-list-float", "[1.0] is not [1]", p("n", "=", []any{1.0})},
		{"eq-map", "a map whatever the order", p("n", "=", dict{"a": int64(2), "b": int64(1)})},
		{"eq-null", "null equals null, not a missing property", p("n", "=", nil)},
		{"eq-bytes", "bytes", p("n", "=", []byte{1})},
		{"ne-int", "different kinds differ; a missing property fails", p("n", "!=", int64(1))},
		{"lt", "less", p("n", "<", 1.5)},
		{"le", "at most", p("n", "<=", 1.5)},
		{"gt", "greater", p("n", ">", int64(9007199254740992))},
		{"ge", "at least", p("n", ">=", 9007199254740992.0)},
		{"gt-max", "greater than the greatest integer", p("n", ">", int64(1<<63-1))},
		{"lt-text", "strings bytewise", p("s", "<", "b")},
		{"ge-text", "strings at least", p("s", ">=", "b")},
		{"in", "one of a list", p("n", "in", []any{1.5, "1", nil})},
		{"in-empty", "none of nothing", p("n", "in", []any{})},
		{"prefix", "a prefix", p("s", "prefix", "b")},
		{"prefix-empty", "every string begins with nothing", p("s", "prefix", "")},
		{"prefix-bytes", "bytewise, without normalisation", p("s", "prefix", "e")},
		{"exists", "a property that is null exists", predicate{name: "n", op: "exists"}},
		{"not-exists", "a missing property", predicate{name: "n", op: "!exists"}},
		{"bad-in", "in without a list", p("n", "in", int64(1))},
		{"bad-prefix", "prefix without a string", p("n", "prefix", int64(1))},
		{"bad-order", "an order of booleans", p("n", "<", true)},
		{"bad-order-list", "an order of lists", p("n", ">=", []any{})},
	} {
		q := everything("")
		q.where = []predicate{c.pred}
		if class := c.pred.refusal(); class != "" {
			s.refuse("8.2", "filter", c.name, c.title, class, obj{"author": "erin",
				"batches": []any{obj{"time": t0, "lines": nodes[:1]}}, "request": q.input()})
			continue
		}
		s.retrieval("8.2", "filter", c.name, c.title, q, false, nodes)
	}
	edgeFilters(s)
	requestFilters(s)
	badRequests(s)
}

// edgeFilters are predicates on edges.
func edgeFilters(s *suite) {
	memory := batchText{
		`{"node":{"key":"ana","type":"Person","props":{"out.owns":1}}}`,
		`{"node":{"key":"bo","type":"Person"}}`,
		`{"node":{"key":"cy","type":"Person"}}`,
		`{"node":{"key":"boat","type":"Boat"}}`,
		`{"node":{"key":"buoy","type":"Buoy"}}`,
		`{"edge":{"type":"owns","src":"ana","dst":"boat"}}`,
		`{"edge":{"type":"owns","src":"ana","dst":"boat","key":"again"}}`,
		`{"edge":{"type":"owns","src":"ana","dst":"buoy"}}`,
		`{"edge":{"type":"owns","src":"bo","dst":"boat"}}`,
		`{"edge":{"type":"owns","src":"bo","dst":"bo"}}`,
		`{"edge":{"type":"owned","src":"cy","dst":"boat"}}`,
	}
	marks := batchText{
		`{"mark":{"node":"buoy","state":"retired"}}`,
		`{"mark":{"edge":{"type":"owns","src":"bo","dst":"boat"},"state":"forgotten"}}`,
	}
	p := func(edges, op string, v any) predicate {
		return predicate{name: "owns", op: op, value: v, hasValue: v != nil, edges: edges}
	}
	for _, c := range []struct {
		name, title string
		pred        predicate
		marks       []string
	}{
		{"exists", "any edge of the type, no other's", p("out", "exists", nil), nil},
		{"not-exists", "none", p("out", "!exists", nil), nil},
		{"in-exists", "edges to a node, one to itself too", p("in", "exists", nil), nil},
		{"parallel", "each of parallel edges counts", p("out", ">=", int64(2)), nil},
		{"at-most", "none is a number", p("out", "<", 1.5), nil},
		{"none", "so is 0", p("in", "=", int64(0)), nil},
		{"differs", "another number", p("out", "!=", int64(2)), nil},
		{"one-of", "one of several numbers", p("in", "in", []any{int64(1), 2.0}), nil},
		{"node-let", "the end is let through", p("out", "=", int64(3)), []string{"retired"}},
		{"edge-let", "the edge is let through", p("in", ">", int64(2)), []string{"forgotten"}},
		{"property", "a property of such a name", predicate{name: "out.owns", op: "exists"}, nil},
	} {
		q := everything("")
		q.where, q.marks = []predicate{c.pred}, c.marks
		s.retrieval("8.2", "filter", "edges-"+c.name, c.title, q, false, memory, marks)
	}
}

func requestFilters(s *suite) {
	at := func(n int64) *int64 { return &n }
	day := int64(86_400_000_000)
	change := batchText{`{"node":{"key":"bob","props":{"age":30}}}`}
	for _, c := range []struct {
		name, title string
		edit        func(q *request)
	}{
		{"types", "types, any of which may match",
			func(q *request) { q.types = []string{"Rule", "Note"} }},
		{"types-none", "a type that no node has", func(q *request) { q.types = []string{"rule"} }},
		{"created-from", "created from a time on, inclusive",
			func(q *request) { q.createdFrom = at(t0 + 4*day) }},
		{"created-to", "created before a time, exclusive",
			func(q *request) { q.createdTo = at(t0 + 4*day) }},
		{"updated-from", "updated means created where absent",
			func(q *request) { q.updatedFrom = at(t0 + 1_000_000) }},
		{"updated-to", "updated before a time",
			func(q *request) { q.updatedTo = at(t0 + day + 1) }},
		{"valid-at", "within the validity, its start included",
			func(q *request) { q.validAt = at(t0) }},
		{"valid-before", "before it", func(q *request) { q.validAt = at(t0 - 1) }},
		{"valid-end", "its end is excluded", func(q *request) { q.validAt = at(t0 + 59*day) }},
		{"marks", "a hidden state let through",
			func(q *request) { q.marks = []string{"superseded"} }},
		{"marks-all", "all hidden states let through", func(q *request) {
			q.marks = []string{"forgotten", "superseded", "expired", "retired"}
		}},
		{"together", "all filters must hold", func(q *request) {
			q.types = []string{"Rule"}
			q.where = []predicate{{name: "level", op: ">", value: int64(1), hasValue: true},
				{name: "level", op: "<", value: 3.5, hasValue: true}}
			q.marks = []string{"superseded"}
		}},
	} {
		q := everything("")
		c.edit(&q)
		s.retrieval("8.3", "filter", c.name, c.title, q, false, harbour, change)
	}
	for _, state := range []string{"stale", "superseded", "retired", "forgotten", "expired",
		"contradicted"} {
		s.retrieval("8.3", "filter", "state-"+state, "is a node marked "+state+" shown?",
			everything("boat"),
			false, harbour, batchText{`{"mark":{"node":"bob","state":"` + state + `"}}`})
	}
	q := everything("boat")
	q.limit, q.types = 2, []string{"Rule"}
	s.retrieval("8.3", "filter", "before-limit", "filters come before the limit", q, false, harbour)
}

// badRequests are outside the bounds of clause 8.1, and good ones at them.
func badRequests(s *suite) {
	one := batchText{`{"node":{"key":"a","type":"T","summary":"boat"}}`}
	names := func(n int) []string {
		var out []string
		for i := range n {
			out = append(out, "t"+itoa(i))
		}
		return out
	}
	wheres := func(n int) []predicate {
		var out []predicate
		for range n {
			out = append(out, predicate{name: "x", op: "!exists"})
		}
		return out
	}
	valueOf := func(v any) func(q *request) {
		return func(q *request) {
			q.where = []predicate{{name: "x", op: "=", value: v, hasValue: true}}
		}
	}
	for _, c := range []struct {
		name, title string
		good        bool
		edit        func(q *request)
	}{
		{"limit-1000", "1,000 items", true, func(q *request) { q.limit = 1000 }},
		{"limit-1001", "1,001 items", false, func(q *request) { q.limit = 1001 }},
		{"limit-negative", "fewer than none", false, func(q *request) { q.limit = -1 }},
		{"budget-max", "2^31 - 1 tokens", true, func(q *request) { q.budget = 1<<31 - 1 }},
		{"budget-over", "2^31 tokens", false, func(q *request) { q.budget = 1 << 31 }},
		{"budget-negative", "a negative budget", false, func(q *request) { q.budget = -1 }},
		{"expand-4", "four hops", true, func(q *request) { q.expand = 4 }},
		{"expand-5", "five hops", false, func(q *request) { q.expand = 5 }},
		{"adjacency-1000", "1,000 edges", true, func(q *request) { q.adjacency = 1000 }},
		{"adjacency-1001", "1,001 edges", false, func(q *request) { q.adjacency = 1001 }},
		{"cap-over", "a cap over 262,144", false, func(q *request) { q.summaryCap = 262145 }},
		{"direction", "an unknown direction", false, func(q *request) { q.direction = "up" }},
		{"show", "an unknown part", false, func(q *request) { q.show = []string{"edges"} }},
		{"marks", "a mark that hides nothing", false,
			func(q *request) { q.marks = []string{"stale"} }},
		{"types-64", "64 types", true, func(q *request) { q.types = append(names(63), "T") }},
		{"types-65", "65 types", false, func(q *request) { q.types = append(names(64), "T") }},
		{"expand-types-65", "65 edge types", false, func(q *request) { q.expandTypes = names(65) }},
		{"where-64", "64 predicates", true, func(q *request) { q.where = wheres(64) }},
		{"where-65", "65 predicates", false, func(q *request) { q.where = wheres(65) }},
		{"value-depth-32", "a value nested 32 deep", true, valueOf(nest(int64(1), 32))},
		{"value-depth-33", "a value nested 33 deep", false, valueOf(nest(int64(1), 33))},
		{"value-65536", "a value of 65,536 bytes", true, valueOf(rep("v", 65533))},
		{"value-65537", "a value of 65,537 bytes", false, valueOf(rep("v", 65534))},
		{"text-65536", "a text of 65,536 bytes", true,
			func(q *request) { q.text = "boat" + rep(" ", 65532) }},
		{"text-65537", "a text of 65,537 bytes", false,
			func(q *request) { q.text = "boat" + rep(" ", 65533) }},
		{"op", "an unknown operator", false, func(q *request) {
			q.where = []predicate{{name: "x", op: "~", value: "a", hasValue: true}}
		}},
	} {
		q := newRequest("boat")
		c.edit(&q)
		if c.good {
			s.retrieval("8.1", "filter", "request-"+c.name, c.title, q, false, one)
			continue
		}
		s.refuse("8.1", "filter", "request-"+c.name, c.title, "request", obj{"author": "erin",
			"batches": []any{obj{"time": t0, "lines": one}}, "request": q.input()})
	}
}
