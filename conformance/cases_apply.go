package main

// sequence is one case of the layer apply.
type sequence struct {
	clause, name, title string
	batches             []batchText
}

func applyCases(s *suite) {
	a, b := twoNodes, `{"node":{"key":"b","type":"T"}}`
	ab := `{"edge":{"type":"t","src":"a","dst":"b"}}`
	anon := `{"node":{"type":"N","summary":"One fact."}}`
	rich := `{"node":{"key":"a","type":"T","summary":"S.","context":"C.","content":"B.",` +
		`"sources":["s"],` +
		`"validFrom":"2020-01-01","validTo":"2021-01-01","props":{"x":1,"y":2}}}`
	anonID := uuid(contentID(dict{"kind": "node", "v": 1, "type": "N", "summary": "One fact.",
		"props": dict{}}, 0))
	cases := []sequence{
		{"5.2", "empty", "a batch of nothing", []batchText{{}}},
		{"5.2", "sequence", "a batch of its own for each line", []batchText{{a}, {b}, {ab}}},
		{"5.2", "forward", "an edge may stand before its ends", []batchText{{ab, a, b}}},
		{"5.2", "forward-batch", "but not in an earlier batch", []batchText{{ab}, {a, b}}},
		{"5.2", "mark-forward", "a mark may stand before its node", []batchText{
			{`{"mark":{"node":"a","state":"stale"}}`, a}}},
		{"5.1", "missing-first", "the first line that cites what is missing is named", []batchText{
			{a, `{"edge":{"type":"t","src":"a","dst":"x"}}`, "",
				`{"mark":{"node":"y","state":"stale"}}`}}},
		{"5.1", "error-before-missing", "an error of a line comes before what waits for the end",
			[]batchText{{ab, a, `{"node":{}}`}}},
		{"5.2", "change", "given fields replace, updated is set", []batchText{{a},
			{`{"node":{"key":"a","summary":"New."}}`}}},
		{"5.2", "change-type", "a type may change", []batchText{{a},
			{`{"node":{"key":"a","type":"U"}}`}}},
		{"5.2", "change-same-batch", "updated stays out where it equals created", []batchText{
			{a, `{"node":{"key":"a","summary":"New."}}`}}},
		{"5.2", "change-created", "created set back to the batch's time drops updated",
			[]batchText{{a},
				{`{"node":{"key":"a","summary":"New.","created":"2026-01-01T00:00:01Z"}}`}}},
		{"5.2", "unchanged", "the same line again changes nothing", []batchText{{rich}, {rich}}},
		{"5.2", "unchanged-created", "another created alone changes nothing", []batchText{{a},
			{`{"node":{"key":"a","created":"2020-01-01"}}`}}},
		{"5.2", "created-with-change", "another created with another field replaces",
			[]batchText{{a},
				{`{"node":{"key":"a","summary":"S.","created":"2020-01-01"}}`}}},
		{"5.2", "by-id", "a node with a key is changed by its id", []batchText{{a},
			{`{"node":{"id":"` + uuid(nodeIDOfKey("a")) + `","summary":"S."}}`}}},
		{"5.2", "key-for-none", "a key for a node that has none", []batchText{
			{`{"node":{"id":"` + uuid(nodeIDOfKey("a")) + `","type":"T"}}`}, {a}}},
		{"5.2", "empty-removes", "empty fields remove", []batchText{{rich},
			{`{"node":{"key":"a","summary":"","context":"","content":"","sources":[]}}`}}},
		{"5.2", "unset", "unset removes", []batchText{{rich},
			{`{"node":{"key":"a","unset":["summary",` +
				`"context","content","validFrom","validTo","sources","props.x"]}}`}}},
		{"5.2", "unset-absent", "unset of what is absent does nothing", []batchText{{a},
			{`{"node":{"key":"a","unset":["summary","props.x"]}}`}}},
		{"5.2", "unset-given", "unset acts after the fields given", []batchText{{rich},
			{`{"node":{"key":"a","summary":"N.","props":{"x":5,"z":6},"unset":["summary",` +
				`"props.x"]}}`}}},
		{"5.2", "props-merge", "props merge name by name", []batchText{{rich},
			{`{"node":{"key":"a","props":{"y":{"deep":1},"z":3}}}`}}},
		{"5.2", "props-no-deep-merge", "a map in props is replaced whole", []batchText{
			{`{"node":{"key":"a","type":"T","props":{"m":{"a":1,"b":2}}}}`},
			{`{"node":{"key":"a","props":{"m":{"a":3}}}}`}}},
		{"5.2", "props-int-float", "1 becomes 1.0, which is a change", []batchText{
			{`{"node":{"key":"a","type":"T","props":{"n":1}}}`},
			{`{"node":{"key":"a","props":{"n":1.0}}}`}}},
		{"5.2", "valid-merged", "validTo is checked against the validFrom there is",
			[]batchText{{rich},
				{`{"node":{"key":"a","validTo":"2019-01-01"}}`}}},
		{"5.2", "replace", "replace keeps id, key, type and created", []batchText{{rich},
			{`{"node":{"key":"a","replace":true,"summary":"Only this."}}`}}},
		{"5.2", "replace-same", "a replacement that is the same changes nothing", []batchText{
			{`{"node":{"key":"a","type":"T","summary":"S."}}`},
			{`{"node":{"key":"a","summary":"S.","replace":true}}`}}},
		{"4.1", "duplicate", "the same fact twice is one node", []batchText{{anon}, {anon}}},
		{"4.1", "duplicate-batch", "in one batch as well", []batchText{{anon, anon, anon}}},
		{"4.1", "duplicate-created", "created is no part of the fact", []batchText{{anon},
			{`{"node":{"type":"N","summary":"One fact.","created":"2020-01-01"}}`}}},
		{"4.1", "duplicate-empty", "fields that are empty are no part of it either",
			[]batchText{{anon},
				{`{"node":{"type":"N","summary":"One fact.","context":"","replace":true,` +
					`"unset":["context"]}}`}}},
		{"4.1", "not-duplicate", "1 and 1.0 are two facts", []batchText{
			{`{"node":{"type":"N","props":{"n":1}}}`, `{"node":{"type":"N","props":{"n":1.0}}}`}}},
		{"4.1", "edited", "after an edit the old fact is new again, under the next id", []batchText{
			{anon}, {`{"node":{"id":"` + anonID + `","summary":"Another."}}`}, {anon}}},
		{"4.1", "edited-back", "the first free or equal id is taken", []batchText{
			{anon}, {`{"node":{"id":"` + anonID + `","summary":"Another."}}`}, {anon},
			{`{"node":{"id":"` + anonID + `","summary":"One fact."}}`}, {anon}}},
		{"4.1", "removed", "a removed id is free", []batchText{{anon},
			{`{"remove":{"node":"` + anonID + `"}}`}, {anon}}},
	}
	for _, c := range cases {
		s.batches(c.clause, "apply", c.name, c.title, c.batches...)
	}
	edgeSequences(s)
	removeCases(s)
}

