package main

import "errors"

// batchText is the lines of one batch; batch i (from 0) has the time t0 + i seconds.
type batchText []string

func (s *suite) batches(clause, layer, name, title string, batches ...batchText) {
	s.batchesEvery(1_000_000, clause, layer, name, title, batches...)
}

// batchesEvery is batches with step microseconds between one batch and the next.
func (s *suite) batchesEvery(step int64, clause, layer, name, title string,
	batches ...batchText) {
	st := newStore()
	list, reports := []any{}, []any{}
	var failed obj
	for i, lines := range batches {
		when := t0 + int64(i)*step
		list = append(list, obj{"time": when, "lines": lines})
		next, t, err := st.apply(lines, "erin", when)
		if err != nil {
			failed = obj{"error": classOf(err), "batch": i + 1, "line": lineOf(err)}
			break
		}
		st = next
		reports = append(reports, obj{"nodes": t.nodes, "edges": t.edges,
			"duplicates": t.duplicates, "unchanged": t.unchanged})
	}
	in := obj{"author": "erin", "batches": list}
	if failed != nil {
		s.add(clause, layer, name, title, in, failed)
		return
	}
	e := st.result()
	e["reports"] = reports
	s.add(clause, layer, name, title, in, e)
}

func classOf(err error) string {
	var r *reason
	if le := (*lineError)(nil); errors.As(err, &le) {
		err = le.err
	}
	if errors.As(err, &r) {
		return r.class
	}
	panic(err)
}

func lineOf(err error) int {
	var le *lineError
	if errors.As(err, &le) {
		return le.line
	}
	return 0
}

// result has the CIDs of a store and its records in key order, if they are short.
func (s *store) result() obj {
	e := obj{"graph": recordCID(s.graphRecord()).String()}
	if len(s.vectors) > 0 {
		e["vectors"] = linkTree(s.vectors).root.String()
	}
	size, lists := 0, obj{}
	for name, m := range map[string]map[string]dict{"nodes": s.nodes, "edges": s.edges,
		"marks": s.marks, "embeddings": s.vectors} {
		keys := mapping{}
		for k := range m {
			keys[k] = nil
		}
		list := []any{}
		for _, k := range sortedMap(keys) {
			list = append(list, jsonForm(m[k]))
			size += len(jsonForm(m[k]))
		}
		if len(list) > 0 {
			lists[name] = list
		}
	}
	if size < 6000 {
		e["records"] = lists
	}
	return e
}

func lineCases(s *suite) {
	node := func(rest string) string { return `{"node":{"key":"a","type":"T"` + rest + `}}` }
	good := []struct{ name, title, line string }{
		{"least", "the least node", node("")},
		{"full", "every member of a node",
			node(`,"summary":"S.","context":"C.","props":{"x":[1,2.5,null],` +
				`"y":{"z":true}},"content":{"text":"Body","media":"text/markdown"},` +
				`"created":"2026-01-02T03:04:05.123456Z","validFrom":"2026-01-01",` +
				`"validTo":"2027-01-01",` +
				`"sources":["a","b"],"unset":[],"replace":false`)},
		{"content-string", "content as a string", node(`,"content":"Body"`)},
		{"content-plain", "the default media type is left out",
			node(`,"content":{"text":"B","media":"text/plain"}`)},
		{"content-32769", "content over the record goes to chunks",
			node(`,"content":"` + rep("x", 32769) + `"`)},
		{"empty-fields", "empty fields stay absent",
			node(`,"summary":"","context":"","content":"","sources":[]`)},
		{"content-empty-text", "empty text in an object",
			node(`,"content":{"text":"","media":"text/html"}`)},
		{"order", "members in any order, with spaces",
			`  { "node" : { "type" : "T" , "key" : "a" } }  `},
		{"crlf", "CR LF ends a line", node("") + "\r"},
		{"escapes", "names and keys may be escaped", `{"n\u006fde":{"key":"\u0061","type":"T"}}`},
		{"props-link", "a link and bytes in props", node(`,"props":{"l":{"/":"` +
			recordCID(dict{}).String() + `"},"b":{"/":{"bytes":"AQI"}}}`)},
		{"prop-null", "null is a value of a property", node(`,"props":{"x":null}`)},
		{"time-date", "a date is midnight UTC", node(`,"created":"2024-02-29"`)},
		{"time-offset", "an offset", node(`,"created":"2026-01-01T05:30:00+05:30"`)},
		{"time-negative-offset", "a negative offset",
			node(`,"created":"2025-12-31T23:59:59-23:59"`)},
		{"time-cut", "a fraction is cut, not rounded",
			node(`,"created":"2026-01-01T00:00:00.1234569999Z"`)},
		{"time-cut-early", "a fraction is cut before 1970 as well",
			node(`,"created":"1969-12-31T23:59:59.9999999Z"`)},
		{"time-short", "a fraction of one digit", node(`,"created":"2026-01-01T00:00:00.5Z"`)},
		{"time-first", "the year 0", node(`,"created":"0000-01-01"`)},
		{"time-last", "the end of the year 9999", node(`,"created":"9999-12-31T23:59:59.999999Z"`)},
		{"id", "a node with an id",
			`{"node":{"id":"00112233-4455-6677-8899-aabbccddeeff","type":"T"}}`},
		{"key-id", "a key and an id that agree", node(`,"id":"` + uuid(nodeIDOfKey("a")) + `"`)},
		{"keyless", "a node without key and id", `{"node":{"type":"T","summary":"S."}}`},
	}
	for _, c := range good {
		s.batches("5.1", "changes", c.name, c.title, batchText{c.line})
	}
	badLines(s, node)
}

