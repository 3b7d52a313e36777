package outline

import (
	"context"
	"errors"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// maxScopeValue is the longest value of a property that is a scope, in bytes of JSON.
const maxScopeValue = 512

// digestReader is a state as digests see it.
type digestReader struct {
	r     *core.Repo
	s     *state.State
	rules []distill.Rule
}

// NewDigestReader returns the distill.Reader of a state under the rules of a recipe.
func NewDigestReader(r *core.Repo, s *state.State, recipe distill.Recipe) digestReader {
	return digestReader{r, s, recipe.Rules}
}

// Fact implements distill.Reader. An erased content counts as empty, and an erased node as missing.
func (d digestReader) Fact(ctx context.Context, id graph.ID) (*distill.Fact, error) {
	n, err := d.node(ctx, id)
	if err != nil || n == nil {
		return nil, err
	}
	content := ""
	if n.Content != nil {
		content, err = d.s.ContentStart(ctx, n.Content, distill.MaxText*utf8.UTFMax)
		if err != nil && !errors.Is(err, store.ErrRedacted) {
			return nil, err
		}
		content = text.FirstScalars(content, distill.MaxText)
	}
	m, err := d.s.Mark(ctx, graph.OnNode, id)
	if err != nil {
		return nil, err
	}
	return &distill.Fact{
		ID: id, Key: n.Key, Text: distill.TextOf(n, content), Created: n.Created, Until: n.ValidTo,
		Hidden: m != nil && m.State.Hides(),
	}, nil
}

// node returns a node, nil if there is none or it was erased.
func (d digestReader) node(ctx context.Context, id graph.ID) (*graph.Node, error) {
	n, _, err := d.s.Node(ctx, id)
	if errors.Is(err, store.ErrRedacted) {
		return nil, nil
	}
	return n, err
}

// Up implements distill.Reader. The scopes ascend by id; one that several rules give has the first of these rules.
func (d digestReader) Up(ctx context.Context, id graph.ID) ([]distill.Target, error) {
	var out []distill.Target
	var n *graph.Node
	for rule, r := range d.rules {
		if r.Kind == distill.ByEdge {
			for other, err := range d.ends(ctx, d.s.Out, id, r.Name) {
				if err != nil {
					return nil, err
				}
				out = append(out, distill.Target{ID: other, Rule: rule})
			}
			continue
		}
		if n == nil {
			var err error
			if n, err = d.node(ctx, id); n == nil || err != nil {
				return out, err
			}
		}
		name, err := d.scopeName(ctx, n, r)
		if err != nil {
			return nil, err
		}
		if name != "" {
			out = append(out, distill.Target{ID: distill.PseudoScope(name), Rule: rule, Name: name})
		}
	}
	slices.SortStableFunc(out, func(a, b distill.Target) int { return a.ID.Compare(b.ID) })
	return slices.CompactFunc(out, func(a, b distill.Target) bool { return a.ID == b.ID }), nil
}

// scopeName names the scope that a node is in by its type, its community or a property, "" for none.
func (d digestReader) scopeName(ctx context.Context, n *graph.Node, r distill.Rule) (string, error) {
	switch r.Kind {
	case distill.ByType:
		return "type " + text.EscapeLine(n.Type), nil
	case distill.ByCommunity:
		p, err := communitiesOf(ctx, d.r, d.s)
		if err != nil {
			return "", err
		}
		return communityName(p, n.ID), nil
	}
	v, ok := ipld.FindEntry(n.Props, r.Name)
	if !ok {
		return "", nil
	}
	switch v.Kind() {
	case ipld.String, ipld.Int, ipld.Float, ipld.Bool:
	default:
		return "", nil
	}
	value := ipld.AppendJSON(nil, v)
	if len(value) > maxScopeValue {
		return "", nil
	}
	return "prop " + text.EscapeLine(r.Name+"="+string(value)), nil
}

// Down implements distill.Reader. It yields a node once for each of its edges that a rule follows.
func (d digestReader) Down(ctx context.Context, id graph.ID) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		for _, r := range d.rules {
			if r.Kind != distill.ByEdge {
				continue
			}
			for other, err := range d.ends(ctx, d.s.In, id, r.Name) {
				if !yield(other, err) || err != nil {
					return
				}
			}
		}
	}
}

// ends yields the other ends of a node's edges of a type that no mark hides, in their order.
func (d digestReader) ends(
	ctx context.Context, tree *prolly.Map, id graph.ID, typ string,
) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		if tree.Len() == 0 {
			return
		}
		for kv, err := range tree.ScanPrefix(ctx, adjacency.Prefix(id, typ)) {
			var e adjacency.Entry
			var m *graph.Mark
			if err == nil {
				_, e, err = adjacency.Parse(kv.Key, kv.Value)
			}
			if err == nil {
				m, err = d.s.Mark(ctx, graph.OnEdge, e.Edge)
			}
			if err != nil {
				yield(graph.ID{}, err)
				return
			}
			if e.Other == id || m != nil && m.State.Hides() {
				continue
			}
			if !yield(e.Other, nil) {
				return
			}
		}
	}
}