func edgeSequences(s *suite) {
	a, b := twoNodes, `{"node":{"key":"b","type":"T"}}`
	ab := `{"edge":{"type":"t","src":"a","dst":"b"}}`
	own := "00112233-4455-6677-8899-aabbccddeeff"
	ownEdge := `{"edge":{"id":"` + own + `","type":"t","src":"a","dst":"b"}}`
	cases := []sequence{
		{"5.2", "edge-change", "an edge changes and has no updated", []batchText{{a, b, ab},
			{`{"edge":{"type":"t","src":"a","dst":"b","weight":0.5,"props":{"x":1}}}`}}},
		{"5.2", "edge-unset-weight", "unset of weight restores 65,536", []batchText{
			{a, b, `{"edge":{"type":"t","src":"a","dst":"b","weight":0.5}}`},
			{`{"edge":{"type":"t","src":"a","dst":"b","unset":["weight"]}}`}}},
		{"5.2", "edge-keep-weight", "a weight not given stays", []batchText{
			{a, b, `{"edge":{"type":"t","src":"a","dst":"b","weight":0.5}}`},
			{`{"edge":{"type":"t","src":"a","dst":"b","props":{"x":1}}}`}}},
		{"5.2", "edge-replace", "replace restores the weight and drops props", []batchText{
			{a, b,
				`{"edge":{"type":"t","src":"a","dst":"b","weight":0.5,"props":{"x":1},` +
					`"key":"k"}}`},
			{`{"edge":{"type":"t","src":"a","dst":"b","key":"k","replace":true}}`}}},
		{"5.2", "edge-unchanged", "the same edge again", []batchText{{a, b, ab}, {ab}}},
		{"5.2", "edge-by-id", "an edge changed by its id alone", []batchText{{a, b, ownEdge},
			{`{"edge":{"id":"` + own + `","weight":0.5}}`}}},
		{"4.2", "edge-id-type", "the type of an id never changes", []batchText{{a, b, ownEdge},
			{`{"edge":{"id":"` + own + `","type":"u"}}`}}},
		{"4.2", "edge-id-ends", "nor do its ends", []batchText{{a, b, ownEdge},
			{`{"edge":{"id":"` + own + `","src":"b","dst":"a"}}`}}},
		{"4.2", "parallel", "keys tell parallel edges apart", []batchText{{a, b, ab,
			`{"edge":{"type":"t","src":"a","dst":"b","key":"1"}}`,
			`{"edge":{"type":"t","src":"a","dst":"b","key":"2"}}`, ab}}},
		{"4.2", "edge-unknown-id", "a new id alone makes no edge", []batchText{{a, b,
			`{"edge":{"id":"` + own + `"}}`}}},
	}
	for _, c := range cases {
		s.batches(c.clause, "apply", c.name, c.title, c.batches...)
	}
}

