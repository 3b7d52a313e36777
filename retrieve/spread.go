package retrieve

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/fixed"
)

// Constants of expansion in ranking version 1: clauses 8.1 and 10.
const (
	maxSources    = 100  // nodes of the lists that spread
	maxSenders    = 128  // nodes that spread in one round
	maxFanOut     = 256  // entries looked at of one bucket
	maxLinks      = 1024 // entries after which no further node spreads in a round
	maxTerms      = 256  // distinct terms of the text, the first, that may spread
	maxColumns    = 32   // terms that spread
	maxMentioners = 20   // sources whose mentions are followed
	maxTitleDocs  = 64   // nodes with a title's rarest term, more of which make it too common
	freeDegree    = 4    // entries of a bucket from which on its node receives less along them
	lentShare     = fixed.One / 2
)

// spread is what one node received in one round.
type spread struct {
	id    graph.ID
	gains []int64 // of each column
	sum   int64   // of gains; of paths the greatest
	from  *spread // what gave the most; nil for a source
	by    Step    // how
	most  int64   // what that gave
	hops  int
	via   []*hop // of each column where these are paths, else nil
}

// spreader lets nodes lend parts of their scores, term by term, to those linked to them.
type spreader struct {
	r       *run
	text    *laneList // of the text lane, nil where it found nothing
	dense   []*laneList
	columns []int // terms that spread
	passing map[graph.ID]bool
	damping map[arrival]int64
	links   map[graph.ID][]edge
	texts   *mentions
	titled  []*candidate      // sources that are named by their titles
	silent  int               // sources that did not spread for lack of room
	keep    int64             // share that goes on, in units of 2^-16
	paths   bool              // whether the columns are paths, one from each source
	cut     map[graph.ID]bool // nodes not all of whose links were followed
	linked  bool              // whether any link was
}

// newSpreader returns a spreader over the links of a graph.
func (r *run) newSpreader() *spreader {
	s := &spreader{
		r: r, passing: map[graph.ID]bool{}, damping: map[arrival]int64{},
		links: map[graph.ID][]edge{}, cut: map[graph.ID]bool{}, keep: lentShare,
	}
	s.texts = &mentions{g: r.g, x: r.x, keep: s.passes}
	return s
}

// lend lets the sources lend what the text asks for, term by term: clause 10.1. It counts the
// sources that did not take part for lack of room. Later rounds are no matter for a warning: as in
// a lane, the best come first and the rest weighs little.
func (r *run) lend(ctx context.Context, sources []*candidate) error {
	s := r.newSpreader()
	for _, l := range r.lists {
		if l.lane == LaneText {
			s.text = l
		} else {
			s.dense = append(s.dense, l)
		}
	}
	all, err := s.terms(ctx, sources, r.firstTerms())
	if err != nil {
		return err
	}
	layer, err := s.start(ctx, sources, all)
	if err != nil {
		return err
	}
	rankLast(s.titled)
	var rounds []map[graph.ID]*spread
	for h := 1; h <= *r.req.Expand && len(layer) > 0; h++ {
		next := map[graph.ID]*spread{}
		if err := s.round(ctx, layer, next, h); err != nil {
			return err
		}
		rounds = append(rounds, next)
		layer = sortedSpreads(next)
	}
	r.silent, r.linked = s.silent, s.linked
	return s.join(ctx, rounds)
}

// firstTerms returns the places of the terms that may spread: to split the scores into those of
// thousands would take longer than all the rest.
func (r *run) firstTerms() []int {
	places := make([]int, min(r.text.Terms, maxTerms))
	for i := range places {
		places[i] = i
	}
	return places
}

// toShares lets named nodes count as the best.
func (r *run) toShares() {
	for _, c := range r.found {
		if c.tier == tierNone {
			continue
		}
		c.share = fixed.One
		if !r.req.Fusion.byRanks() {
			c.score = fixed.One
		}
	}
}

// weigh returns what a part of a score in a list is worth among all lists.
func (s *spreader) weigh(l *laneList, score int64) int64 {
	return l.weight * l.part(score) / s.r.weights
}

// near returns what the dense lanes give a candidate, one number for each.
func (s *spreader) near(c *candidate) []int64 {
	out := make([]int64, len(s.dense))
	for i, l := range s.dense {
		for _, h := range c.lanes {
			if h.Lane == l.lane {
				out[i] = s.weigh(l, h.Score)
			}
		}
	}
	return out
}

