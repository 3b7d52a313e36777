package main

import "fmt"

func graphCases(s *suite) {
	g := newStore()
	base := g.graphRecord()
	l := recordCID(dict{})
	s.records("graph", base, []recordCase{
		{"3.7", "empty", "the empty graph", "", nil},
		{"1.3", "unknown-field", "an unknown field survives", "", dict{"zeta": l}},
		{"3.7", "counts-unknown", "an unknown field in counts", "field",
			dict{"counts": dict{"nodes": 0, "edges": 0, "marks": 0, "zeta": 1}}},
		{"3.7", "out-missing", "no tree of outgoing edges", "field", dict{"out": absent{}}},
		{"3.7", "nodes-bytes", "a tree that is no link", "type", dict{"nodes": []byte(l)}},
		{"3.7", "nodes-raw", "a link to a raw block as a tree", "type",
			dict{"nodes": cidOf(codecRaw, nil)}},
		{"3.7", "counts-missing", "no counts", "field", dict{"counts": absent{}}},
		{"3.7", "counts-few", "no count of marks", "field",
			dict{"counts": dict{"nodes": 0, "edges": 0}}},
		{"3.7", "counts-negative", "a negative count", "limit",
			dict{"counts": dict{"nodes": -1, "edges": 0, "marks": 0}}},
	})
	graphBuilt(s)
}

// graphBuilt are graphs given by their records, down to the trees of adjacency.
func graphBuilt(s *suite) {
	for _, n := range []int{0, 1, 2, 20, 60} {
		g := newStore()
		r := rng(uint64(n) + 1)
		ids := []string{}
		for i := range n {
			key := fmt.Sprintf("node/%03d", i)
			id := nodeIDOfKey(key)
			ids = append(ids, id)
			g.nodes[id] = dict{"kind": "node", "v": 1, "id": []byte(id), "key": key,
				"type": "Thing", "props": dict{"i": int64(i)}, "created": t0 + int64(i)}
		}
		for i := 0; i < 2*n && n > 1; i++ {
			src, dst := ids[r.below(n)], ids[r.below(n)]
			typ := []string{"a", "aa", "b\x01"}[r.below(3)]
			id := edgeIDOf(src, typ, dst, "")
			g.edges[id] = with(baseEdge(), dict{"id": []byte(id), "type": typ,
				"src": []byte(src), "dst": []byte(dst), "weight": 1 + r.below(65536)})
		}
		for i := 0; i < n; i += 7 {
			g.marks["n"+ids[i]] = with(baseMark(), dict{"id": []byte(ids[i])})
		}
		in := obj{}
		for name, m := range map[string]map[string]dict{"nodes": g.nodes, "edges": g.edges,
			"marks": g.marks} {
			in[name] = recordList(m)
		}
		rec := g.graphRecord()
		s.add("3.7", "adjacency", fmt.Sprintf("graph-%03d", n),
			fmt.Sprintf("a graph of %d nodes from its records", n), in,
			obj{"graph": recordCID(rec).String(), "json": jsonForm(rec)})
	}
	adjacencyOrder(s)
}

// recordList is the records in key order, each as hex.
func recordList(m map[string]dict) []any {
	keys := mapping{}
	for k := range m {
		keys[k] = nil
	}
	out := []any{}
	for _, k := range sortedMap(keys) {
		out = append(out, hx(encode(m[k])))
	}
	return out
}

