package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Bounds of the entries read from a bucket to show some of them: clause 12.3.
const (
	maxShownFrom = 1000
	minPage      = 16
)

// pack walks the candidates in order and fills the answer: clause 11. Candidates that do not fit, or that repeat an
// item, are left out and counted, and never change the order of the rest.
func (p *packer) pack(ctx context.Context) error {
	a := p.answer
	found, err := p.inTime(ctx, p.shownBands())
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
		if p.paired[c.id] { // it followed the item that it contradicts
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
	if err := p.countPlaces(); err != nil {
		return err
	}
	p.arrange()
	return nil
}

// countPlaces adds to each chunk how many other places have the same text, if that fits into the budget.
func (p *packer) countPlaces() error {
	if p.req.Format != retrieve.FormatBrief {
		return nil
	}
	for i := range p.answer.Items {
		if p.places[i] == 0 {
			continue
		}
		item, unit := &p.answer.Items[i], "places"
		if p.places[i] == 1 {
			unit = "place"
		}
		more := fmt.Sprintf("%s  and %d more %s\n", item.Rendered, p.places[i], unit)
		tokens, err := p.tokens(more)
		if err != nil {
			return err
		}
		if p.fits(tokens - item.Tokens) {
			p.answer.TokensUsed += tokens - item.Tokens
			item.Rendered, item.Tokens = more, tokens
		}
	}
	return nil
}

func bodyOf(rendered string) string {
	_, body, _ := strings.Cut(rendered, "\n")
	return body
}

// packer is the last stage: it fills the answer.
type packer struct {
	*pool
	answer  *retrieve.Answer
	idle    idle         // what had nothing to do
	stale   int          // items found by a vector of a text that they have no more
	created []graph.Time // of the items
	said    []*features  // of the items, if repeats are left out

	bodies map[string]int // the number of the item by the text of a chunk
	places map[int]int    // how many further chunks say the same as an item

	trim *trimmer // nil until a text is trimmed
	cut  bool     // whether trimming changed a text

	facing graph.ID          // the node that contradicts the item faced, zero for none
	faced  graph.ID          // the item packed last that something contradicts
	paired map[graph.ID]bool // nodes examined because they contradict an item, nil for none
	beside graph.ID          // the item that the candidate is examined for, zero for none
}

func newPacker(p *pool, a *retrieve.Answer) *packer {
	return &packer{pool: p, answer: a, bodies: map[string]int{}, places: map[int]int{}}
}

func (p *packer) full() bool {
	return *p.req.Limit > 0 && len(p.answer.Items) == *p.req.Limit
}

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
		Later:     c.later,
		Band:      c.band,
		Replaced:  replacement(mark),
	}
	if n := len(p.answer.Items); !p.beside.IsZero() && n > 0 {
		item.Band = p.answer.Items[n-1].Band // a contradicting item is shown with its opponent
	}
	shown, tokens, err := p.fitted(ctx, n, mark, c.replaced != nil && !c.replaced.asked)
	if err != nil {
		return err
	}
	item.Rendered, item.Tokens = shown.text, tokens
	a := p.answer
	twin, its, err := p.repeated(ctx, n, mark, item.Rendered)
	switch {
	case err != nil:
		return err
	case twin >= 0:
		a.DroppedItems = append(a.DroppedItems, retrieve.DroppedItem{
			ID: c.id, Reason: retrieve.ReasonDuplicate, Tokens: item.Tokens, Repeats: a.Items[twin].ID,
		})
	case !p.fits(item.Tokens):
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
		if render.IsChunk(n) {
			p.bodies[bodyOf(item.Rendered)] = len(a.Items) - 1
		}
		p.idle.shows(n, shown)
		p.cut = p.cut || shown.cut
		if mark != nil && mark.State == graph.Contradicted && p.req.Pairs == retrieve.PairsOn {
			p.facing, p.faced = mark.By, c.id
		}
	}
	return nil
}

func (p *packer) fits(tokens int) bool {
	return p.answer.TokensBudget == 0 || tokens <= p.answer.TokensBudget-p.answer.TokensUsed
}

