package main

import "strings"

// quay returns the memory of the exports in two states, the second after more lines.
func quay() (first, second *store) {
	far := recordCID(dict{"far": true}).String()
	lines := batchText{
		`{"node":{"key":"alice","type":"Person","summary":"Alice leads the harbour",` +
			`"props":{"see":{"/":"` + far + `"}}}}`,
		`{"node":{"key":"pier","type":"Place","summary":"The north pier"}}`,
		`{"node":{"key":"log","type":"Note","content":"` + strings.Repeat("x", 40_000) + `"}}`,
		`{"edge":{"type":"leads","src":"alice","dst":"pier"}}`,
		`{"mark":{"node":"pier","state":"stale"}}`,
		`{"embedding":{"node":"alice","model":"m","vector":[0.5,-1]}}`,
	}
	more := batchText{
		`{"node":{"key":"boat","type":"Boat","summary":"A boat"}}`,
		`{"edge":{"type":"moors","src":"boat","dst":"pier"}}`,
	}
	return built(lines), built(lines, more)
}

// world is a shelf with two commits, a session with a receipt, and a tag.
type world struct {
	shelf
	one, two, session, receipt, tag link
	reworded                        link // a receipt of a request with rewrites
}

func newWorld() world {
	w := world{shelf: shelf{}}
	first, second := quay()
	w.one = w.addCommit(first, nil)
	w.two = w.addCommit(second, dict{"parents": []any{w.one}, "height": 2, "time": t0 + 5,
		"message": w.add("More"), "signature": []byte("signed")})
	w.add("harbour")
	alice, pier := first.nodes[nodeIDOfKey("alice")], first.nodes[nodeIDOfKey("pier")]
	w.receipt = w.add(receiptOf(asked("harbour", nil), w.one, alice))
	rewrites := []any{w.add("pier"), w.add("a harbour")}
	w.reworded = w.add(receiptOf(asked("harbour", dict{"rewrites": rewrites}), w.one, alice, pier))
	rec := dict{"kind": "session", "v": 1, "name": "s1", "seq": 0, "commit": w.one,
		"follow": false, "actor": "erin", "time": t0}
	w.session = w.add(with(rec, dict{"seq": 1, "prev": w.add(rec), "receipt": w.receipt}))
	w.tag = w.add(dict{"kind": "tag", "v": 1, "name": "v1", "target": w.one, "tagger": "erin",
		"time": t0, "message": w.add("The first")})
	return w
}

func exchangeCases(s *suite) {
	manifestCases(s)
	w := newWorld()
	branch := map[string]link{"refs/heads/main": w.two}
	all := map[string]link{"refs/heads/main": w.two, "refs/heads/old": w.one, "refs/tags/v1": w.tag,
		"refs/tags/plain": w.one, "refs/sessions/s1": w.session}
	onMain := dict{"scope": "all", "head": "refs/heads/main"}
	good := []struct {
		clause, name, title string
		refs                map[string]link
		manifest, again     dict
	}{
		{"18.4", "all", "branches, tags and a session", all, onMain, dict{"all": true}},
		{"18.1", "branch", "one branch", branch, dict{"scope": "revision", "head": "refs/heads/main"},
			dict{"rev": "main"}},
		{"18.4", "tag", "an annotated tag", map[string]link{"refs/tags/v1": w.tag},
			dict{"scope": "revision"}, dict{"rev": "v1"}},
		{"18.2", "object", "a commit without a ref", nil,
			dict{"scope": "revision", "objects": ascendingLinks(w.two)}, dict{"rev": w.two.String()}},
		{"18.4", "session", "a session", map[string]link{"refs/sessions/s1": w.session},
			dict{"scope": "session"}, dict{"session": "s1"}},
		{"18.3", "receipt-rewrites", "a receipt whose request has rewrites, behind its text", nil,
			dict{"scope": "receipt", "objects": ascendingLinks(w.reworded)},
			dict{"receipt": w.reworded.String()}},
		{"18.4", "receipt", "a receipt", nil,
			dict{"scope": "receipt", "objects": ascendingLinks(w.receipt)},
			dict{"receipt": w.receipt.String()}},
	}
	for _, c := range good {
		file, order := newWorld().file(c.refs, c.manifest)
		s.add(c.clause, "car", c.name, c.title, obj{"file": pieces(file)},
			obj{"blocks": names(order), "refs": refsOf(c.refs), "export": c.again})
	}
	before, _ := newWorld().file(map[string]link{"refs/heads/main": w.one},
		dict{"scope": "revision", "head": "refs/heads/main"})
	file, order := newWorld().file(branch, dict{"scope": "range", "head": "refs/heads/main",
		"since": ascendingLinks(w.one)})
	s.add("18.3", "car", "range", "what a branch has and an older commit has not",
		obj{"before": pieces(before), "file": pieces(file)},
		obj{"blocks": names(order), "refs": refsOf(branch),
			"export": obj{"rev": w.one.String() + "..main"}})
	s.refuse("18.5", "car", "bad-range-alone", "a range without the commit that it goes on from",
		"since", obj{"file": pieces(file)})
	digestTexts(s)
	redactedCases(s)
	badHeaders(s, w)
	badSections(s, w)
	badWorlds(s)
}

