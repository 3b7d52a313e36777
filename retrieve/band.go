package retrieve

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/fixed"
)

// Band says what an item is to the question: clause 11.9.
type Band string

// The bands.
const (
	BandAnswer Band = "answer" // it tells what was asked, as far as words and vectors show
	BandMaybe  Band = "maybe"  // it may
	BandRest   Band = "rest"   // it has something of the question, and that is all
)

// Floor is the last band whose items are in an answer.
type Floor string

// The floors. With FloorMaybe there are at most two items that are not sure, after the answers; with
// FloorRest all items are in the order of their ranks.
const (
	FloorAnswer Floor = "answer"
	FloorMaybe  Floor = "maybe"
	FloorRest   Floor = "rest"
)

// Floors returns all floors.
func Floors() []Floor { return []Floor{FloorAnswer, FloorMaybe, FloorRest} }

// Constants of bands in ranking version 2: clause 11.9. Shares are in units of 2^-16.
const (
	maxBanded = 50 // candidates that are looked at; others are the rest
	maxMaybes = 2  // items that are not sure

	// sureOne and sureMany are how much of the question must be known for an answer at all: where it was
	// asked in one wording, and where it was asked in several. Each item that is one needs eachOne or
	// eachMany, and three quarters of that to be one that may be.
	sureOne, eachOne   = 13_107, 6_554
	sureMany, eachMany = 45_875, 26_214
	maybeShare         = 3 * fixed.One / 4
	// A cosine from likeFrom on counts, and that of likeWhole as all of the question.
	likeFrom, likeWhole = fixed.One / 4, 42_598
	// Of the two best signs of an item the better one counts three fifths. What it is ahead of the next
	// one counts half.
	bestOf, nextOf, signsOf = 3, 2, 5
	aheadShare              = fixed.One / 2
)

// judge gives the candidates their bands.
func (r *run) judge(ctx context.Context) error {
	if !r.req.row().bands {
		return nil
	}
	if r.blank() || r.dated.alone {
		for _, c := range r.found {
			c.band = BandAnswer
		}
		return nil
	}
	list, err := r.banded(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	known, err := r.known(ctx, list)
	if err != nil {
		return err
	}
	if known == nil { // nothing tells: by sparse vectors alone
		for _, c := range list {
			c.band = BandAnswer
		}
		return nil
	}
	sure, each := int64(sureOne), int64(eachOne)
	if len(r.req.Rewrites) > 0 {
		sure, each = sureMany, eachMany
	}
	most := known[0]
	if most >= each { // being ahead of nothing makes nothing an answer
		most += aheadShare * ahead(list) >> fixed.FracBits
	}
	certain := most >= sure || slices.Max(known) >= sure || list[0].tier != tierNone
	for i, c := range list {
		switch {
		case c.tier != tierNone || certain && known[i] >= each:
			c.band = BandAnswer
		case certain && known[i] >= each*maybeShare>>fixed.FracBits || !certain && i < maxMaybes:
			c.band = BandMaybe
		}
	}
	for _, c := range list {
		if c.beside != nil && c.beside.band == BandAnswer {
			c.band = BandAnswer
		}
	}
	return nil
}

// banded returns the candidates whose bands are worked out, and makes all others the rest.
func (r *run) banded(ctx context.Context) (list []*candidate, err error) {
	for _, c := range r.found {
		c.band = BandRest
	}
	for rest := r.found; len(rest) > 0 && len(list) < maxBanded; {
		some := rest[:min(maxBanded-len(list), len(rest))]
		rest = rest[len(some):]
		items, err := r.items(ctx, some)
		if err != nil {
			return nil, err
		}
		list = append(list, items...)
	}
	return list, nil
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
func (r *run) known(ctx context.Context, list []*candidate) ([]int64, error) {
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
		q := TextQuery{Text: s}
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
			sign(at, c.like())
		}
		signs++
	}
	if signs == 0 {
		return nil, nil
	}
	for i := range best {
		if signs > 1 {
			best[i] = (bestOf*best[i] + nextOf*next[i]) / signsOf
		}
	}
	return best, nil
}

// like returns what the best cosine of a candidate counts.
func (c *candidate) like() (most int64) {
	for _, h := range c.lanes {
		if _, ok := h.Lane.dense(); ok {
			most = max(most, share(min(h.Score, likeWhole)-likeFrom, likeWhole-likeFrom))
		}
	}
	return most
}

// shownBands returns the candidates that the floor of the request lets into the answer, in their order there.
func (r *run) shownBands() []*candidate {
	if !r.req.row().bands || r.req.Floor == FloorRest {
		return r.found
	}
	var answers, maybes []*candidate
	for _, c := range r.found {
		switch c.band {
		case BandAnswer:
			answers = append(answers, c)
		case BandMaybe:
			if r.req.Floor == FloorMaybe && len(maybes) < maxMaybes {
				maybes = append(maybes, c)
			}
		}
	}
	return append(answers, maybes...)
}

// textLeast is the least weight of the text lane beside vectors in ranking version 2: clause 9.6.
const textLeast = fixed.One / 4

// balance gives the lanes of text and vectors their weights: the more of the question the text lane
// accounts for, the more it counts beside vectors.
func (r *run) balance(ctx context.Context, lists []*laneList) error {
	if !r.req.row().aware || r.req.Fusion != Convex || len(r.req.Weights) > 0 {
		return nil
	}
	at := slices.IndexFunc(lists, func(l *laneList) bool { return l.lane == LaneText })
	vectors := slices.ContainsFunc(lists, func(l *laneList) bool { _, ok := l.lane.embedded(); return ok })
	if at < 0 || !vectors {
		return nil
	}
	ids := make([]graph.ID, 0, maxCovering)
	for _, h := range lists[at].hits[:min(maxCovering, len(lists[at].hits))] {
		ids = append(ids, h.ID)
	}
	shares, err := r.covering(ctx, TextQuery{Text: r.req.Text, Readings: r.readings}, ids)
	if err != nil {
		return err
	}
	c := slices.Max(append(shares, 0))
	lists[at].weight = max(textLeast, 4*c*c>>fixed.FracBits)
	for _, l := range lists {
		if _, ok := l.lane.embedded(); ok {
			l.weight = fixed.One / int64(len(r.req.Vectors)+len(r.req.Sparse))
		}
	}
	r.trace.weighed(lists)
	return nil
}
