package main

import (
	"crypto/sha256"
	"fmt"
)

// bulk is a mapping that a vector describes instead of listing: entry i (from 0) has the key
// prefix ‖ first 12 bytes of sha2-256(seed ‖ ":" ‖ i in decimal), and the integer i as value.
func bulk(prefix, seed string, n int) mapping {
	m := mapping{}
	for i := range n {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", seed, i))
		m[prefix+string(sum[:12])] = int64(i)
	}
	return m
}

func bulkInput(prefix, seed string, n int) obj {
	return obj{"bulk": obj{"prefix": hx(prefix), "seed": seed, "count": n}}
}

func entriesInput(m mapping) obj {
	list := []any{}
	for _, k := range sortedMap(m) {
		list = append(list, []any{pieces(k), pieces(encode(m[k]))})
	}
	return obj{"entries": list}
}

// treeExpect gives the whole shape of a tree, and its blocks where they are few.
func treeExpect(m mapping) obj {
	r := buildTree(m)
	sizes := make([][]int, len(r.levels))
	for _, c := range r.blocks {
		sizes[c.level] = append(sizes[c.level], c.size)
	}
	e := obj{"root": r.root.String(), "count": len(m), "chunks": sizes}
	if len(r.blocks) <= 4 && len(m) <= 20 {
		blocks := []any{}
		for _, c := range r.blocks {
			blocks = append(blocks, obj{"cid": c.cid.String(), "block": pieces(c.bytes)})
		}
		e["blocks"] = blocks
	}
	return e
}

func treeShapes(s *suite) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 16, 17, 31, 32, 33, 34, 64, 65, 200, 1000, 5000} {
		clause := "2.3"
		if n < 2 {
			clause = "2.4"
		}
		s.add(clause, "tree", fmt.Sprintf("bulk-%04d", n), fmt.Sprintf("%d entries", n),
			bulkInput("", "shape", n), treeExpect(bulk("", "shape", n)))
	}
	for i := range 4 {
		seed := fmt.Sprintf("seed-%d", i)
		s.add("2.2", "tree", "bulk-"+seed, "300 entries of another seed",
			bulkInput("", seed, 300), treeExpect(bulk("", seed, 300)))
	}
	prefix := rep("long/shared/prefix/", 12)
	s.add("2.4", "tree", "prefix-long", "a long shared prefix is stored once a chunk",
		bulkInput(prefix, "prefix", 10), treeExpect(bulk(prefix, "prefix", 10)))
	s.add("2.4", "tree", "prefix-levels", "a shared prefix in two levels",
		bulkInput(prefix, "prefix", 100), treeExpect(bulk(prefix, "prefix", 100)))
}

func treeSmall(s *suite) {
	l := recordCID(dict{})
	small := []struct {
		name, title string
		m           mapping
	}{
		{"key-empty", "the empty key alone", mapping{"": int64(1)}},
		{"key-empty-first", "the empty key comes first and makes the prefix empty",
			mapping{"": int64(1), "a": int64(2), "ab": int64(3)}},
		{"key-order", "keys are in bytewise order, unlike map keys",
			mapping{"b": int64(1), "aa": int64(2), "\xff": int64(3), "\x00": int64(4)}},
		{"key-prefix", "a key that is the prefix of the others",
			mapping{"ab": int64(1), "abc": int64(2), "abcd": int64(3)}},
		{"key-4096", "a key of 4,096 bytes", mapping{rep("k", 4096): int64(1)}},
		{"values", "values of every kind", mapping{"a": l, "b": "text", "c": int64(-7),
			"d": dict{"x": []any{l, 0.5}}, "e": []byte{0, 1}, "f": true}},
	}
	for _, c := range small {
		s.add("2.4", "tree", c.name, c.title, entriesInput(c.m), treeExpect(c.m))
	}
	big := func(n int) mapping { return mapping{"a": rep("v", n-3)} }
	s.add("2.1", "tree", "value-4000", "a value of 4,000 bytes", entriesInput(big(4000)),
		treeExpect(big(4000)))
	s.refuse("2.1", "tree", "value-4001", "a value of 4,001 bytes", "value-size",
		entriesInput(big(4001)))
	in := entriesInput(mapping{rep("k", 4097): int64(1)})
	s.refuse("2.1", "tree", "key-4097", "a key of 4,097 bytes", "key-size", in)
}

// keyInBand returns the first key "PREFIX-i" (i counted up in decimal) whose hash at level 0
// lies in band b of n equal bands.
func keyInBand(prefix string, b, n int) string {
	width := ^uint64(0)/uint64(n) + 1
	for i := 0; ; i++ {
		if k := fmt.Sprintf("%s-%d", prefix, i); int(boundaryHash(0, k)/width) == b {
			return k
		}
	}
}

func numbered(keys []string) mapping {
	m := mapping{}
	for i, k := range keys {
		m[k] = int64(i)
	}
	return m
}

// treeBoundaries are trees of chosen keys: their hashes rise, fall or lie as band says.
func treeBoundaries(s *suite) {
	shapes := []struct {
		name, title string
		band        func(i, n int) int
	}{
		{"rise", "hashes that rise: chunks of one entry", func(i, n int) int { return i }},
		{"fall", "hashes that fall", func(i, n int) int { return n - 1 - i }},
		{"valley", "the smallest hash in the middle", func(i, n int) int {
			if i < n/2 {
				return n - 1 - 2*i
			}
			return 2*i - n + n%2
		}},
		{"last", "the smallest hash is the last entry's, which cuts nothing", func(i, n int) int {
			return (i + 1) % n
		}},
	}
	for _, c := range shapes {
		for _, n := range []int{32, 33, 34, 64, 65, 100} {
			var keys []string
			for i := range n {
				keys = append(keys, keyInBand(fmt.Sprintf("%s/%03d", c.name, i), c.band(i, n), n))
			}
			m := numbered(keys)
			s.add("2.2", "tree", fmt.Sprintf("%s-%03d", c.name, n),
				fmt.Sprintf("%d keys, %s", n, c.title), entriesInput(m), treeExpect(m))
		}
	}
}