func removeCases(s *suite) {
	a, b, c := twoNodes, `{"node":{"key":"b","type":"T"}}`, `{"node":{"key":"c","type":"T"}}`
	ab, bc := `{"edge":{"type":"t","src":"a","dst":"b"}}`,
		`{"edge":{"type":"t","src":"b","dst":"c"}}`
	ab2 := `{"edge":{"type":"t","src":"a","dst":"b","key":"k"}}`
	vec := `{"embedding":{"node":"b","model":"m","vector":[1,2]}}`
	markB := `{"mark":{"node":"b","state":"stale"}}`
	markAB := `{"mark":{"edge":{"type":"t","src":"a","dst":"b"},"state":"retired"}}`
	superseded := markSuperseded
	world := batchText{a, b, c, ab, ab2, bc, vec, markB, markAB}
	removeB := `{"remove":{"node":"b"}}`
	cases := []sequence{
		{"5.2", "remove-node", "edges, embeddings and all their marks go with a node",
			[]batchText{world, {removeB}}},
		{"5.2", "remove-one-batch", "in one batch as well", []batchText{append(world[:9:9],
			removeB)}},
		{"5.2", "remove-twice", "what is gone cannot be removed", []batchText{world,
			{removeB}, {removeB}}},
		{"5.2", "remove-again-made", "removed and made again in one batch", []batchText{world,
			{removeB, b}}},
		{"5.2", "remove-edge", "an edge takes its mark along", []batchText{world,
			{`{"remove":{"edge":{"type":"t","src":"a","dst":"b"}}}`}}},
		{"5.2", "remove-edge-key", "an edge with a key", []batchText{world,
			{`{"remove":{"edge":{"type":"t","src":"a","dst":"b","key":"k"}}}`}}},
		{"5.2", "remove-edge-all", "all edges of a type between two", []batchText{world,
			{`{"remove":{"edge":{"type":"t","src":"a","dst":"b","all":true}}}`}}},
		{"5.1", "remove-edge-all-false", "all is true or left out", []batchText{world,
			{`{"remove":{"edge":{"type":"t","src":"a","dst":"b","all":false}}}`}}},
		{"5.1", "remove-edge-key-all-false", "beside a key too", []batchText{world,
			{`{"remove":{"edge":{"type":"t","src":"a","dst":"b","key":"k","all":false}}}`}}},
		{"5.1", "mark-edge-all-false", "and a mark takes it as little as true", []batchText{world,
			{`{"mark":{"edge":{"type":"t","src":"a","dst":"b","all":false},"state":"stale"}}`}}},
		{"5.2", "remove-edge-id", "an edge by its id", []batchText{world,
			{`{"remove":{"edge":{"id":"` +
				uuid(edgeIDOf(nodeIDOfKey("b"), "t", nodeIDOfKey("c"), "")) + `"}}}`}}},
		{"5.2", "remove-edge-direction", "direction matters", []batchText{world,
			{`{"remove":{"edge":{"type":"t","src":"b","dst":"a"}}}`}}},
		{"5.2", "remove-mark", "a mark", []batchText{world, {`{"remove":{"mark":{"node":"b"}}}`}}},
		{"5.2", "remove-mark-edge", "a mark of an edge", []batchText{world,
			{`{"remove":{"mark":{"edge":{"type":"t","src":"a","dst":"b"}}}}`}}},
		{"5.2", "remove-embedding", "an embedding", []batchText{world,
			{`{"remove":{"embedding":{"node":"b","model":"m"}}}`}}},
		{"5.2", "remove-embedding-model", "of another model", []batchText{world,
			{`{"remove":{"embedding":{"node":"b","model":"n"}}}`}}},
		{"5.2", "dangling", "an edge given before its end is removed goes with it",
			[]batchText{world,
				{`{"edge":{"type":"u","src":"a","dst":"b"}}`, removeB}}},
		{"5.2", "dangling-after", "an edge given after its end is removed dangles",
			[]batchText{world,
				{removeB, `{"edge":{"type":"u","src":"a","dst":"b"}}`}}},
		{"3.7", "by-outlives", "a by may outlive its node", []batchText{{a, b, superseded},
			{removeB}}},
		{"5.2", "by-removed", "but not in the batch that gave it", []batchText{{a, b},
			{superseded, removeB}}},
		{"5.2", "embedding-replaced", "an embedding replaces the one under node and model",
			[]batchText{world, {`{"embedding":{"node":"b","model":"m","vector":[2,1]}}`}}},
		{"5.2", "embedding-models", "two models", []batchText{world,
			{`{"embedding":{"node":"b","model":"n","sparse":{"x":1}}}`}}},
		{"5.2", "embedding-unchanged", "the same vector of the same text", []batchText{world,
			{vec}}},
		{"5.2", "embedding-text", "its text is the node's after the batch", []batchText{world,
			{vec, `{"node":{"key":"b","summary":"S.","context":"C.","content":"B."}}`}}},
		{"5.2", "embedding-node-changed", "a change of the node leaves its embeddings",
			[]batchText{world,
				{`{"node":{"key":"b","summary":"S."}}`}}},
		{"5.3", "counts", "counts are the difference of two graphs", []batchText{world,
			{removeB, b, `{"node":{"key":"x","type":"T"}}`, `{"remove":{"node":"x"}}`,
				`{"node":{"key":"a","summary":"S."}}`, `{"node":{"key":"a","unset":["summary"]}}`,
				`{"node":{"key":"y","type":"T"}}`, c, markB}}},
		{"4.3", "order", "the order of independent lines does not matter: one", []batchText{
			{a, b, c, ab, bc}}},
		{"4.3", "order-other", "the order of independent lines does not matter: other", []batchText{
			{bc, c, ab, b, a}}},
	}
	for _, c := range cases {
		s.batches(c.clause, "apply", c.name, c.title, c.batches...)
	}
	batchMarkCases(s, a, b, world)
	repeatedEmbeddings(s)
	bigApply(s)
}

