package main

// recordCase is a record that is a base with some fields changed; class is empty where it is good.
type recordCase struct {
	clause, name, title, class string
	edit                       dict
}

// records adds the cases of one layer: good records come back byte by byte with their CID.
func (s *suite) records(layer string, base dict, cases []recordCase) {
	for _, c := range cases {
		b := encode(with(base, c.edit))
		in := obj{"block": pieces(b)}
		if c.class != "" {
			s.refuse(c.clause, layer, "bad-"+c.name, c.title, c.class, in)
			continue
		}
		e := obj{"cid": cidOf(codecCBOR, b).String()}
		if len(b) < 2000 {
			e["json"] = jsonForm(with(base, c.edit))
		}
		s.add(c.clause, layer, c.name, c.title, in, e)
	}
}

const t0 = int64(1_767_225_600_000_000) // 2026-01-01T00:00:00Z

func baseNode() dict {
	return dict{"kind": "node", "v": 1, "id": []byte(nodeIDOfKey("alice")), "key": "alice",
		"type": "Person", "summary": "Alice leads the harbour team.", "props": dict{},
		"created": t0}
}

// both is two edits in one; absent values stay.
func both(a, b dict) dict {
	out := dict{}
	for _, m := range []dict{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

func nest(v any, n int) any {
	for range n {
		v = []any{v}
	}
	return v
}

func manyProps(n int) dict {
	m := dict{}
	for i := range n {
		m["p"+string([]byte{byte('0' + i/1000), byte('0' + i/100%10), byte('0' + i/10%10),
			byte('0' + i%10)})] = int64(0)
	}
	return m
}

func manyStrings(n int, s string) []any {
	out := []any{}
	for range n {
		out = append(out, s)
	}
	return out
}

func keyed(key string) dict { return dict{"key": key, "id": []byte(nodeIDOfKey(key))} }

func nodeCases(s *suite) {
	anon := dict{"key": absent{}, "id": []byte("0123456789abcdef")}
	gone := absent{}
	s.records("node", baseNode(), []recordCase{
		{"3.2", "plain", "a plain node", "", nil},
		{"3.2", "anonymous", "a node without a key", "", anon},
		{"3.2", "least", "no optional field", "", both(anon, dict{"summary": gone})},
		{"3.2", "full", "every field", "", dict{
			"context": "Of the port.", "updated": t0 + 1, "validFrom": t0 - 5,
			"validTo": t0 + 5, "sources": []any{"a.md#1", "b"},
			"content": dict{"text": "Body.", "size": int64(5), "media": "text/markdown"},
			"props": dict{"n": int64(1), "f": 1.0, "list": []any{nil, true},
				"map": dict{"x": []byte{1}}, "link": recordCID(dict{})}}},
		{"1.3", "unknown-field", "an unknown field survives", "",
			dict{"zeta": dict{"a": []any{nil}}}},
		{"1.3", "unknown-content", "an unknown field of content survives", "",
			dict{"content": dict{"text": "x", "size": int64(1), "lang": "de"}}},
		{"3.2", "props-1000", "1,000 properties", "", dict{"props": manyProps(1000)}},
		{"3.2", "props-1001", "1,001 properties", "limit", dict{"props": manyProps(1001)}},
		{"3.2", "props-32", "a value nested 32 deep", "", dict{"props": dict{"d": nest("x", 32)}}},
		{"3.2", "props-33", "a value nested 33 deep", "limit",
			dict{"props": dict{"d": nest("x", 33)}}},
		{"3.1", "prop-name-255", "a property name of 255 bytes", "",
			dict{"props": dict{rep("n", 255): int64(1)}}},
		{"3.1", "prop-name-256", "a property name of 256 bytes", "limit",
			dict{"props": dict{rep("n", 256): int64(1)}}},
		{"3.1", "prop-name-empty", "an empty property name", "limit",
			dict{"props": dict{"": int64(1)}}},
		{"3.1", "prop-name-nul", "NUL may be in a property name", "",
			dict{"props": dict{"a\x00b": int64(1)}}},
		{"3.1", "key-512", "a key of 512 bytes", "", keyed(rep("k", 512))},
		{"3.1", "key-513", "a key of 513 bytes", "limit", keyed(rep("k", 513))},
		{"3.1", "key-empty", "an empty key", "limit", keyed("")},
		{"3.1", "key-nul", "NUL in a key", "name", keyed("a\x00b")},
		{"3.1", "key-uuid", "a key of the shape of a UUID", "name",
			keyed("00112233-4455-6677-8899-aabbccddeeff")},
		{"3.1", "key-uuid-upper", "a key of the shape of an upper-case UUID", "name",
			keyed("00112233-4455-6677-8899-AABBCCDDEEFF")},
		{"3.1", "key-uuid-near", "a key one digit longer than a UUID", "",
			keyed("00112233-4455-6677-8899-aabbccddeeff0")},
		{"3.1", "key-uuid-plain", "32 hex digits without hyphens may be a key", "",
			keyed("00112233445566778899aabbccddeeff")},
		{"4.1", "key-id", "an id that is not the hash of the key", "id",
			dict{"id": []byte("0123456789abcdef")}},
		{"3.1", "type-255", "a type of 255 bytes", "", dict{"type": rep("t", 255)}},
		{"3.1", "type-256", "a type of 256 bytes", "limit", dict{"type": rep("t", 256)}},
		{"3.1", "type-empty", "an empty type", "limit", dict{"type": ""}},
		{"3.1", "type-nul", "NUL in a type", "name", dict{"type": "a\x00"}},
		{"3.2", "type-missing", "no type", "field", dict{"type": gone}},
		{"3.2", "id-missing", "no id", "field", both(anon, dict{"id": gone})},
		{"3.1", "id-15", "an id of 15 bytes", "id", both(anon,
			dict{"id": []byte("0123456789abcde")})},
		{"3.1", "id-17", "an id of 17 bytes", "id", both(anon,
			dict{"id": []byte("0123456789abcdefg")})},
		{"3.1", "id-zero", "an id of zeros", "id", both(anon, dict{"id": make([]byte, 16)})},
		{"3.2", "id-text", "an id that is a string", "type", both(anon,
			dict{"id": "0123456789abcdef"})},
		{"3.2", "summary-max", "a summary of 262,144 bytes", "", dict{"summary": rep("s", 262144)}},
		{"3.2", "summary-over", "a summary of 262,145 bytes", "limit",
			dict{"summary": rep("s", 262145)}},
		{"3.2", "summary-empty", "an empty summary", "limit", dict{"summary": ""}},
		{"1.3", "summary-null", "a summary that is null", "type", dict{"summary": nil}},
		{"3.2", "summary-bytes", "a summary that is bytes", "type", dict{"summary": []byte("s")}},
		{"3.2", "context-empty", "an empty context", "limit", dict{"context": ""}},
		{"3.2", "context-over", "a context of 262,145 bytes", "limit",
			dict{"context": rep("s", 262145)}},
		{"3.2", "props-missing", "no props", "field", dict{"props": gone}},
		{"3.2", "props-list", "props that are a list", "type", dict{"props": []any{}}},
		{"3.2", "created-missing", "no time", "field", dict{"created": gone}},
		{"3.2", "created-float", "a time that is a float", "type", dict{"created": 1.0}},
		{"1.3", "time-max", "the latest time", "", dict{"created": int64(maxTime)}},
		{"1.3", "time-min", "the earliest time", "", dict{"created": int64(minTime)}},
		{"1.3", "time-over", "a microsecond after the latest", "time",
			dict{"created": int64(maxTime + 1)}},
		{"1.3", "time-under", "a microsecond before the earliest", "time",
			dict{"created": int64(minTime - 1)}},
		{"3.2", "updated-equal", "updated equal to created", "time", dict{"updated": t0}},
		{"3.2", "updated-before", "updated before created is a fact like others", "",
			dict{"updated": t0 - 1}},
		{"3.2", "valid-to-only", "validTo alone", "", dict{"validTo": t0}},
		{"3.2", "valid-equal", "validTo equal to validFrom", "time",
			dict{"validFrom": t0, "validTo": t0}},
		{"3.2", "valid-before", "validTo before validFrom", "time",
			dict{"validFrom": t0, "validTo": t0 - 1}},
		{"3.2", "sources-64", "64 sources", "", dict{"sources": manyStrings(64, "s")}},
		{"3.2", "sources-65", "65 sources", "limit", dict{"sources": manyStrings(65, "s")}},
		{"3.2", "sources-none", "an empty list of sources", "limit", dict{"sources": []any{}}},
		{"3.2", "source-1024", "a source of 1,024 bytes", "",
			dict{"sources": []any{rep("s", 1024)}}},
		{"3.2", "source-1025", "a source of 1,025 bytes", "limit",
			dict{"sources": []any{rep("s", 1025)}}},
		{"3.2", "source-empty", "an empty source", "limit", dict{"sources": []any{"a", ""}}},
		{"1.3", "version-2", "version 2", "version", dict{"v": 2}},
		{"1.3", "version-missing", "no version", "version", dict{"v": gone}},
		{"1.3", "kind-missing", "no kind", "kind", dict{"kind": gone}},
		{"1.3", "kind-upper", "another spelling of the kind", "kind", dict{"kind": "Node"}},
	})
	contentCases(s)
}

func chunksOf(sizes ...int) []any {
	out := []any{}
	for _, n := range sizes {
		out = append(out, cidOf(codecRaw, []byte(rep("x", n))))
	}
	return out
}

func contentCases(s *suite) {
	c := func(edit dict) dict { return dict{"content": edit} }
	text := func(n int) dict { return dict{"text": rep("x", n), "size": int64(n)} }
	chunks := func(size int64, links []any) dict { return dict{"chunks": links, "size": size} }
	s.records("node", baseNode(), []recordCase{
		{"3.3", "content-1", "content of one byte", "", c(text(1))},
		{"3.3", "content-inline-max", "32,768 bytes in the record", "", c(text(32768))},
		{"3.3", "content-inline-over", "32,769 bytes in the record", "content", c(text(32769))},
		{"3.3", "content-empty", "empty content", "content", c(text(0))},
		{"3.3", "content-size", "a size that is not the text's", "content",
			c(dict{"text": "abc", "size": int64(2)})},
		{"3.3", "content-size-missing", "no size", "content", c(dict{"text": "abc"})},
		{"3.3", "content-both", "text and chunks", "content",
			c(dict{"text": "x", "chunks": chunksOf(1), "size": int64(1)})},
		{"3.3", "content-neither", "neither text nor chunks", "content", c(dict{"size": int64(1)})},
		{"1.4", "chunks-32769", "32,769 bytes in one chunk", "", c(chunks(32769, chunksOf(32769)))},
		{"1.4", "chunks-262144", "one whole chunk", "", c(chunks(262144, chunksOf(262144)))},
		{"1.4", "chunks-262145", "a chunk and a byte", "", c(chunks(262145, chunksOf(262144, 1)))},
		{"1.4", "chunks-few", "fewer chunks than the size needs", "content",
			c(chunks(262145, chunksOf(262144)))},
		{"1.4", "chunks-many", "more chunks than the size needs", "content",
			c(chunks(262144, chunksOf(262144, 1)))},
		{"3.3", "chunks-small", "chunks of text that fits the record", "content",
			c(chunks(32768, chunksOf(32768)))},
		{"3.3", "chunks-cbor", "a chunk that is a dag-cbor link", "content",
			c(chunks(40000, []any{recordCID(dict{})}))},
		{"3.3", "chunks-over", "64 MiB and a byte", "content", c(chunks(1<<26+1,
			manyLinks(257, cidOf(codecRaw, []byte(rep("x", 262144))))))},
		{"3.3", "chunks-64mib", "64 MiB", "", c(chunks(1<<26,
			manyLinks(256, cidOf(codecRaw, []byte(rep("x", 262144))))))},
		{"3.3", "media-255", "a media type of 255 bytes", "",
			c(with(text(1), dict{"media": rep("m", 255)}))},
		{"3.3", "media-256", "a media type of 256 bytes", "content",
			c(with(text(1), dict{"media": rep("m", 256)}))},
		{"3.3", "media-empty", "an empty media type", "content", c(with(text(1),
			dict{"media": ""}))},
		{"3.3", "media-default", "the default media type written out", "content",
			c(with(text(1), dict{"media": "text/plain"}))},
	})
	for _, n := range []int{5, 32768, 32769, 262144, 262145, 600000} {
		body, blocks := contentOf(rep("y", n), "")
		list := []any{}
		for _, b := range blocks {
			list = append(list, cidOf(codecRaw, []byte(b)).String())
		}
		s.add("1.4", "node", "content-of-"+itoa(n), "content is cut into chunks",
			obj{"repeat": "y", "times": n}, obj{"chunks": list, "content": jsonShort(body)})
	}
}

func manyLinks(n int, l link) []any {
	out := []any{}
	for range n {
		out = append(out, l)
	}
	return out
}
