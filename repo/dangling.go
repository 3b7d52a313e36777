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

// needs is what changed of a tree whose entries need nodes or edges.
type needs struct {
	what       string
	prev, next *prolly.Map
	of         func(key, value []byte) ([]need, error)
}

// edgeEnds are the edges of a state that are not the same in another one, which is read for each.
func edgeEnds(ctx context.Context, next, prev *state) needs {
	return needs{"edge", prev.edges, next.edges, func(_, value []byte) ([]need, error) {
		return edgeNeeds(ctx, next, value)
	}}
}

// markTargets are likewise the marks.
func markTargets(next, prev *state) needs {
	of := func(key, _ []byte) ([]need, error) { return markNeeds(key) }
	return needs{"mark", prev.marks, next.marks, of}
}

// attachments are likewise the marks and embeddings, whose keys say what they need.
func attachments(next, prev *state) []needs {
	return []needs{
		markTargets(next, prev),
		{"embedding", prev.vectors, next.vectors, func(key, _ []byte) ([]need, error) {
			id, _, err := graph.ParseEmbeddingKey(key)
			return []need{{graph.OnNode, id}}, err
		}},
	}
}

// eachDangling calls fn for everything of checks that is in next and not the same before and whose end,
// target or node is not in next. Reading costs what differs.
func eachDangling(
	ctx context.Context, next *state, checks []needs, fn func(dangling) error,
) error {
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

// noneDangling returns an error that wraps ErrInvalid where next has what eachDangling finds.
func noneDangling(ctx context.Context, prev, next *state) error {
	checks := append([]needs{edgeEnds(ctx, next, prev)}, attachments(next, prev)...)
	return eachDangling(ctx, next, checks, func(d dangling) error {
		return fmt.Errorf("%w: %w", ErrInvalid, d)
	})
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
func (s *state) vectorsRoot() ipld.CID { return rootOrNone(s.vectors) }

// digestsRoot returns the root that a commit records: undefined for no texts.
func (s *state) digestsRoot() ipld.CID { return rootOrNone(s.digests) }

func rootOrNone(m *prolly.Map) ipld.CID {
	if m.Len() == 0 {
		return ipld.CID{}
	}
	return m.Root()
}
