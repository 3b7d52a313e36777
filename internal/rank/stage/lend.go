package stage

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/heap"
	"github.com/mnem-project/mnem/retrieve"
)

// contribution is the score that one node passes to another along one link.
type contribution struct {
	from   *spread
	by     retrieve.Step
	weight int64         // of the edge, in units of 2^-16, or mentioning
	next   *contribution // to the same node in the same round
}

// inflow is the score that a node receives in one round. Its share along an edge depends on its number of edges, which
// must be read to be counted. Most nodes receive too little to contribute or to join: their inflow is bounded and never
// computed.
type inflow struct {
	first, last *contribution
	bound       int64   // an upper bound of the score
	got         *spread // nil until worked out
}

// contributor passes the scores of nodes on, term by term: clause 10.1.
type contributor struct {
	*spreader
	hop     int
	round   []*facts // that received something in the current round
	reached []*facts // in any round, each once
}

// maxScore is more than any score.
const maxScore = 1 << 53

// contribute passes the scores of the sources on. It counts the sources left out for lack of room. Later rounds cause
// no warning: as in a lane, the best come first and the rest weighs little.
func (e *expander) lend(ctx context.Context, sources []*candidate) error {
	l := &contributor{spreader: e.newSpreader()}
	l.round, l.reached = e.room.round[:0], e.room.reached[:0]
	defer func() { e.room.round, e.room.reached = l.round, l.reached }()
	for _, list := range e.lists {
		if list.lane == retrieve.LaneText {
			l.text = list
		} else {
			l.dense = append(l.dense, list)
		}
	}
	all, err := l.terms(ctx, sources, e.firstTerms())
	if err != nil {
		return err
	}
	layer, err := l.start(ctx, sources, all)
	if err != nil {
		return err
	}
	rankLast(l.titled)
	for _, c := range e.found {
		l.node(c.id).found = c
	}
	for l.hop = 1; l.hop <= *e.req.Expand && len(layer) > 0; l.hop++ {
		l.round = l.round[:0]
		if err := l.spreader.round(ctx, layer, l.hop, l.give); err != nil {
			return err
		}
		if layer, err = l.layer(ctx); err != nil {
			return err
		}
	}
	e.silent, e.linked = l.silent, l.linked
	return l.join(ctx)
}

// give records a contribution of u to v.
func (l *contributor) give(_ context.Context, u *spread, v *facts, by retrieve.Step, weight int64) error {
	bound := l.passOn(u.sum) // of a sum no less than the sum of its parts
	if weight != mentioning {
		bound = int64(min(fixed.MulDivSat(uint64(bound), uint64(weight), fixed.One), maxScore))
	}
	if bound == 0 {
		return nil
	}
	t := v.inflow[l.hop-1]
	if t == nil {
		if v.bound == 0 {
			l.reached = append(l.reached, v)
		}
		t = l.room.inflows.one()
		v.inflow[l.hop-1] = t
		l.round = append(l.round, v)
	}
	g := l.room.contributions.one()
	*g = contribution{from: u, by: by, weight: weight}
	if t.last == nil {
		t.first = g
	} else {
		t.last.next = g
	}
	t.last = g
	t.bound = bounded(t.bound, bound)
	v.bound = bounded(v.bound, bound)
	return nil
}

// bounded adds bounds. No score is more than the sum can be.
func bounded(a, b int64) int64 { return min(a+min(b, maxScore), maxScore) }

// settle computes the inflow of v in a round: of each term the largest contribution.
func (l *contributor) settle(ctx context.Context, v *facts, hop int) error {
	t := v.inflow[hop-1]
	if t == nil || t.got != nil {
		return nil
	}
	width := len(t.first.from.gains)
	got := l.room.spreads.one()
	*got = spread{id: v.id, hops: hop, gains: l.room.gains.list(width)[:width]}
	for g := t.first; g != nil; g = g.next {
		damping := int64(fixed.One)
		if g.weight != mentioning {
			var err error
			if damping, err = l.damp(ctx, v, g.by.Forward); err != nil {
				return err
			}
		}
		given := int64(0)
		for i, n := range g.from.gains {
			if n = l.passOn(n); n == 0 {
				continue
			}
			if g.weight != mentioning {
				n = (n * g.weight >> fixed.FracBits) * damping >> fixed.FracBits
			}
			given += n
			got.gains[i] = max(got.gains[i], n)
		}
		if got.from == nil || given > got.most ||
			given == got.most && bytes.Compare(g.from.id[:], got.from.id[:]) < 0 {
			got.from, got.by, got.most = g.from, g.by, given
		}
	}
	got.sum = sumOf(got.gains)
	t.got = got
	return nil
}

func sumOf(list []int64) (sum int64) {
	for _, n := range list {
		sum += n
	}
	return sum
}

type greatest struct {
	most int
	list []int64 // descending
}

// among reports whether n would be among them, or as great as the least.
func (k *greatest) among(n int64) bool {
	return len(k.list) < k.most || n >= k.list[len(k.list)-1]
}

func (k *greatest) add(n int64) {
	if !k.among(n) {
		return
	}
	if len(k.list) == k.most {
		k.list = k.list[:k.most-1]
	}
	i, _ := slices.BinarySearchFunc(k.list, n, func(e, n int64) int { return cmp.Compare(n, e) })
	k.list = slices.Insert(k.list, i, n)
}