// digestTexts are files of a commit with texts of digests, and of one after it that has the same texts.
func digestTexts(s *suite) {
	w := newWorld()
	first, second := quay()
	source := make([]byte, 32)
	text := w.add(dict{"kind": "written", "v": 1, "text": "The harbour and its pier.", "model": "m",
		"rules": []any{"type"}, "graph": []byte(recordCID(second.graphRecord()))[4:], "scope": make([]byte, 16),
		"source": source})
	texts := w.addTree(mapping{string(source): text})
	three := w.addCommit(second, dict{"parents": []any{w.two}, "height": 3, "time": t0 + 6, "digests": texts})
	four := w.addCommit(first, dict{"parents": []any{three}, "height": 4, "time": t0 + 7, "digests": texts})
	at := func(c link) map[string]link { return map[string]link{"refs/heads/main": c} }
	file, order := w.file(at(three), dict{"scope": "revision", "head": "refs/heads/main"})
	s.add("18.3", "car", "digests", "texts of digests", obj{"file": pieces(file)},
		obj{"blocks": names(order), "refs": refsOf(at(three)), "export": dict{"rev": "main"}})
	since, order := w.file(at(four), dict{"scope": "range", "head": "refs/heads/main", "since": ascendingLinks(three)})
	s.add("18.3", "car", "digests-range", "a range leaves out the texts that its beginning has",
		obj{"before": pieces(file), "file": pieces(since)},
		obj{"blocks": names(order), "refs": refsOf(at(four)), "export": obj{"rev": three.String() + "..main"}})
}