// terms returns the shares that some terms, by their places in the text, have in the scores of
// candidates.
func (s *spreader) terms(
	ctx context.Context, list []*candidate, only []int,
) (map[graph.ID][]int64, error) {
	if s.text == nil {
		return map[graph.ID][]int64{}, nil
	}
	ids := make([]graph.ID, len(list))
	for i, c := range list {
		ids[i] = c.id
	}
	scores, err := s.r.x.TermScores(ctx, s.r.query(s.r.req.Text), ids, only)
	if err != nil {
		return nil, fmt.Errorf("split the scores of the text lane: %w", err)
	}
	out := make(map[graph.ID][]int64, len(ids))
	for i, row := range scores {
		for t := range row {
			row[t] = s.weigh(s.text, row[t])
		}
		out[ids[i]] = row
	}
	return out, nil
}

// start makes the first layer and decides which terms spread: those of which the sources have the
// most. The last column is that of being named. all has the shares of the terms that may.
func (s *spreader) start(
	ctx context.Context, sources []*candidate, all map[graph.ID][]int64,
) ([]*spread, error) {
	var sums []int64
	for _, c := range sources {
		for t, n := range all[c.id] {
			if t == len(sums) {
				sums = append(sums, 0)
			}
			sums[t] += n
		}
	}
	s.columns = make([]int, len(sums))
	for t := range sums {
		s.columns[t] = t
	}
	slices.SortStableFunc(s.columns, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	s.columns = s.columns[:min(maxColumns, len(s.columns))]
	named, err := s.named(ctx, sources, all)
	if err != nil {
		return nil, err
	}
	layer := make([]*spread, len(sources))
	for i, c := range sources {
		l := &spread{id: c.id, gains: make([]int64, len(s.columns)+len(s.dense)+1)}
		for col, t := range s.columns {
			if row := all[c.id]; row != nil {
				l.gains[col] = row[t]
			}
		}
		copy(l.gains[len(s.columns):], s.near(c))
		l.gains[len(l.gains)-1] = named[i]
		layer[i] = l
	}
	return layer, nil
}

// named returns how much each source is named by the text, which counts for it as well: wholly by
// key or id, and by its title half of what the title's terms give it.
func (s *spreader) named(
	ctx context.Context, sources []*candidate, all map[graph.ID][]int64,
) ([]int64, error) {
	summaries := make([]string, len(sources)) // "" is no title
	for i, c := range sources {
		if c.tier != tierNone || s.text == nil {
			continue
		}
		n, _, err := s.r.g.Node(ctx, c.id)
		if err != nil {
			return nil, fmt.Errorf("read node %s: %w", c.id, err)
		}
		summaries[i] = n.Summary
	}
	out := make([]int64, len(sources))
	for i, places := range s.r.x.TitlesNamed(s.r.query(s.r.req.Text), summaries) {
		c := sources[i]
		if c.tier != tierNone {
			out[i] = fixed.One
			continue
		}
		for _, t := range places {
			if terms := all[c.id]; t < len(terms) {
				out[i] += terms[t]
			}
		}
		out[i] /= 2
		if out[i] > 0 && !s.r.req.Fusion.byRanks() {
			c.score += out[i]
			c.lanes = append(c.lanes, LaneHit{Lane: LaneTitle, Score: out[i]})
			s.titled = append(s.titled, c)
		}
	}
	return out, nil
}

// sortedSpreads returns a layer with what received the most first.
func sortedSpreads(layer map[graph.ID]*spread) []*spread {
	list := make([]*spread, 0, len(layer))
	for _, l := range layer {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *spread) int {
		return cmp.Or(cmp.Compare(b.sum, a.sum), a.id.Compare(b.id))
	})
	return list
}

// round lets the nodes of a layer spread, in order and as long as there is room.
func (s *spreader) round(
	ctx context.Context, layer []*spread, next map[graph.ID]*spread, hop int,
) error {
	looked := 0
	for i, u := range layer {
		if i == maxSenders || looked >= maxLinks {
			if hop == 1 {
				s.silent = len(layer) - i
			}
			break
		}
		links, err := s.edges(ctx, u.id)
		if err != nil {
			return err
		}
		looked += len(links)
		for _, l := range links {
			if err := s.alongEdge(ctx, u, l, next); err != nil {
				return err
			}
		}
		if hop == 1 && i < maxMentioners {
			if err := s.mentions(ctx, u, next); err != nil {
				return fmt.Errorf("follow the mentions of %s: %w", u.id, err)
			}
		}
	}
	for id, l := range next {
		for _, n := range l.gains {
			l.sum += n
		}
		if l.sum == 0 {
			delete(next, id)
		}
	}
	return nil
}

