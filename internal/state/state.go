// Package state defines the states of a memory: the six trees of a graph, its embeddings and profiles, batches of
// changes to them, and differences between two states. It opens no repository and moves no ref.
package state

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// State is one state of the memory: the trees of a graph, its embeddings, and the retrieval profiles. Immutable.
type State struct {
	Get     store.Getter
	Root    ipld.CID // of the graph record; undefined for the empty state before the first commit
	Nodes   *prolly.Map
	Edges   *prolly.Map
	Out     *prolly.Map
	In      *prolly.Map
	Marks   *prolly.Map
	Vectors *prolly.Map
	Digests *prolly.Map // texts that models wrote, by the sources of digests
	Profile ipld.CID    // of the record of profiles, undefined for none
}

// Roots are the roots from which a state is loaded, each undefined if absent.
type Roots struct{ Graph, Vectors, Digests, Profile ipld.CID }

// RootsOf returns the roots of a commit's state.
func RootsOf(rec *commit.Commit) Roots {
	return Roots{rec.Graph, rec.Vectors, rec.Digests, rec.Profile}
}

// Staged returns the roots of a stage on top of a state.
func (s *State) Staged(rec *commit.Stage) Roots {
	return Roots{rec.Graph, rec.Vectors, s.DigestsRoot(), s.Profile}
}

// LoadState reads the trees of the roots; it does not read the record of profiles. An undefined graph gives the
// empty state, whose single tree is written through n.
func LoadState(ctx context.Context, n *prolly.Nodes, get store.Getter, at Roots) (*State, error) {
	s := &State{Get: get, Root: at.Graph, Profile: at.Profile}
	g := new(graph.Graph)
	if s.Root.Defined() {
		var err error
		if g, err = commit.ReadGraph(ctx, get, s.Root); err != nil {
			return nil, err
		}
	}
	trees := []struct {
		name string
		to   **prolly.Map
		root ipld.CID
	}{
		{"nodes", &s.Nodes, g.Nodes},
		{"edges", &s.Edges, g.Edges},
		{"out", &s.Out, g.Out},
		{"in", &s.In, g.In},
		{"marks", &s.Marks, g.Marks},
		{"vectors", &s.Vectors, at.Vectors},
		{"digests", &s.Digests, at.Digests},
	}
	for _, t := range trees {
		var err error
		if t.root.Defined() {
			*t.to, err = n.Load(ctx, t.root)
		} else {
			*t.to, err = EmptyTree(ctx, n)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s tree: %w", t.name, err)
		}
	}
	return s, nil
}

// Record returns the graph record of the state.
func (s *State) Record() *graph.Graph {
	return &graph.Graph{
		Nodes: s.Nodes.Root(), Edges: s.Edges.Root(), Out: s.Out.Root(), In: s.In.Root(),
		Marks: s.Marks.Root(),
		Counts: graph.Counts{
			Nodes: s.Nodes.Len(), Edges: s.Edges.Len(), Marks: s.Marks.Len(),
		},
	}
}

// Adjacency returns the two trees that list edges by their source and by their target.
func (s *State) Adjacency() adjacency.Trees { return adjacency.Trees{Out: s.Out, In: s.In} }

// Lookup returns the link that a tree holds under key, or an undefined CID.
func Lookup(ctx context.Context, m *prolly.Map, key []byte) (ipld.CID, error) {
	item, ok, err := m.Get(ctx, key)
	if err != nil || !ok {
		return ipld.CID{}, err
	}
	return LinkItem(item)
}

// LinkItem decodes a tree value that is a link; nil gives the undefined CID.
func LinkItem(item []byte) (ipld.CID, error) {
	if item == nil {
		return ipld.CID{}, nil
	}
	v, err := ipld.DecodeValue(item)
	if err != nil || v.Kind() != ipld.Link {
		return ipld.CID{}, fmt.Errorf("%w tree value: not a link", store.ErrCorrupt)
	}
	return v.Link(), nil
}

// Node returns a node and its CID, or nil.
func (s *State) Node(ctx context.Context, id graph.ID) (*graph.Node, ipld.CID, error) {
	return Fetch(ctx, s.Get, s.Nodes, id[:], commit.ReadNode)
}

// Edge returns an edge and its CID, or nil.
func (s *State) Edge(ctx context.Context, id graph.ID) (*graph.Edge, ipld.CID, error) {
	return Fetch(ctx, s.Get, s.Edges, id[:], commit.ReadEdge)
}

// Mark returns the mark of a node or edge, or nil.
func (s *State) Mark(ctx context.Context, on graph.Target, id graph.ID) (*graph.Mark, error) {
	if s.Marks.Len() == 0 {
		return nil, nil
	}
	m, _, err := Fetch(ctx, s.Get, s.Marks, graph.MarkKey(on, id), commit.ReadMark)
	return m, err
}

// Fetch returns the record that a tree links to under key, or nil.
func Fetch[T any](
	ctx context.Context, get store.Getter, m *prolly.Map, key []byte,
	read func(context.Context, store.Getter, ipld.CID) (*T, error),
) (*T, ipld.CID, error) {
	c, err := Lookup(ctx, m, key)
	if err != nil || !c.Defined() {
		return nil, c, err
	}
	rec, err := read(ctx, get, c)
	return rec, c, err
}

// Content returns the whole text of a node's content.
func (s *State) Content(ctx context.Context, c *graph.Content) (string, error) {
	return ContentText(ctx, s.Get, c)
}

// ContentStart returns the beginning of a content, at least n bytes of it. It ends at a chunk boundary, which may
// split a character.
func (s *State) ContentStart(ctx context.Context, c *graph.Content, n int) (string, error) {
	if c == nil || len(c.Chunks) == 0 || int64(n) >= c.Size {
		return s.Content(ctx, c)
	}
	var b strings.Builder
	for _, chunk := range c.Chunks {
		if b.Len() >= n {
			break
		}
		data, err := s.Get.Get(ctx, chunk)
		if err != nil {
			return "", fmt.Errorf("read content: %w", err)
		}
		b.Write(data)
	}
	return b.String(), nil
}

// ContentText returns the whole text of a content, joined from its chunks if it has any; "" for nil.
func ContentText(ctx context.Context, get store.Getter, c *graph.Content) (string, error) {
	if c == nil {
		return "", nil
	}
	return graph.JoinContent(c, func(chunk ipld.CID) ([]byte, error) {
		data, err := get.Get(ctx, chunk)
		if err != nil {
			return nil, fmt.Errorf("read content: %w", err)
		}
		return data, nil
	})
}
