package main

import "sort"

// keptBehind is clause 19.1: the operations behind a horizon whose records stay.
func keptBehind(horizon int64) []int64 {
	out := []int64{}
	for bit := int64(1); bit < horizon; bit <<= 1 {
		if horizon&bit != 0 {
			if horizon -= bit; horizon > 0 {
				out = append(out, horizon)
			}
		}
	}
	return out
}

// shownRedaction is the summary of clause 19.4.
func shownRedaction(rec dict) string {
	out := "redacted: "
	if reason, ok := rec["reason"].(string); ok {
		out += reason + ", "
	}
	return out + stamp(rec["time"].(int64)) + ", " + rec["actor"].(string)
}

// leftOfEdge and leftOfMark are clause 19.3: what is left of an edge or mark that is erased.
func leftOfEdge(rec dict) dict {
	left := only(rec, "kind", "v", "id", "type", "src", "dst", "weight", "created", "validFrom", "validTo")
	left["props"] = dict{}
	return left
}

func leftOfMark(rec dict) dict {
	return only(rec, "kind", "v", "on", "id", "state", "by", "actor", "time")
}

func careCases(s *suite) {
	for _, n := range []int64{2, 3, 8, 11, 44, 1000, 1 << 40, 1<<41 - 1} {
		s.add("19.1", "horizon", "kept-"+itoa(int(n)), "the operations that stay behind a horizon",
			obj{"horizon": n}, obj{"kept": keptBehind(n)})
	}
	s.mergeErasedCases()
	l := recordCID(dict{"seq": 1})
	s.records("operation", dict{"kind": "operation", "v": 1, "seq": 6, "parent": l, "skip": l,
		"view": buildTree(nil).root, "time": t0, "actor": "erin", "command": []any{"gc"}}, []recordCase{
		{"19.1", "horizon", "a horizon at the operation before", "", dict{"horizon": 5}},
		{"19.1", "horizon-self", "a horizon at the operation itself", "", dict{"horizon": 6}},
		{"19.1", "horizon-1", "a horizon that nothing is behind", "field", dict{"horizon": 1}},
		{"19.1", "horizon-later", "a horizon after the operation", "field", dict{"horizon": 7}},
		{"19.1", "horizon-text", "a horizon that is no number", "type", dict{"horizon": "5"}},
	})
	id := []byte(nodeIDOfKey("alice"))
	edge := leftOfEdge(dict{"kind": "edge", "v": 1, "id": []byte(edgeIDOf(string(id), "knows", string(id), "k")),
		"type": "knows", "src": id, "dst": id, "key": "k", "weight": 65536, "props": dict{"a": 1},
		"created": t0, "validTo": t0 + 1})
	mark := leftOfMark(dict{"kind": "mark", "v": 1, "on": "node", "id": id, "state": "superseded", "by": id,
		"actor": "erin", "time": t0, "reason": "r"})
	base := dict{"kind": "redaction", "v": 1, "what": "node", "node": id, "actor": "erin", "time": t0,
		"reason": "asked to be forgotten"}
	s.records("redaction", base, []recordCase{
		{"19.3", "node", "a version of a node", "", nil},
		{"19.3", "content", "a chunk, without reason or node", "",
			dict{"what": "content", "reason": absent{}, "node": absent{}}},
		{"19.3", "embedding", "an embedding", "", dict{"what": "embedding"}},
		{"19.3", "digest", "a text of a digest", "", dict{"what": "digest"}},
		{"19.3", "query", "the text of a request", "", dict{"what": "query"}},
		{"19.3", "unknown-field", "an unknown field survives", "", dict{"zeta": 1}},
		{"19.3", "reason-4096", "a reason of 4,096 bytes", "", dict{"reason": rep("r", 4096)}},
		{"19.3", "reason-4097", "a reason of 4,097 bytes", "limit", dict{"reason": rep("r", 4097)}},
		{"19.3", "reason-empty", "an empty reason", "limit", dict{"reason": ""}},
		{"19.3", "message", "a message", "", dict{"what": "message", "node": absent{}}},
		{"19.3", "edge", "an edge, with what is left", "", dict{"what": "edge", "left": edge}},
		{"19.3", "mark", "a mark, with what is left", "", dict{"what": "mark", "left": mark}},
		{"19.3", "edge-left-missing", "an edge of which nothing is left", "field", dict{"what": "edge"}},
		{"19.3", "edge-left-mark", "an edge of which a mark is left", "field",
			dict{"what": "edge", "left": mark}},
		{"19.3", "edge-left-props", "an edge whose properties are left", "field",
			dict{"what": "edge", "left": with(edge, dict{"props": dict{"a": 1}})}},
		{"19.3", "edge-left-sources", "an edge whose sources are left", "field",
			dict{"what": "edge", "left": with(edge, dict{"sources": []any{"a"}})}},
		{"19.3", "mark-left-reason", "a mark whose reason is left", "field",
			dict{"what": "mark", "left": with(mark, dict{"reason": "r"})}},
		{"19.3", "mark-left-unknown", "a mark of which an unknown field is left", "field",
			dict{"what": "mark", "left": with(mark, dict{"zeta": 1})}},
		{"19.3", "node-left", "a node of which something is left", "field", dict{"left": edge}},
		{"19.3", "what", "something else", "name", dict{"what": "graph"}},
		{"19.3", "what-missing", "nothing said to be erased", "field", dict{"what": absent{}}},
		{"19.3", "node-15", "an id of 15 bytes", "id", dict{"node": id[:15]}},
		{"19.3", "node-zero", "an id of zeros", "id", dict{"node": make([]byte, 16)}},
		{"19.3", "actor-missing", "nobody", "field", dict{"actor": absent{}}},
		{"19.3", "actor-tab", "a tab in the actor", "name", dict{"actor": "a\tb"}},
		{"19.3", "time-missing", "no time", "field", dict{"time": absent{}}},
		{"19.3", "time-late", "a time after 9999", "limit", dict{"time": int64(253_402_300_800_000_000)}},
	})
	for name, edit := range map[string]dict{"shown": nil, "shown-bare": {"reason": absent{}}} {
		rec := with(base, edit)
		s.add("19.4", "redaction", name, "what is shown in place of an erased node",
			obj{"block": pieces(encode(rec))},
			obj{"cid": recordCID(rec).String(), "shown": shownRedaction(rec)})
	}
}

