package main

import (
	"fmt"
	"math"
)

// allCases is every group of cases; each adds to the suite.
var allCases = []func(*suite){
	codecValid, codecInvalid, codecLimits, cidCases, jsonCases, byteCases,
	treeShapes, treeSmall, treeBoundaries, treeDiffs, treeMerges, treeBlocks,
	nodeCases, edgeCases, markCases, embeddingCases, graphCases, commitCases, operationCases, idCases,
	lineCases, longLines, otherLines, applyCases, cueCases,
	sessionCases, chainCases, receiptCases, profileCases, writtenCases,
	mergeCases, tagCases,
	signatureCases, exchangeCases, careCases,
}

// roundTrip adds a case whose block decodes to v and encodes to the same bytes.
func (s *suite) roundTrip(name, title string, v any) {
	b := encode(v)
	s.add("1.2", "codec", name, title, obj{"block": pieces(b)},
		obj{"cid": cidOf(codecCBOR, b).String(), "json": jsonForm(v)})
}

func codecValid(s *suite) {
	ints := []int64{0, 1, 23, 24, 255, 256, 65535, 65536, 1<<32 - 1, 1 << 32, math.MaxInt64,
		-1, -24, -25, -256, -257, -65536, -65537, -1 << 32, -1<<32 - 1, math.MinInt64}
	for i, n := range ints {
		s.roundTrip(fmt.Sprintf("int-%02d", i), fmt.Sprintf("the integer %d", n), n)
	}
	floats := []float64{0, math.Copysign(0, -1), 1, -1.5, 0.1, math.MaxFloat64,
		math.SmallestNonzeroFloat64, 1e21, 1e-7, 1 << 53}
	for i, f := range floats {
		s.roundTrip(fmt.Sprintf("float-%02d", i), fmt.Sprintf("the float %v", f), f)
	}
	values := []struct {
		name, title string
		v           any
	}{
		{"string-empty", "the empty string", ""},
		{"string-ascii", "a string of 24 bytes takes a two-byte head", rep("abcdef", 4)},
		{"string-scalars", "scalars of 1 to 4 bytes, NUL and a non-character", "a\x00é€😀\uffff"},
		{"bytes-empty", "no bytes", []byte{}},
		{"bytes-binary", "bytes need not be UTF-8", []byte{0xff, 0x00, 0xc3, 0x28}},
		{"list-empty", "the empty list", []any{}},
		{"list-mixed", "a list keeps its order",
			[]any{int64(3), "a", nil, []any{}, false, []byte{1}, 0.5}},
		{"map-empty", "the empty map", dict{}},
		{"map-order", "shorter keys first, then bytewise",
			dict{"aa": int64(1), "b": int64(2), "": int64(3), "é": int64(4), "z": int64(5)}},
		{"map-in-map", "maps in maps", dict{"a": dict{"b": dict{"c": []any{dict{}}}}}},
		{"false", "false", false}, {"true", "true", true}, {"null", "null", nil},
		{"link-cbor", "a link to a dag-cbor block", recordCID(dict{})},
		{"link-raw", "a link to a raw block in a list", []any{cidOf(codecRaw, []byte("raw"))}},
	}
	for _, c := range values {
		s.roundTrip(c.name, c.title, c.v)
	}
}

