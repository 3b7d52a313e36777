package stage

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of bands in ranking version 2, beside those of its row: clause 11.9.
const (
	maxBanded = 50 // candidates that are looked at; others are the rest
	maxMaybes = 2  // items that are not sure
	fifths    = 5
)

// judge gives the candidates their bands.
func (r *run) judge(ctx context.Context) error {
	row := r.row
	if !row.bands {
		return nil
	}
	if r.blank() || r.dated.alone {
		for _, c := range r.found {
			c.band = retrieve.BandAnswer
		}
		return nil
	}
	kept, said, err := r.banded(ctx)
	if err != nil {
		return err
	}
	answered, err := r.bandOf(ctx, row, kept)
	if err != nil {
		return err
	}
	if !answered {
		maybes := len(kept) > 0
		if answered, err = r.bandOf(ctx, row, said); err != nil {
			return err
		}
		if !answered && maybes {
			for _, c := range said {
				c.band = retrieve.BandRest
			}
		}
	}
	for _, c := range append(kept, said...) {
		if c.tier != tierNone || c.beside != nil && c.beside.band == retrieve.BandAnswer {
			c.band = retrieve.BandAnswer
		}
	}
	return nil
}

// bandOf gives some candidates their bands by what is known of them alone, and reports whether they answer the
// question.
func (r *run) bandOf(ctx context.Context, row *ranking, list []*candidate) (answered bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	known, err := r.known(ctx, row, list)
	if err != nil {
		return false, err
	}
	if known == nil { // nothing tells: by sparse vectors alone
		for _, c := range list {
			c.band = retrieve.BandAnswer
		}
		return true, nil
	}
	sure, each := row.sure, row.each
	if len(r.req.Rewrites) > 0 {
		sure, each = row.sureMany, row.eachMany
	}
	most := known[0]
	if most >= each { // being ahead of nothing makes nothing an answer
		most += row.ahead * ahead(list) >> fixed.FracBits
	}
	best := slices.Max(known)
	answered = most >= sure || best >= sure || list[0].tier != tierNone
	ofBest := row.ofBest
	compared := slices.ContainsFunc(r.lists, func(l *laneList) bool { return len(l.cosines) > 0 })
	if compared && len(r.req.Rewrites) == 0 {
		ofBest = row.ofBestLike
	}
	each = max(each, best*ofBest>>fixed.FracBits)
	for i, c := range list {
		switch {
		case c.tier != tierNone || answered && known[i] >= each:
			c.band = retrieve.BandAnswer
		case answered && known[i] >= each*row.maybe>>fixed.FracBits || !answered && i < maxMaybes:
			c.band = retrieve.BandMaybe
		}
	}
	return answered, nil
}

// banded returns the candidates whose bands are worked out, those that were said apart, and makes all the rest.
func (r *run) banded(ctx context.Context) (kept, said []*candidate, err error) {
	for _, c := range r.found {
		c.band = retrieve.BandRest
	}
	for rest := r.found; len(rest) > 0 && len(kept) < maxBanded; {
		some := rest[:min(maxBanded-len(kept), len(rest))]
		rest = rest[len(some):]
		items, err := r.items(ctx, some)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range items {
			if !c.said {
				kept = append(kept, c)
			} else if len(said) < maxBanded {
				said = append(said, c)
			}
		}
	}
	return kept, said, nil
}

func idsOf(list []*candidate) []graph.ID {
	ids := make([]graph.ID, len(list))
	for i, c := range list {
		ids[i] = c.id
	}
	return ids
}

// ahead returns how much the best of some candidates is ahead of the next one, as a share of its score.
func ahead(list []*candidate) int64 {
	first, second := int64(0), int64(0)
	for _, c := range list {
		switch {
		case c.score > first:
			first, second = c.score, first
		case c.score > second:
			second = c.score
		}
	}
	return share(first-second, first)
}

