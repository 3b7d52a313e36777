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

const (
	paramTypes      = "types"
	paramParameters = "parameters"
)

// idle notes what of a request had anything to do.
type idle struct {
	links, passages bool // whether an item shows any
	key, content    bool
}

// shows notes what an item shows.
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
	add := func(code retrieve.Code, param string, names []string) {
		if len(names) > 0 {
			out = append(out, retrieve.Warning{Code: code, Params: []ipld.Entry{{Key: param, Value: source.TextList(names)}}})
		}
	}
	add(retrieve.NoType, paramTypes, missing)
	if len(p.answer.Items) > 0 {
		add(retrieve.NoEffect, paramParameters, p.idleParams())
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

// without removes a name from a list in place.
func without(list []string, name string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == name })
}