// badBlocks are the refusals of clause 1.2, block in the notation of function pieces.
var badBlocks = []struct{ name, title, class, block string }{
	{"empty", "no item at all", "truncated", ""},
	{"trailing", "a byte after the item", "trailing", "0000"},
	{"trailing-item", "two items", "trailing", "a0a0"},
	{"truncated-int", "a head without its argument", "truncated", "19 01"},
	{"truncated-string", "a string shorter than its head says", "truncated", "63 6162"},
	{"truncated-bytes", "bytes shorter than their head says", "truncated", "42 01"},
	{"truncated-list", "a list with too few items", "truncated", "82 01"},
	{"truncated-map", "a map key without a value", "truncated", "a1 6161"},
	{"truncated-float", "a float of seven bytes", "truncated", "fb 00000000000000"},
	{"huge-list", "a list head of 2^64 - 1 items", "truncated", "9b ffffffffffffffff"},
	{"huge-map", "a map head of 2^63 entries", "truncated", "bb 8000000000000000"},
	{"huge-string", "a string head of 2^64 - 1 bytes", "truncated", "7b ffffffffffffffff"},
	{"huge-bytes", "a bytes head of 2^63 bytes", "truncated", "5b 8000000000000000"},
	{"head-24", "23 in a two-byte head", "head", "1817"},
	{"head-25", "255 in a three-byte head", "head", "1900ff"},
	{"head-26", "65,535 in a five-byte head", "head", "1a0000ffff"},
	{"head-27", "2^32 - 1 in a nine-byte head", "head", "1b00000000ffffffff"},
	{"head-negative", "-24 in a two-byte head", "head", "3817"},
	{"head-string", "a string length in a two-byte head", "head", "7801 61"},
	{"head-bytes", "a bytes length in a two-byte head", "head", "5801 61"},
	{"head-list", "a list length in a two-byte head", "head", "9800"},
	{"head-map", "a map length in a two-byte head", "head", "b800"},
	{"head-tag", "tag 42 in a three-byte head", "head", "d9002a 5825 00"},
	{"reserved-28", "additional information 28", "head", "1c"},
	{"reserved-30", "additional information 30", "head", "7e"},
	{"indefinite-list", "an indefinite list", "indefinite", "9f 01 ff"},
	{"indefinite-map", "an indefinite map", "indefinite", "bf 6161 01 ff"},
	{"indefinite-string", "an indefinite string", "indefinite", "7f 6161 ff"},
	{"indefinite-bytes", "indefinite bytes", "indefinite", "5f 4101 ff"},
	{"break", "a break outside anything", "indefinite", "ff"},
	{"uint-2-63", "2^63 is over int64", "range", "1b8000000000000000"},
	{"uint-max", "2^64 - 1 is over int64", "range", "1bffffffffffffffff"},
	{"nint-2-63-1", "-2^63 - 1 is under int64", "range", "3b8000000000000000"},
	{"float-16", "a 16-bit float", "float", "f93c00"},
	{"float-32", "a 32-bit float", "float", "fa3f800000"},
	{"float-nan", "NaN", "float", "fb7ff8000000000000"},
	{"float-nan-payload", "a NaN with its own payload", "float", "fb7ff0000000000001"},
	{"float-inf", "infinity", "float", "fb7ff0000000000000"},
	{"float-neg-inf", "minus infinity", "float", "fbfff0000000000000"},
	{"undefined", "undefined", "simple", "f7"},
	{"simple-0", "simple value 0", "simple", "e0"},
	{"simple-19", "simple value 19", "simple", "f3"},
	{"simple-32", "simple value 32 in two bytes", "simple", "f820"},
	{"simple-false-long", "false in two bytes", "simple", "f814"},
	{"utf8-invalid", "a string of an invalid byte", "utf8", "61 ff"},
	{"utf8-overlong", "an overlong slash", "utf8", "62 c0af"},
	{"utf8-surrogate", "an encoded surrogate", "utf8", "63 eda080"},
	{"utf8-beyond", "a scalar beyond U+10FFFF", "utf8", "64 f4908080"},
	{"utf8-key", "a map key that is not UTF-8", "utf8", "a1 61ff 00"},
	{"key-order-length", "a longer key before a shorter one", "key-order", "a2 626161 01 6162 02"},
	{"key-order-bytes", "keys of one length not ascending", "key-order", "a2 6162 01 6161 02"},
	{"key-duplicate", "the same key twice", "key-order", "a2 6161 01 6161 02"},
	{"key-int", "an integer as map key", "key-type", "a1 01 02"},
	{"key-bytes", "bytes as map key", "key-type", "a1 4161 02"},
	{"key-nested", "a bad map deep inside", "key-order", "81 a1 6178 a2 6162 01 6161 02"},
	{"tag-0", "tag 0, a date string", "tag", "c0 60"},
	{"tag-1", "tag 1, a time", "tag", "c1 00"},
	{"tag-2", "tag 2, a big number", "tag", "c2 4101"},
	{"tag-self", "tag 55799, self-described CBOR", "tag", "d9d9f7 00"},
	{"link-string", "tag 42 over a string", "link", "d82a 60"},
	{"link-no-zero", "a link without its leading zero byte", "link", "d82a 5824 01711220 aa*32"},
	{"link-other-prefix", "a link with another leading byte", "link",
		"d82a 5825 01 01711220 aa*32"},
	{"link-short", "a digest one byte short", "link", "d82a 5824 00 01711220 aa*31"},
	{"link-long", "a digest one byte long", "link", "d82a 5826 00 01711220 aa*33"},
	{"link-v0", "a CID of version 0", "link", "d82a 5823 00 1220 aa*32"},
	{"link-codec", "a CID with codec dag-pb", "link", "d82a 5825 00 01701220 aa*32"},
	{"link-hash", "a CID with a sha2-512 multihash code", "link", "d82a 5825 00 01711320 aa*32"},
	{"link-length", "a CID whose digest length byte is 31", "link",
		"d82a 5825 00 0171121f aa*32"},
	{"link-empty", "a link of no bytes", "link", "d82a 40"},
	{"link-head", "a link's byte string in a three-byte head", "head",
		"d82a 590025 00 01711220 aa*32"},
}

