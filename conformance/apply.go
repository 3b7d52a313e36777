package main

import "strings"

// tally counts what a batch did (clause 5.3).
type tally struct {
	nodes, edges          [3]int // added, changed, removed
	duplicates, unchanged int
}

// lineError names the line (from 1) of an error, for clause 5.1.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }

// batch applies the lines of one batch to a copy of a store.
type batch struct {
	*store
	author string
	time   int64
	line   int
	tally  tally
	given  map[string]int // what lines gave, "e" ‖ id and so on, to the last line
	fresh  map[string][]dict
	before map[string]dict // embeddings before the batch, for unchanged
}

func copyOf(m map[string]dict) map[string]dict {
	out := map[string]dict{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// apply returns the store after the lines, leaving s as it is.
func (s *store) apply(lines []string, author string, time int64) (*store, tally, error) {
	after := &store{nodes: copyOf(s.nodes), edges: copyOf(s.edges), marks: copyOf(s.marks),
		vectors: copyOf(s.vectors), contents: map[string]string{}}
	for k, v := range s.contents {
		after.contents[k] = v
	}
	b := &batch{store: after, author: author, time: time, given: map[string]int{},
		fresh: map[string][]dict{}, before: copyOf(s.vectors)}
	for i, line := range lines {
		b.line = i + 1
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := b.one(line); err != nil {
			return nil, tally{}, &lineError{line: i + 1, err: err}
		}
	}
	if err := b.finish(); err != nil {
		return nil, tally{}, err
	}
	if err := b.circle(s.marks); err != nil {
		return nil, tally{}, err
	}
	b.tally.nodes = s.difference(after, "n", s.nodes, after.nodes)
	b.tally.edges = s.difference(after, "e", s.edges, after.edges)
	return after, b.tally, nil
}

// difference counts what was added, changed and removed between a and b, the nodes or edges of s and
// after; a mark that differs changes what it is on. on is the first letter of marks' keys.
func (s *store) difference(after *store, on string, a, b map[string]dict) (d [3]int) {
	for k, v := range b {
		old, ok := a[k]
		marked := recordCID(s.marks[on+k]) != recordCID(after.marks[on+k])
		if !ok {
			d[0]++
		} else if recordCID(old) != recordCID(v) || marked {
			d[1]++
		}
	}
	for k := range a {
		if _, ok := b[k]; !ok {
			d[2]++
		}
	}
	return d
}

func (b *batch) one(line string) error {
	if len(line) > 4194304 {
		return fail("size", "a line of %d bytes", len(line))
	}
	kind, o, err := parseLine(line)
	if err != nil {
		return err
	}
	switch kind {
	case "node":
		return b.node(o)
	case "edge":
		return b.edge(o)
	case "mark":
		return b.mark(o)
	case "embedding":
		return b.embedding(o)
	}
	return b.remove(o)
}

// same reports whether two records differ at most in the given fields.
func same(a, b dict, but ...string) bool {
	drop := dict{}
	for _, f := range but {
		drop[f] = absent{}
	}
	return recordCID(with(a, drop)) == recordCID(with(b, drop))
}

// keep returns rec with the named fields alone.
func keep(rec dict, fields ...string) dict {
	out := dict{}
	for _, f := range fields {
		if v, ok := rec[f]; ok {
			out[f] = v
		}
	}
	return out
}

func setOr(rec dict, name, value string) {
	if value == "" {
		delete(rec, name)
	} else {
		rec[name] = value
	}
}

// common sets the fields that nodes and edges share: props, times and sources, then unsets.
func (b *batch) common(rec, o dict, allowed []string) error {
	for _, name := range []string{"validFrom", "validTo"} {
		t, given, err := timeIn(o, name)
		if err != nil {
			return err
		}
		if given {
			rec[name] = t
		}
	}
	sources, given, err := sourcesIn(o)
	if err != nil {
		return err
	}
	if given {
		rec["sources"] = sources
		if len(sources) == 0 {
			delete(rec, "sources")
		}
	}
	props, err := propsIn(o)
	if err != nil {
		return err
	}
	old, _ := rec["props"].(dict)
	merged := with(old, props)
	fields, names, err := unsetIn(o, allowed)
	if err != nil {
		return err
	}
	for _, f := range fields {
		delete(rec, f)
	}
	for _, n := range names {
		delete(merged, n)
	}
	rec["props"] = merged
	return checkWhole(rec)
}

func checkWhole(rec dict) error {
	if len(rec["props"].(dict)) > 1000 {
		return fail("limit", "too many properties")
	}
	from, hasFrom := rec["validFrom"]
	to, hasTo := rec["validTo"]
	if hasFrom && hasTo && to.(int64) <= from.(int64) {
		return fail("time", "validTo is not after validFrom")
	}
	return nil
}

func (b *batch) node(o dict) error {
	if _, err := members(o, nodeMembers); err != nil {
		return err
	}
	key, hasKey, err := nameIn(o, "key", 512)
	if err == nil && hasKey {
		err = checkNodeKey(key)
	}
	if err != nil {
		return err
	}
	id, hasID, err := idIn(o, "id")
	if err != nil {
		return err
	}
	if hasKey && hasID && id != nodeIDOfKey(key) {
		return fail("id", "key and id disagree")
	}
	if hasKey {
		id = nodeIDOfKey(key)
	}
	old, exists := b.nodes[id]
	if exists && hasKey && text(old, "key") != key {
		return fail("key", "the node has another key or none")
	}
	replace, err := boolIn(o, "replace")
	if err != nil {
		return err
	}
	rec := dict{"kind": "node", "v": 1, "props": dict{}}
	if hasKey {
		rec["key"] = key
	}
	if exists && replace {
		rec = with(rec, keep(old, "id", "key", "type"))
	} else if exists {
		rec = with(old, nil)
	}
	if err := b.nodeFields(rec, o); err != nil {
		return err
	}
	created, hasCreated, err := timeIn(o, "created")
	if err != nil {
		return err
	}
	if !hasKey && !hasID {
		if id = b.freeID(rec); id == "" {
			return nil
		}
	}
	return b.putNode(id, old, rec, created, hasCreated)
}

// freeID is the id of a node line with neither key nor id; empty for a duplicate.
func (b *batch) freeID(rec dict) string {
	for n := uint64(0); ; n++ {
		id := contentID(rec, n)
		old, taken := b.nodes[id]
		if !taken {
			return id
		}
		if same(old, rec, "id", "created", "updated") {
			b.tally.duplicates++
			return ""
		}
	}
}

func (b *batch) putNode(id string, old, rec dict, created int64, hasCreated bool) error {
	rec["id"] = []byte(id)
	if old == nil {
		rec["created"] = b.time
		if hasCreated {
			rec["created"] = created
		}
		b.nodes[id] = rec
		return nil
	}
	if same(old, rec, "created", "updated") {
		b.tally.unchanged++
		return nil
	}
	rec["created"] = old["created"]
	if hasCreated {
		rec["created"] = created
	}
	rec["updated"] = b.time
	if rec["created"] == rec["updated"] {
		delete(rec, "updated")
	}
	b.nodes[id] = rec
	return nil
}

func (b *batch) nodeFields(rec, o dict) error {
	typ, hasType, err := nameIn(o, "type", 255)
	if err != nil {
		return err
	}
	if hasType {
		rec["type"] = typ
	}
	if rec["type"] == nil {
		return fail("member", "a new node without a type")
	}
	for _, name := range []string{"summary", "context"} {
		s, given, err := stringIn(o, name, 0, 262144)
		if err != nil {
			return err
		}
		if given {
			setOr(rec, name, s)
		}
	}
	cues, given, err := cuesIn(o)
	if err != nil {
		return err
	}
	if given {
		rec["cues"] = cues
		if len(cues) == 0 {
			delete(rec, "cues")
		}
	}
	body, media, given, err := contentIn(o)
	if err != nil {
		return err
	}
	if given && body == "" {
		delete(rec, "content")
	} else if given {
		c, _ := contentOf(body, media)
		rec["content"] = c
		b.contents[string(recordCID(c))] = body
	}
	return b.common(rec, o, nodeUnset)
}

// contentText is the text of a node's content.
func (s *store) contentText(node dict) string {
	c, ok := node["content"].(dict)
	if !ok {
		return ""
	}
	return s.contents[string(recordCID(c))]
}
