package main

// cueCases has cues of nodes: in records, lines and history.
func cueCases(s *suite) {
	cues := func(list ...string) dict { return dict{"cues": anyList(list)} }
	s.records("node", baseNode(), []recordCase{
		{"3.2", "cues", "cues, in their order", "", cues("who runs the port", "Hafen", "港")},
		{"3.2", "cues-12", "12 cues", "", cues(manyCues(12)...)},
		{"3.2", "cues-13", "13 cues", "limit", cues(manyCues(13)...)},
		{"3.2", "cues-none", "an empty list of cues", "limit", cues()},
		{"3.2", "cue-256", "a cue of 256 bytes", "", cues(rep("é", 128))},
		{"3.2", "cue-257", "a cue of 257 bytes", "limit", cues(rep("é", 128) + "x")},
		{"3.2", "cue-empty", "an empty cue", "limit", cues("a", "")},
		{"3.2", "cue-twice", "two equal cues", "limit", cues("a", "b", "a")},
		{"3.2", "cue-alike", "cues that differ in case", "", cues("a", "A")},
		{"3.2", "cue-control", "a control character in a cue", "name", cues("a\u0085b")},
		{"3.2", "cue-delete", "another one", "name", cues("a\u007f")},
		{"3.2", "cue-space", "U+00A0 is none", "", cues("a\u00a0b")},
		{"3.2", "cue-number", "a cue that is a number", "type", dict{"cues": []any{int64(1)}}},
		{"3.2", "cues-text", "cues that are a string", "type", dict{"cues": "a"}},
	})
	cueLines(s)
	cueHistory(s)
}

func cueLines(s *suite) {
	node := func(rest string) string { return `{"node":{"key":"a"` + rest + `}}` }
	rich := node(`,"type":"T","summary":"S.","cues":["x","y"]`)
	for _, c := range []struct{ name, title, cues string }{
		{"cues", "cues", `["two words","x"]`},
		{"cues-empty", "no cues", `[]`},
		{"bad-cues-13", "13 cues", jsonForm(anyList(manyCues(13)))},
		{"bad-cues-twice", "a cue twice", `["x","x"]`},
		{"bad-cues-line", "a cue of two lines", `["x\ny"]`},
		{"bad-cues-string", "cues that are a string", `"x"`},
		{"bad-cues-item", "a cue that is a number", `[1]`},
		{"bad-cues-blank", "an empty cue", `[""]`},
	} {
		s.batches("5.1", "changes", c.name, c.title,
			batchText{node(`,"type":"T","cues":` + c.cues)})
	}
	embedded := func(model string) string {
		return `{"embedding":{"node":"a","model":"` + model + `","vector":[1,2]}}`
	}
	for _, c := range []sequence{
		{"5.2", "cues-replace", "given cues replace", []batchText{{rich}, {node(`,"cues":["y","z"]`)}}},
		{"5.2", "cues-order", "another order is a change", []batchText{{rich},
			{node(`,"cues":["y","x"]`)}}},
		{"5.2", "cues-keep", "cues not given stay", []batchText{{rich}, {node(`,"summary":"N."`)}}},
		{"5.2", "cues-empty", "an empty list removes", []batchText{{rich}, {node(`,"cues":[]`)}}},
		{"5.2", "cues-unset", "unset removes, after what is given", []batchText{{rich},
			{node(`,"cues":["z"],"unset":["cues"]`)}}},
		{"5.2", "cues-dropped", "replace drops them", []batchText{{rich},
			{node(`,"replace":true,"summary":"S."`)}}},
		{"5.2", "cues-edge", "an edge has none", []batchText{{rich,
			`{"edge":{"type":"t","src":"a","dst":"a","unset":["cues"]}}`}}},
		{"4.1", "cues-fact", "cues are part of a fact", []batchText{
			{`{"node":{"type":"N","cues":["x"]}}`, `{"node":{"type":"N","cues":["y"]}}`},
			{`{"node":{"type":"N","cues":["x"]}}`}}},
		{"3.6", "cues-embedded", "cues are in the embedded text, each on a line", []batchText{
			{rich, embedded("m")}, {node(`,"unset":["cues"]`), embedded("n")}}},
		{"3.6", "props-embedded", "properties that are strings are in it, by name, in their order", []batchText{
			{node(`,"type":"T","summary":"S.","cues":["x"],"props":{"team":"Ü","at":"now","n":1,"list":["a"],"no":""}`),
				embedded("m")},
			{node(`,"props":{"team":"V"}`), embedded("n")}, {node(`,"unset":["props.team","props.at"]`), embedded("o")}}},
	} {
		s.batches(c.clause, "apply", c.name, c.title, c.batches...)
	}
}

// cueHistory merges cues.
func cueHistory(s *suite) {
	n := func(rest string) string { return `{"node":{"key":"n","type":"T"` + rest + `}}` }
	s.three("14.2", "cues-apart", "cues and another field merge",
		batchText{n(`,"cues":["x"]`)}, batchText{n(`,"cues":["x","y"]`)}, batchText{n(`,"context":"C"`)})
	s.three("14.2", "cues-both", "cues are one value",
		batchText{n(`,"cues":["x"]`)}, batchText{n(`,"cues":["x","y"]`)}, batchText{n(`,"cues":["z"]`)})
}

func manyCues(n int) []string {
	var out []string
	for i := range n {
		out = append(out, "cue "+itoa(i))
	}
	return out
}
