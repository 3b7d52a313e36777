package main

import (
	"fmt"
	"strings"
)

const dayMicros = 86_400_000_000

// lifeCases are those of clause 28.
func lifeCases(s *suite) {
	weighCases(s)
	sourceCases(s)
	proposalCases(s)
	likeCases(s)
	markingCases(s)
}

func weighCases(s *suite) {
	cases := []factors{
		{3, 0, 0, 0, 30}, {1, 0, 0, 0, 30}, {2, 0, 0, 0, 30}, {4, 0, 0, 0, 30}, {5, 0, 0, 0, 30},
		{0, 0, 0, 0, 30}, {6, 0, 0, 0, 30}, {5, 1, 0, 0, 30}, {5, 2, 0, 0, 30}, {5, 15, 0, 0, 30},
		{5, 16, 0, 0, 30}, {5, 1 << 52, 0, 0, 30}, {5, 0, 1, 0, 30}, {5, 0, 10, 0, 30}, {5, 0, 11, 0, 30},
		{5, 0, 0, 30 * dayMicros, 30}, {5, 0, 0, 15 * dayMicros, 30}, {5, 0, 0, 1, 30},
		{5, 0, 0, dayMicros, 1}, {5, 0, 0, 16 * dayMicros, 1}, {5, 0, 0, 17*dayMicros - 1, 1},
		{5, 0, 0, 17 * dayMicros, 1}, {5, 0, 0, -dayMicros, 30}, {3, 4, 7, 12_345_678_901_234, 90},
		{5, 0, 0, 315_569_520_000_000_000, 36500}, {5, 0, 0, 315_569_520_000_000_000, 1},
		{5, 15, 10, 0, 180}, {4, 3, 2, 7 * dayMicros, 14},
	}
	for i, f := range cases {
		value, base, use, decay, links := f.weigh()
		s.add("28.1", "importance", fmt.Sprintf("factors-%02d", i), "what factors make",
			obj{"importance": f.importance, "uses": f.uses, "linked": f.linked, "age": f.age,
				"halfLife": f.days},
			obj{"value": value, "base": base, "use": use, "decay": decay, "links": links})
	}
	lines := batchText{
		`{"node":{"key":"a","type":"decision","summary":"boat","props":{"importance":4}}}`,
		`{"node":{"key":"b","type":"context","summary":"tide","props":{"importance":"high"}}}`,
		`{"edge":{"type":"observed","src":"a","dst":"a","key":"1"}}`,
		`{"edge":{"type":"observed","src":"a","dst":"a","key":"2"}}`,
		`{"edge":{"type":"follows","src":"a","dst":"b"}}`, `{"edge":{"type":"near","src":"b","dst":"a"}}`,
		`{"edge":{"type":"causes","src":"a","dst":"b"}}`, `{"edge":{"type":"x","src":"b","dst":"b"}}`,
	}
	more := batchText{`{"node":{"key":"b","summary":"tides"}}`}
	st := built(lines, more)
	for _, key := range []string{"a", "b"} {
		now := t0 + 9*dayMicros
		f := st.factorsOf(nodeIDOfKey(key), now)
		value, base, use, decay, links := f.weigh()
		s.add("28.1", "importance", "node-"+key, "of a node: its property, type, times and edges",
			obj{"author": "erin", "batches": batchList(lines, more),
				"node": uuid(nodeIDOfKey(key)), "now": now},
			obj{"value": value, "base": base, "use": use, "decay": decay, "links": links,
				"importance": f.importance, "uses": f.uses, "linked": f.linked, "age": f.age,
				"halfLife": f.days})
	}
}

func batchList(batches ...batchText) []any {
	list := []any{}
	for i, lines := range batches {
		list = append(list, obj{"time": t0 + int64(i)*1_000_000, "lines": lines})
	}
	return list
}