// redactedCases has files of memories with erased parts.
func redactedCases(s *suite) {
	first, _ := quay()
	node := recordCID(first.nodes[nodeIDOfKey("alice")])
	edgeRecord := first.edges[sortedKeys(first.edges)[0]]
	edge := recordCID(edgeRecord)
	leftEdge := dict{"what": "edge", "left": leftOfEdge(edgeRecord)}
	for _, c := range []struct {
		name, title, class string
		gone               link // what the manifest says was erased
		kept               bool // in the file all the same
		stub               dict // what differs in the redaction
	}{
		{"redacted", "a node that was erased", "", node, false, nil},
		{"redacted-message", "a message that was erased", "", cidOf(codecRaw, []byte("More")), false,
			dict{"what": "message", "node": absent{}}},
		{"redacted-edge", "an edge that was erased", "", edge, false, leftEdge},
		{"redacted-mark", "a mark that was erased", "",
			recordCID(first.marks[sortedKeys(first.marks)[0]]), false,
			dict{"what": "mark", "left": leftOfMark(first.marks[sortedKeys(first.marks)[0]])}},
		{"bad-redacted-kept", "a redacted block that is in the file", "redacted", node, true, nil},
		{"bad-redacted-loose", "a redacted block that nothing leads to", "reach",
			cidOf(codecRaw, []byte("elsewhere")), true, nil},
		{"bad-redacted-edge", "a redacted edge, of which nothing is left", "missing", edge, false, nil},
		{"bad-redacted-node", "a redacted node, of which an edge is left", "missing", node, false,
			leftEdge},
	} {
		w := newWorld()
		stub := with(dict{"kind": "redaction", "v": 1, "what": "node", "actor": "erin", "time": t0,
			"node": []byte(nodeIDOfKey("alice")), "reason": "asked to"}, c.stub)
		if !c.kept {
			delete(w.shelf, c.gone)
		}
		refs := map[string]link{"refs/heads/main": w.two}
		file, order := w.file(refs, dict{"scope": "revision", "head": "refs/heads/main",
			"redacted": mapping{string(c.gone): w.add(stub)}})
		in := obj{"file": pieces(file)}
		if c.class != "" {
			s.refuse("18.5", "car", c.name, c.title, c.class, in)
			continue
		}
		s.add("18.3", "car", c.name, c.title, in,
			obj{"blocks": names(order), "refs": refsOf(refs), "export": dict{"rev": "main"}})
	}
}

func names(order []link) []any {
	out := []any{}
	for _, c := range order {
		out = append(out, c.String())
	}
	return out
}

func refsOf(refs map[string]link) obj {
	out := obj{}
	for name, c := range refs {
		out[name] = c.String()
	}
	return out
}

func manifestCases(s *suite) {
	l := recordCID(dict{})
	two := ascendingLinks(l, recordCID(dict{"a": 1}))
	base := dict{"kind": "export", "v": 1, "scope": "revision", "format": 1,
		"refs": buildTree(nil).root, "objects": []any{l}}
	s.records("export", base, []recordCase{
		{"18.2", "object", "one object", "", nil},
		{"18.2", "head", "a head and no objects", "",
			dict{"head": "refs/heads/main", "objects": absent{}}},
		{"18.2", "range", "a range", "", dict{"scope": "range", "since": []any{l}}},
		{"18.2", "redacted", "something was erased", "", dict{"redacted": buildTree(nil).root}},
		{"18.2", "redacted-raw", "redactions in a raw block", "type",
			dict{"redacted": cidOf(codecRaw, nil)}},
		{"18.2", "two", "two objects", "", dict{"objects": two}},
		{"1.3", "unknown-field", "an unknown field survives", "", dict{"zeta": "kept"}},
		{"18.2", "descending", "objects that descend", "order", dict{"objects": []any{two[1], two[0]}}},
		{"18.2", "twice", "an object twice", "order", dict{"objects": manyLinks(2, l)}},
		{"18.2", "objects-empty", "an empty list of objects", "limit", dict{"objects": []any{}}},
		{"18.2", "objects-17", "17 objects", "limit", dict{"objects": manyLinks(17, l)}},
		{"18.2", "objects-raw", "a raw block as object", "type",
			dict{"objects": []any{cidOf(codecRaw, nil)}}},
		{"18.2", "since-missing", "a range from nothing", "field", dict{"scope": "range"}},
		{"18.2", "since-extra", "no range, from something", "field", dict{"since": []any{l}}},
		{"18.2", "scope", "an unknown scope", "state", dict{"scope": "some"}},
		{"18.2", "format-2", "another format", "version", dict{"format": 2}},
		{"18.2", "format-missing", "no format", "field", dict{"format": absent{}}},
		{"18.2", "refs-missing", "no refs", "field", dict{"refs": absent{}}},
		{"18.2", "head-tag", "a tag as head", "name", dict{"head": "refs/tags/v1"}},
		{"18.2", "head-dots", "a bad name as head", "name", dict{"head": "refs/heads/a..b"}},
	})
}

