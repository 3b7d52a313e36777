package main

// profiles is a record of profiles.
func profiles(named dict, edit dict) dict {
	return with(dict{"kind": "profile", "v": 1, "profiles": named}, edit)
}

// saying is a profile of some parameters.
func saying(params dict, types ...any) dict {
	p := dict{"params": params}
	if len(types) > 0 {
		p["types"] = types
	}
	return p
}

func profileCases(s *suite) {
	profileRecords(s)
	profileChoices(s)
	profileMerges(s)
	profileBuiltIns(s)
	profileExports(s)
	edgeWeightCases(s)
}

func profileRecords(s *suite) {
	full := saying(dict{"fusion": "score-norm", "weights": dict{"text": 1, "dense:m": 0}, "limit": 5,
		"budget": 0, "expand": 4, "expandTypes": []any{"a", "b"}, "edgeWeights": dict{"owns": 131072},
		"direction": "out", "adjacency": 1000, "show": []any{"key", "times"}, "summaryCap": 0,
		"dedup": true, "mmr": 65536, "order": "time", "spelling": "off",
		"maxExpand": 7, "tokenizer": "cl100k", "community": true, "summarize": 3,
		"feedback": 20}, "A", "B")
	named := func(params dict, types ...any) dict {
		return dict{"profiles": dict{"p": saying(params, types...)}}
	}
	many := func(n int) dict {
		all := dict{}
		for i := range n {
			all["p"+itoa(i)] = saying(dict{})
		}
		return dict{"profiles": all}
	}
	edges := dict{}
	for i := range 65 {
		edges["t"+itoa(i)] = 2
	}
	s.records("profile", profiles(dict{"full": full}, nil), []recordCase{
		{"23.1", "full", "every parameter", "", nil},
		{"23.1", "empty-profile", "a profile that says nothing", "", named(dict{})},
		{"23.1", "default-only", "a default alone", "", dict{"default": "chat", "profiles": dict{}}},
		{"23.1", "most", "64 profiles", "", many(64)},
		{"23.1", "name", "every kind of character in a name", "",
			dict{"profiles": dict{"0aZ._-": saying(dict{})}}},
		{"23.1", "unknown-param", "a parameter of a later version is kept", "",
			named(dict{"someday": dict{"by": "x"}})},
		{"1.3", "unknown-field", "an unknown field survives", "", dict{"zeta": true}},
		{"23.1", "rrf-weights", "parameters that do not go together", "",
			named(dict{"fusion": "rrf", "weights": dict{"text": 1}})},
		{"23.1", "nothing", "neither a profile nor a default", "field", dict{"profiles": dict{}}},
		{"23.1", "profiles-missing", "no map of profiles", "field", dict{"profiles": absent{}}},
		{"23.1", "too-many", "65 profiles", "limit", many(65)},
		{"23.1", "default-name", "a default that is no name", "name", dict{"default": "a b"}},
		{"23.1", "default-empty", "an empty default", "name", dict{"default": ""}},
		{"23.1", "name-first", "a name that begins with a hyphen", "name",
			dict{"profiles": dict{"-a": saying(dict{})}}},
		{"23.1", "name-long", "a name of 65 bytes", "limit",
			dict{"profiles": dict{rep("n", 65): saying(dict{})}}},
		{"23.1", "name-empty", "an empty name", "limit", dict{"profiles": dict{"": saying(dict{})}}},
		{"23.1", "params-missing", "a profile without parameters", "field",
			dict{"profiles": dict{"p": dict{"types": []any{"A"}}}}},
		{"23.1", "params-list", "parameters in a list", "type",
			dict{"profiles": dict{"p": dict{"params": []any{}}}}},
		{"23.1", "field-unknown", "an unknown field of a profile", "field",
			dict{"profiles": dict{"p": dict{"params": dict{}, "zeta": 1}}}},
		{"23.1", "types-empty", "an empty list of types", "limit",
			dict{"profiles": dict{"p": dict{"params": dict{}, "types": []any{}}}}},
		{"23.1", "types-order", "types out of order", "order", named(dict{}, "B", "A")},
		{"23.1", "types-twice", "a type twice", "order", named(dict{}, "A", "A")},
		{"23.1", "types-blank", "an empty type", "limit", named(dict{}, "")},
		{"23.1", "text", "a text", "field", named(dict{"text": "x"})},
		{"23.1", "types-param", "types as a parameter", "field", named(dict{"types": []any{"A"}})},
		{"23.1", "marks", "marks", "field", named(dict{"marks": []any{"retired"}})},
		{"23.1", "profile", "a profile of a profile", "field", named(dict{"profile": "chat"})},
		{"23.1", "limit", "a limit of 1,001", "limit", named(dict{"limit": 1001})},
		{"23.1", "limit-text", "a limit that is a string", "type", named(dict{"limit": "5"})},
		{"23.1", "dedup-false", "a parameter at its default", "default", named(dict{"dedup": false})},
		{"23.1", "fusion-convex", "the default fusion", "default", named(dict{"fusion": "convex"})},
		{"23.1", "show-order", "a list out of order", "order",
			named(dict{"show": []any{"times", "key"}})},
		{"23.1", "edge-one", "an edge type's weight of 1", "default",
			named(dict{"edgeWeights": dict{"owns": 65536}})},
		{"8.1", "edge-most", "an edge type's weight over 16", "limit",
			named(dict{"edgeWeights": dict{"owns": 1048577}})},
		{"8.1", "edge-negative", "a negative weight of an edge type", "limit",
			named(dict{"edgeWeights": dict{"owns": -1}})},
		{"8.1", "edge-many", "65 weights of edge types", "limit", named(dict{"edgeWeights": edges})},
		{"23.1", "param-long", "a parameter's name of 65 bytes", "limit",
			named(dict{rep("p", 65): 1})},
	})
}