// fitted renders a node, by its passages if it may be trimmed and does not fit whole, or in a line, and counts its
// tokens.
func (p *packer) fitted(
	ctx context.Context, n *graph.Node, mark *graph.Mark, line bool,
) (out shown, tokens int, err error) {
	forms := []form{formWhole, formPassages}
	if line {
		forms = []form{formLine}
	}
	for _, as := range forms {
		if out, err = p.render(ctx, n, mark, as); err != nil {
			return out, 0, err
		}
		if tokens, err = p.tokens(out.text); err != nil || p.fits(tokens) || !p.mayTrim(n) {
			return out, tokens, err
		}
	}
	return out, tokens, nil
}

// repeated returns the number of the first item that a node repeats, -1 for none, and the node's features, nil if the
// request does not ask for them. A chunk repeats one that says the same below another head, whether asked for or not.
func (p *packer) repeated(
	ctx context.Context, n *graph.Node, mark *graph.Mark, text string,
) (item int, its *features, err error) {
	if render.IsChunk(n) {
		if i, found := p.bodies[bodyOf(text)]; found {
			p.places[i]++
			return i, nil, nil
		}
	}
	if !p.req.Dedup {
		return -1, nil, nil
	}
	if its, err = p.features(ctx, n, mark); err != nil {
		return -1, nil, err
	}
	return slices.IndexFunc(p.said, its.repeats), its, nil
}

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
	passages bool // a content, or a summary that was trimmed, if that is asked for
	links    bool
	cut      bool // whether trimming changed a text
}

type form int

const (
	formWhole    form = iota
	formPassages      // since it does not fit whole
	formLine          // since another one replaced it
)

func (p *packer) render(ctx context.Context, n *graph.Node, mark *graph.Mark, as form) (shown, error) {
	if as == formLine && p.req.Format == retrieve.FormatBrief {
		text, err := render.Replaced(ctx, p.g, n, mark)
		return shown{text: text}, err
	}
	o := render.RenderOptions{Show: p.req.Show, SummaryCap: *p.req.SummaryCap}
	if render.IsChunk(n) {
		o.Show = append(slices.Clone(o.Show), retrieve.ShowContent)
	}
	var out shown
	trim, err := p.trimmerOf(ctx, as == formPassages)
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
		out.cut = its.cut
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

func (r *request) adjacency(ctx context.Context, id graph.ID) (a render.Adjacency, err error) {
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
func (r *request) visible(
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

// pair lets the node that contradicts the last packed item follow it, and the one that contradicts that, until the
// answer is full or there is none left: clause 11.8. A reader of one of two memories that cannot both hold must see the
// other. Only nodes that pass the filters follow, once in an answer.
func (p *packer) pair(ctx context.Context) error {
	defer func() { p.facing, p.faced, p.beside = graph.ID{}, graph.ID{}, graph.ID{} }()
	for !p.facing.IsZero() && !p.full() {
		id := p.facing
		p.facing = graph.ID{}
		ok, err := p.mayFollow(ctx, id)
		if err != nil || !ok {
			return err
		}
		if p.paired == nil {
			p.paired = make(map[graph.ID]bool)
		}
		p.paired[id] = true
		p.beside = p.faced
		if err := p.take(ctx, p.candidate(id)); err != nil {
			return err
		}
	}
	return nil
}

// mayFollow reports whether a node that contradicts an item is there, was not examined yet, and passes the filters.
func (p *packer) mayFollow(ctx context.Context, id graph.ID) (bool, error) {
	its := func(it retrieve.Item) bool { return it.ID == id }
	dropped := func(d retrieve.DroppedItem) bool { return d.ID == id }
	if slices.ContainsFunc(p.answer.Items, its) ||
		slices.ContainsFunc(p.answer.DroppedItems, dropped) {
		return false, nil
	}
	return p.there(ctx, id)
}

// candidate returns the candidate for a node, or a new one without a score if nothing found it.
func (p *packer) candidate(id graph.ID) *candidate {
	i := slices.IndexFunc(p.found, func(c *candidate) bool { return c.id == id })
	if i >= 0 {
		return p.found[i]
	}
	p.answer.Candidates++
	return &candidate{id: id}
}
