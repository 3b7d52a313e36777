package main

import (
	"fmt"
	"slices"
)

// asked is the field request of a receipt (13.1): every parameter that is in each of them, at its default, and edit.
func asked(text string, edit dict) dict {
	return with(dict{"text": cidOf(codecRaw, []byte(text)), "limit": 10, "budget": 2000, "expand": 3, "direction": "both",
		"adjacency": 0, "summaryCap": 8192}, edit)
}

// nodeCalled is a node with a key.
func nodeCalled(key string) dict {
	return with(baseNode(), dict{"key": key, "id": []byte(nodeIDOfKey(key))})
}

// receiptOf is a receipt of a request for a commit that packed some nodes.
func receiptOf(request dict, commit link, nodes ...dict) dict {
	items, tokens := []any{}, 0
	for i, node := range nodes {
		text := cidOf(codecRaw, []byte("ntype: T\nid: "+uuid(string(node["id"].([]byte)))+"\n"))
		items = append(items, dict{"id": node["id"], "node": recordCID(node), "score": 65536 - 1000*i, "tokens": 14 + i,
			"rendered": []byte(text[4:])})
		tokens += 14 + i
	}
	return dict{"kind": "receipt", "v": 1, "commits": []any{commit}, "request": request, "items": items,
		"tokens": tokens, "dropped": 0, "candidates": len(nodes), "warnings": []any{},
		"engine": dict{"analyser": 1, "language": "en", "ranking": 1}}
}

// receiptOn is a receipt without items.
func receiptOn(request dict) dict { return receiptOf(request, recordCID(baseCommit(nil))) }

// parameterCase is one value of a parameter, as of a receipt.
type parameterCase struct {
	clause, name, title, class string
	value                      any
}

// parameters adds receipts that have one value of a parameter each.
func (s *suite) parameters(parameter string, list []parameterCase) {
	var all []recordCase
	for _, c := range list {
		all = append(all, recordCase{c.clause, c.name, c.title, c.class,
			dict{"request": asked("tide", dict{parameter: c.value})}})
	}
	s.records("receipt", receiptOn(asked("tide", nil)), all)
}

func receiptCases(s *suite) {
	s.records("receipt", receiptOn(asked("tide", nil)), []recordCase{
		{"13.1", "record", "a receipt without items", "", nil},
		{"13.1", "unknown-field", "an unknown field survives", "", dict{"zeta": 1}},
		{"13.1", "other-engine", "the request of another engine is kept as it is", "",
			dict{"engine": dict{"analyser": 2, "language": "de", "ranking": 7},
				"request": dict{"sorcery": true, "text": cidOf(codecRaw, nil)}}},
		{"13.1", "request-text", "a request of another engine without the link to its text", "field",
			dict{"engine": dict{"analyser": 2, "language": "de", "ranking": 7},
				"request": dict{"sorcery": true}}},
		{"13.1", "engine-field", "an unknown field of the engine", "field",
			dict{"engine": dict{"analyser": 1, "language": "en", "ranking": 1, "zeta": 1}}},
		{"13.1", "engine-missing", "no engine", "field", dict{"engine": absent{}}},
		{"13.1", "engine-negative", "a ranking below 0", "field",
			dict{"engine": dict{"analyser": 1, "language": "en", "ranking": -1}}},
		{"13.1", "warning-field", "an unknown field of a warning", "field",
			dict{"warnings": []any{dict{"code": "no_terms", "zeta": 1}}}},
		{"13.1", "items-missing", "no items", "field", dict{"items": absent{}}},
		{"13.1", "item-short", "an item without its node", "field",
			dict{"items": []any{dict{"id": []byte(nodeIDOfKey("alice"))}}}},
		{"13.1", "tokens-sum", "tokens that are not those of the items", "field", dict{"tokens": 1}},
		{"13.1", "candidates-few", "fewer candidates than were dropped", "field", dict{"dropped": 2, "candidates": 1}},
	})
	full := receiptOf(asked("tide harbour boats", dict{
		"types": []any{"Person", "Place"}, "marks": []any{"superseded"}, "createdFrom": t0 - 9, "updatedFrom": t0 - 8,
		"validAt": t0, "expand": 2, "expandTypes": []any{"knows"}, "direction": "out", "adjacency": 3,
		"show": []any{"key", "times"}, "summaryCap": 20, "exclude": []any{[]byte(nodeIDOfKey("kelp"))}, "unseenFrom": 3,
		"dedup": true, "order": "time", "fusion": "weighted-rrf", "weights": dict{"text": 70000, "dense:m": 0},
		"vectors": dict{"m": []byte{127, 193, 0}}, "sparse": dict{"s": dict{"tide": 65536}}, "community": true,
		"rewrites": []any{cidOf(codecRaw, []byte("high water"))}, "rewrite": "multi", "rerank": "jina:m", "rerankTop": 9,
		"reranked": []any{dict{"id": []byte(nodeIDOfKey("alice")), "score": -900}},
		"now":      t0, "days": []any{dict{"from": t0 - 9}, dict{"from": t0, "to": t0 + 90}, dict{"to": t0}},
		"where": []any{dict{"name": "age", "op": ">", "value": 40}, dict{"name": "owns", "op": "exists", "edges": "out"}},
	}), recordCID(baseCommit(nil)), nodeCalled("alice"), nodeCalled("dock/north"))
	s.records("receipt", full, []recordCase{{"13.1", "full", "most parameters, and two items", "", nil}})
	s.records("receipt", receiptOn(asked("tide", nil)), []recordCase{
		{"13.1", "decay", "best paths", "", dict{"request": asked("tide", dict{"expansion": "decay", "decay": 32768,
			"maxExpand": 7, "format": "brief", "spelling": "off", "intent": "why"})}},
		{"13.1", "ppr", "PageRank", "", dict{"request": asked("tide", dict{"expansion": "ppr", "expand": 20, "damping": 32768,
			"pack": "passages", "passageTokens": 40})}},
		{"13.1", "decay-alone", "what goes with another expansion", "field",
			dict{"request": asked("tide", dict{"decay": 32768})}},
	})
	differences(s)
	parameterCases(s)
	vectorParameters(s)
}