// edge is an entry of a bucket, and which bucket it is of.
type edge struct {
	Link
	out bool
}

// edges returns the entries of a node's buckets that are looked at.
func (s *spreader) edges(ctx context.Context, id graph.ID) ([]edge, error) {
	if links, ok := s.links[id]; ok {
		return links, nil
	}
	var all []edge
	for _, dir := range directions(s.r.req.Direction) {
		q := BucketQuery{Node: id, Direction: dir, Types: s.r.req.ExpandTypes, Limit: maxFanOut + 1}
		links, _, err := s.r.g.Bucket(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("read edges of %s: %w", id, err)
		}
		if len(links) > maxFanOut {
			links, s.cut[id] = links[:maxFanOut], true
		}
		for _, l := range links {
			all = append(all, edge{l, dir == Out})
		}
	}
	s.links[id] = all
	return all, nil
}

func directions(d Direction) []Direction {
	if d == Both {
		return []Direction{Out, In}
	}
	return []Direction{d}
}

// alongEdge gives a part of what u has to the other end of an edge: by the weight of the edge, and
// less to a node of many edges, as it is about many things.
func (s *spreader) alongEdge(
	ctx context.Context, u *spread, l edge, next map[graph.ID]*spread,
) error {
	if ok, err := s.followed(ctx, u.id, l.Link); err != nil || !ok {
		return err
	}
	damping, err := s.damp(ctx, arrival{l.Other, l.out})
	if err != nil {
		return err
	}
	weight := s.r.edgeWeight(l.Link)
	if s.r.req.Expansion == Decay {
		weight = min(weight, fixed.One) // or a path would gain by going in circles
	}
	s.give(u, Step{l.Other, l.Type, l.out}, next, func(n int64) int64 {
		return (s.passOn(n) * weight >> fixed.FracBits) * damping >> fixed.FracBits
	})
	return nil
}

// followed reports whether an edge of a node is followed: to another node, that passes, and not
// hidden itself.
func (s *spreader) followed(ctx context.Context, from graph.ID, l Link) (bool, error) {
	if l.Other == from {
		return false, nil
	}
	if ok, err := s.passes(ctx, l.Other); err != nil || !ok {
		return false, err
	}
	hidden, err := s.r.filter.hidden(ctx, graph.OnEdge, l.Edge)
	return !hidden, err
}

// give raises what a node receives in a round to what u gives.
func (s *spreader) give(
	u *spread, by Step, next map[graph.ID]*spread, part func(int64) int64,
) {
	l := next[by.Node]
	if l == nil {
		l = &spread{id: by.Node, gains: make([]int64, len(u.gains)), hops: u.hops + 1}
		next[by.Node] = l
	}
	s.linked = true
	if s.paths {
		l.take(&hop{u, by}, part)
		return
	}
	total := int64(0)
	for i, n := range u.gains {
		n = part(n)
		total += n
		l.gains[i] = max(l.gains[i], n)
	}
	if l.from == nil || total > l.most ||
		total == l.most && bytes.Compare(u.id[:], l.from.id[:]) < 0 {
		l.from, l.by, l.most = u, by, total
	}
}

func (s *spreader) passes(ctx context.Context, id graph.ID) (bool, error) {
	ok, known := s.passing[id]
	if !known {
		var err error
		if ok, err = s.r.filter.passes(ctx, id); err != nil {
			return false, err
		}
		s.passing[id] = ok
	}
	return ok, nil
}

// arrival is the end of a step along an edge: a node and whether the edge leads to it.
type arrival struct {
	node    graph.ID
	forward bool
}

// damp returns min(1, √(4/degree)) in units of 2^-16: of the bucket arrived in alone, as the other
// would cost as much again and changes no answer for the better.
func (s *spreader) damp(ctx context.Context, at arrival) (int64, error) {
	if d, ok := s.damping[at]; ok {
		return d, nil
	}
	q := BucketQuery{Node: at.node, Direction: Out, Count: true}
	if at.forward {
		q.Direction = In
	}
	_, degree, err := s.r.g.Bucket(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("count edges of %s: %w", at.node, err)
	}
	d := int64(fixed.One)
	if degree > freeDegree {
		d = int64(fixed.Isqrt(freeDegree << (2 * fixed.FracBits) / uint64(degree)))
	}
	s.damping[at] = d
	return d, nil
}