// choice adds a request that is resolved by profiles.
func (s *suite) choice(clause, name, title string, rec, gives dict) {
	in := obj{"request": jsonObj(gives)}
	if rec != nil {
		in["profiles"] = pieces(encode(rec))
	}
	want, class := profiled(rec, gives)
	if class != "" {
		s.refuse(clause, "profile-choice", "bad-"+name, title, class, in)
		return
	}
	if vectors, given := want["vectors"].(dict); given {
		of := dict{}
		for model, v := range vectors {
			bytes := []byte{}
			for _, n := range v.([]any) {
				bytes = append(bytes, byte(n.(int64)))
			}
			of[model] = bytes
		}
		want["vectors"] = of
	}
	s.add(clause, "profile-choice", name, title, in, obj{"request": jsonForm(want)})
}

// jsonObj is a map of parameters as JSON has it.
func jsonObj(m dict) obj {
	out := obj{}
	for k, v := range m {
		if d, ok := v.(dict); ok {
			out[k] = jsonObj(d)
			continue
		}
		out[k] = v
	}
	return out
}

func profileChoices(s *suite) {
	n := func(x int64) int64 { return x }
	rec := profiles(dict{
		"team":  saying(dict{"limit": n(5), "adjacency": n(2), "dedup": true}, "Note", "Person"),
		"notes": saying(dict{"limit": n(6), "show": []any{"times"}}, "Note"),
		"also":  saying(dict{"limit": n(7)}, "Note"),
		"mixed": saying(dict{"fusion": "weighted-rrf", "weights": dict{"text": n(65536),
			"dense:m": n(131072), "dense:o": n(1)}}),
		"ranks": saying(dict{"fusion": "rrf", "weights": dict{"text": n(1)}}),
		"edges": saying(dict{"edgeWeights": dict{"owns": n(131072)}}),
		"later": saying(dict{"someday": true}),
		"exact": saying(dict{"spelling": "off", "maxExpand": n(7), "tokenizer": "words",
			"community": true, "summarize": n(3), "feedback": n(5)}),
		"chat": saying(dict{"budget": n(100)}),
	}, dict{"default": "edges"})
	vectors := dict{"m": []any{n(1), n(-2)}}
	for _, c := range []struct {
		name, title string
		rec, gives  dict
	}{
		{"none", "without a record", nil, dict{"text": "a"}},
		{"named", "the one that is named", rec, dict{"text": "a", "profile": "team"}},
		{"built-in", "a built-in one", rec, dict{"text": "a", "profile": "docs"}},
		{"taken-place", "one in the place of a built-in one", rec, dict{"text": "a", "profile": "chat"}},
		{"default", "the default", rec, dict{"text": "a"}},
		{"default-gone", "a default that does not exist", profiles(dict{}, dict{"default": "gone"}),
			dict{"text": "a"}},
		{"default-built-in", "a built-in default", profiles(dict{}, dict{"default": "chat"}),
			dict{"text": "a"}},
		{"default-passed", "the built-in default by name", rec, dict{"text": "a", "profile": "default"}},
		{"default-own", "a profile in the place of default",
			profiles(dict{"default": saying(dict{"limit": n(3)})}, nil), dict{"text": "a"}},
		{"types", "by types: the fewest, then the first", rec,
			dict{"text": "a", "types": []any{"Note"}}},
		{"types-both", "by types: all of them", rec,
			dict{"text": "a", "types": []any{"Person", "Note"}}},
		{"types-other", "types that none has", rec,
			dict{"text": "a", "types": []any{"Note", "Boat"}}},
		{"types-named", "a name before types", rec,
			dict{"text": "a", "types": []any{"Note"}, "profile": "chat"}},
		{"given", "what a request gives holds", rec,
			dict{"text": "a", "profile": "team", "limit": n(9)}},
		{"given-default", "also where it gives the default", rec, dict{"text": "a", "profile": "team",
			"limit": n(10), "adjacency": n(0), "dedup": false}},
		{"given-list", "a list replaces the whole list", rec,
			dict{"text": "a", "profile": "notes", "show": []any{"key"}}},
		{"given-empty", "also an empty one", rec,
			dict{"text": "a", "profile": "notes", "show": []any{}}},
		{"weights", "weights of lanes that the request has", rec,
			dict{"text": "a", "vectors": vectors, "profile": "mixed"}},
		{"weights-one-lane", "no weights where there is one lane", rec,
			dict{"text": "a", "profile": "mixed"}},
		{"weights-rrf", "no weights in rrf", rec,
			dict{"text": "a", "vectors": vectors, "profile": "ranks"}},
		{"weights-given-rrf", "no weights where the request asks for rrf", rec,
			dict{"text": "a", "vectors": vectors, "profile": "mixed", "fusion": "rrf"}},
		{"weights-given", "no rrf where the request gives weights", rec,
			dict{"text": "a", "vectors": vectors, "profile": "ranks", "weights": dict{"text": n(5)}}},
		{"edges-blank", "no weights of edge types where the request is blank", rec, dict{"text": " "}},
		{"edges-vector", "but where it has a vector alone", rec, dict{"vectors": vectors}},
		{"edges-expand", "no weights of edge types without expansion", rec,
			dict{"text": "a", "expand": n(0)}},
		{"spelling", "without spelling", rec, dict{"text": "a", "profile": "exact"}},
		{"spelling-given", "with spelling all the same", rec,
			dict{"text": "a", "profile": "exact", "spelling": "on"}},
		{"unknown", "a name that there is none of", rec, dict{"text": "a", "profile": "gone"}},
		{"name", "what is no name", rec, dict{"text": "a", "profile": "a b"}},
		{"later", "a parameter of a later version", rec, dict{"text": "a", "profile": "later"}},
	} {
		s.choice("23.2", c.name, c.title, c.rec, c.gives)
	}
	profileLanes(s)
}