// mergeErased is clause 19.4 for two sides of an item whose record before both was erased.
func mergeErased(kind string, l, r dict, t take) (out dict, cause string, fields []string) {
	switch {
	case l == nil && r == nil:
		return nil, "", nil
	case l == nil || r == nil:
		return choose(t, nil, l, r), "delete_modify", nil
	case same(l, r, timesOf(kind)...):
		out, _, _ = mergeRecord(kind, nil, l, r, t)
		return out, "", nil
	}
	fl, fr := flatten(l), flatten(r)
	for _, f := range []flat{fl, fr} {
		for name := range f {
			one := []string{name}
			if !has(timesOf(kind), name) && !has(fields, name) && fl.of(one) != fr.of(one) {
				fields = append(fields, name)
			}
		}
	}
	sort.Strings(fields)
	return choose(t, nil, l, r), "edit_edit", fields
}

func (s *suite) mergeErasedCases() {
	a, b := nodeIDOfKey("a"), nodeIDOfKey("b")
	node := dict{"kind": "node", "v": 1, "id": []byte(a), "key": "a", "type": "T", "created": t0,
		"summary": "one", "props": dict{}}
	edge := dict{"kind": "edge", "v": 1, "id": []byte(edgeIDOf(a, "e", b, "")), "type": "e",
		"src": []byte(a), "dst": []byte(b), "weight": 65536, "props": dict{}, "created": t0}
	mark := dict{"kind": "mark", "v": 1, "on": "node", "id": []byte(a), "state": "stale",
		"actor": "erin", "time": t0}
	for _, c := range []struct {
		name, title, kind string
		ours, theirs      dict
	}{
		{"gone-ours", "one side has none", "node", nil, node},
		{"gone-theirs", "the other side has none", "node", node, nil},
		{"gone-both", "neither side has one", "node", nil, nil},
		{"same", "both sides have one record", "node", node, node},
		{"times", "the sides differ in times", "node", with(node, dict{"updated": t0 + 5}),
			with(node, dict{"created": t0 - 5, "updated": t0 + 9})},
		{"fields", "the sides differ in facts", "node", node, with(node, dict{"summary": absent{},
			"type": "U", "props": dict{"a": 1, "b": dict{"c": true}}})},
		{"edge", "edges that differ", "edge", edge, with(edge, dict{"weight": 1})},
		{"edge-gone", "an edge that one side has", "edge", edge, nil},
		{"mark", "marks that differ", "mark", mark, with(mark, dict{"state": "expired", "time": t0 + 1})},
	} {
		in := obj{"kind": c.kind}
		for side, rec := range map[string]dict{"ours": c.ours, "theirs": c.theirs} {
			if rec != nil {
				in[side] = pieces(encode(rec))
			}
		}
		e := obj{}
		for _, t := range []take{"ours", "theirs", "base"} {
			out, cause, fields := mergeErased(c.kind, c.ours, c.theirs, t)
			e["conflict"], e["fields"] = cause, fields
			if fields == nil {
				e["fields"] = []string{}
			}
			got := ""
			if out != nil {
				got = recordCID(out).String()
			}
			e["taking-"+string(t)] = got
		}
		s.add("19.4", "merge-erased", c.name, c.title, in, e)
	}
}
