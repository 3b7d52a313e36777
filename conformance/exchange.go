package main

import "sort"

// shelf is every block there is to export, under its CID: a record, or a string for a raw block.
type shelf map[link]any

func (sh shelf) add(v any) link {
	c := recordCID(v)
	if text, raw := v.(string); raw {
		c = cidOf(codecRaw, []byte(text))
	}
	sh[c] = v
	return c
}

// addTree adds the chunks of a tree, which are kept as their bytes.
func (sh shelf) addTree(m mapping) link {
	r := buildTree(m)
	for _, b := range r.blocks {
		sh[b.cid] = chunkOf(b)
	}
	return r.root
}

// chunkBytes is a chunk of a tree: its bytes, and the links in them in their order.
type chunkBytes struct {
	bytes []byte
	links []link
}

// chunkOf finds the links of a chunk in its bytes: nothing but a link begins as one does.
func chunkOf(b chunkBlock) chunkBytes {
	out := chunkBytes{bytes: b.bytes}
	head := "\xd8\x2a\x58\x25\x00\x01\x71\x12\x20"
	for i := 0; i+len(head) <= len(b.bytes); i++ {
		if string(b.bytes[i:i+len(head)]) == head {
			out.links = append(out.links, link(b.bytes[i+5:i+41]))
		}
	}
	return out
}

// addCommit adds a commit of a store's state and everything it needs.
func (sh shelf) addCommit(st *store, edit dict) link {
	for _, records := range []map[string]dict{st.nodes, st.edges, st.marks, st.vectors} {
		for _, r := range records {
			sh.add(r)
		}
	}
	for _, text := range st.contents {
		if len(text) > inlineMax {
			_, blocks := contentOf(text, "")
			for _, b := range blocks {
				sh.add(b)
			}
		}
	}
	out, in := adjacencyTrees(st.edges)
	trees := []mapping{linkMap(st.nodes), linkMap(st.edges), linkMap(st.marks), out, in}
	for _, m := range trees {
		sh.addTree(m)
	}
	c := dict{"graph": sh.add(st.graphRecord())}
	if len(st.vectors) > 0 {
		c["vectors"] = sh.addTree(linkMap(st.vectors))
	}
	return sh.add(baseCommit(both(c, edit)))
}

func linkMap(records map[string]dict) mapping {
	m := mapping{}
	for k, r := range records {
		m[k] = recordCID(r)
	}
	return m
}

// linksOf collects the links of a value in the order of its bytes.
func linksOf(v any) []link {
	var out []link
	switch v := v.(type) {
	case link:
		return []link{v}
	case []any:
		for _, e := range v {
			out = append(out, linksOf(e)...)
		}
	case dict:
		for _, k := range sortedKeys(v) {
			out = append(out, linksOf(v[k])...)
		}
	}
	return out
}

// only keeps some fields of a record.
func only(rec dict, fields ...string) dict {
	out := dict{}
	for _, f := range fields {
		if v, ok := rec[f]; ok {
			out[f] = v
		}
	}
	return out
}

// leads returns the links of a block (clause 18.3).
func leads(v any) []link {
	if c, ok := v.(chunkBytes); ok {
		return c.links
	}
	rec, ok := v.(dict)
	if !ok {
		return nil
	}
	switch rec["kind"] {
	case "export":
		return linksOf(only(rec, "refs", "objects", "redacted"))
	case "commit":
		return linksOf(only(rec, "graph", "message", "parents", "digests", "profile", "vectors"))
	case "graph":
		return linksOf(only(rec, "nodes", "edges", "out", "in", "marks"))
	case "node":
		content, _ := rec["content"].(dict)
		return linksOf(only(content, "chunks"))
	case "session":
		return linksOf(only(rec, "prev", "commit", "receipt"))
	case "receipt":
		rec = only(rec, "items", "commits", "request")
		rec["request"] = only(rec["request"].(dict), "text", "rewrites")
		return linksOf(rec)
	case "tag":
		return linksOf(only(rec, "target", "message"))
	}
	return nil
}

// walk lists what a block reaches, depth first, itself included, but for what is in seen.
func (sh shelf) walk(c link, seen map[link]bool) []link {
	if _, here := sh[c]; seen[c] || !here {
		return nil
	}
	seen[c] = true
	out := []link{c}
	for _, next := range leads(sh[c]) {
		out = append(out, sh.walk(next, seen)...)
	}
	return out
}

// leftOut returns the links that a range omits if the receiver has the commit base.
func (sh shelf) leftOut(base link) map[link]bool {
	seen := map[link]bool{}
	var ancestors func(c link)
	ancestors = func(c link) {
		seen[c] = true
		for _, p := range linksOf(sh[c].(dict)["parents"]) {
			ancestors(p)
		}
	}
	ancestors(base)
	var state func(c link)
	state = func(c link) {
		seen[c] = true
		rec, _ := sh[c].(dict)
		if _, chunk := sh[c].(chunkBytes); chunk || rec["kind"] == "graph" {
			for _, next := range leads(sh[c]) {
				state(next)
			}
		}
	}
	rec := sh[base].(dict)
	for _, c := range linksOf(only(rec, "graph", "digests", "profile", "vectors")) {
		state(c)
	}
	return seen
}

func bytesOf(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case chunkBytes:
		return v.bytes
	}
	return encode(v)
}

func uvarint(n int) []byte {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func carHeader(v any) []byte {
	b := encode(v)
	return append(uvarint(len(b)), b...)
}

func carSection(c link, data []byte) []byte {
	b := append(uvarint(len(c)+len(data)), c...)
	return append(b, data...)
}

// file is an export of clause 18: the refs, and the rest of the manifest.
func (sh shelf) file(refs map[string]link, manifest dict) ([]byte, []link) {
	m := mapping{}
	for name, c := range refs {
		m[name] = c
	}
	if gone, ok := manifest["redacted"].(mapping); ok {
		manifest = with(manifest, dict{"redacted": sh.addTree(gone)})
	}
	root := sh.add(with(dict{"kind": "export", "v": 1, "format": 1, "refs": sh.addTree(m)}, manifest))
	seen := map[link]bool{}
	for _, since := range linksOf(manifest["since"]) {
		for c := range sh.leftOut(since) {
			seen[c] = true
		}
	}
	order := sh.walk(root, seen)
	return sh.write(root, order), order
}

// write makes a file of blocks as they come.
func (sh shelf) write(root link, order []link) []byte {
	out := carHeader(dict{"roots": []any{root}, "version": 1})
	for _, c := range order {
		out = append(out, carSection(c, bytesOf(sh[c]))...)
	}
	return out
}

// ascendingLinks orders links by their bytes.
func ascendingLinks(links ...link) []any {
	sort.Slice(links, func(i, j int) bool { return links[i] < links[j] })
	out := []any{}
	for _, c := range links {
		out = append(out, c)
	}
	return out
}