// profileLanes are the weights of lanes that a request may not have, or has where they are weighed.
func profileLanes(s *suite) {
	rec := profiles(dict{
		"names": saying(dict{"weights": dict{"text": int64(9), "entity": int64(8), "sparse:s": int64(7)}}),
		"quiet": saying(dict{"weights": dict{"text": int64(0), "entity": int64(0), "sparse:s": int64(7)}}),
	}, nil)
	sparse := dict{"s": dict{"a": int64(1)}}
	for _, c := range []struct {
		name, title string
		gives       dict
	}{
		{"lanes-entity", "the entity lane beside the text", dict{"text": "a", "profile": "names"}},
		{"lanes-sparse", "a sparse lane too", dict{"text": "a", "profile": "names", "sparse": sparse}},
		{"lanes-blank", "a sparse lane alone", dict{"profile": "names", "sparse": sparse}},
		{"lanes-off", "the entity lane off is none", dict{"text": "a", "profile": "quiet"}},
		{"lanes-two", "nor beside two", dict{"text": "a", "profile": "quiet", "sparse": sparse}},
	} {
		s.choice("23.2", c.name, c.title, rec, c.gives)
	}
}

func profileBuiltIns(s *suite) {
	for _, name := range []string{"chat", "code", "default", "docs"} {
		s.choice("23.4", "built-in-"+name, "the built-in profile "+name, nil,
			dict{"text": "a", "profile": name})
	}
}

