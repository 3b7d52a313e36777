package stage

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/retrieve"
)

// decay gives each node the value of the best path to it from another source: clause 10.2. The
// columns of the spreader are the sources, so that a path back to where it began is told apart.
func (e *expander) decay(ctx context.Context, sources []*candidate) error {
	s := e.newSpreader()
	s.keep = int64(*e.req.Decay)
	layer := make([]*spread, len(sources))
	best := make(map[graph.ID][]int64, len(sources)) // of all rounds so far
	column := make(map[graph.ID]int, len(sources))
	for i, c := range sources {
		layer[i] = &spread{id: c.id, gains: make([]int64, len(sources)), sum: c.share}
		layer[i].gains[i] = c.share
		best[c.id] = slices.Clone(layer[i].gains)
		column[c.id] = i
	}
	ends := map[graph.ID]pathEnd{}
	for h := 1; h <= *e.req.Expand && len(layer) > 0; h++ {
		next := map[graph.ID]*spread{}
		if err := s.round(ctx, layer, h, s.along(next)); err != nil {
			return err
		}
		if h == 1 { // later rounds weigh less, and are no matter for a warning
			e.cut = s.silent + len(s.cut)
		}
		for id, l := range next {
			if best[id] == nil {
				best[id] = make([]int64, len(sources))
			}
			l.keepBetter(best[id])
			own, isSource := column[id]
			for col, n := range l.gains {
				if n > ends[id].value && !(isSource && col == own) {
					ends[id] = pathEnd{l, col, n}
				}
			}
			if l.sum == 0 {
				delete(next, id)
			}
		}
		layer = sortedSpreads(next)
	}
	var got []reached
	for id, end := range ends {
		got = append(got, reached{id, end.value, end.way})
	}
	e.linked = s.linked
	e.joinReached(got)
	return nil
}

// pathEnd is where the best path to a node from one source ends.
type pathEnd struct {
	at     *spread
	column int
	value  int64
}

// keepBetter drops what is not better than before, notes in best what is, and makes sum the
// greatest of it. A path longer than a better one to the same node leads nowhere better.
func (l *spread) keepBetter(best []int64) {
	l.sum = 0
	for col, n := range l.gains {
		if n <= best[col] {
			l.gains[col] = 0
			continue
		}
		best[col] = n
		l.sum = max(l.sum, n)
	}
}

// way returns the path. Of equal paths it is the shortest; then the one from the first source, over what came first in
// the round before, along what comes first in the bucket, out before in, edges before mentions.
func (e pathEnd) way() *retrieve.Reach {
	r := &retrieve.Reach{Hops: e.at.hops, Path: make([]retrieve.Step, e.at.hops)}
	l := e.at
	for ; l.hops > 0; l = l.via[e.column].from {
		r.Path[l.hops-1] = l.via[e.column].by
	}
	r.Seed = l.id
	return r
}

// sortedSpreads returns a layer with what received the most first.
func sortedSpreads(layer map[graph.ID]*spread) []*spread {
	return slices.SortedFunc(maps.Values(layer), func(a, b *spread) int {
		return cmp.Or(cmp.Compare(b.sum, a.sum), a.id.Compare(b.id))
	})
}

// along returns a sender of paths, which raises what nodes receive in a round.
func (s *spreader) along(next map[graph.ID]*spread) sender {
	return func(ctx context.Context, u *spread, v *facts, by retrieve.Step, weight int64) error {
		part := s.passOn
		if weight != mentioning {
			damping, err := s.damp(ctx, v, by.Forward)
			if err != nil {
				return err
			}
			weight = min(weight, fixed.One) // or a path would gain by going in circles
			part = func(n int64) int64 {
				return (s.passOn(n) * weight >> fixed.FracBits) * damping >> fixed.FracBits
			}
		}
		l := next[v.id]
		if l == nil {
			l = &spread{id: v.id, gains: make([]int64, len(u.gains)), hops: u.hops + 1}
			next[v.id] = l
		}
		l.take(&hop{u, by}, part)
		return nil
	}
}

type hop struct {
	from *spread
	by   retrieve.Step
}

// take raises what a node is given along each path, and notes the step.
func (l *spread) take(h *hop, part func(int64) int64) {
	if l.via == nil {
		l.via = make([]*hop, len(l.gains))
	}
	for i, n := range h.from.gains {
		if n = part(n); n > l.gains[i] {
			l.gains[i], l.via[i] = n, h
		}
	}
}

func (s *spreader) passOn(n int64) int64 { return n * s.keep >> fixed.FracBits }
