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
	profileContradicts(s)
	profileMerges(s)
	profileExports(s)
}

func profileRecords(s *suite) {
	full := saying(dict{"fusion": "score-norm", "weights": dict{"text": 1, "dense:m": 0}, "limit": 5,
		"budget": 0, "expand": 4, "expandTypes": []any{"a", "b"}, "edgeWeights": dict{"owns": 131072},
		"direction": "out", "adjacency": 1000, "show": []any{"key", "times"}, "summaryCap": 0,
		"dedup": true, "order": "time", "spelling": "off",
		"maxExpand": 7, "tokenizer": "cl100k", "community": true,
		"expansion": "ppr", "decay": 1, "damping": 65535, "pack": "passages", "passageTokens": 256,
		"altitude": "auto"}, "A", "B")
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
		{"23.1", "rerank", "a reranker", "field", named(dict{"rerank": "m"})},
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
		{"23.1", "floor", "a floor", "", named(dict{"floor": "rest"})},
		{"23.1", "floor-default", "a floor at its default", "default", named(dict{"floor": "maybe"})},
		{"23.1", "format-own", "a form, which no profile has", "field", named(dict{"format": "brief"})},
		{"23.1", "ranking", "a ranking is no parameter that is read", "", named(dict{"ranking": 1})},
		{"23.1", "param-long", "a parameter's name of 65 bytes", "limit",
			named(dict{rep("p", 65): 1})},
	})
}

// profileContradicts are profiles whose parameters do not go together.
func profileContradicts(s *suite) {
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