func profileMerges(s *suite) {
	p := func(params dict, types ...any) dict {
		return profiles(dict{"p": saying(params, types...)}, nil)
	}
	a, b, c := dict{"limit": int64(1)}, dict{"limit": int64(2)}, dict{"limit": int64(3)}
	more := dict{"limit": int64(1), "budget": int64(9)}
	named := func(from, to int) dict {
		all := dict{}
		for i := from; i < to; i++ {
			all["p"+itoa(i)] = saying(dict{})
		}
		return profiles(all, nil)
	}
	on := func(name string) dict { return profiles(dict{}, dict{"default": name}) }
	for _, m := range []struct {
		name, title        string
		base, ours, theirs dict
	}{
		{"one-side", "one side changed a parameter", p(a), p(b), p(a)},
		{"both-same", "both the same", p(a), p(b), p(b)},
		{"two-params", "two parameters of one profile", p(a), p(b), p(more)},
		{"conflict", "one parameter, differently", p(a), p(b), p(c)},
		{"unset", "one unset what the other changed", p(a), p(dict{}), p(c)},
		{"types", "types are one value", p(a, "A"), p(a, "A", "B"), p(a, "A", "C")},
		{"added", "profiles of two names", nil, p(a), profiles(dict{"q": saying(b)}, nil)},
		{"added-both", "one name on both sides", nil, p(more), p(b)},
		{"removed", "one removed what the other left alone", p(a), on("chat"), p(a)},
		{"removed-changed", "one removed what the other changed", p(a), on("chat"), p(b)},
		{"removed-record", "one removed all", p(a), nil, p(b)},
		{"removed-both", "each removed one of two",
			profiles(dict{"p": saying(a), "q": saying(a)}, nil), p(a),
			profiles(dict{"q": saying(a)}, nil)},
		{"default", "the default is a field", on("chat"), on("docs"), on("code")},
		{"default-one", "of which one side changed it", on("chat"), on("docs"), on("chat")},
		{"unknown", "unknown fields", profiles(dict{}, dict{"x": int64(1)}),
			profiles(dict{}, dict{"x": int64(2)}), profiles(dict{}, dict{"x": int64(1), "y": int64(1)})},
		{"too-many", "together too many", nil, named(0, 40), named(30, 70)},
	} {
		in := obj{}
		for side, rec := range map[string]dict{"base": m.base, "ours": m.ours, "theirs": m.theirs} {
			if rec != nil {
				in[side] = pieces(encode(rec))
			}
		}
		expect := obj{}
		for _, t := range []take{"ours", "theirs", "base"} {
			rec, conflicts := mergedProfiles(t, m.base, m.ours, m.theirs)
			expect["conflicts"], expect["taking-"+string(t)] = conflicts, ""
			if rec != nil {
				expect["taking-"+string(t)] = recordCID(rec).String()
			}
		}
		s.add("23.3", "profile-merge", m.name, m.title, in, expect)
	}
}

