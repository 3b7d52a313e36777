package repo

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// state is one state of the memory: the trees of a graph, its embeddings, and the retrieval
// profiles. Immutable.
type state struct {
	get     store.Getter
	root    ipld.CID // of the graph record; undefined for the empty state before the first commit
	nodes   *prolly.Map
	edges   *prolly.Map
	out     *prolly.Map
	in      *prolly.Map
	marks   *prolly.Map
	vectors *prolly.Map
	digests *prolly.Map // texts that models wrote, by the sources of digests
	profile ipld.CID    // of the record of profiles, undefined for none
}

// roots are what a state is read from, each undefined for none.
type roots struct{ graph, vectors, digests, profile ipld.CID }

func rootsOf(rec *commit.Commit) roots {
	return roots{rec.Graph, rec.Vectors, rec.Digests, rec.Profile}
}

// staged are the roots of a stage upon a state.
func (s *state) staged(rec *commit.Stage) roots {
	return roots{rec.Graph, rec.Vectors, s.digestsRoot(), s.profile}
}

// loadState reads what roots lead to, and keeps the name of the profiles. An undefined graph gives the empty state, whose one tree is written through n.
func loadState(
	ctx context.Context, n *prolly.Nodes, get store.Getter, at roots,
) (*state, error) {
	s := &state{get: get, root: at.graph, profile: at.profile}
	g := new(graph.Graph)
	if s.root.Defined() {
		var err error
		if g, err = commit.ReadGraph(ctx, get, s.root); err != nil {
			return nil, err
		}
	}
	trees := []struct {
		name string
		to   **prolly.Map
		root ipld.CID
	}{
		{"nodes", &s.nodes, g.Nodes},
		{"edges", &s.edges, g.Edges},
		{"out", &s.out, g.Out},
		{"in", &s.in, g.In},
		{"marks", &s.marks, g.Marks},
		{"vectors", &s.vectors, at.vectors},
		{"digests", &s.digests, at.digests},
	}
	for _, t := range trees {
		var err error
		if t.root.Defined() {
			*t.to, err = n.Load(ctx, t.root)
		} else {
			*t.to, err = emptyTree(ctx, n)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s tree: %w", t.name, err)
		}
	}
	return s, nil
}

// record returns the graph record of the state.
func (s *state) record() *graph.Graph {
	return &graph.Graph{
		Nodes: s.nodes.Root(), Edges: s.edges.Root(), Out: s.out.Root(), In: s.in.Root(),
		Marks: s.marks.Root(),
		Counts: graph.Counts{
			Nodes: s.nodes.Len(), Edges: s.edges.Len(), Marks: s.marks.Len(),
		},
	}
}

func (s *state) adjacency() adjacency.Trees { return adjacency.Trees{Out: s.out, In: s.in} }

// lookup returns the link a tree holds under key, undefined where it holds none.
func lookup(ctx context.Context, m *prolly.Map, key []byte) (ipld.CID, error) {
	item, ok, err := m.Get(ctx, key)
	if err != nil || !ok {
		return ipld.CID{}, err
	}
	return linkItem(item)
}

// linkItem reads a tree value that is a link; nil gives the undefined CID.
func linkItem(item []byte) (ipld.CID, error) {
	if item == nil {
		return ipld.CID{}, nil
	}
	v, err := ipld.DecodeValue(item)
	if err != nil || v.Kind() != ipld.Link {
		return ipld.CID{}, fmt.Errorf("%w tree value: not a link", store.ErrCorrupt)
	}
	return v.Link(), nil
}

// node returns a node and its CID, nil where there is none.
func (s *state) node(ctx context.Context, id graph.ID) (*graph.Node, ipld.CID, error) {
	return fetch(ctx, s.get, s.nodes, id[:], commit.ReadNode)
}

// edge returns an edge and its CID, nil where there is none.
func (s *state) edge(ctx context.Context, id graph.ID) (*graph.Edge, ipld.CID, error) {
	return fetch(ctx, s.get, s.edges, id[:], commit.ReadEdge)
}

// mark returns the mark of a node or edge, nil where there is none.
func (s *state) mark(ctx context.Context, on graph.Target, id graph.ID) (*graph.Mark, error) {
	if s.marks.Len() == 0 {
		return nil, nil
	}
	m, _, err := fetch(ctx, s.get, s.marks, graph.MarkKey(on, id), commit.ReadMark)
	return m, err
}

// fetch returns the record that a tree links to under key, nil where there is none.
func fetch[T any](
	ctx context.Context, get store.Getter, m *prolly.Map, key []byte,
	read func(context.Context, store.Getter, ipld.CID) (*T, error),
) (*T, ipld.CID, error) {
	c, err := lookup(ctx, m, key)
	if err != nil || !c.Defined() {
		return nil, c, err
	}
	rec, err := read(ctx, get, c)
	return rec, c, err
}

// content returns the whole text of a node's content.
func (s *state) content(ctx context.Context, c *graph.Content) (string, error) {
	return contentText(ctx, s.get, c)
}

// contentStart returns the beginning of a content, at least n bytes of it: it ends with a chunk, where
// a character may be cut.
func (s *state) contentStart(ctx context.Context, c *graph.Content, n int) (string, error) {
	if c == nil || len(c.Chunks) == 0 || int64(n) >= c.Size {
		return s.content(ctx, c)
	}
	var b strings.Builder
	for _, chunk := range c.Chunks {
		if b.Len() >= n {
			break
		}
		data, err := s.get.Get(ctx, chunk)
		if err != nil {
			return "", fmt.Errorf("read content: %w", err)
		}
		b.Write(data)
	}
	return b.String(), nil
}

func contentText(ctx context.Context, get store.Getter, c *graph.Content) (string, error) {
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