func badHeaders(s *suite, w world) {
	file, order := w.file(map[string]link{"refs/heads/main": w.one},
		dict{"scope": "revision", "head": "refs/heads/main"})
	root := order[0]
	sections := file[len(carHeader(dict{"roots": []any{root}, "version": 1})):]
	fields := func(parts ...string) []byte {
		b := expand(strings.Join(parts, " "))
		return append(uvarint(len(b)), b...)
	}
	version, roots := hx("\x67version\x01"), hx("\x65roots\x81")+hx(string(encode(root)))
	for _, c := range []struct {
		name, title, class string
		header             []byte
	}{
		{"empty", "no byte at all", "header", nil},
		{"v2", "the pragma of CARv2", "version", carHeader(dict{"version": 2})},
		{"v3", "version 3", "version", carHeader(dict{"roots": []any{root}, "version": 3})},
		{"version-missing", "no version", "header", carHeader(dict{"roots": []any{root}})},
		{"roots-missing", "no roots", "roots", carHeader(dict{"version": 1})},
		{"roots-none", "an empty list of roots", "roots",
			carHeader(dict{"roots": []any{}, "version": 1})},
		{"roots-two", "two roots", "roots",
			carHeader(dict{"roots": []any{root, w.one}, "version": 1})},
		{"root-other", "a root that is not the first block", "roots",
			carHeader(dict{"roots": []any{w.one}, "version": 1})},
		{"header-field", "an unknown field in the header", "header",
			carHeader(dict{"roots": []any{root}, "version": 1, "zeta": 1})},
		{"header-order", "keys of the header out of order", "order", fields("a2", version, roots)},
		{"header-length", "a length that is not in the fewest bytes", "length",
			append([]byte{0xba, 0x00}, carHeader(dict{"roots": []any{root}, "version": 1})[1:]...)},
		{"header-long", "a header of 2^63 bytes", "length", expand("ff*8 7f")},
	} {
		data := append(append([]byte{}, c.header...), sections...)
		if c.header == nil {
			data = nil
		}
		s.refuse("18.1", "car", "bad-"+c.name, c.title, c.class, obj{"file": pieces(data)})
	}
}

func badSections(s *suite, w world) {
	file, order := w.file(map[string]link{"refs/heads/main": w.one},
		dict{"scope": "revision", "head": "refs/heads/main"})
	last := w.shelf[order[len(order)-1]]
	edit := func(c link, at int, to byte) link {
		b := []byte(c)
		b[at] = to
		return link(b)
	}
	raw, unsorted := w.add("loose"), expand("a2 6162 01 6161 02")
	for _, c := range []struct {
		name, title, class string
		tail               []byte
	}{
		{"zero", "a byte 0 at the end", "section", []byte{0}},
		{"newline", "a line end at the end", "section", []byte("\n")},
		{"cut-length", "a length that is cut", "section", []byte{0x80}},
		{"cut-section", "a section that is cut", "section", carSection(raw, []byte("loose"))[:30]},
		{"no-cid", "a section of 35 bytes", "section", append([]byte{35}, raw[:35]...)},
		{"length-long", "a section over the limit", "length", expand("a58040")},
		{"length-huge", "a section of 2^64 - 1 bytes", "length", expand("ff*9 01")},
		{"length-padded", "a length that is not in the fewest bytes", "length",
			append([]byte{41 | 0x80, 0}, carSection(raw, []byte("loose"))[1:]...)},
		{"codec", "another codec", "cid", carSection(edit(raw, 1, 0x70), []byte("loose"))},
		{"hash", "another hash function", "cid", carSection(edit(raw, 2, 0x16), []byte("loose"))},
		{"digest", "bytes that do not match their CID", "hash", carSection(raw, []byte("goose"))},
		{"unsorted", "a map with its keys out of order", "order",
			carSection(cidOf(codecCBOR, unsorted), unsorted)},
		{"twice", "a block that is there twice", "twice",
			carSection(order[len(order)-1], bytesOf(last))},
		{"loose", "a block that nothing leads to", "reach", carSection(raw, []byte("loose"))},
	} {
		data := append(append([]byte{}, file...), c.tail...)
		s.refuse("18.1", "car", "bad-"+c.name, c.title, c.class, obj{"file": pieces(data)})
	}
	swapped := append([]link{order[1], order[0]}, order[2:]...)
	s.refuse("18.5", "car", "bad-manifest-second", "the manifest is not the first block", "roots",
		obj{"file": pieces(w.write(order[0], swapped))})
	for i, what := range []string{"refs", "commit", "graph"} {
		short := append(append([]link{}, order[:i+1]...), order[i+2:]...)
		s.refuse("18.5", "car", "bad-without-"+what, "the "+what+" is missing", "missing",
			obj{"file": pieces(w.write(order[0], short))})
	}
}