// repeatedEmbeddings has lines that repeat one embedding, and their counts.
func repeatedEmbeddings(s *suite) {
	b, removeB := `{"node":{"key":"b","type":"T"}}`, `{"remove":{"node":"b"}}`
	vec := `{"embedding":{"node":"b","model":"m","vector":[1,2]}}`
	vec2 := `{"embedding":{"node":"b","model":"m","vector":[2,1]}}`
	removeVec := `{"remove":{"embedding":{"node":"b","model":"m"}}}`
	world := batchText{b, vec}
	for _, c := range []sequence{
		{"5.3", "embedding-repeated", "lines of one embedding count each against the one before it",
			[]batchText{world, {vec, vec, vec2, vec2, vec}}},
		{"5.3", "embedding-back", "an embedding that is changed and changed back",
			[]batchText{world, {vec2, vec}}},
		{"5.3", "embedding-repeated-text", "the first line changes the text, the second nothing",
			[]batchText{world, {vec, `{"node":{"key":"b","summary":"S."}}`, vec}}},
		{"5.3", "embedding-new-twice", "a new embedding given twice",
			[]batchText{{b, vec, vec}}},
		{"5.3", "embedding-removed-given", "removed and given again as it was",
			[]batchText{world, {removeVec, vec}}},
		{"5.3", "embedding-given-removed", "lines whose embedding the batch removes count as nothing",
			[]batchText{world, {vec, vec, removeVec, vec2}}},
		{"5.3", "embedding-node-again", "the node removed and made again with the same embedding",
			[]batchText{world, {removeB, b, vec}}},
	} {
		s.batches(c.clause, "apply", c.name, c.title, c.batches...)
	}
}