// adjacencyOrder shows the order of a bucket: by type bytes, then the other end, then edge id.
func adjacencyOrder(s *suite) {
	src := nodeIDOfKey("alice")
	edges := []any{}
	g := newStore()
	for _, typ := range []string{"b", "a", "aa", "a ", "a\x01", "é", "Z"} {
		for _, to := range []string{"bob", "carol"} {
			for _, key := range []string{"", "k"} {
				dst := nodeIDOfKey(to)
				id := edgeIDOf(src, typ, dst, key)
				e := with(baseEdge(), dict{"id": []byte(id), "type": typ, "dst": []byte(dst)})
				if key != "" {
					e["key"] = key
				}
				g.edges[id] = e
			}
		}
	}
	edges = append(edges, recordList(g.edges)...)
	out, in := adjacencyTrees(g.edges)
	list := func(m mapping) []any {
		keys := []any{}
		for _, k := range sortedMap(m) {
			keys = append(keys, hx(k))
		}
		return keys
	}
	s.add("3.7", "adjacency", "keys", "keys of the trees out and in", obj{"edges": edges},
		obj{"out": list(out), "in": list(in), "outRoot": buildTree(out).root.String(),
			"inRoot": buildTree(in).root.String()})
}

func baseCommit(edit dict) dict {
	c := with(dict{"kind": "commit", "v": 1, "parents": []any{}, "height": 1,
		"graph": recordCID(newStore().graphRecord()), "author": "erin", "time": t0,
		"message": "First facts"}, edit)
	if _, given := edit["change"]; !given {
		c["change"] = changeID(c)
	}
	return c
}

func commitCases(s *suite) {
	l := recordCID(baseCommit(nil))
	good := []struct {
		name, title string
		edit        dict
	}{
		{"first", "a first commit", nil},
		{"second", "a commit with a parent", dict{"parents": []any{l}, "height": 2}},
		{"sixteen", "16 parents", dict{"parents": distinct(16), "height": 9}},
		{"full", "every field", dict{"parents": []any{l}, "height": 2,
			"digests": buildTree(nil).root, "vectors": buildTree(nil).root,
			"agent": "claude", "task": "cleaning", "signature": []byte("signed")}},
		{"message-empty", "an empty message", dict{"message": ""}},
		{"message-max", "a message of 65,536 bytes", dict{"message": rep("m", 65536)}},
		{"message-block", "a message in a block of its own",
			dict{"message": cidOf(codecRaw, []byte("First facts"))}},
		{"unknown-field", "an unknown field survives and is part of the change id",
			dict{"zeta": []any{int64(1)}}},
		{"profile", "retrieval profiles", dict{"profile": l}},
		{"time-negative", "a time before 1970", dict{"time": int64(-1)}},
	}
	for _, c := range good {
		rec := baseCommit(c.edit)
		e := jsonShort(rec)
		e["change"] = hx(changeID(rec))
		s.add("4.4", "commit", c.name, c.title, obj{"block": pieces(encode(rec))}, e)
	}
	a, b := baseCommit(nil), baseCommit(dict{"signature": []byte("signed")})
	s.add("4.4", "commit", "change-signature", "a signature does not alter the change id",
		obj{"block": pieces(encode(b))},
		obj{"cid": recordCID(b).String(), "change": hx(changeID(a))})
	s.records("commit", baseCommit(nil), []recordCase{
		{"3.8", "change-kept", "the change of an amended commit is its first one", "",
			dict{"message": "other"}},
		{"3.8", "parents-17", "17 parents", "limit", dict{"parents": distinct(17), "height": 2}},
		{"3.8", "parents-twice", "a parent twice", "parents",
			dict{"parents": manyLinks(2, l), "height": 2}},
		{"3.8", "height-missing", "no height", "field", dict{"height": absent{}}},
		{"3.8", "height-first", "height 2 without parents", "height", dict{"height": 2}},
		{"3.8", "height-1", "height 1 with a parent", "height", dict{"parents": []any{l}}},
		{"3.8", "height-0", "height 0", "height", dict{"height": 0}},
		{"3.8", "agent-tab", "a tab in the agent", "name", dict{"agent": "a\tb"}},
		{"3.8", "parents-missing", "no list of parents", "field", dict{"parents": absent{}}},
		{"3.8", "parents-raw", "a parent that is a raw block", "type",
			dict{"parents": []any{cidOf(codecRaw, nil)}}},
		{"3.8", "author-255", "an author of 255 bytes", "", dict{"author": rep("a", 255)}},
		{"3.8", "author-256", "an author of 256 bytes", "limit", dict{"author": rep("a", 256)}},
		{"3.8", "author-empty", "an empty author", "limit", dict{"author": ""}},
		{"3.8", "author-lf", "a line feed in the author", "name", dict{"author": "a\nb"}},
		{"3.8", "author-del", "DEL in the author", "name", dict{"author": "a\x7f"}},
		{"3.8", "author-c1", "U+0085 in the author", "name", dict{"author": "a\u0085"}},
		{"3.8", "author-nbsp", "U+00A0 in the author is no control character", "",
			dict{"author": "a\u00a0"}},
		{"3.8", "agent-empty", "an empty agent", "limit", dict{"agent": ""}},
		{"3.8", "task-256", "a task of 256 bytes", "limit", dict{"task": rep("t", 256)}},
		{"3.8", "message-65537", "a message of 65,537 bytes", "limit",
			dict{"message": rep("m", 65537)}},
		{"3.8", "message-missing", "no message", "field", dict{"message": absent{}}},
		{"3.8", "message-record", "a message that is a record", "type", dict{"message": l}},
		{"3.8", "message-bytes", "a message of bytes", "type", dict{"message": []byte("m")}},
		{"3.8", "change-15", "a change of 15 bytes", "id",
			dict{"change": []byte("0123456789abcde")}},
		{"3.8", "signature-4096", "a signature of 4,096 bytes", "",
			dict{"signature": []byte(rep("s", 4096))}},
		{"3.8", "signature-4097", "a signature of 4,097 bytes", "limit",
			dict{"signature": []byte(rep("s", 4097))}},
		{"3.8", "graph-missing", "no graph", "field", dict{"graph": absent{}}},
		{"3.8", "digests", "texts of digests", "", dict{"digests": buildTree(nil).root}},
		{"3.8", "digests-raw", "texts of digests that are a raw block", "type",
			dict{"digests": cidOf(codecRaw, nil)}},
		{"3.8", "profile-raw", "profiles that are a raw block", "type",
			dict{"profile": cidOf(codecRaw, nil)}},
	})
	s.records("stage", dict{"kind": "stage", "v": 1, "branch": "refs/heads/main",
		"graph": recordCID(newStore().graphRecord())}, []recordCase{
		{"3.10", "first", "a stage before the first commit", "", nil},
		{"3.10", "full", "every field", "", dict{"base": l, "vectors": buildTree(nil).root}},
		{"3.10", "unknown-field", "an unknown field survives", "", dict{"zeta": true}},
		{"3.10", "branch", "a branch that is no ref name", "name", dict{"branch": "main"}},
		{"3.10", "graph-missing", "no graph", "field", dict{"graph": absent{}}},
		{"3.10", "base-raw", "a base that is a raw block", "type",
			dict{"base": cidOf(codecRaw, nil)}},
	})
}

