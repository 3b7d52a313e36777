package rank

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/view/links"
	"github.com/mnem-project/mnem/retrieve"
)

// linkView is the index of links as one retrieval sees it: it asks for both buckets of a node, one after the other.
type linkView struct {
	index  *links.Index // nil for none
	opened bool         // whether index is known
	id     graph.ID     // of last
	last   links.Found
	held   bool // whether there is a last
}

// open opens the index when it is first asked for: not all retrievals follow edges.
func (v *linkView) open(ctx context.Context, s *core.Snapshot) (err error) {
	if !v.opened {
		v.index, err = s.Links(ctx)
		v.opened = err == nil
	}
	return err
}

func (v *linkView) find(ctx context.Context, q source.BucketQuery) (links.Found, error) {
	if v.held && v.id == q.Node {
		return v.last, nil
	}
	if q.Limit == 0 && len(q.Types) == 0 && q.Above >= links.Few {
		return v.index.Degrees(ctx, q.Node)
	}
	f, err := v.index.Find(ctx, q.Node)
	v.id, v.last, v.held = q.Node, f, err == nil
	return f, err
}

// Bucket answers from the index of links if that has what is asked for, else from the trees.
func (g graphView) Bucket(ctx context.Context, q source.BucketQuery) (list []source.Link, total int, err error) {
	if g.links == nil || q.Limit > 0 && !q.Bare {
		return g.treeBucket(ctx, q)
	}
	if err := g.links.open(ctx, g.s); err != nil {
		return nil, 0, err
	}
	if g.links.index == nil {
		return g.treeBucket(ctx, q)
	}
	f, err := g.links.find(ctx, q)
	if err != nil {
		return nil, 0, err
	}
	side := links.Out
	if q.Direction == retrieve.In {
		side = links.In
	}
	whole := f.Whole(side)
	if !whole && (q.Limit > 0 || len(q.Types) > 0) {
		return g.treeBucket(ctx, q)
	}
	total = f.Degree(side)
	if q.Limit == 0 && len(q.Types) == 0 || total == 0 {
		return nil, total, nil
	}
	return g.bare(ctx, q, f, side)
}

// bare answers from a bucket that is whole. If an edge has a mark, for which its id is needed, the trees answer.
func (g graphView) bare(
	ctx context.Context, q source.BucketQuery, f links.Found, side int,
) (list []source.Link, total int, err error) {
	if n := min(q.Limit, f.Degree(side)); n <= cap(q.Room) {
		list = q.Room[:0]
	} else {
		list = make([]source.Link, 0, n)
	}
	marked := false
	err = f.Each(side, func(e links.HalfEdge) bool {
		if len(q.Types) > 0 && !slices.Contains(q.Types, e.Type) {
			return true
		}
		total++
		if len(list) < q.Limit {
			marked = marked || e.Marked
			list = append(list, source.Link{
				Type: e.Type, Other: e.Other, Weight: int64(e.Weight), Unmarked: true,
			})
		}
		return true
	})
	if err != nil {
		return nil, 0, fmt.Errorf("edges of %s: %w", q.Node, err)
	}
	if marked {
		return g.treeBucket(ctx, q)
	}
	return list, total, nil
}

// usualLinks is more than most buckets have.
const usualLinks = 8

func (g graphView) treeBucket(ctx context.Context, q source.BucketQuery) (links []source.Link, total int, err error) {
	trees, side := g.s.Adjacency(), adjacency.Out
	if q.Direction == retrieve.In {
		side = adjacency.In
	}
	var after *adjacency.Entry
	if l := q.After; l != nil {
		after = &adjacency.Entry{Type: l.Type, Other: l.Other, Edge: l.Edge}
	}
	for i := range max(1, len(q.Types)) {
		typ := "" // of any
		if len(q.Types) > 0 {
			typ = q.Types[i]
		}
		if q.Count {
			n, err := trees.Degree(ctx, q.Node, side, typ)
			if err != nil {
				return nil, 0, err
			}
			total += int(n)
		}
		if q.Limit == 0 {
			continue
		}
		for e, err := range trees.Bucket(ctx, q.Node, side, typ, after) {
			if err != nil {
				return nil, 0, fmt.Errorf("edges of %s: %w", q.Node, err)
			}
			if len(links) >= q.Limit {
				break
			}
			if links == nil {
				links = make([]source.Link, 0, min(q.Limit, usualLinks))
			}
			links = append(links, source.Link{
				Type: e.Type, Other: e.Other, Edge: e.Edge, Weight: int64(e.Weight),
			})
		}
	}
	return links, total, nil
}
