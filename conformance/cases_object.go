package main

import (
	"encoding/binary"
	"math"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// jsonShort has the sha2-256 CID of a value and its JSON form, if that is short.
func jsonShort(v any) obj {
	e := obj{"cid": recordCID(v).String()}
	if text := jsonForm(v); len(text) < 2000 {
		e["json"] = text
	}
	return e
}

func baseEdge() dict {
	a, b := nodeIDOfKey("alice"), nodeIDOfKey("bob")
	return dict{"kind": "edge", "v": 1, "id": []byte(edgeIDOf(a, "knows", b, "")),
		"type": "knows", "src": []byte(a), "dst": []byte(b), "weight": 65536, "props": dict{},
		"created": t0}
}

func edgeKeyed(key string) dict {
	a, b := nodeIDOfKey("alice"), nodeIDOfKey("bob")
	return dict{"key": key, "id": []byte(edgeIDOf(a, "knows", b, key))}
}

func edgeCases(s *suite) {
	a := nodeIDOfKey("alice")
	s.records("edge", baseEdge(), []recordCase{
		{"3.4", "plain", "a plain edge", "", nil},
		{"3.4", "loop", "a self-loop", "", dict{"dst": []byte(a),
			"id": []byte(edgeIDOf(a, "knows", a, ""))}},
		{"3.4", "keyed", "a key tells parallel edges apart", "", edgeKeyed("2024")},
		{"3.1", "key-uuid", "an edge key may have the shape of a UUID", "",
			edgeKeyed("00112233-4455-6677-8899-aabbccddeeff")},
		{"3.4", "own-id", "an edge without a key may have an id of its own", "",
			dict{"id": []byte("0123456789abcdef")}},
		{"3.4", "full", "every field", "", with(edgeKeyed("k"), dict{"validFrom": int64(0),
			"validTo": int64(1), "sources": []any{"s"}, "props": dict{"since": int64(2020)}})},
		{"1.3", "unknown-field", "an unknown field survives", "", dict{"zeta": "kept"}},
		{"3.4", "weight-1", "the least weight", "", dict{"weight": 1}},
		{"3.4", "weight-0", "a weight of 0", "limit", dict{"weight": 0}},
		{"3.4", "weight-65537", "a weight over 65,536", "limit", dict{"weight": 65537}},
		{"3.4", "weight-float", "a weight that is a float", "type", dict{"weight": 1.0}},
		{"3.4", "weight-missing", "no weight", "field", dict{"weight": absent{}}},
		{"3.4", "src-short", "a source of 15 bytes", "id", dict{"src": []byte(a[:15])}},
		{"3.4", "dst-missing", "no destination", "field", dict{"dst": absent{}}},
		{"3.1", "key-empty", "an empty key", "limit", edgeKeyed("")},
		{"3.1", "key-513", "a key of 513 bytes", "limit", edgeKeyed(rep("k", 513))},
		{"4.2", "key-id", "an id that is not the hash with the key", "id", dict{"key": "other"}},
		{"3.1", "type-nul", "NUL in a type", "name", dict{"type": "a\x00b"}},
		{"3.4", "valid", "validTo before validFrom", "time",
			dict{"validFrom": int64(5), "validTo": int64(4)}},
	})
}

func baseMark() dict {
	return dict{"kind": "mark", "v": 1, "on": "node", "id": []byte(nodeIDOfKey("alice")),
		"state": "stale", "actor": "erin", "time": t0}
}

func markCases(s *suite) {
	var cases []recordCase
	for _, st := range []string{"stale", "superseded", "retired", "forgotten", "expired",
		"contradicted"} {
		by := recordCase{"3.5", "by-" + st, "by with the state " + st, "state",
			dict{"state": st, "by": []byte(nodeIDOfKey("bob"))}}
		if st == "superseded" || st == "contradicted" {
			by.class = ""
		}
		cases = append(cases, by,
			recordCase{"3.5", "state-" + st, "the state " + st, "", dict{"state": st}})
	}
	cases = append(cases, []recordCase{
		{"3.5", "edge", "a mark on an edge, with a reason", "",
			dict{"on": "edge", "reason": "moved away"}},
		{"3.5", "reason-4096", "a reason of 4,096 bytes", "", dict{"reason": rep("r", 4096)}},
		{"3.5", "reason-4097", "a reason of 4,097 bytes", "limit", dict{"reason": rep("r", 4097)}},
		{"3.5", "reason-empty", "an empty reason", "limit", dict{"reason": ""}},
		{"3.5", "state-other", "an unknown state", "state", dict{"state": "deleted"}},
		{"3.5", "on-other", "a mark on a graph", "state", dict{"on": "graph"}},
		{"3.5", "by-short", "a by of 15 bytes", "id",
			dict{"state": "superseded", "by": []byte("0123456789abcde")}},
		{"3.5", "actor-255", "an actor of 255 bytes", "", dict{"actor": rep("a", 255)}},
		{"3.5", "actor-256", "an actor of 256 bytes", "limit", dict{"actor": rep("a", 256)}},
		{"3.5", "actor-empty", "an empty actor", "limit", dict{"actor": ""}},
		{"3.5", "actor-missing", "no actor", "field", dict{"actor": absent{}}},
		{"3.5", "time-missing", "no time", "field", dict{"time": absent{}}},
	}...)
	s.records("mark", baseMark(), cases)
}

// q8 quantizes numbers as clause 3.6 says; nil where they are refused.
func q8(xs []float64) []byte {
	m := 0.0
	for _, x := range xs {
		m = math.Max(m, math.Abs(x))
		if math.IsInf(float64(x*127), 0) {
			return nil
		}
	}
	if m == 0 {
		return nil
	}
	out := []byte{}
	for _, x := range xs {
		p := float64(x * 127)
		out = append(out, byte(int8(math.RoundToEven(p/m))))
	}
	return out
}

func f32s(bits ...uint32) []byte {
	var b []byte
	for _, x := range bits {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

func embeddingCases(s *suite) {
	base := dict{"kind": "embedding", "v": 1, "model": "m", "dtype": "i8", "dims": 3,
		"vector": []byte{127, 0, 0x81}, "text": embeddedText(dict{"summary": "x"}, "")}
	f32 := func(dims int, b []byte) dict { return dict{"dtype": "f32", "dims": dims, "vector": b} }
	sp := func(dims int, m dict) dict {
		return dict{"dtype": "sparse", "dims": dims, "vector": encode(m)}
	}
	unsorted := expand("a2 6162 01 6161 01")
	s.records("embedding", base, []recordCase{
		{"3.6", "i8", "a vector of bytes", "", nil},
		{"3.6", "f32", "a vector of floats", "", f32(2, f32s(0x3f800000, 0x80000000))},
		{"3.6", "sparse", "a sparse vector", "", sp(2, dict{"tide": 65536, "a": 1})},
		{"3.6", "sparse-weight-max", "the greatest weight", "", sp(1, dict{"a": 1<<31 - 1})},
		{"3.6", "dims-65536", "65,536 dimensions", "",
			dict{"dims": 65536, "vector": []byte(rep("\x01", 65536))}},
		{"3.6", "dims-65537", "65,537 dimensions", "limit",
			dict{"dims": 65537, "vector": []byte(rep("\x01", 65537))}},
		{"3.6", "dims-0", "no dimension", "limit", dict{"dims": 0, "vector": []byte{}}},
		{"3.6", "i8-length", "fewer bytes than dimensions", "vector", dict{"dims": 4}},
		{"3.6", "i8-zeros", "a vector of zeros", "vector", dict{"vector": []byte{0, 0, 0}}},
		{"3.6", "i8-128", "the byte -128", "vector", dict{"vector": []byte{1, 0x80, 0}}},
		{"3.6", "f32-length", "a float too few", "vector", f32(3, f32s(1, 2))},
		{"3.6", "f32-nan", "NaN", "vector", f32(1, f32s(0x7fc00000))},
		{"3.6", "f32-inf", "infinity", "vector", f32(2, f32s(0x3f800000, 0xff800000))},
		{"3.6", "f32-zeros", "zeros, one of them negative", "vector", f32(2, f32s(0, 0x80000000))},
		{"3.6", "sparse-dims", "dims that is not the number of terms", "vector", sp(3,
			dict{"a": 1})},
		{"3.6", "sparse-zero", "a weight of 0", "vector", sp(1, dict{"a": 0})},
		{"3.6", "sparse-over", "a weight of 2^31", "vector", sp(1, dict{"a": 1 << 31})},
		{"3.6", "sparse-float", "a weight that is a float", "vector", sp(1, dict{"a": 1.0})},
		{"3.6", "sparse-order", "terms out of order", "vector",
			dict{"dtype": "sparse", "dims": 2, "vector": unsorted}},
		{"3.6", "sparse-empty-term", "an empty term", "vector", sp(1, dict{"": 1})},
		{"3.6", "sparse-term-256", "a term of 256 bytes", "vector", sp(1, dict{rep("t", 256): 1})},
		{"3.6", "dtype", "an unknown dtype", "vector", dict{"dtype": "f16"}},
		{"3.6", "model-empty", "an empty model", "limit", dict{"model": ""}},
		{"3.6", "model-nul", "NUL in a model", "name", dict{"model": "a\x00"}},
		{"3.6", "model-256", "a model of 256 bytes", "limit", dict{"model": rep("m", 256)}},
		{"3.6", "text-31", "a hash of 31 bytes", "type", dict{"text": make([]byte, 31)}},
	})
	quantized(s)
}

func quantized(s *suite) {
	cases := []struct {
		name, title string
		xs          []float64
	}{
		{"unit", "the largest becomes 127", []float64{1, -1, 0.5, 0}},
		{"even", "halves go to the even neighbour", []float64{127, 0.5, 1.5, 2.5, -0.5, -1.5}},
		{"scale", "the scale does not matter", []float64{254, 1, 3, 5, -1, -3}},
		{"thirds", "one multiplication, then one division", []float64{0.3, 0.1, 0.2, -0.3}},
		{"tiny", "denormal numbers", []float64{5e-324, 1e-323, -5e-324}},
		{"zeros", "a vector of zeros", []float64{0, 0}},
		{"huge", "x times 127 is infinite", []float64{1e307, 1}},
		{"large", "the largest that works", []float64{1.4e306, 7e305}},
	}
	for _, c := range cases {
		xs := []any{}
		for _, x := range c.xs {
			xs = append(xs, floatText(x))
		}
		b := q8(c.xs)
		in := obj{"numbers": xs}
		if b == nil {
			s.refuse("3.6", "embedding", "quantize-"+c.name, c.title, "vector", in)
			continue
		}
		s.add("3.6", "embedding", "quantize-"+c.name, c.title, in, obj{"vector": hx(b)})
	}
}