func changesJSON(cs []change) []any {
	out := []any{}
	for _, c := range cs {
		o := obj{"key": hx(c.key)}
		if c.left != nil {
			o["left"] = hx(encode(c.left))
		}
		if c.right != nil {
			o["right"] = hx(encode(c.right))
		}
		out = append(out, o)
	}
	return out
}

// edited returns a copy of m with the given removals and settings, both as JSON and applied.
func edited(m mapping, remove []string, set mapping) (mapping, obj) {
	out := mapping{}
	for k, v := range m {
		out[k] = v
	}
	removed := []any{}
	for _, k := range remove {
		delete(out, k)
		removed = append(removed, hx(k))
	}
	for k, v := range set {
		out[k] = v
	}
	return out, obj{"remove": removed, "set": entriesInput(set)["entries"]}
}

func treeDiffs(s *suite) {
	base := bulk("", "diff", 500)
	keys := sortedMap(base)
	cases := []struct {
		name, title string
		remove      []string
		set         mapping
	}{
		{"equal", "no difference", nil, nil},
		{"change-first", "the first value changes", nil, mapping{keys[0]: "new"}},
		{"change-last", "the last value changes", nil, mapping{keys[499]: "new"}},
		{"insert-first", "a key before all others", nil, mapping{"": int64(-1)}},
		{"insert-last", "a key after all others", nil, mapping{"\xff\xff\xff": int64(-1)}},
		{"insert-middle", "one insertion is one difference, however chunks move", nil,
			mapping{keys[250] + "x": int64(-1)}},
		{"remove-one", "one removal", keys[100:101], nil},
		{"remove-run", "a run of 80 keys goes", keys[200:280], nil},
		{"mixed", "insertion, change and removal", keys[10:12],
			mapping{keys[9]: "new", keys[300] + "x": int64(1), keys[499]: []byte{1}}},
		{"int-float", "1 and 1.0 differ", nil, mapping{keys[0]: float64(1)}},
	}
	for _, c := range cases {
		right, edit := edited(base, c.remove, c.set)
		s.add("2.5", "tree-diff", c.name, c.title,
			obj{"left": bulkInput("", "diff", 500)["bulk"], "edit": edit},
			obj{"left": buildTree(base).root.String(), "right": buildTree(right).root.String(),
				"changes": changesJSON(diffMaps(base, right))})
	}
	right := bulk("", "other", 40)
	left := bulk("", "diff", 40)
	s.add("2.5", "tree-diff", "disjoint", "nothing in common",
		obj{"left": bulkInput("", "diff", 40)["bulk"], "right": bulkInput("", "other", 40)["bulk"]},
		obj{"left": buildTree(left).root.String(), "right": buildTree(right).root.String(),
			"changes": changesJSON(diffMaps(left, right))})
}

func treeMerges(s *suite) {
	base := bulk("", "merge", 300)
	k := sortedMap(base)
	type side struct {
		remove []string
		set    mapping
	}
	cases := []struct {
		name, title string
		left, right side
	}{
		{"none", "neither side changes", side{}, side{}},
		{"left-only", "only left changes", side{set: mapping{k[5]: "l"}}, side{}},
		{"right-only", "only right changes", side{}, side{set: mapping{k[5]: "r"}}},
		{"both-apart", "both change, different keys", side{set: mapping{k[5]: "l"}},
			side{set: mapping{k[6]: "r"}}},
		{"both-same", "both make the same change", side{set: mapping{k[5]: "x"}},
			side{set: mapping{k[5]: "x"}}},
		{"both-differ", "both change one key differently", side{set: mapping{k[5]: "l"}},
			side{set: mapping{k[5]: "r"}}},
		{"both-remove", "both remove", side{remove: k[5:6]}, side{remove: k[5:6]}},
		{"remove-keep", "one removes, the other leaves it", side{remove: k[5:6]}, side{}},
		{"keep-remove", "the other way round", side{}, side{remove: k[5:6]}},
		{"remove-change", "one removes, the other changes", side{remove: k[5:6]},
			side{set: mapping{k[5]: "r"}}},
		{"add-add-same", "both add the same", side{set: mapping{"new": int64(1)}},
			side{set: mapping{"new": int64(1)}}},
		{"add-add-differ", "both add one key differently", side{set: mapping{"new": int64(1)}},
			side{set: mapping{"new": int64(2)}}},
		{"many", "runs on both sides and two conflicts",
			side{remove: k[20:60], set: mapping{k[100]: "l", k[101]: "l", k[102]: "l"}},
			side{remove: k[150:200], set: mapping{k[30]: "r", k[101]: "r", k[102]: "l"}}},
	}
	for _, c := range cases {
		left, le := edited(base, c.left.remove, c.left.set)
		right, re := edited(base, c.right.remove, c.right.set)
		merged, conflicts := mergeMaps(base, left, right)
		list := []any{}
		for _, k := range conflicts {
			list = append(list, hx(k))
		}
		e := obj{"conflicts": list}
		if len(conflicts) == 0 {
			e["root"] = buildTree(merged).root.String()
		}
		s.add("2.5", "tree-merge", c.name, c.title,
			obj{"base": bulkInput("", "merge", 300)["bulk"], "left": le, "right": re}, e)
	}
}
