package main

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
)

func nodeIDOfKey(key string) string { return first16("mnem:node:", key) }

func edgeIDOf(src, typ, dst, key string) string {
	return first16("mnem:edge:", src, typ, "\x00", dst, key)
}

// contentID is id(n) of clause 4.1 for the record rec.
func contentID(rec dict, n uint64) string {
	c := encode(withoutIdentity(rec))
	return first16("mnem:content:", string(c), string(binary.BigEndian.AppendUint64(nil, n)))
}

// withoutIdentity is the record C of clause 4.1.
func withoutIdentity(rec dict) dict {
	return with(rec, dict{"id": absent{}, "created": absent{}, "updated": absent{}})
}

// changeID is clause 4.4.
func changeID(commit dict) []byte {
	rest := with(commit, dict{"change": absent{}, "signature": absent{}})
	return []byte(first16("mnem:change:", string(encode(rest))))
}

const (
	inlineMax = 32768
	rawChunk  = 262144
)

// contentOf makes the content map of clause 3.3 and the raw blocks it links to.
func contentOf(text, media string) (dict, []string) {
	c := dict{"size": int64(len(text))}
	if media != "" && media != "text/plain" {
		c["media"] = media
	}
	if len(text) <= inlineMax {
		c["text"] = text
		return c, nil
	}
	var blocks []string
	links := []any{}
	for rest := text; rest != ""; {
		n := min(rawChunk, len(rest))
		links = append(links, cidOf(codecRaw, []byte(rest[:n])))
		blocks = append(blocks, rest[:n])
		rest = rest[n:]
	}
	c["chunks"] = links
	return c, blocks
}

// store holds the records of a graph, keyed by the keys of its trees.
type store struct {
	nodes, edges, marks, vectors map[string]dict
	contents                     map[string]string // CID of a content map to its text
}

func newStore() *store {
	return &store{nodes: map[string]dict{}, edges: map[string]dict{}, marks: map[string]dict{},
		vectors: map[string]dict{}, contents: map[string]string{}}
}

// linkTree is the tree from each key to a link to its record.
func linkTree(records map[string]dict) treeResult {
	m := mapping{}
	for k, r := range records {
		m[k] = recordCID(r)
	}
	return buildTree(m)
}

func text(rec dict, field string) string {
	switch v := rec[field].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func number(rec dict, field string) int64 {
	switch v := rec[field].(type) {
	case int:
		return int64(v)
	case int64:
		return v
	}
	return 0
}

// adjacencyKey is the key of the trees out and in: near ‖ type ‖ 00 ‖ far ‖ edge id.
func adjacencyKey(near, typ, far, id string) string { return near + typ + "\x00" + far + id }

func adjacencyTrees(edges map[string]dict) (out, in mapping) {
	out, in = mapping{}, mapping{}
	for id, e := range edges {
		src, typ, dst := text(e, "src"), text(e, "type"), text(e, "dst")
		out[adjacencyKey(src, typ, dst, id)] = e["weight"]
		in[adjacencyKey(dst, typ, src, id)] = e["weight"]
	}
	return out, in
}

// graphRecord is the record of clause 3.7 for a store.
func (s *store) graphRecord() dict {
	out, in := adjacencyTrees(s.edges)
	return dict{"kind": "graph", "v": 1,
		"nodes": linkTree(s.nodes).root, "edges": linkTree(s.edges).root,
		"out": buildTree(out).root, "in": buildTree(in).root,
		"marks": linkTree(s.marks).root,
		"counts": dict{"nodes": len(s.nodes), "edges": len(s.edges),
			"marks": len(s.marks)},
	}
}

// cuesOf are the cues of a node.
func cuesOf(node dict) []string {
	var out []string
	list, _ := node["cues"].([]any)
	for _, cue := range list {
		out = append(out, cue.(string))
	}
	return out
}

// embeddedText is the sha2-256 of the text that an embedding of a node stands for.
func embeddedText(node dict, content string) []byte {
	var parts []string
	texts := []string{text(node, "context"), text(node, "summary"), content}
	texts = append(texts, cuesOf(node)...)
	props, _ := node["props"].(dict)
	for _, name := range sortedKeys(props) {
		if value, ok := props[name].(string); ok && value != "" {
			texts = append(texts, name+": "+value)
		}
	}
	for _, t := range texts {
		if t != "" {
			parts = append(parts, t)
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return sum[:]
}

// built applies batches one second apart from t0.
func built(batches ...batchText) *store {
	st := newStore()
	for i, lines := range batches {
		next, _, err := st.apply(lines, "erin", t0+int64(i)*1_000_000)
		if err != nil {
			panic(err)
		}
		st = next
	}
	return st
}

// anyList is a list of strings as a record has it.
func anyList(list []string) []any {
	out := []any{}
	for _, v := range list {
		out = append(out, v)
	}
	return out
}

// stamp is a time as RFC 3339 with microseconds.
func stamp(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000Z")
}
