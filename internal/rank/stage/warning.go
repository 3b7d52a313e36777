package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// warning returns a warning with parameters, in canonical order.
func warning(code retrieve.Code, params ...ipld.Entry) retrieve.Warning {
	return retrieve.Warning{Code: code, Params: params}
}

func number(name string, n int) ipld.Entry {
	return ipld.Entry{Key: name, Value: ipld.IntValue(int64(n))}
}
func word(name, s string) ipld.Entry { return ipld.Entry{Key: name, Value: ipld.StringValue(s)} }

func words(name string, list []string) ipld.Entry {
	return ipld.Entry{Key: name, Value: source.TextList(list)}
}

// warnings returns what the answer must say of itself, in the order of the table.
func (r *run) warnings(ctx context.Context, a *retrieve.Answer) ([]retrieve.Warning, error) {
	var out []retrieve.Warning
	f := r.find
	if f.asked && f.text.Terms == 0 && f.exact == 0 {
		out = append(out, warning(retrieve.NoTerms))
	}
	textBlocked := f.asked && f.text.Known > 0 && len(f.text.Hits) == 0
	if f.exact == 0 && (textBlocked || len(r.lists) == 0 && f.blocked) {
		out = append(out, warning(retrieve.NothingPasses))
	}
	if len(a.Items) == 0 && a.Dropped > 0 {
		smallest := a.DroppedItems[0].Tokens
		for _, d := range a.DroppedItems {
			smallest = min(smallest, d.Tokens)
		}
		out = append(out, warning(retrieve.BudgetTooSmall, number("smallest", smallest)))
	}
	out = append(out, r.expand.expansionWarnings()...)
	if r.filter.Erased > 0 {
		out = append(out, warning(retrieve.Redacted, number("nodes", r.filter.Erased)))
	}
	if r.req.UnseenFrom > 0 {
		out = append(out, warning(retrieve.UnseenCut, number("from", int(r.req.UnseenFrom))))
	}
	out = append(append(out, f.noVectors...), f.otherDims...)
	if r.pack.stale > 0 {
		out = append(out, warning(retrieve.StaleVectors, number("nodes", r.pack.stale)))
	}
	out = append(out, r.respelled()...)
	if len(r.req.EdgeWeights) > 0 && !r.expands() {
		out = append(out, warning(retrieve.EdgeWeightsUnused))
	}
	if r.req.Community && r.grouped == 0 {
		out = append(out, warning(retrieve.NoCommunity))
	}
	if r.unranked {
		out = append(out, warning(retrieve.NotReranked, word("model", r.req.Rerank)))
	}
	idle, err := r.pack.idleWarnings(ctx)
	return slices.Concat(out, f.rewriteWarnings(), r.timeWarnings(), idle, f.noSparse), err
}

// idle notes what of a request had anything to do.
type idle struct {
	links, passages bool // whether an item shows any
	key, content    bool
}

func (d *idle) shows(n *graph.Node, s shown) {
	d.links = d.links || s.links
	d.passages = d.passages || s.passages
	d.key = d.key || n.Key != ""
	d.content = d.content || n.Content != nil
}

// idleWarnings returns the warnings of this file, in the order of its table.
func (p *packer) idleWarnings(ctx context.Context) ([]retrieve.Warning, error) {
	var out []retrieve.Warning
	missing, err := p.missingTypes(ctx)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		out = append(out, warning(retrieve.NoType, words("types", missing)))
	}
	if idle := p.idleParams(); len(p.answer.Items) > 0 && len(idle) > 0 {
		out = append(out, warning(retrieve.NoEffect, words("parameters", idle)))
	}
	return out, nil
}

// idleParams returns the parameters that changed nothing, in the order of clause 8.1.
func (p *packer) idleParams() []string {
	q := &p.req
	oneLane := len(p.lists) <= 1
	noZero := !slices.ContainsFunc(q.Weights, func(w retrieve.LaneWeight) bool { return w.Weight == 0 })
	var names []string
	for _, p := range []struct {
		name string
		idle bool
	}{
		{"fusion", q.Fusion != retrieve.Convex && oneLane && !p.expands()},
		{"weights", len(q.Weights) > 0 && noZero && oneLane &&
			(q.Fusion != retrieve.WeightedRRF || !p.expands())},
		{"expandTypes", len(q.ExpandTypes) > 0 && !p.expands()},
		{"direction", q.Direction != retrieve.Both && !p.expands()},
		{"adjacency", q.Adjacency > 0 && !p.idle.links},
		{"show", slices.Contains(q.Show, retrieve.ShowKey) && !p.idle.key ||
			slices.Contains(q.Show, retrieve.ShowContent) && !p.idle.content},
		{"pack", q.Pack == retrieve.PackPassages && !p.idle.passages},
	} {
		if p.idle {
			names = append(names, p.name)
		}
	}
	return names
}

// errAllFound ends a search for types.
var errAllFound = errors.New("all found")

// missingTypes returns the types of the request that no node has, ascending. It asks the index only
// for those that no item has.
func (p *packer) missingTypes(ctx context.Context) ([]string, error) {
	left := slices.Clone(p.req.Types)
	for i := range p.answer.Items {
		left = without(left, p.answer.Items[i].Type)
	}
	if len(left) == 0 {
		return nil, nil
	}
	_, err := p.x.Recency(ctx, func(d source.Document) (bool, error) {
		if left = without(left, d.Type()); len(left) == 0 {
			return false, errAllFound
		}
		return false, nil // so that every document is seen
	}, 1)
	if err != nil && !errors.Is(err, errAllFound) {
		return nil, fmt.Errorf("look for types: %w", err)
	}
	return left, nil
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == name })
}

// checkRewritten refuses rewrites of nothing. It needs the text, which Validate does not.
func checkRewritten(r *retrieve.Request) error {
	if isBlank(r.Text) && (len(r.Rewrites) > 0 || r.Rewrite != "") {
		return source.Reject("rewrites", "the request has no text that they could be of: give one")
	}
	return nil
}

func (f *finder) rewriteWarnings() []retrieve.Warning {
	var out []retrieve.Warning
	if f.req.Rewrite != "" && len(f.req.Rewrites) == 0 {
		out = append(out, warning(retrieve.NotRewritten, word("way", f.req.Rewrite)))
	}
	if f.vain > 0 {
		out = append(out, warning(retrieve.RewritesInVain, number("rewrites", f.vain)))
	}
	return out
}
