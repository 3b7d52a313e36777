package retrieve

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
)

const (
	// mentionText is the number of bytes at the beginning of a content in which titles count.
	mentionText = 32_768
	// maxLookedAt is how many nodes are looked at for titles before no further title is looked for.
	maxLookedAt = 256
)

// mentions finds the links that texts make between nodes: clauses 7.3 and 10.
type mentions struct {
	g    Graph
	x    Index
	keep func(context.Context, graph.ID) (bool, error) // whether a node takes part

	texts  map[graph.ID]string // beginnings of contents read before
	looked int                 // nodes that were looked at for a title
}

// Mentions returns the nodes that a node's content mentions, and those whose contents mention it,
// as expansion follows them, both in id order. keep says which nodes take part.
func Mentions(
	ctx context.Context, g Graph, x Index, n *graph.Node,
	keep func(context.Context, graph.ID) (bool, error),
) (mentioned, by []graph.ID, err error) {
	m := &mentions{g: g, x: x, keep: keep}
	if mentioned, err = m.in(ctx, n); err != nil {
		return nil, nil, err
	}
	by, err = m.of(ctx, n)
	return mentioned, by, err
}

// in returns the nodes mentioned in a node's content.
func (m *mentions) in(ctx context.Context, n *graph.Node) ([]graph.ID, error) {
	text, err := m.text(ctx, n)
	if err != nil {
		return nil, err
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

// text returns the beginning of a node's content.
func (m *mentions) text(ctx context.Context, n *graph.Node) (string, error) {
	if n.Content == nil {
		return "", nil
	}
	if text, ok := m.texts[n.ID]; ok {
		return text, nil
	}
	text, err := m.g.ContentStart(ctx, n.Content, mentionText+utf8.UTFMax)
	if err != nil {
		return "", fmt.Errorf("read content of %s: %w", n.ID, err)
	}
	if m.texts == nil {
		m.texts = make(map[graph.ID]string)
	}
	text = strings.Clone(text[:min(len(text), mentionText+utf8.UTFMax)])
	m.texts[n.ID] = text
	return text, nil
}

// of returns the nodes whose contents have a node's title, none once enough were looked at.
func (m *mentions) of(ctx context.Context, n *graph.Node) ([]graph.ID, error) {
	if m.looked >= maxLookedAt {
		return nil, nil
	}
	candidates, err := m.x.Mentioning(ctx, n.Summary, maxTitleDocs)
	if err != nil {
		return nil, fmt.Errorf("look for a title: %w", err)
	}
	m.looked += len(candidates)
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
		text, err := m.text(ctx, other)
		if err != nil {
			return nil, err
		}
		if m.x.HasTitle(text, n.Summary) {
			out = append(out, id)
		}
	}
	return out, nil
}

// takesPart reports whether another node may be linked to n.
func (m *mentions) takesPart(ctx context.Context, n *graph.Node, id graph.ID) (bool, error) {
	if id == n.ID {
		return false, nil
	}
	return m.keep(ctx, id)
}
