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
		"expansion": "ppr", "decay": 1, "damping": 65535, "pack": "passages", "passageTokens": 256,
		"feedback": 20, "altitude": "auto"}, "A", "B")
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
		{"23.1", "apart", "parameters without those that they go with", "",
			named(dict{"expand": 64, "decay": 65536, "damping": 1, "passageTokens": 65536})},
		{"23.1", "expand-most", "65 rounds", "limit", named(dict{"expand": 65})},
		{"23.1", "expansion-lend", "the default expansion", "default", named(dict{"expansion": "lend"})},
		{"23.1", "expansion-other", "an expansion that is none", "field",
			named(dict{"expansion": "pagerank"})},
		{"23.1", "decay-default", "the default of decay", "default", named(dict{"decay": 45875})},
		{"23.1", "damping-one", "a damping of 1", "limit", named(dict{"damping": 65536})},
		{"23.1", "pack-whole", "texts shown whole, which receipts leave out", "", named(dict{"pack": "whole"})},
		{"23.1", "pack-auto", "the default, which they have", "", named(dict{"pack": "auto", "passageTokens": 64})},
		{"23.1", "passage-tokens-none", "no tokens", "limit", named(dict{"passageTokens": 0})},
		{"23.1", "rerank", "a reranker", "field", named(dict{"rerank": "local"})},
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
	profileTogether(s)
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

// profileTogether are parameters that go with each other alone.
func profileTogether(s *suite) {
	n := func(x int64) int64 { return x }
	rec := profiles(dict{
		"ranks":  saying(dict{"expansion": "ppr", "expand": n(30), "damping": n(9)}),
		"paths":  saying(dict{"expansion": "decay", "expand": n(1), "decay": n(9)}),
		"rounds": saying(dict{"expand": n(1), "edgeWeights": dict{"owns": n(131072)}}),
		"none":   saying(dict{"expand": n(0), "edgeWeights": dict{"owns": n(131072)}}),
		"parts":  saying(dict{"pack": "passages", "passageTokens": n(9)}),
		"usual":  saying(dict{"pack": "passages"}),
		"apart": saying(dict{"expand": n(30), "decay": n(9), "damping": n(9),
			"passageTokens": n(9)}),
		"mixed": saying(dict{"expansion": "decay", "expand": n(30), "decay": n(9), "damping": n(9)}),
		"off":   saying(dict{"weights": dict{"text": n(0), "dense:m": n(0), "time": n(7)}}),
	}, nil)
	vectors := dict{"m": []any{n(1), n(-2)}}
	for _, name := range sortedNames(rec["profiles"].(dict)) {
		for way, gives := range map[string]dict{"": {}, "-lend": {"expansion": "lend"},
			"-decay": {"expansion": "decay"}, "-ppr": {"expansion": "ppr"}} {
			gives["text"], gives["profile"] = "a", name
			s.choice("23.2", "together-"+name+way, "a profile and an expansion: "+name+way, rec, gives)
		}
	}
	for _, c := range []struct {
		name, title string
		gives       dict
	}{
		{"ranks-expand", "rounds of the profile's expansion", dict{"profile": "ranks", "expand": n(40)}},
		{"ranks-low", "its damping with other rounds", dict{"profile": "ranks", "expand": n(0)}},
		{"ranks-damping", "a damping for the profile's expansion",
			dict{"profile": "ranks", "damping": n(5)}},
		{"ranks-decay", "what goes with another expansion", dict{"profile": "ranks", "decay": n(5)}},
		{"ranks-lend-expand", "too many rounds for the expansion that the request gives",
			dict{"profile": "ranks", "expansion": "lend", "expand": n(5)}},
		{"ranks-default", "a damping at its default", dict{"profile": "ranks", "damping": n(55706)}},
		{"default-damping", "a damping without its expansion", dict{"damping": n(5)}},
		{"default-expand", "too many rounds", dict{"expand": n(5)}},
		{"mixed-expand", "rounds in the place of too many", dict{"profile": "mixed", "expand": n(2)}},
		{"parts-whole", "texts shown whole", dict{"profile": "parts", "pack": "whole"}},
		{"parts-tokens", "tokens for the profile's passages",
			dict{"profile": "usual", "passageTokens": n(5)}},
		{"parts-pack", "passages of the request, tokens of the profile",
			dict{"profile": "apart", "pack": "passages"}},
		{"parts-both", "passages of both", dict{"profile": "parts", "pack": "passages"}},
		{"default-tokens", "tokens without passages", dict{"passageTokens": n(5)}},
		{"off-lanes", "weights that leave no lane", dict{"profile": "off", "vectors": vectors}},
	} {
		c.gives["text"] = "a"
		s.choice("23.2", "together-"+c.name, c.title, rec, c.gives)
	}
	s.add("23.1", "profile-contradicts", "together", "profiles that contradict themselves",
		obj{"profiles": pieces(encode(rec))}, obj{"names": contradicting(rec)})
	rec = profiles(dict{
		"later": saying(dict{"someday": true}),
		"ranks": saying(dict{"fusion": "rrf", "weights": dict{"time": n(1)}}),
		"text":  saying(dict{"fusion": "rrf", "weights": dict{"text": n(1)}}),
		"few":   saying(dict{"expand": n(4)}),
		"many":  saying(dict{"expand": n(5)}),
		"paths": saying(dict{"expand": n(5), "expansion": "decay"}),
		"ppr":   saying(dict{"expand": n(5), "expansion": "ppr", "decay": n(5)}),
	}, nil)
	s.add("23.1", "profile-contradicts", "others", "and others that do not",
		obj{"profiles": pieces(encode(rec))}, obj{"names": contradicting(rec)})
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
		{"apart", "one took out what the other set more for", p(dict{"expansion": "ppr"}), p(dict{}),
			p(dict{"expansion": "ppr", "damping": int64(9)})},
		{"apart-other", "one changed what the other set more for", p(dict{"expansion": "ppr"}),
			p(dict{"expansion": "decay"}), p(dict{"expansion": "ppr", "expand": int64(30)})},
		{"apart-both", "each its own expansion", nil, p(dict{"expansion": "decay", "decay": int64(9)}),
			p(dict{"expansion": "ppr", "damping": int64(9), "pack": "passages"})},
		{"apart-pack", "passages taken out, and their tokens changed",
			p(dict{"pack": "passages", "passageTokens": int64(9)}), p(dict{}),
			p(dict{"pack": "passages", "passageTokens": int64(8)})},
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
