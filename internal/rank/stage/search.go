package stage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// How many vectors a dense lane compares exactly: clause 9.5.
const (
	oversample        = 256    // at most for each item that is asked for
	maxShortlist      = 16_384 // vectors
	leastOversampled  = 10     // items
	limitlessOversize = 1000   // items that a request without a limit counts for
)

// shortlist returns the bounds of a request's vector search.
func (r *request) shortlist() source.Shortlist {
	items := *r.req.Limit
	items = cmp.Or(items, limitlessOversize)
	items = max(leastOversampled, items)
	list := source.Shortlist{
		Most: min(oversample*items, maxShortlist), Near: items, Peers: int(r.row.peers), Ease: r.row.ease,
	}
	if r.row.ground > 0 { // the score of a fixed rank counts as nothing, whatever the limit
		list.Near = max(items, distantRank)
	}
	return list
}

// distantRank is the rank in the list of a dense lane whose similarity to the question is chance: clauses 9.6 and 11.9.
// If the list is shorter, its last entry counts.
const distantRank = 200

// laneList is the list of one lane, and the candidates that it found in the same order.
type laneList struct {
	lane   retrieve.Lane
	weight int64
	hits   []source.Hit
	nodes  []*candidate
	ground int64 // of a score that counts as nothing
	whole  int64 // the score that counts fully: the best one; with several wordings, the best node's over all of them

	cosines map[graph.ID]int64 // of a dense lane, nil for others
	floor   int64              // the cosine of the distantRank
	trust   int64              // in a dense lane: how reliable its cosines are
}

func (l *laneList) worded() bool {
	return l.lane == retrieve.LaneText || strings.HasPrefix(string(l.lane), string(retrieve.LaneText)+":")
}

// blank reports whether a request asks for nothing but the newest nodes.
func (r *request) blank() bool { return asksNothing(r.req) }

func asksNothing(r retrieve.Request) bool {
	return isBlank(r.Text) && len(r.Vectors) == 0 && len(r.Sparse) == 0
}

func (r *request) expands() bool { return *r.req.Expand > 0 && !r.blank() && !r.dated.alone }

// finder is the first stage: it searches the lanes and fuses what they find.
type finder struct {
	*request
	exact   int // how many nodes the text names
	text    source.TextResult
	asked   bool                 // whether the text lane ran
	blocked bool                 // whether another lane found nothing but what was left out
	kindred []retrieve.AddedTerm // of the text's terms
	vain    int                  // rewrites without hits

	noVectors, otherDims []retrieve.Warning // of the dense lanes
	noSparse             []retrieve.Warning // of the sparse lanes
}

