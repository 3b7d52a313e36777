package state

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// itemName formats a tree entry for people: its kind and the id in its key.
func itemName(what string, key []byte) string {
	if what == "mark" && len(key) > 0 {
		key = key[1:]
	}
	if len(key) >= graph.IDLen {
		return what + " " + graph.ID(key[:graph.IDLen]).String()
	}
	return fmt.Sprintf("%s %x", what, key)
}

// Dangling is an edge, mark or embedding whose end, target or node does not exist.
type Dangling struct {
	What    string // edge, mark or embedding
	Key     []byte // its key in its tree
	Missing Need
}

// Error names the entry by its kind and id, and the missing id.
func (d Dangling) Error() string {
	return fmt.Sprintf("%s needs %s, which does not exist", itemName(d.What, d.Key), d.Missing.Id)
}

// Needs is the change of a tree whose entries reference nodes or edges.
type Needs struct {
	what       string
	prev, next *prolly.Map
	of         func(key, value []byte) ([]Need, error)
}

// EdgeEnds returns the edges of next that differ from prev. Each is read to find its ends.
func EdgeEnds(ctx context.Context, next, prev *State) Needs {
	return Needs{"edge", prev.Edges, next.Edges, func(_, value []byte) ([]Need, error) {
		return EdgeNeeds(ctx, next, value)
	}}
}

// MarkTargets does the same for marks.
func MarkTargets(next, prev *State) Needs {
	of := func(key, _ []byte) ([]Need, error) { return MarkNeeds(key) }
	return Needs{"mark", prev.Marks, next.Marks, of}
}

// attachments does the same for marks and embeddings, whose keys contain their references.
func attachments(next, prev *State) []Needs {
	return []Needs{
		MarkTargets(next, prev),
		{"embedding", prev.Vectors, next.Vectors, func(key, _ []byte) ([]Need, error) {
			id, _, err := graph.ParseEmbeddingKey(key)
			return []Need{{graph.OnNode, id}}, err
		}},
	}
}

// EachDangling calls fn for each entry in checks that next has, that differs from before, and whose end, target or
// node is not in next. It reads only what differs.
func EachDangling(ctx context.Context, next *State, checks []Needs, fn func(Dangling) error) error {
	for _, c := range checks {
		for change, err := range prolly.Diff(ctx, c.prev, c.next) {
			if err != nil {
				return err
			}
			if change.New == nil {
				continue
			}
			list, err := c.of(change.Key, change.New)
			if err != nil {
				return fmt.Errorf("%s: %w: %w", itemName(c.what, change.Key), store.ErrCorrupt, err)
			}
			for _, n := range list {
				ok, err := next.Has(ctx, n)
				if err == nil && !ok {
					err = fn(Dangling{c.what, change.Key, n})
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// NoneDangling returns an error that wraps ErrInvalid about the first entry that EachDangling finds, if any.
func NoneDangling(ctx context.Context, prev, next *State) error {
	checks := append([]Needs{EdgeEnds(ctx, next, prev)}, attachments(next, prev)...)
	return EachDangling(ctx, next, checks, func(d Dangling) error { return fmt.Errorf("%w: %w", ErrInvalid, d) })
}

// Need is a node or edge that must exist.
type Need struct {
	On graph.Target
	Id graph.ID
}

// Has reports whether the state has the node or edge n.
func (s *State) Has(ctx context.Context, n Need) (bool, error) {
	tree := s.Nodes
	if n.On == graph.OnEdge {
		tree = s.Edges
	}
	_, ok, err := tree.Get(ctx, n.Id[:])
	return ok, err
}

// EdgeNeeds returns the two ends of an edge. value is its entry in the tree of edges of s.
func EdgeNeeds(ctx context.Context, s *State, value []byte) ([]Need, error) {
	c, err := LinkItem(value)
	if err != nil {
		return nil, err
	}
	e, err := commit.ReadEdge(ctx, s.Get, c)
	if err != nil {
		return nil, err
	}
	return []Need{{graph.OnNode, e.Src}, {graph.OnNode, e.Dst}}, nil
}

// MarkNeeds returns the node or edge that a mark is on. key is the mark's key in the tree of marks.
func MarkNeeds(key []byte) ([]Need, error) {
	on, id, err := graph.ParseMarkKey(key)
	return []Need{{on, id}}, err
}

// VectorsRoot returns the root that a commit or stage records: undefined if there are no embeddings.
func (s *State) VectorsRoot() ipld.CID { return rootOrNone(s.Vectors) }

// DigestsRoot returns the root that a commit records: undefined if there are no texts.
func (s *State) DigestsRoot() ipld.CID { return rootOrNone(s.Digests) }

func rootOrNone(m *prolly.Map) ipld.CID {
	if m.Len() == 0 {
		return ipld.CID{}
	}
	return m.Root()
}