// offer is a node that no lane found, with a bound of its inflow.
type offer struct {
	bound int64
	node  *facts
}

// before is the order of offers, the greatest bound first. It is total.
func (o offer) before(p offer) bool {
	return o.bound > p.bound || o.bound == p.bound && o.node.id.Compare(p.node.id) < 0
}

// inOrder yields the nodes of offers in their order. Callers usually need only the first ones. It takes the list over.
func inOrder(list []offer) iter.Seq[offer] {
	return func(yield func(offer) bool) {
		for i := len(list)/2 - 1; i >= 0; i-- {
			heap.Down(list, i, offer.before)
		}
		for len(list) > 0 {
			first, last := list[0], len(list)-1
			list[0] = list[last]
			list = list[:last]
			heap.Down(list, 0, offer.before)
			if !yield(first) {
				return
			}
		}
	}
}

// layer computes the inflow of the candidates in the current round, and returns those that contribute in the next, the
// largest inflow first.
func (l *contributor) layer(ctx context.Context) ([]*spread, error) {
	most := &greatest{most: maxSenders}
	at := l.hop - 1
	var layer []*spread
	add := func(v *facts) error {
		err := l.settle(ctx, v, l.hop)
		if got := v.inflow[at].got; err == nil && got.sum > 0 && most.among(got.sum) {
			most.add(got.sum)
			layer = append(layer, got)
		}
		return err
	}
	others := l.room.others[:0]
	for _, v := range l.round {
		if v.found == nil {
			others = append(others, offer{v.inflow[at].bound, v})
		} else if err := add(v); err != nil {
			return nil, err
		}
	}
	l.room.others = others
	if l.hop == *l.r.req.Expand {
		return nil, nil
	}
	for o := range inOrder(others) {
		if !most.among(o.bound) {
			break
		}
		if err := add(o.node); err != nil {
			return nil, err
		}
	}
	layer = slices.DeleteFunc(layer, func(s *spread) bool { return !most.among(s.sum) })
	slices.SortFunc(layer, func(a, b *spread) int {
		return cmp.Or(cmp.Compare(b.sum, a.sum), a.id.Compare(b.id))
	})
	return layer[:min(maxSenders, len(layer))], nil
}

// join adds the inflows to the candidates' scores, and adds the best of the new nodes.
func (l *contributor) join(ctx context.Context) error {
	known := make([]*candidate, 0, len(l.pool.found)) // received something
	others := l.room.others[:0]
	for _, v := range l.reached {
		if v.found == nil {
			others = append(others, offer{v.bound, v})
		} else if slices.ContainsFunc(v.inflow[:], func(t *inflow) bool {
			return t != nil && t.got.sum > 0
		}) {
			known = append(known, v.found)
		}
	}
	l.room.others = others
	own, err := l.terms(ctx, known, l.columns)
	if err != nil {
		return err
	}
	for _, c := range known {
		row := own[c.id]
		if row == nil {
			row = make([]int64, len(l.columns))
		}
		l.receive(c, l.nodes[c.id], append(row, l.near(c)...))
		if !byRanks(l.r.req.Fusion) {
			c.score += c.gain
		}
		c.lanes = append(c.lanes, retrieve.LaneHit{Lane: retrieve.LaneExpand, Score: c.gain})
	}
	joining, err := l.joining(ctx, others)
	for _, c := range joining {
		if !byRanks(l.r.req.Fusion) {
			c.score = c.gain
		}
		c.lanes = []retrieve.LaneHit{{Lane: retrieve.LaneExpand, Score: c.gain}}
	}
	l.pool.found = append(l.pool.found, joining...)
	l.pool.rankExpanded()
	return err
}

// joining returns the new nodes with the largest inflow.
func (l *contributor) joining(ctx context.Context, others []offer) ([]*candidate, error) {
	room := *l.r.req.MaxExpand
	most := &greatest{most: room}
	var list []*candidate
	for o := range inOrder(others) {
		if !most.among(o.bound) {
			break
		}
		v := o.node
		for hop := range v.inflow {
			if err := l.settle(ctx, v, hop+1); err != nil {
				return nil, err
			}
		}
		c := l.room.candidates.one()
		c.id = v.id
		if l.receive(c, v, nil); c.reached() && most.among(c.gain) {
			most.add(c.gain)
			list = append(list, c)
		}
	}
	list = slices.DeleteFunc(list, func(c *candidate) bool { return !most.among(c.gain) })
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), a.id.Compare(b.id))
	})
	return list[:min(room, len(list))], nil
}

// receive gives a candidate its inflow of all rounds: half as much for terms that it has itself.
func (l *contributor) receive(c *candidate, v *facts, own []int64) {
	for _, t := range v.inflow {
		if t == nil || t.got.sum == 0 {
			continue
		}
		sum := int64(0)
		for col, n := range t.got.gains {
			if col < len(own) && own[col] > 0 {
				n /= 2
			}
			sum += n
		}
		c.gain += sum
		if c.inflow == nil || sum > c.best {
			c.best, c.inflow = sum, t.got
		}
	}
}

func (l *spread) way() *retrieve.Reach {
	r := &retrieve.Reach{Hops: l.hops, Path: make([]retrieve.Step, l.hops)}
	for ; l.from != nil; l = l.from {
		r.Path[l.hops-1] = l.by
	}
	r.Seed = l.id
	return r
}