func badLines(s *suite, node func(string) string) {
	bad := []struct{ name, title, line string }{
		{"empty-object", "no member", `{}`},
		{"two-members", "two members", `{"node":{"key":"a","type":"T"},"mark":{}}`},
		{"list", "a list", `[]`},
		{"string", "a member that is no object", `{"node":"a"}`},
		{"null", "a member that is null", `{"node":null}`},
		{"other", "an unknown member", `{"vertex":{"key":"a"}}`},
		{"case", "names are exact", `{"Node":{"key":"a","type":"T"}}`},
		{"bom", "a byte order mark", "\ufeff" + node("")},
		{"two-objects", "two objects in a line", node("") + node("")},
		{"syntax", "no JSON", `{"node":{"key":"a","type":"T"}`},
		{"duplicate", "a name twice", `{"node":{"key":"a","type":"T","type":"T"}}`},
		{"member", "an unknown member of a node", node(`,"weight":1`)},
		{"summary-null", "null for a summary", node(`,"summary":null`)},
		{"summary-number", "a number for a summary", node(`,"summary":5`)},
		{"type-missing", "a new node without a type", `{"node":{"key":"a"}}`},
		{"type-empty", "an empty type", `{"node":{"key":"a","type":""}}`},
		{"type-nul", "NUL in a type", `{"node":{"key":"a","type":"\u0000"}}`},
		{"key-empty", "an empty key", `{"node":{"key":"","type":"T"}}`},
		{"key-long", "a key of 513 bytes", `{"node":{"key":"` + rep("k", 513) + `","type":"T"}}`},
		{"key-nul", "NUL in a key", `{"node":{"key":"a\u0000","type":"T"}}`},
		{"key-uuid", "a key of the shape of a UUID",
			`{"node":{"key":"00112233-4455-6677-8899-AABBCCDDEEFF","type":"T"}}`},
		{"id-upper", "an id in upper case",
			`{"node":{"id":"00112233-4455-6677-8899-AABBCCDDEEFF","type":"T"}}`},
		{"id-short", "an id that is a prefix", `{"node":{"id":"00112233","type":"T"}}`},
		{"id-zero", "the id of zeros",
			`{"node":{"id":"00000000-0000-0000-0000-000000000000","type":"T"}}`},
		{"key-id", "a key and an id that disagree",
			node(`,"id":"00112233-4455-6677-8899-aabbccddeeff"`)},
		{"props-list", "props that are a list", node(`,"props":[]`)},
		{"prop-empty", "an empty property name", node(`,"props":{"":1}`)},
		{"prop-deep", "a property nested 33 deep", node(`,"props":{"x":` + rep("[",
			33) + rep("]", 33) + `}`)},
		{"prop-int", "an integer over int64", node(`,"props":{"x":9223372036854775808}`)},
		{"content-media", "content with a media type alone",
			node(`,"content":{"media":"text/html"}`)},
		{"content-member", "an unknown member of content",
			node(`,"content":{"text":"x","size":1}`)},
		{"content-list", "content that is a list", node(`,"content":["x"]`)},
		{"sources-string", "sources that are a string", node(`,"sources":"a"`)},
		{"sources-empty-item", "an empty source", node(`,"sources":[""]`)},
		{"replace-string", "replace that is a string", node(`,"replace":"true"`)},
		{"unset-string", "unset that is a string", node(`,"unset":"summary"`)},
		{"unset-type", "unset of a field that must be", node(`,"unset":["type"]`)},
		{"unset-weight", "unset of weight on a node", node(`,"unset":["weight"]`)},
		{"unset-props", "unset of a property without a name", node(`,"unset":["props."]`)},
		{"time-number", "a time that is a number", node(`,"created":0`)},
		{"time-lower", "lower-case t", node(`,"created":"2026-01-01t00:00:00Z"`)},
		{"time-lower-z", "lower-case z", node(`,"created":"2026-01-01T00:00:00z"`)},
		{"time-space", "a space for T", node(`,"created":"2026-01-01 00:00:00Z"`)},
		{"time-zone", "no zone", node(`,"created":"2026-01-01T00:00:00"`)},
		{"time-month", "month 13", node(`,"created":"2026-13-01"`)},
		{"time-day", "30 February", node(`,"created":"2026-02-30"`)},
		{"time-leap", "29 February of a common year", node(`,"created":"2100-02-29"`)},
		{"time-hour", "hour 24", node(`,"created":"2026-01-01T24:00:00Z"`)},
		{"time-second", "a leap second", node(`,"created":"2016-12-31T23:59:60Z"`)},
		{"time-offset", "an offset of 24 hours", node(`,"created":"2026-01-01T00:00:00+24:00"`)},
		{"time-fraction", "a point without digits", node(`,"created":"2026-01-01T00:00:00.Z"`)},
		{"time-comma", "a comma for the point", node(`,"created":"2026-01-01T00:00:00,5Z"`)},
		{"time-over", "a time after the year 9999", node(`,"created":"9999-12-31T23:59:59-00:01"`)},
		{"time-under", "a time before the year 0", node(`,"created":"0000-01-01T00:00:00+00:01"`)},
		{"time-year", "a year of five digits", node(`,"created":"12026-01-01"`)},
		{"time-short", "a date without leading zeros", node(`,"created":"2026-1-1"`)},
		{"valid", "validTo equal to validFrom",
			node(`,"validFrom":"2026-01-01","validTo":"2026-01-01T00:00:00Z"`)},
	}
	for _, c := range bad {
		s.batches("5.1", "changes", "bad-"+c.name, c.title, batchText{c.line})
	}
}