// differences are pairs of receipts and the first thing in which they differ (13.3).
func differences(s *suite) {
	old := receiptOf(asked("tide boat", nil), recordCID(baseCommit(nil)), nodeCalled("alice"), nodeCalled("bob"),
		nodeCalled("kelp"))
	items := old["items"].([]any)
	item := func(n int, field string, v any) []any {
		list := append([]any{}, items...)
		list[n] = with(items[n].(dict), dict{field: v})
		return list
	}
	engine := dict{"analyser": 1, "language": "none", "ranking": 1}
	other := []any{recordCID(baseCommit(dict{"message": "other"}))}
	for _, c := range []struct {
		name, title string
		edit        dict
		item        int
		field       string
	}{
		{"commits", "another commit comes first", dict{"commits": other, "engine": engine}, -1, "commits"},
		{"engine", "then another engine", dict{"engine": engine, "request": asked("x", nil)}, -1, "engine"},
		{"request", "then another request", dict{"request": asked("x", nil), "items": item(0, "score", 1)}, -1, "request"},
		{"node", "then the items in order", dict{"items": item(1, "node", recordCID(baseNode())),
			"candidates": 99}, 1, "node"},
		{"score", "a score", dict{"items": item(2, "score", 1)}, 2, "score"},
		{"rendered", "the text", dict{"items": item(0, "rendered", make([]byte, 32))}, 0, "rendered"},
		{"candidates", "then the rest", dict{"candidates": 99}, -1, "candidates"},
		{"dropped", "dropped nodes", dict{"dropped": 7, "candidates": 99}, -1, "dropped"},
		{"warnings", "warnings", dict{"warnings": []any{dict{"code": "no_terms"}}}, -1, "warnings"},
	} {
		s.add("13.3", "receipt", "different-"+c.name, c.title, obj{"before": hx(encode(old)),
			"after": hx(encode(with(old, c.edit)))}, obj{"item": c.item, "field": c.field})
	}
}