// distinct is n links to different blocks.
func distinct(n int) []any {
	out := []any{}
	for i := range n {
		out = append(out, recordCID(dict{"i": i}))
	}
	return out
}

func operationCases(s *suite) {
	view := buildTree(mapping{"HEAD": "refs/heads/main", "refs/heads/main": recordCID(dict{})}).root
	l := recordCID(dict{"seq": 1})
	base := dict{"kind": "operation", "v": 1, "seq": 1, "view": view, "time": t0,
		"actor": "erin", "command": []any{"init"}}
	s.records("operation", base, []recordCase{
		{"3.9", "first", "the first operation", "", nil},
		{"3.9", "second", "an operation with its parent", "", dict{"seq": 2, "parent": l}},
		{"3.9", "skip", "operation 6 skips to 4", "", dict{"seq": 6, "parent": l, "skip": l}},
		{"3.9", "command-64", "64 words", "", dict{"command": manyStrings(64, rep("w", 255))}},
		{"3.9", "command-65", "65 words", "limit", dict{"command": manyStrings(65, "w")}},
		{"3.9", "command-0", "no command", "limit", dict{"command": []any{}}},
		{"3.9", "command-256", "a word of 256 bytes", "limit", dict{"command": []any{rep("w",
			256)}}},
		{"3.9", "unknown-field", "an unknown field survives", "", dict{"zeta": "z"}},
		{"3.9", "seq-0", "number 0", "limit", dict{"seq": 0}},
		{"3.9", "parent-first", "a first operation with a parent", "field", dict{"parent": l}},
		{"3.9", "parent-missing", "a second operation without a parent", "field", dict{"seq": 2}},
		{"3.9", "skip-odd", "operation 5 with a skip to its parent 4", "field",
			dict{"seq": 5, "parent": l, "skip": l}},
		{"3.9", "skip-power", "operation 8 with a skip to 0", "field",
			dict{"seq": 8, "parent": l, "skip": l}},
		{"3.9", "skip-missing", "operation 6 without a skip", "field", dict{"seq": 6, "parent": l}},
		{"3.9", "actor-empty", "an empty actor", "limit", dict{"actor": ""}},
		{"3.9", "actor-tab", "a tab in the actor", "name", dict{"actor": "a\tb"}},
		{"3.9", "view-raw", "a view that is a raw block", "type", dict{"view": cidOf(codecRaw,
			nil)}},
	})
	s.add("3.9", "operation", "view", "a view as a tree", obj{"view": obj{
		"HEAD": "refs/heads/main", "refs/heads/main": recordCID(dict{}).String()}},
		obj{"root": view.String()})
	skips := []any{}
	for seq := 1; seq <= 40; seq++ {
		if to := seq & (seq - 1); to != 0 && to != seq-1 {
			skips = append(skips, []int{seq, to})
		}
	}
	s.add("3.9", "operation", "skips", "which operations of 1 to 40 have a skip, and to which",
		obj{"last": 40}, obj{"skips": skips})
	refNames(s)
}