const twoNodes = `{"node":{"key":"a","type":"T"}}`

// lineCase is one line and what it is about.
type lineCase struct{ name, title, line string }

// otherLines are lines about two nodes a and b, each line after them in the same batch.
func otherLines(s *suite) {
	cases := []lineCase{
		{"edge", "the least edge", `{"edge":{"type":"t","src":"a","dst":"b"}}`},
		{"edge-full", "every member of an edge",
			`{"edge":{"type":"t","src":"a","dst":"b","key":"k",` +
				`"weight":0.25,"props":{"x":1},"created":"2026-01-01","validFrom":"2025-01-01",` +
				`"validTo":"2026-01-01","sources":["s"],"unset":[],"replace":true}}`},
		{"edge-uuid", "ends by id",
			`{"edge":{"type":"t","src":"` + uuid(nodeIDOfKey("a")) + `","dst":"b"}}`},
		{"edge-loop", "a self-loop", `{"edge":{"type":"t","src":"a","dst":"a"}}`},
		{"edge-id", "an id of its own",
			`{"edge":{"id":"00112233-4455-6677-8899-aabbccddeeff","type":"t","src":"a",` +
				`"dst":"b"}}`},
		{"edge-weight-1", "weight 1 is an integer",
			`{"edge":{"type":"t","src":"a","dst":"b","weight":1}}`},
		{"edge-weight-half", "halves go to the even",
			`{"edge":{"type":"t","src":"a","dst":"b","weight":2.288818359375e-05}}`},
		{"edge-weight-least", "rounds up to 1",
			`{"edge":{"type":"t","src":"a","dst":"b","weight":7.63e-6}}`},
		{"bad-edge-weight-half", "half a unit goes to 0",
			`{"edge":{"type":"t","src":"a","dst":"b","weight":7.62939453125e-06}}`},
		{"bad-edge-weight-0", "weight 0", `{"edge":{"type":"t","src":"a","dst":"b","weight":0}}`},
		{"bad-edge-weight-over", "weight over 1",
			`{"edge":{"type":"t","src":"a","dst":"b","weight":1.0000001}}`},
		{"bad-edge-weight-negative", "a negative weight",
			`{"edge":{"type":"t","src":"a","dst":"b","weight":-0.5}}`},
		{"bad-edge-weight-string", "a weight that is a string",
			`{"edge":{"type":"t","src":"a","dst":"b","weight":"1"}}`},
		{"bad-edge-src", "no source", `{"edge":{"type":"t","dst":"b"}}`},
		{"bad-edge-type", "no type", `{"edge":{"src":"a","dst":"b"}}`},
		{"bad-edge-missing", "an end that does not exist",
			`{"edge":{"type":"t","src":"a","dst":"nobody"}}`},
		{"bad-edge-key-id", "key and id that disagree",
			`{"edge":{"type":"t","src":"a","dst":"b","key":"k",` +
				`"id":"00112233-4455-6677-8899-aabbccddeeff"}}`},
		{"bad-edge-upper", "a reference in upper case",
			`{"edge":{"type":"t","src":"a","dst":"00112233-4455-6677-8899-AABBCCDDEEFF"}}`},
		{"bad-edge-unset", "unset of summary on an edge",
			`{"edge":{"type":"t","src":"a","dst":"b","unset":["summary"]}}`},
		{"bad-edge-summary", "an unknown member",
			`{"edge":{"type":"t","src":"a","dst":"b","summary":"s"}}`},
	}
	afterNodes(s, cases)
	afterNodes(s, markLines())
}

