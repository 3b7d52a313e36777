package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Bounds of PageRank in ranking version 1: clause 10.3. They bound what is read and done by the mass there is, whatever
// the size of the graph: a node of more than 2^toleranceBits entries never sends, and is not read.
const (
	toleranceBits = 13   // a node sends 2^-13 of all mass, or more, for each of its entries
	maxRead       = 8192 // entries read after which no further node is read
	muchBits      = 8    // a source that keeps 2^-5 of all mass, or more, is worth a warning
)

// account is the mass at one node, in units of 2^-32.
type account struct {
	id       graph.ID
	waiting  int64 // not sent on yet
	coming   int64 // received in this round
	received int64 // from nodes, ever

	known   bool // whether entries is
	entries int  // of the buckets that are followed
	read    bool // whether ways is
	ways    []way
	weights int64 // of all ways

	since  int      // the round in which mass was first received, 0 for none
	from   *account // what gave the most in that round
	most   int64    // what that was
	by     retrieve.Step
	source bool
}

type way struct {
	retrieve.Step
	weight int64 // in units of 2^-16
}

// walker moves mass along links, by forward push in rounds: only nodes at which enough mass waits
// send, so that the work follows the mass and not the graph.
type walker struct {
	*spreader
	accounts map[graph.ID]*account
	mentions map[graph.ID][]way // of the first sources
	least    int64              // mass that must wait for each entry
	looked   int                // entries read
}

// pagerank gives each node the mass that reaches it from the sources: clause 10.3. A round depends
// on the one before alone, and sums are exact, so that only the bounds see an order; it is total.
func (e *expander) pagerank(ctx context.Context, sources []*candidate) error {
	w := &walker{
		spreader: e.newSpreader(),
		accounts: make(map[graph.ID]*account, len(sources)),
		mentions: map[graph.ID][]way{},
	}
	active, err := w.begin(ctx, sources)
	if err != nil {
		return err
	}
	for h := 1; h <= *e.req.Expand && len(active) > 0; h++ {
		slices.SortFunc(active, func(a, b *account) int {
			return cmp.Or(cmp.Compare(b.waiting, a.waiting), a.id.Compare(b.id))
		})
		var got []*account
		for _, u := range active {
			if got, err = w.send(ctx, u, h, got); err != nil {
				return fmt.Errorf("send on from %s: %w", u.id, err)
			}
		}
		for _, v := range got {
			v.waiting += v.coming
			v.received += v.coming
			v.coming = 0
		}
		active = got // what received nothing waits on, and sends no sooner
	}
	var list []reached
	for _, a := range w.accounts {
		if gain := a.received >> fixed.FracBits; gain > 0 {
			list = append(list, reached{a.id, gain, a.way})
		}
	}
	e.cut, e.linked = len(w.cut), w.linked || len(w.cut) > 0
	e.joinReached(list)
	return nil
}

// begin gives the sources their mass: the squares of their scores, so that the best weigh more than the many.
func (w *walker) begin(ctx context.Context, sources []*candidate) ([]*account, error) {
	active := make([]*account, len(sources))
	total := int64(0)
	for i, c := range sources {
		a := &account{id: c.id, waiting: c.share * c.share, source: true}
		w.accounts[c.id], active[i] = a, a
		total += a.waiting
		if i >= maxMentioners {
			continue
		}
		steps, err := w.mentioned(ctx, c.id)
		if err != nil {
			return nil, fmt.Errorf("follow the mentions of %s: %w", c.id, err)
		}
		for _, step := range steps {
			w.mentions[c.id] = append(w.mentions[c.id], way{step, fixed.One})
		}
	}
	w.least = max(1, total>>toleranceBits)
	return active, nil
}

// send lets a node send on what waits there, if it is enough, and appends to got what first
// receives in this round. What is lost, if no link can be followed, would return to the sources
// in the proportions in which they began, which would change nothing but the scale.
func (w *walker) send(ctx context.Context, u *account, round int, got []*account) ([]*account, error) {
	if ok, err := w.enough(ctx, u); err != nil || !ok {
		if round == 1 && u.waiting >= w.least<<muchBits {
			w.cut[u.id] = true
		}
		return got, err
	}
	if !u.read {
		if w.looked >= maxRead {
			w.cut[u.id] = true
			return got, nil
		}
		if err := w.follow(ctx, u); err != nil {
			return got, err
		}
	}
	mass := u.waiting * int64(*w.r.req.Damping) >> fixed.FracBits
	u.waiting = 0
	for _, l := range u.ways {
		n := mass * l.weight / max(1, u.weights)
		if n == 0 {
			continue
		}
		v := w.accounts[l.Node]
		if v == nil {
			v = &account{id: l.Node}
			w.accounts[l.Node] = v
		}
		if v.coming == 0 {
			got = append(got, v)
		}
		v.coming += n
		v.since = cmp.Or(v.since, round)
		if v.since == round && n > v.most {
			v.from, v.by, v.most = u, l.Step, n
		}
	}
	return got, nil
}

// enough reports whether so much waits at a node that it sends. It counts entries only if enough waits for one.
func (w *walker) enough(ctx context.Context, u *account) (bool, error) {
	if u.waiting < w.least {
		return false, nil
	}
	if !u.known {
		for _, dir := range directions(w.r.req.Direction) {
			q := source.BucketQuery{
				Node: u.id, Direction: dir, Types: w.r.req.ExpandTypes, Count: true,
			}
			_, n, err := w.r.g.Bucket(ctx, q)
			if err != nil {
				return false, fmt.Errorf("count edges: %w", err)
			}
			u.entries += n
		}
		u.known = true
	}
	return u.waiting/w.least >= int64(u.entries), nil
}

func (w *walker) follow(ctx context.Context, u *account) error {
	w.looked += max(1, u.entries)
	u.read = true
	for _, dir := range directions(w.r.req.Direction) {
		q := source.BucketQuery{
			Node: u.id, Direction: dir, Types: w.r.req.ExpandTypes, Limit: u.entries, Bare: true,
		}
		if q.Limit == 0 {
			break
		}
		links, _, err := w.r.g.Bucket(ctx, q)
		if err != nil {
			return fmt.Errorf("read edges: %w", err)
		}
		for _, l := range links {
			ok, err := w.followed(ctx, u.id, w.node(l.Other), l)
			if err != nil {
				return err
			}
			if ok {
				u.ways = append(u.ways, way{retrieve.Step{Node: l.Other, Type: l.Type, Forward: dir == retrieve.Out}, w.r.edgeWeight(l)})
			}
		}
	}
	u.ways = append(u.ways, w.mentions[u.id]...)
	for _, l := range u.ways {
		u.weights += l.weight
		w.linked = true
	}
	return nil
}

// way returns the way by which mass first reached a node: at each step from what gave the most in
// the first round that gave anything; of equal ones, from what sent first.
func (a *account) way() *retrieve.Reach {
	var steps []retrieve.Step
	for {
		steps = append(steps, a.by)
		if a = a.from; a.source || a.from == nil {
			break
		}
	}
	slices.Reverse(steps)
	return &retrieve.Reach{Seed: a.id, Hops: len(steps), Path: steps}
}