func sourceCases(s *suite) {
	hash := strings.Repeat("0123456789abcdef", 4)
	good := func(name, text string, parts obj) {
		s.add("28.4", "source", name, "a source", obj{"text": text}, parts)
	}
	file := func(path string, more obj) obj {
		out := obj{"kind": "file", "path": path}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	good("file", "file:docs/notes.md", file("docs/notes.md", nil))
	good("file-line", "file:a.txt#L3", file("a.txt", obj{"first": 3, "last": 3}))
	good("file-lines", "file:a.txt#L3-L17", file("a.txt", obj{"first": 3, "last": 17}))
	good("file-hash", "file:a.txt?sha256="+hash, file("a.txt", obj{"sha256": hash}))
	good("file-all", "file://p.1/a/b c.md?sha256="+hash+"#L1-L1000000000",
		file("a/b c.md", obj{"project": "p.1", "sha256": hash, "first": 1, "last": 1_000_000_000}))
	good("file-escaped", "file:50%25 %3F%23.md", file("50% ?#.md", nil))
	good("file-unicode", "file:资料/é.md", file("资料/é.md", nil))
	good("file-dots", "file:...", file("...", nil))
	good("url", "url:https://example.org/a?b#c", obj{"kind": "url",
		"text": "https://example.org/a?b#c"})
	good("conversation", "conversation:stand-up", obj{"kind": "conversation", "text": "stand-up"})
	good("conversation-turn", "conversation:stand-up#12", obj{"kind": "conversation",
		"text": "stand-up", "turn": 12})
	good("manual", "manual:", obj{"kind": "manual", "text": ""})
	good("manual-who", "manual:Ada#1", obj{"kind": "manual", "text": "Ada#1"})
	for i, text := range []string{
		"notes.md", "manual", "File:a", "file:", "file:/a", "file:../a", "file:a/./b", "file:a//b",
		"file:a/", `file:a\b`, "file: a", "file:a\u007fb", "file://a", "file:///a", "file://A/b",
		"file://-a/b", "file://" + strings.Repeat("a", 65) + "/b", "file:a%", "file:a%41", "file:a%3f",
		"file:a?", "file:a?sha256=" + hash[1:], "file:a?sha256=" + strings.ToUpper(hash), "file:a#",
		"file:a#L0", "file:a#L03", "file:a#L3-L3", "file:a#L3-4", "file:a#L1000000001",
		"file:a#L1?sha256=" + hash, "url:ftp://h/", "url:https:///a", "url:https://a b",
		"conversation:", "conversation:a#", "conversation:a#0", "conversation:a#b", "manual: a",
		"manual:" + strings.Repeat("a", 1018), "",
	} {
		s.refuse("28.4", "source", fmt.Sprintf("bad-%02d", i), "no source", "source", obj{"text": text})
	}
}

func proposalCases(s *suite) {
	memory := func(typ, summary, rest string) string {
		return fmt.Sprintf(`{"node":{"type":%q,"summary":%q%s}}`, typ, summary, rest)
	}
	base := batchText{
		memory("fact", "boat one", `,"props":{"tags":["back-up","ops"]}`),
		memory("fact", "boat two", `,"props":{"tags":["Backups","Ops"],"importance":1}`),
		memory("fact", "boat three", `,"props":{"tags":["backup"],"importance":4}`),
		memory("context", "boat four", ``), memory("event", "boat five", `,"validTo":"2026-01-10"`),
		memory("fact", "boat six", `,"props":{"expires":"2026-02-01T00:00:00Z"}`),
		memory("fact", "boat seven", `,"props":{"expires":"one day"}`),
		`{"node":{"key":"k","type":"fact","summary":"keyed","props":{"tags":["backup"]},` +
			`"validTo":"2020-01-01"}}`,
		`{"node":{"type":"fact","summary":"with content","content":"boat"}}`,
		`{"node":{"key":"tag/x","type":"Tag","summary":"x"}}`,
	}
	id := func(i int) string { return uuid(lineID(base[i])) }
	tied := batchText{
		`{"edge":{"type":"tagged","src":"` + id(0) + `","dst":"tag/x"}}`,
		`{"edge":{"type":"observed","src":"` + id(1) + `","dst":"` + id(1) + `","key":"1"}}`,
		`{"edge":{"type":"about","src":"` + id(2) + `","dst":"tag/x"}}`,
		`{"edge":{"type":"near","src":"` + id(3) + `","dst":"` + id(0) + `"}}`,
		`{"mark":{"node":"` + id(6) + `","state":"stale"}}`,
	}
	for _, c := range []struct {
		name, title string
		days        int64
		limit       int
		more        batchText
	}{
		{"none", "a new memory", 0, 0, nil},
		{"later", "a year later", 365, 0, nil},
		{"cap", "a cap", 20, 3, nil},
		{"cap-low", "importance 4 is immune", 20, 1, nil},
		{"hidden", "what is hidden takes no part", 365, 2, batchText{
			`{"mark":{"node":"` + id(3) + `","state":"retired"}}`,
			`{"mark":{"node":"` + id(0) + `","state":"superseded","by":"` + id(2) + `"}}`}},
		{"settled", "contradicted by what is hidden, or by what is not", 365, 0, batchText{
			`{"mark":{"node":"k","state":"forgotten"}}`,
			`{"mark":{"node":"` + id(4) + `","state":"contradicted","by":"k"}}`,
			`{"mark":{"node":"` + id(5) + `","state":"contradicted","by":"tag/x"}}`}},
	} {
		st := built(base, tied, c.more)
		now := t0 + c.days*dayMicros
		list := []any{}
		for _, p := range st.proposals(now, c.limit, false) {
			one := obj{"kind": p.kind, "id": p.id(st), "nodes": uuids(p.nodes)}
			if p.kind == "tag" {
				one["tag"], one["spellings"] = p.tag, p.spellings
			}
			list = append(list, one)
		}
		s.add("28.3", "proposal", c.name, c.title, obj{"author": "erin",
			"batches": batchList(base, tied, c.more), "now": now, "cap": c.limit,
			"kinds": []string{"expired", "tag", "low", "isolated"}}, obj{"proposals": list})
	}
	st := built(base, tied)
	first := st.proposals(t0+365*dayMicros, 0, false)[0].id(st)
	declined := batchText{`{"node":{"key":"proposal/` + first + `","type":"proposal"}}`,
		`{"mark":{"node":"proposal/` + first + `","state":"retired"}}`}
	st = built(base, tied, declined)
	list := []any{}
	for _, p := range st.proposals(t0+365*dayMicros, 0, false) {
		list = append(list, obj{"kind": p.kind, "id": p.id(st), "nodes": uuids(p.nodes),
			"tag": p.tag, "spellings": append([]string{}, p.spellings...)})
	}
	s.add("28.3", "proposal", "declined", "one of them was declined", obj{"author": "erin",
		"batches": batchList(base, tied, declined), "now": t0 + 365*dayMicros, "cap": 0,
		"kinds": []string{"expired", "tag", "low", "isolated"}}, obj{"proposals": list})
}

// lineID is the id of the one node that a line makes.
func lineID(line string) string {
	for id := range built(batchText{line}).nodes {
		return id
	}
	panic("no node")
}

func markingCases(s *suite) {
	base := batchText{}
	for _, key := range []string{"a", "b", "c", "d"} {
		base = append(base, `{"node":{"key":"`+key+`","type":"T"}}`)
	}
	mark := func(key, state, by string) string {
		if by != "" {
			by = `,"by":"` + by + `"`
		}
		return `{"mark":{"node":"` + key + `","state":"` + state + `"` + by + `}}`
	}
	n := 0
	add := func(state, by string, nodes []string, before ...string) {
		st := built(base, before)
		input := obj{"author": "erin", "batches": batchList(base, before), "nodes": nodes}
		if state != "" {
			input["state"] = state
		}
		if by != "" {
			input["by"] = by
		}
		name := fmt.Sprintf("case-%03d", n)
		n++
		marks, ok := st.marked(state, nodes, by)
		if !ok {
			s.refuse("28.2", "marking", name, "marks on marks", "state", input)
			return
		}
		s.add("28.2", "marking", name, "marks on marks", input, obj{"marks": marks})
	}
	states := []string{"stale", "superseded", "retired", "forgotten", "expired", "contradicted"}
	byOf := func(state, by string) string {
		if state == "superseded" || state == "contradicted" {
			return by
		}
		return ""
	}
	for _, state := range states {
		add(state, byOf(state, "b"), []string{"a"})
		for _, old := range states {
			add(state, byOf(state, "b"), []string{"a"}, mark("a", old, byOf(old, "b")))
		}
		add(state, byOf(state, "b"), []string{"a"}, mark("a", "contradicted", "b"),
			mark("b", "contradicted", "a"))
		add(state, byOf(state, "b"), []string{"a"}, mark("a", "contradicted", "c"),
			mark("b", "contradicted", "d"))
		add(state, byOf(state, "b"), []string{"a", "c", "a"}, mark("a", "contradicted", "c"),
			mark("c", "contradicted", "a"))
		add(state, byOf(state, "a"), []string{"a"})
		add(state, byOf(state, "b"), []string{"a"}, mark("b", "retired", ""))
		add(state, byOf(state, "b"), []string{"a"}, mark("b", "stale", ""))
	}
	add("superseded", "b", []string{"a"}, mark("a", "superseded", "c"))
	add("", "", []string{"a", "b"}, mark("a", "contradicted", "c"), mark("c", "contradicted", "a"),
		mark("b", "forgotten", ""), mark("d", "stale", ""))
	add("", "", []string{"a"}, mark("a", "contradicted", "c"), mark("c", "contradicted", "d"))
	add("contradicted", "b", []string{"a"}, mark("a", "contradicted", "c"), mark("c", "forgotten", ""))
	add("contradicted", "b", []string{"a"}, mark("a", "contradicted", "c"), mark("c", "retired", ""),
		mark("b", "contradicted", "d"))
	chain := []string{mark("a", "contradicted", "c"), mark("c", "contradicted", "a"),
		mark("b", "contradicted", "a"), mark("d", "contradicted", "a")}
	add("forgotten", "", []string{"c"}, chain...)
	add("", "", []string{"c"}, chain...)
	add("superseded", "b", []string{"c"}, chain...)
	add("retired", "", []string{"c", "b"}, chain...)
	add("retired", "", []string{"b", "c", "d"}, chain...)
	add("", "", []string{"a"}, chain...)
}