// badWorlds are files whose blocks are all right by themselves.
func badWorlds(s *suite) {
	first, _ := quay()
	var edgeID, markKey string
	for id := range first.edges {
		edgeID = id
	}
	for k := range first.marks {
		markKey = k
	}
	for _, c := range []struct {
		name, title, class string
		commit             dict // fields of the commit
		graph              func(sh shelf, g dict)
		refs               func(w *world) map[string]link
		manifest           dict
	}{
		{name: "height", title: "a height that is not one more than the parent's", class: "height",
			commit: dict{"height": 3}},
		{name: "counts", title: "counts that are not those of the trees", class: "counts",
			graph: func(_ shelf, g dict) { g["counts"] = dict{"nodes": 9, "edges": 1, "marks": 1} }},
		{name: "adjacency", title: "in and out exchanged", class: "adjacency",
			graph: func(_ shelf, g dict) { g["in"], g["out"] = g["out"], g["in"] }},
		{name: "edge-lost", title: "adjacency of an edge that is not there", class: "adjacency",
			graph: func(sh shelf, g dict) {
				g["edges"] = sh.addTree(nil)
				g["counts"] = dict{"nodes": 3, "edges": 0, "marks": 1}
			}},
		{name: "key", title: "an edge under another id", class: "key",
			graph: func(sh shelf, g dict) {
				g["edges"] = sh.addTree(mapping{"0123456789abcdef": recordCID(first.edges[edgeID])})
			}},
		{name: "mark", title: "a mark on nothing", class: "dangling",
			graph: func(sh shelf, g dict) {
				m := with(first.marks[markKey], dict{"id": []byte("0123456789abcdef")})
				g["marks"] = sh.addTree(mapping{"n0123456789abcdef": sh.add(m)})
			}},
		{name: "ref-kind", title: "a branch that names a session", class: "ref",
			refs: func(w *world) map[string]link {
				return map[string]link{"refs/heads/main": w.two, "refs/heads/x": w.session}
			}},
		{name: "ref-name", title: "a ref outside the three namespaces", class: "ref",
			refs: func(w *world) map[string]link {
				return map[string]link{"refs/heads/main": w.two, "refs/stage/x": w.one}
			}},
		{name: "head", title: "a head that is no ref of the file", class: "ref",
			manifest: dict{"head": "refs/heads/other"}},
	} {
		w := newWorld()
		two := with(w.shelf[w.two].(dict), c.commit)
		if c.graph != nil {
			g := with(w.shelf[w.shelf[w.one].(dict)["graph"].(link)].(dict), nil)
			c.graph(w.shelf, g)
			two["graph"] = w.add(g)
		}
		w.two = w.add(two)
		refs := map[string]link{"refs/heads/main": w.two}
		if c.refs != nil {
			refs = c.refs(&w)
		}
		file, _ := w.file(refs, with(dict{"scope": "all", "head": "refs/heads/main"}, c.manifest))
		s.refuse("18.5", "car", "bad-"+c.name, c.title, c.class, obj{"file": pieces(file)})
	}
}
