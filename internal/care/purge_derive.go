package care

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// meet finds the nodes at the other ends of edges of nodes that go completely, and what to search for in a scan.
func (s *PurgeScan) meet() {
	for _, e := range s.edges {
		for _, ends := range [][2]graph.ID{{e.edge.Src, e.edge.Dst}, {e.edge.Dst, e.edge.Src}} {
			if !s.whole(ends[0]) {
				continue
			}
			s.edgeIDs[e.edge.ID] = true
			if s.Nodes[ends[1]] == nil && s.near[ends[1]] == nil {
				s.near[ends[1]] = &Versions{list: make(map[ipld.CID]*graph.Node), marks: make(map[ipld.CID]*graph.Mark)}
			}
		}
	}
	s.ids = nil
	seek := func(id graph.ID) { // a chunk stores the common prefix of its keys separately: one half of an id is contiguous
		s.ids = append(s.ids, id[:graph.IDLen/2], id[graph.IDLen/2:])
	}
	for id := range s.Nodes {
		if s.whole(id) {
			seek(id)
		}
	}
	for id := range s.near {
		seek(id)
	}
}

// follow collects, for the nodes near those that go completely, their versions and whether anything else leads to
// them; and the marks and embeddings of both.
func (s *PurgeScan) follow(b store.Block, kind string) error {
	switch kind {
	case graph.KindNode:
		n, err := graph.DecodeNode(b.Data)
		if v := s.near[nodeID(n, err)]; v != nil {
			v.list[b.CID] = n
			v.spared = v.spared || !isNameOnly(n)
		}
	case graph.KindEdge:
		e, err := graph.DecodeEdge(b.Data)
		if err != nil {
			return nil
		}
		for _, ends := range [][2]graph.ID{{e.Src, e.Dst}, {e.Dst, e.Src}} {
			if v := s.near[ends[0]]; v != nil && !s.whole(ends[1]) && !s.gone[ends[1]] && !isAlias(e) {
				v.spared = true
			}
		}
	case graph.KindMark:
		m, err := graph.DecodeMark(b.Data)
		if err != nil {
			return nil
		}
		if v := s.near[m.ID]; v != nil && m.On == graph.OnNode {
			v.marks[b.CID] = m
		}
		if m.On == graph.OnNode && s.whole(m.ID) || m.On == graph.OnEdge && s.edgeIDs[m.ID] {
			s.mark(b.CID, m)
		}
	case treeKind:
		s.embeddings(b, s.ids, func(id graph.ID, c ipld.CID) {
			if s.near[id] != nil || s.whole(id) {
				s.vectors[c] = id
			}
		})
	}
	return nil
}

// AliasEdge is the type of the edge from the node of a first name to that of a full name.
const AliasEdge = "alias-of"

// isAlias reports whether an edge says no more than that two names mean the same: such an edge does not keep a name
// alive.
func isAlias(e *graph.Edge) bool {
	return e.Type == AliasEdge && e.Key == "" && len(e.Props)+len(e.Sources)+len(e.Extra) == 0
}

// madeOfNames maps the types of nodes made from just a name to the prefixes of their keys (clause 19.5).
var madeOfNames = map[string]string{"Entity": "entity/", "Tag": "tag/"}

// isNameOnly reports whether a node is just a name: it has one of these types, its key is made from its summary,
// and it has no other content.
func isNameOnly(n *graph.Node) bool {
	prefix, ok := madeOfNames[n.Type]
	if !ok || n.Context != "" || n.Content != nil || len(n.Props)+len(n.Sources)+len(n.Cues)+len(n.Extra) > 0 {
		return false
	}
	name, _ := searched(n.Summary)
	key, _ := searched(strings.TrimPrefix(n.Key, prefix))
	return n.Key != "" && key == name
}

// derive adds the nodes that only removed nodes led to, with their data.
func (s *PurgeScan) derive() error {
	for id, v := range s.near {
		if v.spared || len(v.list) == 0 {
			continue
		}
		s.Nodes[id] = v
		v.all, v.erased = len(v.list), len(v.list)
		for c, n := range v.list {
			s.needle(s.words, n.Summary)
			if err := s.version(c, n); err != nil {
				return err
			}
		}
		for c, m := range v.marks {
			s.mark(c, m)
		}
		s.P.res.Derived = append(s.P.res.Derived, id)
	}
	slices.SortFunc(s.P.res.Derived, graph.ID.Compare)
	for _, e := range s.edges {
		if s.whole(e.edge.Src) || s.whole(e.edge.Dst) {
			s.edge(e.cid, e.edge)
		}
	}
	for c, id := range s.vectors {
		if s.whole(id) {
			s.Erase[c] = Erasure{what: commit.ErasedEmbedding, node: id}
		}
	}
	return nil
}