func codecInvalid(s *suite) {
	for _, c := range badBlocks {
		s.refuse("1.2", "codec", "bad-"+c.name, c.title, c.class, obj{"block": c.block})
	}
}

func codecLimits(s *suite) {
	ok := []struct{ name, title, block string }{
		{"depth-64", "64 nested lists", "81*64 00"},
		{"depth-64-maps", "64 nested maps", "a16161*64 00"},
		{"items-131072", "a list of 131,071 integers is 131,072 items", "9a0001ffff 00*131071"},
		{"items-keys", "map keys count as items", "82 9a0001fff9 00*131065 a2 616100 616200"},
		{"links-uncounted", "a list of 25,000 links counts one item",
			"9961a8 " + hx(encode(recordCID(dict{}))) + "*25000"},
		{"block-1mib", "a block of 1,048,576 bytes", "5a000ffffb 00*1048571"},
	}
	for _, c := range ok {
		s.add("1.2", "codec", "limit-"+c.name, c.title, obj{"block": c.block},
			obj{"cid": cidOf(codecCBOR, expand(c.block)).String()})
	}
	bad := []struct{ name, title, class, block string }{
		{"depth-65", "65 nested lists", "depth", "81*65 00"},
		{"depth-65-maps", "65 nested maps", "depth", "a16161*65 00"},
		{"depth-65-mixed", "lists and maps nested 65 deep", "depth", "81 a1616181*32 00"},
		{"items-131073", "131,073 items", "items", "9a00020000 00*131072"},
		{"items-keys-over", "131,073 items, keys counted", "items",
			"82 9a0001fffa 00*131066 a2 616100 616200"},
		{"block-1mib-1", "a block of 1,048,577 bytes", "size", "5a000ffffc 00*1048572"},
	}
	for _, c := range bad {
		s.refuse("1.2", "codec", "limit-"+c.name, c.title, c.class, obj{"block": c.block})
	}
}

func cidCases(s *suite) {
	blocks := []struct {
		name, title string
		codec       byte
		block       []byte
	}{
		{"raw-empty", "the empty raw block", codecRaw, nil},
		{"raw-hello", "a raw block", codecRaw, []byte("hello")},
		{"cbor-empty-map", "the empty map", codecCBOR, encode(dict{})},
		{"raw-1mib", "a raw block of the greatest size", codecRaw, make([]byte, 1<<20)},
	}
	for _, c := range blocks {
		l := cidOf(c.codec, c.block)
		codec := map[byte]string{codecRaw: "raw", codecCBOR: "dag-cbor"}[c.codec]
		s.add("1.1", "cid", c.name, c.title, obj{"codec": codec, "block": pieces(c.block)},
			obj{"cid": l.String(), "bytes": hx(l)})
	}
	s.refuse("1.1", "cid", "raw-1mib-1", "a raw block over the limit", "size",
		obj{"codec": "raw", "block": pieces(make([]byte, 1<<20+1))})
	cidTexts(s)
}

func cidTexts(s *suite) {
	good := recordCID(dict{}).String()
	s.add("1.1", "cid", "text-good", "a text form and its bytes", obj{"text": good},
		obj{"bytes": hx(recordCID(dict{})), "cid": good})
	flip := []byte(good)
	flip[58]++ // the last character carries two bits that must be zero
	bad := []struct{ name, title, text string }{
		{"empty", "no text", ""},
		{"upper", "upper case", "B" + upper(good[1:])},
		{"base58", "a base58 CID of version 0", "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG"},
		{"no-prefix", "without the multibase prefix", good[1:]},
		{"padded", "with padding", good + "======"},
		{"short", "one character short", good[:58]},
		{"long", "one character long", good + "a"},
		{"space", "a trailing line feed", good + "\n"},
		{"leftover-bits", "the unused bits of the last character are set", string(flip)},
		{"alphabet", "a digit outside the alphabet", good[:20] + "1" + good[21:]},
		{"codec", "codec dag-json", link("\x01\xa9\x02\x12\x20" + rep("a", 32)).String()},
		{"dag-pb", "codec dag-pb", link("\x01\x70\x12\x20" + rep("a", 32)).String()},
		{"identity", "an identity hash", link("\x01\x55\x00\x01a").String()},
		{"v2", "version 2", link("\x02\x71\x12\x20" + rep("a", 32)).String()},
	}
	for _, c := range bad {
		s.refuse("1.1", "cid", "text-"+c.name, c.title, "cid", obj{"text": c.text})
	}
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 32
		}
	}
	return string(b)
}
