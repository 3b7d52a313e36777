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
	blocked         bool // a lane other than that of the text found nothing but what was left out
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
func (r *run) idleWarnings(ctx context.Context, a *retrieve.Answer) ([]retrieve.Warning, error) {
	var out []retrieve.Warning
	missing, err := r.missingTypes(ctx, a)
	if err != nil {
		return nil, err
	}
	add := func(code retrieve.Code, param string, names []string) {
		if len(names) > 0 {
			out = append(out, retrieve.Warning{Code: code, Params: []ipld.Entry{{Key: param, Value: source.TextList(names)}}})
		}
	}
	add(retrieve.NoType, paramTypes, missing)
	if len(a.Items) > 0 {
		add(retrieve.NoEffect, paramParameters, r.idleParams())
	}
	return out, nil
}

// idleParams returns the parameters that changed nothing, in the order of clause 8.1.
func (r *run) idleParams() []string {
	q := &r.req
	oneLane := len(r.lists) <= 1
	noZero := !slices.ContainsFunc(q.Weights, func(w retrieve.LaneWeight) bool { return w.Weight == 0 })
	var names []string
	for _, p := range []struct {
		name string
		idle bool
	}{
		{"fusion", q.Fusion != retrieve.Convex && oneLane && !r.expands()},
		{"weights", len(q.Weights) > 0 && noZero && oneLane &&
			(q.Fusion != retrieve.WeightedRRF || !r.expands())},
		{"expandTypes", len(q.ExpandTypes) > 0 && !r.expands()},
		{"direction", q.Direction != retrieve.Both && !r.expands()},
		{"adjacency", q.Adjacency > 0 && !r.idle.links},
		{"show", slices.Contains(q.Show, retrieve.ShowKey) && !r.idle.key ||
			slices.Contains(q.Show, retrieve.ShowContent) && !r.idle.content},
		{"pack", q.Pack == retrieve.PackPassages && !r.idle.passages},
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
func (r *run) missingTypes(ctx context.Context, a *retrieve.Answer) ([]string, error) {
	left := slices.Clone(r.req.Types)
	for i := range a.Items {
		left = without(left, a.Items[i].Type)
	}
	if len(left) == 0 {
		return nil, nil
	}
	_, err := r.x.Recency(ctx, func(d source.Document) (bool, error) {
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
