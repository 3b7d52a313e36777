package source

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// mentionText is the number of bytes at the beginning of a content that are searched for titles.
	mentionText = 32_768
	// maxLookedAt is how many nodes are looked at for titles before no further title is looked for.
	maxLookedAt = 256
	// maxTitleDocs is the largest number of nodes with the rarest term of a title: with more of them the title is too
	// common.
	maxTitleDocs = 64
)

// MentionFinder finds the links that texts make between nodes: clauses 7.3 and 10.
type MentionFinder struct {
	G     Graph
	X     Index
	Keep  func(context.Context, graph.ID) (bool, error) // whether a node takes part
	Known MentionMemo                                   // nil for none

	node   *graph.Node         // the last that was asked about, nil at first
	texts  map[graph.ID]string // beginnings of contents read before
	looked int                 // nodes that were looked at for a title
}

// Mentioning holds a node's mentions in texts. They do not depend on a request.
type Mentioning struct {
	IDs    []graph.ID // that it mentions, or that mention it, each once
	Looked int        // how many nodes were looked at for its title
}

// MentionMemo caches the mentions of nodes in one index, up to its capacity. Its values are never changed. Safe for
// concurrent use.
type MentionMemo interface {
	// Known returns the cached mentions of a node, out for nodes that it mentions and in for nodes that mention it.
	Known(id graph.ID, d retrieve.Direction) *Mentioning
	Remember(id graph.ID, d retrieve.Direction, m *Mentioning)
}

// Mentions returns the nodes that a node's content mentions, and those whose contents mention it,
// as expansion follows them, both in id order. keep says which nodes take part.
func Mentions(
	ctx context.Context, g Graph, x Index, n *graph.Node,
	keep func(context.Context, graph.ID) (bool, error),
) (mentioned, by []graph.ID, err error) {
	m := &MentionFinder{G: g, X: x, Keep: keep, node: n}
	if mentioned, err = m.Linked(ctx, n.ID, retrieve.Out); err != nil {
		return nil, nil, err
	}
	by, err = m.Linked(ctx, n.ID, retrieve.In)
	return mentioned, by, err
}

// Linked returns the nodes that take part and are mentioned in a node's content, or whose contents have its
// title: none of these once enough were looked at.
func (m *MentionFinder) Linked(ctx context.Context, id graph.ID, d retrieve.Direction) ([]graph.ID, error) {
	if d == retrieve.In && m.looked >= maxLookedAt {
		return nil, nil
	}
	found, err := m.find(ctx, id, d)
	if err != nil {
		return nil, err
	}
	m.looked += found.Looked
	var out []graph.ID
	for _, other := range found.IDs {
		if ok, err := m.takesPart(ctx, id, other); err != nil {
			return nil, err
		} else if ok {
			out = append(out, other)
		}
	}
	return out, nil
}

// find finds what linked returns, from memory if it can be, and may leave out nodes that take no part.
func (m *MentionFinder) find(ctx context.Context, id graph.ID, d retrieve.Direction) (*Mentioning, error) {
	if m.Known != nil {
		if found := m.Known.Known(id, d); found != nil {
			return found, nil
		}
	}
	if m.node == nil || m.node.ID != id {
		n, _, err := m.G.Node(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read node %s: %w", id, err)
		}
		m.node = n
	}
	find := m.in
	if d == retrieve.In {
		find = m.of
	}
	found, whole, err := find(ctx, m.node)
	if err == nil && whole && m.Known != nil {
		m.Known.Remember(id, d, found)
	}
	return found, err
}

// in finds the nodes mentioned in a node's content.
func (m *MentionFinder) in(ctx context.Context, n *graph.Node) (found *Mentioning, whole bool, err error) {
	content, err := m.text(ctx, n)
	if err != nil {
		return nil, false, err
	}
	named, single, err := m.X.Mentioned(ctx, content)
	if err != nil {
		return nil, false, fmt.Errorf("look for titles: %w", err)
	}
	for _, id := range single {
		other, _, err := m.G.Node(ctx, id)
		if err != nil {
			return nil, false, fmt.Errorf("read node %s: %w", id, err)
		}
		if m.X.HasTitle(content, other.Summary) {
			named = append(named, id)
		}
	}
	slices.SortFunc(named, graph.ID.Compare)
	return &Mentioning{IDs: slices.Compact(named)}, true, nil
}

// text returns the beginning of a node's content.
func (m *MentionFinder) text(ctx context.Context, n *graph.Node) (string, error) {
	if n.Content == nil {
		return "", nil
	}
	if text, ok := m.texts[n.ID]; ok {
		return text, nil
	}
	text, err := m.G.ContentStart(ctx, n.Content, mentionText+utf8.UTFMax)
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

// of finds the nodes whose contents have a node's title. It is whole unless nodes were left out that take no
// part: these are not read.
func (m *MentionFinder) of(ctx context.Context, n *graph.Node) (found *Mentioning, whole bool, err error) {
	candidates, err := m.X.Mentioning(ctx, n.Summary, maxTitleDocs)
	if err != nil {
		return nil, false, fmt.Errorf("look for a title: %w", err)
	}
	found, whole = &Mentioning{Looked: len(candidates)}, true
	for _, id := range candidates {
		if ok, err := m.takesPart(ctx, n.ID, id); err != nil {
			return nil, false, err
		} else if !ok {
			whole = whole && id == n.ID
			continue
		}
		other, _, err := m.G.Node(ctx, id)
		if err != nil {
			return nil, false, fmt.Errorf("read node %s: %w", id, err)
		}
		text, err := m.text(ctx, other)
		if err != nil {
			return nil, false, err
		}
		if m.X.HasTitle(text, n.Summary) {
			found.IDs = append(found.IDs, id)
		}
	}
	return found, whole, nil
}

// takesPart reports whether another node may be linked to one.
func (m *MentionFinder) takesPart(ctx context.Context, id, other graph.ID) (bool, error) {
	if other == id {
		return false, nil
	}
	return m.Keep(ctx, other)
}