func edgeWeightCases(s *suite) {
	typed := func(typ, from, to, weight string) string {
		return `{"edge":{"type":"` + typ + `","src":"` + from + `","dst":"` + to + `","weight":` +
			weight + `}}`
	}
	lines := wired("abcde", typed("owns", "a", "b", "0.9"), typed("likes", "a", "c", "0.9"),
		typed("owns", "b", "d", "1"), typed("likes", "c", "e", "0.3"))
	weigh := func(n int64, weights map[string]int64) request {
		q := everything("worda")
		q.expand, q.edgeWeights = n, weights
		return q
	}
	by := func(way string, n int64, weights map[string]int64) request {
		q := reaching(way, "worda", n)
		q.limit, q.budget, q.edgeWeights = 0, 0, weights
		return q
	}
	for _, c := range []struct {
		name, title string
		q           request
	}{
		{"edge-weight", "one type counts twice", weigh(2, map[string]int64{"owns": 131072})},
		{"edge-weight-both", "weights that round down",
			weigh(3, map[string]int64{"owns": 1, "likes": 98765})},
		{"edge-weight-zero", "a type that lends nothing", weigh(2, map[string]int64{"owns": 0})},
		{"edge-weight-most", "the greatest weight", weigh(4, map[string]int64{"owns": 1 << 20})},
		{"edge-weight-one", "a weight of 1 says nothing", weigh(2, map[string]int64{"owns": 65536})},
		{"edge-weight-decay", "paths over one type, and none that gains by its weight",
			by("decay", 3, map[string]int64{"owns": 1 << 20, "likes": 40000})},
		{"edge-weight-ppr", "mass goes where the weight is",
			by("ppr", 5, map[string]int64{"owns": 196608})},
		{"edge-weight-ppr-zero", "links without weight", by("ppr", 5, map[string]int64{"owns": 0, "likes": 0})},
		{"edge-weight-other", "a type that there is none of", weigh(2, map[string]int64{"x": 2})},
	} {
		s.retrieval("10", "expand", c.name, c.title, c.q, false, lines)
	}
	blank := weigh(3, map[string]int64{"owns": 2})
	blank.text = " "
	s.retrieval("11.1", "pack", "edge-weights-blank", "weights of edge types of a blank request", blank,
		true, lines)
	s.retrieval("11.1", "pack", "edge-weights-no-expand", "weights of edge types without expansion",
		weigh(0, map[string]int64{"owns": 2}), true, lines)
}

// profileExports are files of memories with profiles.
func profileExports(s *suite) {
	first, second := quay()
	branch := dict{"scope": "revision", "head": "refs/heads/main"}
	record := profiles(dict{"team": saying(dict{"limit": int64(5)}, "Person")}, nil)
	build := func(sh world, profile link) (one, two link) {
		one = sh.addCommit(first, dict{"profile": profile})
		return one, sh.addCommit(second, dict{"profile": profile, "parents": []any{one}, "height": 2,
			"time": t0 + 5})
	}
	w := world{shelf: shelf{}}
	one, two := build(w, w.add(record))
	refs := map[string]link{"refs/heads/main": two}
	file, order := w.file(refs, branch)
	s.add("18.3", "car", "profile", "a branch with profiles", obj{"file": pieces(file)},
		obj{"blocks": names(order), "refs": refsOf(refs), "export": obj{"rev": "main"}})
	w = world{shelf: shelf{}}
	build(w, w.add(record))
	before, _ := w.file(map[string]link{"refs/heads/main": one}, branch)
	w = world{shelf: shelf{}}
	build(w, w.add(record))
	file, order = w.file(refs, dict{"scope": "range", "head": "refs/heads/main",
		"since": ascendingLinks(one)})
	s.add("18.3", "car", "profile-range", "a range whose profiles the older commit has",
		obj{"before": pieces(before), "file": pieces(file)},
		obj{"blocks": names(order), "refs": refsOf(refs),
			"export": obj{"rev": one.String() + "..main"}})
	w = world{shelf: shelf{}}
	_, two = build(w, w.add(dict{"kind": "tag", "v": 1}))
	file, _ = w.file(map[string]link{"refs/heads/main": two}, branch)
	s.refuse("18.5", "car", "bad-profile-kind", "profiles of another kind", "type",
		obj{"file": pieces(file)})
	w = world{shelf: shelf{}}
	_, two = build(w, recordCID(record))
	file, _ = w.file(map[string]link{"refs/heads/main": two}, branch)
	s.refuse("18.5", "car", "bad-profile-missing", "profiles that are not in the file", "missing",
		obj{"file": pieces(file)})
}