// known returns for each candidate how much of the question it accounts for: by the two wordings, of the
// text, its rewrites and its vectors, of which it has the most. It returns nil where nothing can tell.
func (r *run) known(ctx context.Context, row *ranking, list []*candidate) ([]int64, error) {
	ids := idsOf(list)
	best, next := make([]int64, len(list)), make([]int64, len(list))
	signs := 0
	sign := func(at int, share int64) {
		if share > best[at] {
			best[at], next[at] = share, best[at]
		} else {
			next[at] = max(next[at], share)
		}
	}
	for i, s := range append([]string{r.req.Text}, r.req.Rewrites...) {
		if isBlank(s) {
			continue
		}
		q := source.TextQuery{Text: s}
		if i == 0 {
			q.Readings = r.readings
		}
		shares, err := r.covering(ctx, q, ids)
		if err != nil {
			return nil, err
		}
		for at, n := range shares {
			sign(at, n)
		}
		signs++
	}
	if len(r.req.Vectors) > 0 {
		for at, c := range list {
			sign(at, r.like(row, c))
		}
		signs++
	}
	if signs == 0 {
		return nil, nil
	}
	for i := range best {
		if signs > 1 {
			best[i] = ((fifths-row.next)*best[i] + row.next*next[i]) / fifths
		}
	}
	return best, nil
}

// like returns what the cosines of a candidate count: each by itself and, where the question has one wording, by
// how far it stands out from the crowd. Other wordings tell more than that.
func (r *run) like(row *ranking, c *candidate) (most int64) {
	between := func(n, from, whole int64) int64 { return share(min(n, whole)-from, whole-from) }
	for _, l := range r.lists {
		cosine, ok := l.cosines[c.id]
		if !ok {
			continue
		}
		most = max(most, between(cosine, row.likeFrom, row.likeWhole))
		if len(r.req.Rewrites) == 0 {
			most = max(most, between(cosine-l.crowd, row.apartFrom, row.apartWhole))
		}
	}
	return most
}

// shownBands returns the candidates that the floor of the request lets into the answer, in their order there.
func (r *run) shownBands() []*candidate {
	if !r.row.bands || r.req.Floor == retrieve.FloorRest {
		return r.found
	}
	var answers, maybes []*candidate
	for _, c := range r.found {
		switch c.band {
		case retrieve.BandAnswer:
			answers = append(answers, c)
		case retrieve.BandMaybe:
			if r.req.Floor == retrieve.FloorMaybe && len(maybes) < maxMaybes {
				maybes = append(maybes, c)
			}
		}
	}
	return append(answers, maybes...)
}

// balance gives the lanes of text and vectors their weights: the more of the question the text lane
// accounts for, the more it counts beside vectors.
func (r *run) balance(ctx context.Context, lists []*laneList) error {
	row := r.row
	if row.textMost == 0 || r.req.Fusion != retrieve.Convex || len(r.req.Weights) > 0 {
		return nil
	}
	at := slices.IndexFunc(lists, func(l *laneList) bool { return l.lane == retrieve.LaneText })
	vectors := slices.ContainsFunc(lists, func(l *laneList) bool { _, ok := l.lane.Model(); return ok })
	if at < 0 || !vectors {
		return nil
	}
	ids := make([]graph.ID, 0, maxCovering)
	for _, h := range lists[at].hits[:min(maxCovering, len(lists[at].hits))] {
		ids = append(ids, h.ID)
	}
	shares, err := r.covering(ctx, source.TextQuery{Text: r.req.Text, Readings: r.readings}, ids)
	if err != nil {
		return err
	}
	c := slices.Max(append(shares, 0))
	lists[at].weight = max(row.textLeast, c*c*row.textMost>>(2*fixed.FracBits))
	for _, l := range lists {
		if _, ok := l.lane.Model(); ok {
			l.weight = fixed.One / int64(len(r.req.Vectors)+len(r.req.Sparse))
		}
	}
	r.trace.weighed(lists)
	return nil
}
