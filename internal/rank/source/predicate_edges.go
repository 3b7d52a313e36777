package source

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// EdgePage is how many edges are read at once to be counted.
const EdgePage = 256

// CountEdges returns how many edges a predicate on edges counts of a node, at most those that are
// enough: those that no mark hides, nor the node at their other end.
func (f *Filter) CountEdges(ctx context.Context, id graph.ID, p retrieve.Predicate) (n int, err error) {
	enough := p.Enough()
	q := BucketQuery{
		Node: id, Direction: p.Edges, Types: []string{p.Name}, Limit: EdgePage, Bare: true,
	}
	for {
		page, _, err := f.g.Bucket(ctx, q)
		if err != nil {
			return 0, fmt.Errorf("count edges of %s: %w", id, err)
		}
		for _, l := range page {
			hidden, err := f.HiddenLink(ctx, l)
			if err != nil {
				return 0, err
			}
			if hidden {
				continue
			}
			if n++; n == enough {
				return n, nil
			}
		}
		switch {
		case len(page) < q.Limit:
			return n, nil
		case q.Bare: // which tells no place to go on from
			n, q.Bare = 0, false
		default:
			q.After = &page[len(page)-1]
		}
	}
}

// HiddenLink reports whether a mark hides an edge or its other end.
func (f *Filter) HiddenLink(ctx context.Context, l Link) (bool, error) {
	hidden, err := f.Hidden(ctx, graph.OnNode, l.Other)
	if err != nil || hidden || l.Unmarked {
		return hidden, err
	}
	return f.Hidden(ctx, graph.OnEdge, l.Edge)
}
