package retrieve

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/text"
)

// Bounds of what is read of a bucket to show some of it: clause 12.3.
const (
	maxShownFrom = 1000
	minPage      = 16
)

// pack walks the candidates in order and fills the answer: clause 11. What does not fit is left
// out and counted, and never changes the order of the rest.
func (r *run) pack(ctx context.Context, a *Answer) error {
	for _, c := range r.found[:min(maxExamined, len(r.found))] {
		if *r.req.Limit > 0 && len(a.Items) == *r.req.Limit {
			break
		}
		item, err := r.item(ctx, c)
		if err != nil {
			return err
		}
		if a.TokensBudget > 0 && item.Tokens > a.TokensBudget-a.TokensUsed {
			a.DroppedItems = append(a.DroppedItems, DroppedItem{c.id, ReasonBudget, item.Tokens})
			continue
		}
		a.TokensUsed += item.Tokens
		a.Items = append(a.Items, item)
	}
	a.Dropped = len(a.DroppedItems)
	return nil
}

// item reads and renders one candidate.
func (r *run) item(ctx context.Context, c *candidate) (Item, error) {
	n, cid, err := r.g.Node(ctx, c.id)
	if err != nil {
		return Item{}, fmt.Errorf("read node %s: %w", c.id, err)
	}
	mark, err := r.g.Mark(ctx, graph.OnNode, c.id)
	if err != nil {
		return Item{}, fmt.Errorf("read mark on node %s: %w", c.id, err)
	}
	o := RenderOptions{Show: r.req.Show, SummaryCap: *r.req.SummaryCap}
	if n.Content != nil && slices.Contains(o.Show, ShowContent) {
		if o.Content, err = r.g.Content(ctx, n.Content); err != nil {
			return Item{}, fmt.Errorf("read content of %s: %w", c.id, err)
		}
	}
	if o.Adjacency, err = r.adjacency(ctx, c.id); err != nil {
		return Item{}, fmt.Errorf("read edges of %s: %w", c.id, err)
	}
	item := Item{
		ID: c.id, Key: n.Key, Type: n.Type, Node: cid,
		Score: c.score, Tier: c.tier, Lanes: c.lanes, Reach: c.reach,
		Rendered: Render(n, mark, o),
	}
	item.Tokens = text.EstimateTokens(item.Rendered)
	return item, nil
}

// adjacency collects what is shown of a node's edges.
func (r *run) adjacency(ctx context.Context, id graph.ID) (a Adjacency, err error) {
	if r.req.Adjacency == 0 {
		return a, nil
	}
	if a.Out, a.MoreOut, err = r.visible(ctx, id, Out); err != nil {
		return a, err
	}
	a.In, a.MoreIn, err = r.visible(ctx, id, In)
	return a, err
}

// visible returns the first entries of a bucket that no mark hides, and the number of entries
// after the last one examined.
func (r *run) visible(
	ctx context.Context, id graph.ID, dir Direction,
) (shown []Link, more int, err error) {
	q := BucketQuery{Node: id, Direction: dir, Count: true}
	examined, total := 0, 0
	for len(shown) < r.req.Adjacency && examined < maxShownFrom {
		q.Limit = min(max(r.req.Adjacency-len(shown), minPage), maxShownFrom-examined)
		page, n, err := r.g.Bucket(ctx, q)
		if err != nil {
			return nil, 0, err
		}
		if q.Count {
			total, q.Count = n, false
		}
		for i := 0; i < len(page) && len(shown) < r.req.Adjacency; i++ {
			examined++
			hidden, err := r.hiddenLink(ctx, page[i])
			if err != nil {
				return nil, 0, err
			}
			if !hidden {
				shown = append(shown, page[i])
			}
		}
		if len(page) < q.Limit {
			break
		}
		q.After = &page[len(page)-1]
	}
	return shown, total - examined, nil
}

// hiddenLink reports whether a mark hides an edge or its other end.
func (r *run) hiddenLink(ctx context.Context, l Link) (bool, error) {
	hidden, err := r.filter.hidden(ctx, graph.OnNode, l.Other)
	if err != nil || hidden {
		return hidden, err
	}
	return r.filter.hidden(ctx, graph.OnEdge, l.Edge)
}