// markLines are lines about marks, embeddings and removals.
func markLines() []lineCase {
	return []lineCase{
		{"mark", "the least mark", `{"mark":{"node":"a","state":"stale"}}`},
		{"mark-full", "every member of a mark",
			`{"mark":{"node":"a","state":"superseded","by":"b","reason":"r","actor":"bob",` +
				`"time":"2026-01-01"}}`},
		{"bad-mark-state", "an unknown state", `{"mark":{"node":"a","state":"gone"}}`},
		{"bad-mark-no-state", "no state", `{"mark":{"node":"a"}}`},
		{"bad-mark-by", "by with a state that has none",
			`{"mark":{"node":"a","state":"stale","by":"b"}}`},
		{"bad-mark-by-missing", "a by that does not exist",
			`{"mark":{"node":"a","state":"superseded","by":"nobody"}}`},
		{"bad-mark-missing", "a mark on nothing", `{"mark":{"node":"nobody","state":"stale"}}`},
		{"bad-mark-edge", "a mark on an edge that is not there",
			`{"mark":{"edge":{"type":"t","src":"a","dst":"b"},"state":"stale"}}`},
		{"bad-mark-both", "a mark on node and edge",
			`{"mark":{"node":"a","edge":{"type":"t","src":"a","dst":"b"},"state":"stale"}}`},
		{"bad-mark-all", "all in a mark",
			`{"mark":{"edge":{"type":"t","src":"a","dst":"b","all":true},"state":"stale"}}`},
		{"bad-mark-reason", "an empty reason", `{"mark":{"node":"a","state":"stale","reason":""}}`},
		{"bad-mark-actor", "a control character in the actor",
			`{"mark":{"node":"a","state":"stale","actor":"a\tb"}}`},
		{"embedding", "an embedding",
			`{"embedding":{"node":"a","model":"m","vector":[1,-0.5,0.25]}}`},
		{"embedding-sparse", "a sparse embedding",
			`{"embedding":{"node":"a","model":"m","sparse":{"tide":1.5,"boat":0.00001}}}`},
		{"bad-embedding-both", "vector and sparse",
			`{"embedding":{"node":"a","model":"m","vector":[1],"sparse":{"a":1}}}`},
		{"bad-embedding-none", "neither", `{"embedding":{"node":"a","model":"m"}}`},
		{"bad-embedding-zeros", "a vector of zeros",
			`{"embedding":{"node":"a","model":"m","vector":[0,0.0,-0.0]}}`},
		{"bad-embedding-empty", "a vector of nothing",
			`{"embedding":{"node":"a","model":"m","vector":[]}}`},
		{"bad-embedding-huge", "a number whose product is infinite",
			`{"embedding":{"node":"a","model":"m","vector":[1e308]}}`},
		{"bad-embedding-string", "a string in a vector",
			`{"embedding":{"node":"a","model":"m","vector":["1"]}}`},
		{"bad-embedding-sparse-0", "a weight that rounds to 0",
			`{"embedding":{"node":"a","model":"m","sparse":{"a":0.000001}}}`},
		{"bad-embedding-sparse-over", "a weight of 2^15",
			`{"embedding":{"node":"a","model":"m","sparse":{"a":32768}}}`},
		{"bad-embedding-missing", "a node that does not exist",
			`{"embedding":{"node":"x","model":"m","vector":[1]}}`},
		{"bad-embedding-model", "no model", `{"embedding":{"node":"a","vector":[1]}}`},
		{"bad-remove-missing", "removing nothing", `{"remove":{"node":"nobody"}}`},
		{"bad-remove-edge", "removing an edge that is not there",
			`{"remove":{"edge":{"type":"t","src":"a","dst":"b"}}}`},
		{"bad-remove-all", "all where there is none",
			`{"remove":{"edge":{"type":"t","src":"a","dst":"b","all":true}}}`},
		{"bad-remove-all-key", "all and a key",
			`{"remove":{"edge":{"type":"t","src":"a","dst":"b","all":true,"key":"k"}}}`},
		{"bad-remove-mark", "removing a mark that is not there",
			`{"remove":{"mark":{"node":"a"}}}`},
		{"bad-remove-embedding", "removing an embedding that is not there",
			`{"remove":{"embedding":{"node":"a","model":"m"}}}`},
		{"bad-remove-two", "two things", `{"remove":{"node":"a","mark":{"node":"b"}}}`},
		{"bad-remove-none", "nothing named", `{"remove":{}}`},
		{"bad-remove-prefix", "an abbreviated id is no reference",
			`{"remove":{"node":"` + uuid(nodeIDOfKey("a"))[:13] + `"}}`},
	}
}

// afterNodes adds each line as the fourth of a batch that makes the nodes a and b.
func afterNodes(s *suite, cases []lineCase) {
	for _, c := range cases {
		s.batches("5.1", "changes", c.name, c.title,
			batchText{twoNodes, `{"node":{"key":"b","type":"T"}}`, "", c.line})
	}
}

// longLines are lines padded with spaces to a length: the member pad of a batch.
func longLines(s *suite) {
	for _, n := range []int{4194304, 4194305} {
		line := twoNodes + rep(" ", n-len(twoNodes))
		in := obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": []string{twoNodes},
			"pad": n}}}
		title := "a line of " + itoa(n) + " bytes"
		st, t, err := newStore().apply([]string{line}, "erin", t0)
		if err != nil {
			s.add("5.1", "changes", "bad-line-"+itoa(n), title, in,
				obj{"error": classOf(err), "batch": 1, "line": lineOf(err)})
			continue
		}
		e := st.result()
		e["reports"] = []any{obj{"nodes": t.nodes, "edges": t.edges, "duplicates": t.duplicates,
			"unchanged": t.unchanged}}
		s.add("5.1", "changes", "line-"+itoa(n), title, in, e)
	}
}
