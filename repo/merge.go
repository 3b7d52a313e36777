package repo

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// maxConflicts bounds how many conflicting items an error names.
const maxConflicts = 20

// mergeStates merges what right changed since base into left, whole records at a time: an item
// that both changed differently, and an edge whose end the other side removed, is a conflict. It
// returns a *MergeError that names the conflicting items. Reading costs what the sides changed.
func mergeStates(ctx context.Context, n *prolly.Nodes, base, left, right *state) (*state, error) {
	m := &merger{ctx: ctx}
	out := &state{get: left.get}
	out.nodes = m.tree("node", base.nodes, left.nodes, right.nodes)
	out.edges = m.tree("edge", base.edges, left.edges, right.edges)
	out.marks = m.tree("mark", base.marks, left.marks, right.marks)
	out.vectors = m.tree("embedding", base.vectors, left.vectors, right.vectors)
	// An entry of these follows its edge: where they conflict, the edge does.
	out.out = m.tree("", base.out, left.out, right.out)
	out.in = m.tree("", base.in, left.in, right.in)
	if m.err != nil {
		return nil, fmt.Errorf("merge: %w", m.err)
	}
	sides := []*state{left, right}
	for _, side := range sides {
		if err := m.ends(side, out, sides); err != nil {
			return nil, err
		}
	}
	if len(m.items) > 0 {
		return nil, &MergeError{Items: m.items}
	}
	return out, nil
}

type merger struct {
	ctx   context.Context
	items []string
	err   error
}

// tree merges one tree. Conflicts go to items under what, if that is given.
func (m *merger) tree(what string, base, left, right *prolly.Map) *prolly.Map {
	if m.err != nil {
		return nil
	}
	out, err := prolly.Merge(m.ctx, base, left, right, func(c prolly.Conflict) ([]byte, error) {
		if what != "" {
			m.conflict(what, c.Key)
		}
		return c.Left, nil
	})
	m.err = err
	return out
}

func (m *merger) conflict(what string, key []byte) {
	if len(m.items) < maxConflicts {
		m.items = append(m.items, itemName(what, key))
	}
}

// ends notes as conflicts what merged has beyond side and that hangs in the air, though what it
// needs is on one of the sides. What hung in the air on its own side before is no conflict.
func (m *merger) ends(side, merged *state, sides []*state) error {
	return eachDangling(m.ctx, side, merged, func(d dangling) error {
		for _, s := range sides {
			if ok, err := s.has(m.ctx, d.missing); err != nil {
				return err
			} else if ok {
				m.conflict(d.what, d.key)
				return nil
			}
		}
		return nil
	})
}

// itemName names a tree entry for people: its kind and the id in its key.
func itemName(what string, key []byte) string {
	if what == "mark" && len(key) > 0 {
		key = key[1:]
	}
	if len(key) >= graph.IDLen {
		return what + " " + graph.ID(key[:graph.IDLen]).String()
	}
	return fmt.Sprintf("%s %x", what, key)
}

// dangling is an edge, mark or embedding of a state whose end, target or node does not exist.
type dangling struct {
	what    string // edge, mark or embedding
	key     []byte // its key in its tree
	missing need
}

func (d dangling) Error() string {
	return fmt.Sprintf("%s needs %s, which does not exist", itemName(d.what, d.key), d.missing.id)
}

// eachDangling calls fn for every edge, mark and embedding that is in next and not the same in
// prev and whose end, target or node is not in next. Reading costs what differs.
func eachDangling(ctx context.Context, prev, next *state, fn func(dangling) error) error {
	checks := []struct {
		what       string
		prev, next *prolly.Map
		needs      func(key, value []byte) ([]need, error)
	}{
		{"edge", prev.edges, next.edges, func(_, value []byte) ([]need, error) {
			return edgeNeeds(ctx, next, value)
		}},
		{"mark", prev.marks, next.marks, func(key, _ []byte) ([]need, error) { return markNeeds(key) }},
		{"embedding", prev.vectors, next.vectors, func(key, _ []byte) ([]need, error) {
			id, _, err := graph.ParseEmbeddingKey(key)
			return []need{{graph.OnNode, id}}, err
		}},
	}
	for _, c := range checks {
		for change, err := range prolly.Diff(ctx, c.prev, c.next) {
			if err != nil {
				return err
			}
			if change.New == nil {
				continue
			}
			needs, err := c.needs(change.Key, change.New)
			if err != nil {
				return fmt.Errorf("%s: %w: %w", itemName(c.what, change.Key), store.ErrCorrupt, err)
			}
			for _, n := range needs {
				ok, err := next.has(ctx, n)
				if err == nil && !ok {
					err = fn(dangling{c.what, change.Key, n})
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// need is a node or edge that must exist.
type need struct {
	on graph.Target
	id graph.ID
}

func (s *state) has(ctx context.Context, n need) (bool, error) {
	tree := s.nodes
	if n.on == graph.OnEdge {
		tree = s.edges
	}
	_, ok, err := tree.Get(ctx, n.id[:])
	return ok, err
}

func edgeNeeds(ctx context.Context, s *state, value []byte) ([]need, error) {
	c, err := linkItem(value)
	if err != nil {
		return nil, err
	}
	e, err := commit.ReadEdge(ctx, s.get, c)
	if err != nil {
		return nil, err
	}
	return []need{{graph.OnNode, e.Src}, {graph.OnNode, e.Dst}}, nil
}

func markNeeds(key []byte) ([]need, error) {
	on, id, err := graph.ParseMarkKey(key)
	return []need{{on, id}}, err
}

// writeGraph writes the graph record of a state and sets its root.
func (t *tx) writeGraph(ctx context.Context, s *state) (err error) {
	g := s.record()
	if err := g.Validate(); err != nil {
		return err
	}
	s.root, err = t.put(ctx, g.Encode())
	return err
}

// vectorsRoot returns the root that a commit or stage records: undefined for no embeddings.
func (s *state) vectorsRoot() ipld.CID {
	if s.vectors.Len() == 0 {
		return ipld.CID{}
	}
	return s.vectors.Root()
}
