package main

import (
	"bytes"
	"fmt"
	"sort"
)

// past is a history whose commits each have a whole memory of their own.
type past struct {
	stores  []*store
	commits []dict
	blocks  map[string][]byte // by CID
}

// pastCommit is one commit: its parents, and the lines that make its memory from nothing.
type pastCommit struct {
	parents []int
	author  string
	agent   string
	lines   []string
}

func makePast(list []pastCommit) (*past, error) {
	p := &past{blocks: map[string][]byte{}}
	for i, c := range list {
		st, _, err := newStore().apply(c.lines, "erin", t0)
		if err != nil {
			return nil, fmt.Errorf("commit %d: %w", i, err)
		}
		height, parents := 0, []any{}
		for _, at := range c.parents {
			parents = append(parents, recordCID(p.commits[at]))
			height = max(height, p.commits[at]["height"].(int))
		}
		edit := dict{"parents": parents, "height": height + 1, "graph": p.keep(st),
			"author": c.author, "time": t0 + int64(i)*1_000_000, "message": fmt.Sprintf("commit %d", i)}
		if c.agent != "" {
			edit["agent"] = c.agent
		}
		rec := baseCommit(edit)
		p.put(rec)
		p.stores, p.commits = append(p.stores, st), append(p.commits, rec)
	}
	return p, nil
}

func (p *past) put(rec dict) link {
	c := recordCID(rec)
	p.blocks[string(c)] = encode(rec)
	return c
}

// keep puts all blocks of a memory and returns its graph.
func (p *past) keep(s *store) link {
	out, in := adjacencyTrees(s.edges)
	trees := []treeResult{linkTree(s.nodes), linkTree(s.edges), linkTree(s.marks), buildTree(out),
		buildTree(in)}
	for _, t := range trees {
		for _, c := range t.blocks {
			p.blocks[string(c.cid)] = c.bytes
		}
	}
	for _, m := range []map[string]dict{s.nodes, s.edges, s.marks} {
		for _, rec := range m {
			p.put(rec)
		}
	}
	return p.put(s.graphRecord())
}

// fields are those of clause 16.1, as they are encoded.
func (p *past) fields(at int, id string) map[string][]byte {
	out := map[string][]byte{}
	n, ok := p.stores[at].nodes[id]
	if !ok {
		return out
	}
	for name, v := range n {
		switch name {
		case "id", "kind", "v":
		case "props":
			for prop, v := range v.(dict) {
				out["props."+prop] = encode(v)
			}
		default:
			out[name] = encode(v)
		}
	}
	if m, ok := p.stores[at].marks["n"+id]; ok {
		out["mark"] = encode(m)
	}
	return out
}

func (p *past) parents(at int) []int {
	var out []int
	for _, c := range p.commits[at]["parents"].([]any) {
		for i, rec := range p.commits {
			if recordCID(rec) == c {
				out = append(out, i)
			}
		}
	}
	return out
}

// setBy follows one field to the commit that it is attributed to.
func (p *past) setBy(at int, id, field string) int {
	value := p.fields(at, id)[field]
	for _, parent := range p.parents(at) {
		if theirs, ok := p.fields(parent, id)[field]; ok && bytes.Equal(theirs, value) {
			return p.setBy(parent, id, field)
		}
	}
	return at
}

// shownFields is the order of clause 16.1; what is not in it follows.
var shownFields = []string{"key", "type", "summary", "context", "content", "cues", "created", "updated",
	"validFrom", "validTo", "sources", "mark"}

func fieldRank(name string) int {
	for i, f := range shownFields {
		if f == name {
			return i
		}
	}
	return len(shownFields)
}

func (p *past) blame(at int, id string) []any {
	fields := p.fields(at, id)
	names := sortedKeys(fields)
	sort.SliceStable(names, func(i, j int) bool { return fieldRank(names[i]) < fieldRank(names[j]) })
	list := []any{}
	for _, name := range names {
		list = append(list, obj{"field": name, "commit": p.setBy(at, id, name)})
	}
	return list
}

// about is all of a memory that touches a node, by tree key.
func (p *past) about(at int, id string) map[string]string {
	s := p.stores[at]
	out := map[string]string{}
	add := func(on, id string, rec dict) {
		out[on+id] = string(encode(rec))
		if m, ok := s.marks[on+id]; ok {
			out["mark of "+on+id] = string(encode(m))
		}
	}
	if n, ok := s.nodes[id]; ok {
		add("n", id, n)
	}
	for edge, rec := range s.edges {
		if text(rec, "src") == id || text(rec, "dst") == id {
			add("e", edge, rec)
		}
	}
	return out
}

// touches is clause 16.2.
func (p *past) touches(at int, id string) bool {
	mine := p.about(at, id)
	parents := p.parents(at)
	for _, parent := range parents {
		if sameTexts(mine, p.about(parent, id)) {
			return false
		}
	}
	return len(parents) > 0 || len(mine) > 0
}

func sameTexts(a, b map[string]string) bool {
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return len(a) == len(b)
}