func parameterCases(s *suite) {
	s.parameters("floor", []parameterCase{
		{"13.1", "floor-record", "a floor", "", "rest"},
		{"13.1", "floor-default", "the default is left out", "field", "maybe"},
		{"8.1", "floor-unknown", "no band", "field", "most"},
		{"13.1", "floor-empty", "an empty one", "field", ""},
		{"13.1", "floor-number", "another kind", "field", 1},
	})
	s.parameters("days", []parameterCase{
		{"8.1", "days-none", "an empty list is left out", "field", []any{}},
		{"8.1", "days-open", "a day without a beginning and an end", "field", []any{dict{}}},
		{"8.1", "days-empty", "nothing between both", "field", []any{dict{"from": t0, "to": t0}}},
		{"8.1", "days-many", "more than there may be", "field", slices.Repeat([]any{dict{"from": t0}}, 9)},
		{"8.1", "days-field", "an unknown field", "field", []any{dict{"from": t0, "zone": "UTC"}}},
		{"8.1", "days-text", "a time as text", "field", []any{dict{"from": "2026-11-22"}}},
	})
	s.parameters("format", []parameterCase{
		{"13.1", "format-default", "the default form is left out", "field", "yaml"},
		{"8.1", "format-unknown", "no form", "field", "json"},
		{"13.1", "format-bool", "another kind", "field", true},
	})
	s.parameters("fusion", []parameterCase{
		{"8.1", "fusion-other", "no such fusion", "field", "max"},
		{"13.1", "fusion-convex", "convex is left out", "field", "convex"},
	})
	s.parameters("weights", []parameterCase{
		{"8.1", "weights-most", "the largest weight and the least", "", dict{"text": 1 << 20, "dense:m": 0}},
		{"8.1", "weights-more", "a larger one", "field", dict{"text": 1<<20 + 1}},
		{"8.1", "weights-negative", "a negative one", "field", dict{"text": -1}},
		{"8.1", "weights-lane", "no such lane", "field", dict{"recency": 1}},
		{"8.1", "weights-dense", "a dense lane of no model", "field", dict{"dense:": 1}},
		{"8.1", "weights-new", "weights of the sparse and the time lane", "", dict{"time": 1, "sparse:m": 2}},
		{"8.1", "weights-sparse", "a sparse lane of no model", "field", dict{"sparse:": 1}},
		{"13.1", "weights-float", "a weight that is no integer", "field", dict{"text": 1.5}},
	})
	s.records("receipt", receiptOn(asked("tide", nil)), []recordCase{{"8.1", "weights-rrf", "weights where lanes count alike",
		"field", dict{"request": asked("tide", dict{"weights": dict{"text": 1}, "fusion": "rrf"})}}})
	s.parameters("pairs", []parameterCase{
		{"13.1", "pairs-on", "something followed", "", "on"},
		{"13.1", "pairs-off", "absent says so", "field", "off"},
		{"8.1", "pairs-unknown", "neither on nor off", "field", "maybe"},
	})
	s.parameters("intent", []parameterCase{
		{"13.1", "intent-auto", "it is read before", "field", "auto"},
		{"13.1", "intent-empty", "none is left out", "field", ""},
		{"8.1", "intent-unknown", "an unknown one", "field", "how"},
		{"13.1", "intent-number", "another kind", "field", 3},
	})
	s.parameters("spelling", []parameterCase{
		{"13.1", "spelling-on", "the default is left out", "field", "on"},
		{"8.1", "spelling-other", "no such value", "field", "maybe"},
		{"13.1", "spelling-bool", "another kind", "field", false},
	})
	predicate := func(name, op string, value any) []any {
		return []any{with(dict{"name": name, "op": op}, dict{"value": value})}
	}
	s.parameters("where", []parameterCase{
		{"8.2", "where-prefix", "a prefix", "", predicate("role", "prefix", "Team")},
		{"8.2", "where-op", "no such operator", "field", predicate("age", "~", 1)},
		{"8.2", "where-in", "in what is no list", "field", predicate("age", "in", 1)},
		{"8.2", "where-order", "an order of truths", "field", predicate("open", "<", true)},
		{"8.2", "where-exists", "a value of what only exists", "field", predicate("age", "exists", 1)},
		{"8.2", "where-missing", "no value to compare with", "field", predicate("age", "=", absent{})},
	})
}