// find returns the candidates of the lanes that the request asks for and of the exact look-up, with fused scores.
func (f *finder) find(ctx context.Context) (*pool, error) {
	exact, err := f.exactHits(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(exact, byRank)
	f.exact = len(exact) // before the search: a text that names a node is read as it stands
	lists, err := f.search(ctx)
	if err != nil {
		return nil, err
	}
	f.trace.stage(StageLanes)
	if err := f.balance(ctx, lists); err != nil {
		return nil, err
	}
	p := &pool{request: f.request, lists: lists}
	p.sumWordings()
	f.trace.weighed(lists)
	p.gather(exact)
	p.fuse()
	err = p.setAside(ctx)
	f.trace.stage(StageFuse)
	return p, err
}

// search asks for the lists of all lanes that the request has, each in order and no deeper than a lane.
func (f *finder) search(ctx context.Context) ([]*laneList, error) {
	var lists []*laneList
	before := f.filter.Seen
	addList := func(l *laneList, err error) error {
		if err != nil {
			return fmt.Errorf("search the %s lane: %w", l.lane, err)
		}
		l.weight = f.weight(l.lane)
		f.laneDone(l.lane, l.hits, l.ground, before)
		before = f.filter.Seen
		if len(l.hits) > 0 {
			l.whole = l.hits[0].Score
			lists = append(lists, l)
		}
		return nil
	}
	add := func(lane retrieve.Lane, hits []source.Hit, err error) error {
		return addList(&laneList{lane: lane, hits: hits}, err)
	}
	if f.blank() {
		hits, err := f.x.Recency(ctx, f.filter.Accept(ctx), laneDepth)
		return lists, add(retrieve.LaneRecency, ranked(hits), err)
	}
	if f.asked = trimBlank(f.req.Text) != "" && f.weight(retrieve.LaneText) > 0; f.asked {
		if err := f.spell(ctx); err != nil {
			return nil, err
		}
		hits, err := f.searchText(ctx)
		if err := add(retrieve.LaneText, hits, err); err != nil {
			return nil, err
		}
	}
	for i, s := range f.req.Rewrites {
		lane := retrieve.LaneRewrite(i + 1)
		if f.weight(lane) == 0 {
			continue
		}
		got, err := f.x.Text(ctx, f.query(s), f.filter.Accept(ctx), laneDepth)
		if len(got.Hits) == 0 {
			f.vain++
		}
		if err := add(lane, ranked(got.Hits), err); err != nil {
			return nil, err
		}
	}
	if err := f.searchVectors(ctx, addList); err != nil {
		return nil, err
	}
	if f.dated.alone {
		hits, err := f.timeList(ctx)
		if err := add(retrieve.LaneTime, hits, err); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// searchVectors gives the lists of the lanes by embeddings to add.
func (f *finder) searchVectors(ctx context.Context, add func(*laneList, error) error) error {
	for _, q := range f.req.Vectors {
		if f.weight(retrieve.LaneDense(q.Model)) == 0 {
			continue
		}
		if err := add(f.dense(ctx, q)); err != nil {
			return err
		}
	}
	for _, q := range f.req.Sparse {
		if f.weight(retrieve.LaneSparse(q.Model)) == 0 {
			continue
		}
		hits, err := f.searchSparse(ctx, q)
		if err := add(&laneList{lane: retrieve.LaneSparse(q.Model), hits: hits, trust: fixed.One}, err); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) searchSparse(ctx context.Context, q retrieve.SparseVector) ([]source.Hit, error) {
	x, ok := f.x.(source.SparseVectors)
	if !ok {
		return nil, errors.New("this index has no sparse vectors")
	}
	res, err := x.Sparse(ctx, q, f.filter.Accept(ctx), laneDepth)
	if err != nil {
		return nil, err
	}
	if res.None {
		f.noSparse = append(f.noSparse, noVectors(retrieve.NoSparse, q.Model, res.Models))
	}
	return ranked(res.Hits), nil
}

// spell reads words that no node has as others. A text that names a node means what it says.
func (f *finder) spell(ctx context.Context) error {
	if f.req.Spelling == retrieve.SpellingOff || !f.asked || f.exact > 0 {
		return nil
	}
	var err error
	if f.readings, err = f.x.Readings(ctx, f.req.Text); err != nil {
		return fmt.Errorf("look for words of other spelling: %w", err)
	}
	return nil
}

// query returns a text as it is looked up.
func (r *request) query(text string) source.TextQuery {
	return source.TextQuery{Text: text, Readings: r.readings}
}

func (r *request) respelled() []retrieve.Warning {
	var out []retrieve.Warning
	for _, w := range r.readings {
		out = append(out, warning(retrieve.Respelled, word("term", w.As), word("word", w.Word)))
	}
	return out
}

func (f *finder) dense(ctx context.Context, q retrieve.QueryVector) (*laneList, error) {
	l := &laneList{lane: retrieve.LaneDense(q.Model), trust: f.trust(q.Model)}
	x, ok := f.x.(source.Vectors)
	if !ok {
		return l, errors.New("this index has no vectors")
	}
	res, err := x.Dense(ctx, q, f.filter.Accept(ctx), laneDepth, f.shortlist())
	if err != nil {
		return l, err
	}
	f.denseWarnings(q, res)
	if l.hits = ranked(res.Hits); len(l.hits) == 0 {
		return l, nil
	}
	l.floor, l.cosines = l.scoreOf(distantRank), make(map[graph.ID]int64, len(l.hits))
	for _, h := range l.hits {
		l.cosines[h.ID] = h.Score
	}
	if len(res.Own) > 0 {
		l.hits = ranked(res.Own)
	}
	l.ground = l.scoreOf(distantRank) * f.row.ground >> fixed.FracBits
	return l, nil
}

// trust returns how well the question's vector represents it, at most 65,536: a model that splits the words of a
// language into pieces knows little of that language. A model that reports no share is trusted.
func (r *request) trust(model string) int64 {
	whole, told := r.req.WholeOf(model)
	if !told {
		return fixed.One
	}
	return min(fixed.One, share(int64(whole), r.row.whole))
}

func (f *finder) denseWarnings(q retrieve.QueryVector, res source.DenseResult) {
	if res.None {
		f.noVectors = append(f.noVectors, noVectors(retrieve.NoVectors, q.Model, res.Models))
	}
	if res.Other > 0 {
		w := warning(retrieve.Dimension, word("model", q.Model), number("vectors", res.Other))
		f.otherDims = append(f.otherDims, w)
	}
}

// noVectors returns the warning that there are no vectors of a model, with the models that have some.
func noVectors(code retrieve.Code, model string, models []string) retrieve.Warning {
	params := []ipld.Entry{word("model", model)}
	if len(models) > 0 {
		params = append(params, words("models", models[:min(len(models), source.MaxModelsNamed)]))
	}
	return warning(code, params...)
}

// countStale counts an item that a dense or sparse lane found by the vector of an outdated text.
func (p *packer) countStale(ctx context.Context, n *graph.Node, lanes []retrieve.LaneHit) error {
	var text [sha256.Size]byte
	known := false
	for _, l := range lanes {
		model, ok := l.Lane.Model()
		if !ok {
			continue
		}
		if !known {
			content := ""
			if n.Content != nil {
				var err error
				if content, err = p.g.Content(ctx, n.Content); err != nil {
					return fmt.Errorf("read content of %s: %w", n.ID, err)
				}
			}
			text, known = graph.TextHash(n, content), true
		}
		embedded, err := p.embedding(ctx, n.ID, model)
		if err != nil {
			return err
		}
		if embedded.Text != text {
			p.stale++
			return nil
		}
	}
	return nil
}

// embedding reads a node's embedding that a lane has found.
func (r *request) embedding(ctx context.Context, id graph.ID, model string) (*graph.Embedding, error) {
	e, err := r.x.(source.Vectors).Embedding(ctx, id, model)
	if err != nil {
		return nil, fmt.Errorf("read embedding of %s: %w", id, err)
	}
	return e, nil
}

// cosine returns the cosine of two vectors in units of 2^-16, 0 if they cannot be compared, one is zero, or the cosine
// is not positive.
func cosine(a, b []int8) int64 {
	if len(a) != len(b) {
		return 0
	}
	var product, m, n int64
	for i, x := range a {
		y := int64(b[i])
		product += int64(x) * y
		m += int64(x) * int64(x)
		n += y * y
	}
	if product <= 0 {
		return 0
	}
	return min(fixed.One, share(product, int64(fixed.Isqrt(uint64(m)*uint64(n)))))
}
