package adjacency

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// ErrTooFar is returned by ShortestPath when the search reached its bound before finding an answer.
var ErrTooFar = errors.New("search bound reached before a path was found")

// PathOptions bound a search for a path.
type PathOptions struct {
	Direction Direction // how edges may be walked; the zero value is Out
	Types     []string  // edge types to follow; empty means any
	MaxHops   int       // 0 means 32
	MaxNodes  int       // nodes to visit before ErrTooFar; 0 means 1,000,000
	// Skip, if not nil, excludes an edge or the node it leads to.
	Skip func(ctx context.Context, e Entry) (bool, error)
}

// Step is one edge of a path.
type Step struct {
	From    graph.ID `json:"from"`
	To      graph.ID `json:"to"`
	Edge    graph.ID `json:"edge"`
	Type    string   `json:"type"`
	Forward bool     `json:"forward"` // whether the edge runs from From to To
}

const (
	defaultMaxHops  = 32
	defaultMaxNodes = 1_000_000
)

// ShortestPath returns the steps of a path from a to b with the fewest edges, nil and false if there is none within
// the hops allowed, and no steps and true if a is b. Of several shortest paths it returns the one whose steps come
// first in breadth-first order, outgoing before incoming, then key order, so the result is deterministic.
func (t Trees) ShortestPath(ctx context.Context, a, b graph.ID, opt PathOptions) (steps []Step, found bool, err error) {
	opt.MaxHops = cmp.Or(opt.MaxHops, defaultMaxHops)
	opt.MaxNodes = cmp.Or(opt.MaxNodes, defaultMaxNodes)
	s := &search{trees: t, opt: opt, via: map[graph.ID]Step{a: {}}, layer: []graph.ID{a}}
	for hop := 0; hop < opt.MaxHops && len(s.layer) > 0; hop++ {
		if _, ok := s.via[b]; ok {
			break
		}
		if err := s.advance(ctx, b); err != nil {
			return nil, false, err
		}
	}
	if _, ok := s.via[b]; !ok {
		return nil, false, nil
	}
	for at := b; at != a; at = s.via[at].From {
		steps = append(steps, s.via[at])
	}
	slices.Reverse(steps)
	return steps, true, nil
}

// search is a breadth-first search: via holds the step by which each visited node was reached.
type search struct {
	trees Trees
	opt   PathOptions
	via   map[graph.ID]Step
	layer []graph.ID
}

func (s *search) advance(ctx context.Context, target graph.ID) error {
	var next []graph.ID
	for _, from := range s.layer {
		for _, side := range s.sides() {
			for e, err := range s.trees.Bucket(ctx, from, side, "", nil) {
				if err != nil {
					return err
				}
				ok, err := s.follow(ctx, e)
				if err != nil {
					return err
				}
				if _, seen := s.via[e.Other]; seen || !ok {
					continue
				}
				s.via[e.Other] = Step{from, e.Other, e.Edge, e.Type, side == Out}
				if e.Other == target {
					return nil
				}
				if len(s.via) > s.opt.MaxNodes {
					return ErrTooFar
				}
				next = append(next, e.Other)
			}
		}
	}
	s.layer = next
	return nil
}

func (s *search) sides() []Direction {
	if s.opt.Direction == Both {
		return []Direction{Out, In}
	}
	return []Direction{s.opt.Direction}
}

func (s *search) follow(ctx context.Context, e Entry) (bool, error) {
	if len(s.opt.Types) > 0 && !slices.Contains(s.opt.Types, e.Type) {
		return false, nil
	}
	if s.opt.Skip == nil {
		return true, nil
	}
	skip, err := s.opt.Skip(ctx, e)
	return !skip, err
}