// vectorParameters has query vectors; a receipt keeps their quantised numbers.
func vectorParameters(s *suite) {
	terms := func(n, length int) dict {
		out := dict{}
		for i := range n {
			out[fmt.Sprintf("%0*d", length, i)] = 1
		}
		return out
	}
	nine, few, full, over := dict{}, dict{}, dict{}, dict{}
	for i := range 9 {
		nine[fmt.Sprint("m", i)], few[fmt.Sprint("m", i)] = []byte{1}, dict{"a": 1}
	}
	for i := range 8 {
		full[fmt.Sprint("m", i)], over[fmt.Sprint("m", i)] = terms(1024, 8), terms(1024, 8)
	}
	over["m7"] = with(terms(1023, 8), dict{"000000000": 1})
	s.parameters("vectors", []parameterCase{
		{"8.1", "vectors-128", "a vector with -128", "field", dict{"m": []byte{0x80, 1}}},
		{"8.1", "vectors-zeros", "a vector of zeros", "field", dict{"m": []byte{0, 0}}},
		{"8.1", "vectors-none", "a vector without dimensions", "field", dict{"m": []byte{}}},
		{"8.1", "vectors-65536", "the most dimensions", "", dict{"m": []byte(rep("\x01", 65536))}},
		{"8.1", "vectors-65537", "a dimension more", "field", dict{"m": []byte(rep("\x01", 65537))}},
		{"8.1", "vectors-nine", "nine models", "field", nine},
		{"8.1", "vectors-nul", "NUL in the name of a model", "field", dict{"a\x00": []byte{1}}},
		{"8.1", "vectors-unnamed", "no name of a model", "field", dict{"": []byte{1}}},
		{"13.1", "vectors-empty", "an empty map", "field", dict{}},
		{"13.1", "vectors-text", "a vector that is text", "field", dict{"m": "ab"}},
		{"13.1", "vectors-list", "vectors in a list", "field", []any{[]byte{1}}},
	})
	share := func(name, title, class string, vectors, whole any) recordCase {
		return recordCase{"8.1", "whole-" + name, title, class,
			dict{"request": asked("tide", dict{"vectors": vectors, "whole": whole})}}
	}
	one, two := dict{"m": []byte{1}}, dict{"m": []byte{1}, "n": []byte{2}}
	s.records("receipt", receiptOn(asked("tide", nil)), []recordCase{
		share("one", "a share of whole words", "", one, dict{"m": 421}),
		share("bounds", "the least and the largest share", "", two, dict{"m": 0, "n": 1000}),
		share("some", "one of two models tells", "", two, dict{"n": 7}),
		share("negative", "less than 0", "field", one, dict{"m": -1}),
		share("more", "more than 1,000", "field", one, dict{"m": 1001}),
		share("other", "a model without a vector", "field", one, dict{"n": 7}),
		share("float", "no integer", "field", one, dict{"m": 0.5}),
		share("empty", "an empty map", "field", one, dict{}),
		share("list", "shares in a list", "field", one, []any{1}),
		share("alone", "without vectors", "field", absent{}, dict{"m": 7}),
	})
	s.parameters("sparse", []parameterCase{
		{"8.1", "sparse-weight-0", "a weight of 0", "field", dict{"m": dict{"a": 0}}},
		{"8.1", "sparse-weight-most", "the largest weight", "", dict{"m": dict{"a": 1<<31 - 1}}},
		{"8.1", "sparse-weight-more", "a larger one", "field", dict{"m": dict{"a": 1 << 31}}},
		{"8.1", "sparse-none", "a vector without terms", "field", dict{"m": dict{}}},
		{"8.1", "sparse-1025", "a term more than there may be", "field", dict{"m": terms(1025, 4)}},
		{"8.1", "sparse-65536", "the most terms and bytes", "", full},
		{"8.1", "sparse-65537", "a byte more", "field", over},
		{"8.1", "sparse-nine", "nine models", "field", few},
		{"8.1", "sparse-empty-term", "an empty term", "field", dict{"m": dict{"": 1}}},
		{"8.1", "sparse-long-term", "a term of 256 bytes", "field", dict{"m": dict{rep("x", 256): 1}}},
		{"8.1", "sparse-unnamed", "no name of a model", "field", dict{"": dict{"a": 1}}},
		{"13.1", "sparse-empty", "an empty map", "field", dict{}},
		{"13.1", "sparse-float", "a weight that is no integer", "field", dict{"m": dict{"a": 1.5}}},
		{"13.1", "sparse-list", "terms in a list", "field", dict{"m": []any{"a"}}},
	})
}
