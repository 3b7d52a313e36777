package main

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

func careCases(s *suite) {
	for _, n := range []int64{2, 3, 8, 11, 44, 1000, 1 << 40, 1<<41 - 1} {
		s.add("19.1", "horizon", "kept-"+itoa(int(n)), "the operations that stay behind a horizon",
			obj{"horizon": n}, obj{"kept": keptBehind(n)})
	}
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
	base := dict{"kind": "redaction", "v": 1, "what": "node", "node": id, "actor": "erin", "time": t0,
		"reason": "asked to be forgotten"}
	s.records("redaction", base, []recordCase{
		{"19.3", "node", "a version of a node", "", nil},
		{"19.3", "content", "a chunk, without reason or node", "",
			dict{"what": "content", "reason": absent{}, "node": absent{}}},
		{"19.3", "embedding", "an embedding", "", dict{"what": "embedding"}},
		{"19.3", "query", "the text of a request", "", dict{"what": "query"}},
		{"19.3", "unknown-field", "an unknown field survives", "", dict{"zeta": 1}},
		{"19.3", "reason-4096", "a reason of 4,096 bytes", "", dict{"reason": rep("r", 4096)}},
		{"19.3", "reason-4097", "a reason of 4,097 bytes", "limit", dict{"reason": rep("r", 4097)}},
		{"19.3", "reason-empty", "an empty reason", "limit", dict{"reason": ""}},
		{"19.3", "what", "something else", "name", dict{"what": "edge"}},
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