func refNames(s *suite) {
	good := []string{"HEAD", "refs/heads/main", "refs/heads/a/b/c", "refs/tags/v1.0",
		"refs/remotes/origin/main", "refs/sessions/s1", "refs/stage/main", "refs/conflicts/x",
		"refs/heads/é", "refs/heads/" + rep("n", 255), "refs/heads/a-b_c@d", "refs/heads/a/-b",
		"refs/heads/a.b", "refs/heads/heads/HEAD", "refs/heads/{@"}
	bad := []string{"", "head", "HEAD/x", "refs/heads/", "refs/heads", "refs/other/x", "main",
		"refs/heads/-a", "refs/heads/@", "refs/heads/HEAD", "refs/heads/a//b", "refs/heads//a",
		"refs/heads/a/", "refs/heads/.a", "refs/heads/a/.b", "refs/heads/a.", "refs/heads/a./b",
		"refs/heads/a.lock", "refs/heads/a.lock/b", "refs/heads/a..b", "refs/heads/a@{b",
		"refs/heads/a b", "refs/heads/a\tb", "refs/heads/a\x00", "refs/heads/a\x7f",
		"refs/heads/a\u0085", "refs/heads/a~b", "refs/heads/a^b", "refs/heads/a:b",
		"refs/heads/a?b", "refs/heads/a*b", "refs/heads/a[b", `refs/heads/a\b`,
		"refs/heads/" + rep("n", 256), "Refs/heads/a", "/refs/heads/a"}
	s.add("3.9", "operation", "ref-names", "ref names, good and bad",
		obj{"good": good, "bad": bad}, obj{"accepted": len(good)})
}

