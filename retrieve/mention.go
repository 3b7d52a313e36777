package retrieve

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
)

// mentions finds the links that texts make between nodes: clauses 7.3 and 10.
type mentions struct {
	g    Graph
	x    Index
	keep func(context.Context, graph.ID) (bool, error) // whether a node takes part
}

// Mentions returns the nodes that a node's content mentions, and those whose contents mention it,
// as expansion follows them, both in id order. keep says which nodes take part.
func Mentions(
	ctx context.Context, g Graph, x Index, n *graph.Node,
	keep func(context.Context, graph.ID) (bool, error),
) (mentioned, by []graph.ID, err error) {
	m := mentions{g, x, keep}
	if mentioned, err = m.in(ctx, n); err != nil {
		return nil, nil, err
	}
	by, err = m.of(ctx, n)
	return mentioned, by, err
}

// in returns the nodes mentioned in a node's content.
func (m mentions) in(ctx context.Context, n *graph.Node) ([]graph.ID, error) {
	if n.Content == nil {
		return nil, nil
	}
	text, err := m.g.Content(ctx, n.Content)
	if err != nil {
		return nil, fmt.Errorf("read content of %s: %w", n.ID, err)
	}
	ids, err := m.x.Mentioned(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("look for titles: %w", err)
	}
	var out []graph.ID
	for _, id := range ids {
		if ok, err := m.takesPart(ctx, n, id); err != nil {
			return nil, err
		} else if ok {
			out = append(out, id)
		}
	}
	return out, nil
}

// of returns the nodes whose contents have a node's title.
func (m mentions) of(ctx context.Context, n *graph.Node) ([]graph.ID, error) {
	candidates, err := m.x.Mentioning(ctx, n.Summary, maxTitleDocs)
	if err != nil {
		return nil, fmt.Errorf("look for a title: %w", err)
	}
	var out []graph.ID
	for _, id := range candidates {
		if ok, err := m.takesPart(ctx, n, id); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		other, _, err := m.g.Node(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read node %s: %w", id, err)
		}
		if other.Content == nil {
			continue
		}
		text, err := m.g.Content(ctx, other.Content)
		if err != nil {
			return nil, fmt.Errorf("read content of %s: %w", id, err)
		}
		if m.x.HasTitle(text, n.Summary) {
			out = append(out, id)
		}
	}
	return out, nil
}

// takesPart reports whether another node may be linked to n.
func (m mentions) takesPart(ctx context.Context, n *graph.Node, id graph.ID) (bool, error) {
	if id == n.ID {
		return false, nil
	}
	return m.keep(ctx, id)
}
