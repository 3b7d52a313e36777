package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Bounds of what is read of a bucket to show some of it: clause 12.3.
const (
	maxShownFrom = 1000
	minPage      = 16
)

// pack walks the candidates in order and fills the answer: clause 11. What does not fit is left
// out and counted, and never changes the order of the rest; so is what repeats an item.
func (r *run) pack(ctx context.Context, a *retrieve.Answer) error {
	p := packer{run: r, answer: a}
	found, err := r.inTime(ctx, r.shownBands())
	if err != nil {
		return err
	}
	if found, err = p.digests(ctx, found); err != nil {
		return err
	}
	for _, c := range found[:min(maxExamined, len(found))] {
		if p.full() {
			break
		}
		if p.paired[c.id] { // it followed what it contradicts
			continue
		}
		at := len(a.Items)
		if err := p.take(ctx, c); err != nil {
			return err
		}
		if err := p.follow(ctx, at); err != nil {
			return err
		}
		if err := p.pair(ctx); err != nil {
			return err
		}
	}
	if p.paired == nil {
		a.Request.Pairs = retrieve.PairsOff
	}
	if a.Request.Pack == retrieve.PackAuto && !p.cut {
		a.Request.Pack, a.Request.PassageTokens = retrieve.PackWhole, nil
	}
	a.Dropped = len(a.DroppedItems)
	p.arrange()
	return nil
}

// packer fills an answer.
type packer struct {
	*run
	answer  *retrieve.Answer
	created []graph.Time // of the items
	said    []*features  // of the items, where repeats are to be left out

	trim *trimmer // nil until a text is trimmed
	cut  bool     // whether a text was trimmed to another one

	facing graph.ID          // what contradicts the item faced, zero for nothing
	faced  graph.ID          // the item packed last that something contradicts
	paired map[graph.ID]bool // what was examined since it contradicts an item, nil for none
	beside graph.ID          // the item that the candidate is examined for, zero for none
}

// full reports whether the answer has as many items as it may have.
func (p *packer) full() bool {
	return *p.req.Limit > 0 && len(p.answer.Items) == *p.req.Limit
}

// take packs or drops one candidate.
func (p *packer) take(ctx context.Context, c *candidate) error {
	n, cid, err := p.g.Node(ctx, c.id)
	if err != nil {
		return fmt.Errorf("read node %s: %w", c.id, err)
	}
	if p.onlyName(c, n) {
		return nil
	}
	mark, err := p.g.Mark(ctx, graph.OnNode, c.id)
	if err != nil {
		return fmt.Errorf("read mark on node %s: %w", c.id, err)
	}
	item := retrieve.Item{
		ID: c.id, Key: n.Key, Type: n.Type, Node: cid,
		Score: c.score, Tier: c.tier, Lanes: slices.Clone(c.lanes), Reach: c.way(),
		Community: c.member,
		Recall:    c.recalled.told(),
		Against:   p.beside,
		Band:      c.band,
		Replaced:  replacement(mark),
	}
	if n := len(p.answer.Items); !p.beside.IsZero() && n > 0 {
		item.Band = p.answer.Items[n-1].Band // what contradicts an item is shown with it
	}
	shown, err := p.render(ctx, n, mark, c.replaced != nil && !c.replaced.asked)
	if err != nil {
		return err
	}
	item.Rendered = shown.text
	if item.Tokens, err = p.tokens(item.Rendered); err != nil {
		return err
	}
	a := p.answer
	twin, its, err := p.repeated(ctx, n, mark)
	switch {
	case err != nil:
		return err
	case twin >= 0:
		a.DroppedItems = append(a.DroppedItems, retrieve.DroppedItem{
			ID: c.id, Reason: retrieve.ReasonDuplicate, Tokens: item.Tokens, Repeats: a.Items[twin].ID,
		})
	case a.TokensBudget > 0 && item.Tokens > a.TokensBudget-a.TokensUsed:
		a.DroppedItems = append(a.DroppedItems, retrieve.DroppedItem{
			ID: c.id, Reason: retrieve.ReasonBudget, Tokens: item.Tokens,
		})
	default:
		if err := p.countStale(ctx, n, c.lanes); err != nil {
			return err
		}
		a.TokensUsed += item.Tokens
		item.Rank = len(a.Items) + 1
		a.Items = append(a.Items, item)
		p.created = append(p.created, n.Created)
		p.said = append(p.said, its)
		p.idle.shows(n, shown)
		if mark != nil && mark.State == graph.Contradicted && p.req.Pairs == retrieve.PairsOn {
			p.facing, p.faced = mark.By, c.id
		}
	}
	return nil
}