func sessionCases(s *suite) {
	l := recordCID(dict{})
	base := dict{"kind": "session", "v": 1, "name": "s1", "seq": 0, "commit": l,
		"follow": false, "actor": "erin", "time": t0}
	s.records("session", base, []recordCase{
		{"13.2", "first", "a pinned session begins", "", nil},
		{"13.2", "follow", "a session that follows HEAD", "",
			dict{"follow": true, "commit": absent{}}},
		{"13.2", "next", "a receipt is added", "", dict{"seq": 1, "prev": l, "receipt": l}},
		{"13.2", "ended", "a session ends", "", dict{"seq": 2, "prev": l, "ended": true}},
		{"13.2", "agent", "agent and task", "", dict{"agent": "a", "task": "t"}},
		{"13.2", "unknown-field", "an unknown field survives", "", dict{"zeta": 1.5}},
		{"13.2", "name-dot", "a name that begins with a dot", "name", dict{"name": ".s"}},
		{"13.2", "name-lock", "a name that ends with .lock", "name", dict{"name": "s.lock"}},
		{"13.2", "actor-empty", "an empty actor", "limit", dict{"actor": ""}},
		{"13.2", "agent-tab", "a tab in the agent", "name", dict{"agent": "a\tb"}},
		{"13.2", "prev-first", "a first record with one before", "field", dict{"prev": l}},
		{"13.2", "prev-missing", "a second record without one before", "field", dict{"seq": 1}},
		{"13.2", "name-missing", "no name", "field", dict{"name": absent{}}},
		{"13.2", "seq-negative", "a negative number", "limit", dict{"seq": -1}},
		{"13.2", "follow-missing", "no follow", "field", dict{"follow": absent{}}},
		{"13.2", "receipt-raw", "a receipt that is a raw block", "type",
			dict{"receipt": cidOf(codecRaw, nil)}},
	})
}

func idCases(s *suite) {
	for i, key := range []string{"alice", "a", "é", "a b", rep("k", 512), "a/b\n"} {
		id := nodeIDOfKey(key)
		s.add("4.1", "ids", fmt.Sprintf("node-key-%d", i), "the id of a node with a key",
			obj{"nodeKey": key}, obj{"id": hx(id), "uuid": uuid(id)})
	}
	rec := with(baseNode(), dict{"key": absent{}, "id": absent{}})
	for n := range 3 {
		s.add("4.1", "ids", fmt.Sprintf("content-%d", n), "id(n) of a node without a key",
			obj{"node": jsonForm(withoutIdentity(rec)), "n": n}, obj{"id": hx(contentID(rec,
				uint64(n)))})
	}
	s.add("4.1", "ids", "content-created", "created and updated are not part of it",
		obj{"node": jsonForm(with(withoutIdentity(rec), dict{"created": t0 + 9, "updated": t0})),
			"n": 0}, obj{"id": hx(contentID(rec, 0))})
	a, b := nodeIDOfKey("alice"), nodeIDOfKey("bob")
	edges := []struct{ name, title, src, typ, dst, key string }{
		{"plain", "the id of an edge", a, "knows", b, ""},
		{"keyed", "the id of an edge with a key", a, "knows", b, "k"},
		{"loop", "the id of a self-loop", a, "knows", a, ""},
		{"back", "direction matters", b, "knows", a, ""},
	}
	for _, e := range edges {
		id := edgeIDOf(e.src, e.typ, e.dst, e.key)
		s.add("4.2", "ids", "edge-"+e.name, e.title, obj{"edge": obj{"src": hx(e.src),
			"type": e.typ, "dst": hx(e.dst), "key": e.key}}, obj{"id": hx(id), "uuid": uuid(id)})
	}
	for i, t := range []string{"", "00112233-4455-6677-8899-AABBCCDDEEFF",
		"00112233445566778899aabbccddeeff", "{00112233-4455-6677-8899-aabbccddeeff}",
		"00112233-4455-6677-8899-aabbccddeef", "0011223-34455-6677-8899-aabbccddeeff",
		"00112233-4455-6677-8899-aabbccddeefg", "urn:uuid:00112233-4455-6677-8899-aabbccddeeff"} {
		s.refuse("3.1", "ids", fmt.Sprintf("uuid-bad-%d", i), "no text form of an id", "id",
			obj{"uuid": t})
	}
	id := string(unhex("00112233445566778899aabbccddeeff"))
	s.add("3.1", "ids", "uuid", "no version bits are set", obj{"uuid": uuid(id)},
		obj{"id": hx(id), "uuid": uuid(id)})
}
