package main

import (
	"crypto/sha256"
	"encoding/binary"
	"sort"
)

// treeMax is MAX of clause 2.2.
const treeMax = 32

// mapping is a tree's content: key bytes to the value item.
type mapping map[string]any

// entry is one entry of a level.
type entry struct {
	key   string
	value any
	count int64 // entries of level 0 below it
}

// chunkBlock is one built chunk.
type chunkBlock struct {
	cid   link
	bytes []byte
	level int
	size  int // entries
}

// treeResult is a built tree: chunks level by level from 0 up, the root last.
type treeResult struct {
	root   link
	blocks []chunkBlock
	levels []int // chunks of each level
}

func boundaryHash(level int, key string) uint64 {
	sum := sha256.Sum256([]byte("mnem:tree:" + string([]byte{byte(level)}) + key))
	return binary.BigEndian.Uint64(sum[:8])
}

// cutRuns cuts a run of entries into chunks as the first paragraph of clause 2.2 says.
func cutRuns(level int, es []entry) [][]entry {
	if len(es) <= treeMax {
		return [][]entry{es}
	}
	best := 0
	for i := range es[:len(es)-1] {
		if boundaryHash(level, es[i].key) < boundaryHash(level, es[best].key) {
			best = i
		}
	}
	return append(cutRuns(level, es[:best+1]), cutRuns(level, es[best+1:])...)
}

// cutLeft cuts a level from left to right, the second wording of clause 2.2.
func cutLeft(level int, es []entry) [][]entry {
	var out [][]entry
	last := uint64(0)
	for first := true; first || len(es) > 0; first = false {
		n := leftEnd(level, es, last)
		if n > 0 {
			last = boundaryHash(level, es[n-1].key)
		}
		out = append(out, es[:n])
		es = es[n:]
	}
	return out
}

func leftEnd(level int, es []entry, last uint64) int {
	window := min(treeMax, len(es))
	best := 0
	for i := range window {
		h := boundaryHash(level, es[i].key)
		if h < last {
			return i + 1
		}
		if h < boundaryHash(level, es[best].key) {
			best = i
		}
	}
	if len(es) > treeMax {
		return best + 1
	}
	return len(es)
}

func sortedMap(m mapping) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// buildTree builds every level of the tree of m from its sorted entries (clauses 2.2 and 2.3).
func buildTree(m mapping) treeResult {
	var es []entry
	for _, k := range sortedMap(m) {
		es = append(es, entry{key: k, value: m[k], count: 1})
	}
	var r treeResult
	for level := 0; ; level++ {
		var up []entry
		chunks := cutRuns(level, es)
		sameCuts(chunks, cutLeft(level, es))
		for _, run := range chunks {
			c := buildChunk(level, run)
			r.blocks = append(r.blocks, c)
			e := entry{value: c.cid}
			for _, x := range run {
				e.key, e.count = x.key, e.count+x.count
			}
			up = append(up, e)
		}
		r.levels = append(r.levels, len(up))
		if len(up) == 1 {
			r.root = r.blocks[len(r.blocks)-1].cid
			return r
		}
		es = up
	}
}

// sameCuts holds the two wordings of clause 2.2 together.
func sameCuts(a, b [][]entry) {
	if len(a) != len(b) {
		panic("the two wordings of clause 2.2 disagree")
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			panic("the two wordings of clause 2.2 disagree")
		}
	}
}

func buildChunk(level int, es []entry) chunkBlock {
	prefix := ""
	if len(es) > 0 {
		prefix = es[0].key
	}
	for _, e := range es {
		n := 0
		for n < len(prefix) && n < len(e.key) && prefix[n] == e.key[n] {
			n++
		}
		prefix = prefix[:n]
	}
	keys, values, counts := []any{}, []any{}, []any{}
	for _, e := range es {
		keys = append(keys, []byte(e.key[len(prefix):]))
		values = append(values, e.value)
		counts = append(counts, e.count)
	}
	rec := dict{"kind": "tree", "v": 1, "level": level, "prefix": []byte(prefix),
		"keys": keys, "values": values}
	if level > 0 {
		rec["counts"] = counts
	}
	b := encode(rec)
	return chunkBlock{cid: cidOf(codecCBOR, b), bytes: b, level: level, size: len(es)}
}

// change is one difference between two trees; nil values are absent.
type change struct {
	key         string
	left, right any
}

func diffMaps(a, b mapping) []change {
	all := mapping{}
	for k := range a {
		all[k] = nil
	}
	for k := range b {
		all[k] = nil
	}
	var out []change
	for _, k := range sortedMap(all) {
		if x, y := valueBytes(a, k), valueBytes(b, k); x != y {
			out = append(out, change{key: k, left: a[k], right: b[k]})
		}
	}
	return out
}

// valueBytes is the encoded value at k, or empty where there is none.
func valueBytes(m mapping, k string) string {
	v, ok := m[k]
	if !ok {
		return ""
	}
	return string(encode(v))
}

// mergeMaps merges left and right over base and returns the keys in conflict.
func mergeMaps(base, left, right mapping) (mapping, []string) {
	out := mapping{}
	all := mapping{}
	for _, m := range []mapping{base, left, right} {
		for k := range m {
			all[k] = nil
		}
	}
	var conflicts []string
	for _, k := range sortedMap(all) {
		b, l, r := valueBytes(base, k), valueBytes(left, k), valueBytes(right, k)
		side := left
		switch {
		case l == r || r == b:
		case l == b:
			side = right
		default:
			conflicts = append(conflicts, k)
			continue
		}
		if v, ok := side[k]; ok {
			out[k] = v
		}
	}
	return out, conflicts
}