const markSuperseded = `{"mark":{"node":"a","state":"superseded","by":"b"}}`

// batchMarkCases are marks that replace each other, and such as would hide every node of a circle.
func batchMarkCases(s *suite, a, b string, world batchText) {
	superseded := markSuperseded
	for _, c := range []sequence{
		{"5.2", "mark-itself", "a node superseded by itself", []batchText{{a, b},
			{`{"mark":{"node":"a","state":"superseded","by":"a"}}`}}},
		{"5.2", "mark-circle", "two nodes superseded by each other", []batchText{{a, b},
			{superseded, `{"mark":{"node":"b","state":"superseded","by":"a"}}`}}},
		{"5.2", "mark-circle-later", "in two batches", []batchText{{a, b, superseded},
			{`{"mark":{"node":"b","state":"superseded","by":"a"}}`}}},
		{"5.2", "mark-circle-opened", "not at the end of the batch", []batchText{{a, b, superseded},
			{`{"mark":{"node":"b","state":"superseded","by":"a"}}`, `{"remove":{"mark":{"node":"a"}}}`}}},
		{"5.2", "mark-replaced", "a mark replaces the mark there is", []batchText{world,
			{`{"mark":{"node":"b","state":"forgotten","reason":"asked"}}`}}},
		{"5.2", "mark-time", "another time alone changes nothing", []batchText{world,
			{`{"mark":{"node":"b","state":"stale","time":"2020-01-01"}}`}}},
		{"5.2", "mark-actor", "another actor does", []batchText{world,
			{`{"mark":{"node":"b","state":"stale","actor":"bob"}}`}}},
	} {
		s.batches(c.clause, "apply", c.name, c.title, c.batches...)
	}
}

// bigApply is one long sequence of edits, given by a small generator's seeds.
func bigApply(s *suite) {
	for seed := range 4 {
		r := rng(uint64(seed)*977 + 5)
		var all []string
		for len(all) < 60 {
			all = append(all, randomLine(&r))
		}
		lines := accepted(all)
		s.batches("5.2", "apply", "random-"+itoa(seed), "random lines in one batch", lines)
		var parts []batchText
		for i := 0; i < len(lines); i += 5 {
			parts = append(parts, lines[i:min(i+5, len(lines))])
		}
		s.batchesEvery(0, "5.2", "apply", "random-split-"+itoa(seed),
			"the same in several batches of one time: the same graph", parts...)
	}
}

func randomLine(r *rng) string {
	key := func() string { return string([]byte{byte('a' + r.below(8))}) }
	switch r.below(8) {
	case 0, 1, 2:
		return `{"node":{"key":"` + key() + `","type":"T","props":{"` + key() + `":` +
			itoa(r.below(3)) + `}}}`
	case 3, 4:
		return `{"edge":{"type":"` + key() + `","src":"` + key() + `","dst":"` + key() + `"}}`
	case 5:
		return `{"mark":{"node":"` + key() + `","state":"stale"}}`
	case 6:
		return `{"remove":{"node":"` + key() + `"}}`
	}
	return `{"node":{"type":"N","props":{"n":` + itoa(r.below(3)) + `}}}`
}

// accepted drops every line that would make the batch up to it fail.
func accepted(all []string) []string {
	var lines []string
	for _, l := range all {
		next := append(lines[:len(lines):len(lines)], l)
		if _, _, err := newStore().apply(next, "erin", t0); err == nil {
			lines = next
		}
	}
	return lines
}