// mentions gives a part of what u has to the nodes that its content mentions and to those whose
// contents mention it.
func (s *spreader) mentions(ctx context.Context, u *spread, next map[graph.ID]*spread) error {
	steps, err := s.mentioned(ctx, u.id)
	for _, by := range steps {
		s.give(u, by, next, s.passOn)
	}
	return err
}

// mentioned returns the mentions that are followed from a node.
func (s *spreader) mentioned(ctx context.Context, id graph.ID) ([]Step, error) {
	if len(s.r.req.ExpandTypes) > 0 {
		return nil, nil
	}
	n, _, err := s.r.g.Node(ctx, id)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, dir := range directions(s.r.req.Direction) {
		find := s.texts.in
		if dir == In {
			find = s.texts.of
		}
		linked, err := find(ctx, n)
		if err != nil {
			return nil, err
		}
		for _, id := range linked {
			steps = append(steps, Step{id, "", dir == Out})
		}
	}
	return steps, nil
}

// join adds what was received to the candidates, and the best of the new nodes to them.
func (s *spreader) join(
	ctx context.Context, rounds []map[graph.ID]*spread,
) error {
	byID := make(map[graph.ID]*candidate, len(s.r.found))
	var known []*candidate // received something
	for _, c := range s.r.found {
		byID[c.id] = c
		if slices.ContainsFunc(rounds,
			func(next map[graph.ID]*spread) bool { return next[c.id] != nil }) {
			known = append(known, c)
		}
	}
	own, err := s.terms(ctx, known, s.columns)
	if err != nil {
		return err
	}
	for _, c := range known {
		row := own[c.id]
		if row == nil {
			row = make([]int64, len(s.columns))
		}
		own[c.id] = append(row, s.near(c)...)
	}
	var joining []*candidate
	for _, next := range rounds {
		for id, l := range next {
			c := byID[id]
			if c == nil {
				c = &candidate{id: id}
				byID[id] = c
				joining = append(joining, c)
			}
			receive(c, l, own[id])
		}
	}
	for _, c := range byID {
		if c.reach != nil {
			if !s.r.req.Fusion.byRanks() {
				c.score += c.gain
			}
			c.lanes = append(c.lanes, LaneHit{Lane: LaneExpand, Score: c.gain})
		}
	}
	slices.SortFunc(joining, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), a.id.Compare(b.id))
	})
	s.r.found = append(s.r.found, joining[:min(*s.r.req.MaxExpand, len(joining))]...)
	s.r.rankExpanded()
	return nil
}

// receive adds what a candidate got in one round: half as much of a term of its own.
func receive(c *candidate, l *spread, own []int64) {
	sum := int64(0)
	for col, n := range l.gains {
		if col < len(own) && own[col] > 0 {
			n /= 2
		}
		sum += n
	}
	c.gain += sum
	if c.reach == nil || sum > c.best {
		c.best, c.reach = sum, l.way()
	}
}

// way returns how a node was reached.
func (l *spread) way() *Reach {
	r := &Reach{Hops: l.hops, Path: make([]Step, l.hops)}
	for ; l.from != nil; l = l.from {
		r.Path[l.hops-1] = l.by
	}
	r.Seed = l.id
	return r
}

// rankExpanded fills in the ranks of the expansion's list, and what they count where ranks are fused.
func (r *run) rankExpanded() {
	var list []*candidate
	for _, c := range r.found {
		if c.reach != nil {
			list = append(list, c)
		}
	}
	rankLast(list)
	for i, c := range list {
		if r.req.Fusion.byRanks() && c.gain > 0 {
			c.score += reciprocal(fixed.One, i+1)
		}
	}
}

// rankLast sorts candidates by their scores in the last list that they are in, and fills in their
// ranks there.
func rankLast(list []*candidate) {
	last := func(c *candidate) *LaneHit { return &c.lanes[len(c.lanes)-1] }
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(last(b).Score, last(a).Score), a.id.Compare(b.id))
	})
	for i, c := range list {
		last(c).Rank = i + 1
	}
}
