package main

import "math"

// badTree is a chunk that a reader must refuse, by clause 2.4.
type badTree struct {
	name, title, class string
	rec                dict
}

// leaf returns a good chunk of level 0 with the given fields changed; nil removes a field.
func leaf(edit dict) dict {
	return with(dict{"kind": "tree", "v": 1, "level": 0, "prefix": []byte("a"),
		"keys":   []any{[]byte("b"), []byte("c")},
		"values": []any{int64(1), int64(2)}}, edit)
}

// absent as a field's value in with removes the field.
type absent struct{}

func with(rec, edit dict) dict {
	out := dict{}
	for k, v := range rec {
		out[k] = v
	}
	for k, v := range edit {
		out[k] = v
		if _, gone := v.(absent); gone {
			delete(out, k)
		}
	}
	return out
}

func inner(edit dict) dict {
	l := recordCID(leaf(nil))
	return with(dict{"kind": "tree", "v": 1, "level": 1, "prefix": []byte("a"),
		"keys": []any{[]byte("b"), []byte("c")}, "values": []any{l, l},
		"counts": []any{int64(2), int64(2)}}, edit)
}

// wide is a chunk of level 0 with n entries.
func wide(n int) dict {
	keys, values := []any{}, []any{}
	for i := range n {
		keys = append(keys, []byte{byte(i)})
		values = append(values, int64(i))
	}
	return leaf(dict{"keys": keys, "values": values})
}

func bs(items ...string) []any {
	out := []any{}
	for _, s := range items {
		out = append(out, []byte(s))
	}
	return out
}

func treeBlocks(s *suite) {
	s.add("2.4", "tree", "block-leaf", "a good chunk of level 0",
		obj{"block": pieces(encode(leaf(nil)))}, obj{"cid": recordCID(leaf(nil)).String()})
	s.add("2.4", "tree", "block-inner", "a good chunk of level 1",
		obj{"block": pieces(encode(inner(nil)))}, obj{"cid": recordCID(inner(nil)).String()})
	s.add("2.4", "tree", "block-32", "a chunk of 32 entries",
		obj{"block": pieces(encode(wide(32)))}, obj{"cid": recordCID(wide(32)).String()})
	l := recordCID(leaf(nil))
	bad := []badTree{
		{"prefix-short", "a prefix that is not the longest", "prefix",
			leaf(dict{"prefix": []byte(""), "keys": bs("ab", "ac")})},
		{"prefix-one", "one entry whose key is not all in the prefix", "prefix",
			leaf(dict{"keys": bs("b"), "values": []any{int64(1)}})},
		{"prefix-empty-chunk", "an empty chunk with a prefix", "prefix",
			leaf(dict{"keys": bs(), "values": []any{}})},
		{"keys-descend", "keys that descend", "keys", leaf(dict{"keys": bs("c", "b")})},
		{"keys-equal", "equal keys", "keys", leaf(dict{"prefix": []byte("ab"), "keys": bs("",
			"")})},
		{"keys-text", "keys that are strings", "type", leaf(dict{"keys": []any{"b", "c"}})},
		{"values-few", "fewer values than keys", "length", leaf(dict{"values": []any{int64(1)}})},
		{"values-many", "more values than keys", "length",
			leaf(dict{"values": []any{int64(1), int64(2), int64(3)}})},
		{"counts-leaf", "counts at level 0", "field", leaf(dict{"counts": []any{int64(1),
			int64(1)}})},
		{"counts-missing", "no counts above level 0", "field", inner(dict{"counts": absent{}})},
		{"counts-few", "fewer counts than keys", "length", inner(dict{"counts": []any{int64(4)}})},
		{"counts-zero", "a count of zero", "counts", inner(dict{"counts": []any{int64(0),
			int64(2)}})},
		{"counts-negative", "a negative count", "counts",
			inner(dict{"counts": []any{int64(-1), int64(2)}})},
		{"inner-value", "a value that is not a link above level 0", "type",
			inner(dict{"values": []any{l, int64(2)}})},
		{"inner-raw", "a link to a raw block above level 0", "type",
			inner(dict{"values": []any{l, cidOf(codecRaw, nil)}})},
		{"entries-33", "33 entries in a chunk", "length", wide(33)},
		{"counts-sum", "counts whose sum is over int64", "counts",
			inner(dict{"counts": []any{int64(math.MaxInt64), int64(1)}})},
		{"level-negative", "a negative level", "level", leaf(dict{"level": int64(-1)})},
		{"level-64", "level 64", "level", inner(dict{"level": int64(64)})},
		{"unknown-field", "an unknown field", "field", leaf(dict{"extra": int64(1)})},
		{"no-prefix", "no prefix", "field", leaf(dict{"prefix": absent{}})},
		{"version-2", "another version", "version", leaf(dict{"v": int64(2)})},
		{"kind", "another kind", "kind", leaf(dict{"kind": "node"})},
		{"not-a-map", "not a map", "type", nil},
	}
	for _, c := range bad {
		b := encode(c.rec)
		if c.rec == nil {
			b = encode([]any{})
		}
		s.refuse("2.4", "tree", "bad-"+c.name, c.title, c.class, obj{"block": pieces(b)})
	}
	treeBadChildren(s)
}

// treeBadChildren are trees whose blocks are good one by one but do not fit together.
func treeBadChildren(s *suite) {
	good := bulk("", "child", 200)
	r := buildTree(good)
	root := r.blocks[len(r.blocks)-1]
	deep := dict{"kind": "tree", "v": 1, "level": 2, "prefix": []byte("a"), "keys": bs("b", "c"),
		"values": []any{recordCID(leaf(nil)), recordCID(leaf(nil))},
		"counts": []any{int64(2), int64(2)}}
	blocks := []any{pieces(encode(leaf(nil)))}
	s.refuse("2.4", "tree", "child-level", "a child two levels below its parent", "level",
		obj{"root": pieces(encode(deep)), "blocks": blocks})
	s.refuse("2.4", "tree", "child-missing", "a child that is not there", "missing",
		obj{"root": pieces(root.bytes), "blocks": []any{}})
}