// repeated returns the number of the first item that a node repeats, -1 for none, and the node's
// features, nil where the request does not ask.
func (p *packer) repeated(
	ctx context.Context, n *graph.Node, mark *graph.Mark,
) (item int, its *features, err error) {
	if !p.req.Dedup {
		return -1, nil, nil
	}
	if its, err = p.features(ctx, n, mark); err != nil {
		return -1, nil, err
	}
	return slices.IndexFunc(p.said, its.repeats), its, nil
}

// arrange puts the items into the order that the request asks for.
func (p *packer) arrange() {
	if p.req.Order != retrieve.ByTime {
		return
	}
	created := make(map[graph.ID]graph.Time, len(p.created))
	for i, item := range p.answer.Items {
		created[item.ID] = p.created[i]
	}
	slices.SortFunc(p.answer.Items, func(a, b retrieve.Item) int {
		return cmp.Or(cmp.Compare(created[a.ID], created[b.ID]), a.ID.Compare(b.ID))
	})
}

// shown is the text of one node, and which of the parts that a request may ask for it has.
type shown struct {
	text     string
	passages bool // a content, or a summary that was trimmed, where that is asked for
	links    bool
}

// render returns the text of one node.
func (p *packer) render(
	ctx context.Context, n *graph.Node, mark *graph.Mark, line bool,
) (shown, error) {
	if line && p.req.Format == retrieve.FormatBrief {
		text, err := render.Replaced(ctx, p.g, n, mark)
		return shown{text: text}, err
	}
	o := render.RenderOptions{Show: p.req.Show, SummaryCap: *p.req.SummaryCap}
	if isChunk(n) {
		o.Show = append(slices.Clone(o.Show), retrieve.ShowContent)
	}
	var out shown
	trim, err := p.trimmerOf(ctx, n)
	switch {
	case err != nil:
		return out, err
	case trim != nil:
		o.Show = append(slices.Clone(o.Show), retrieve.ShowContent)
		its, err := trim.texts(ctx, p.g, n)
		if err != nil {
			return out, err
		}
		n, o.Content, out.passages = its.node, its.content, its.found
		p.cut = p.cut || its.cut
	case n.Content != nil && slices.Contains(o.Show, retrieve.ShowContent):
		if o.Content, err = p.g.Content(ctx, n.Content); err != nil {
			return out, fmt.Errorf("read content of %s: %w", n.ID, err)
		}
	}
	if o.Adjacency, err = p.adjacency(ctx, n.ID); err != nil {
		return out, fmt.Errorf("read edges of %s: %w", n.ID, err)
	}
	a := &o.Adjacency
	out.links = len(a.Out)+len(a.In)+a.MoreOut+a.MoreIn > 0
	if p.req.Format == retrieve.FormatBrief {
		out.text, err = render.Brief(ctx, p.g, n, mark, o)
		return out, err
	}
	out.text = render.Render(n, mark, o)
	return out, nil
}

// adjacency collects what is shown of a node's edges.
func (r *run) adjacency(ctx context.Context, id graph.ID) (a render.Adjacency, err error) {
	if r.req.Adjacency == 0 {
		return a, nil
	}
	if a.Out, a.MoreOut, err = r.visible(ctx, id, retrieve.Out); err != nil {
		return a, err
	}
	a.In, a.MoreIn, err = r.visible(ctx, id, retrieve.In)
	return a, err
}

// visible returns the first entries of a bucket that no mark hides, and the number of entries
// after the last one examined.
func (r *run) visible(
	ctx context.Context, id graph.ID, dir retrieve.Direction,
) (shown []source.Link, more int, err error) {
	q := source.BucketQuery{Node: id, Direction: dir, Count: true}
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
			hidden, err := r.filter.HiddenLink(ctx, page[i])
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
