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

// Constants of expansion in ranking version 1: clauses 8.1 and 10.
const (
	maxSources    = 100  // nodes of the lists that spread
	maxSenders    = 128  // nodes that spread in one round
	maxFanOut     = 256  // entries looked at of one bucket
	maxLinks      = 1024 // entries after which no further node spreads in a round
	maxTerms      = 256  // distinct terms of the text, the first, that may spread
	maxColumns    = 32   // terms that spread
	maxMentioners = 20   // sources whose mentions are followed
	freeDegree    = 4    // number of entries of a bucket from which its node receives less along each
	lentShare     = fixed.One / 2
)

// spread is the score that one node received in one round.
type spread struct {
	id    graph.ID
	gains []int64       // of each column
	sum   int64         // of gains; of paths the greatest
	from  *spread       // the largest contributor; nil for a source
	by    retrieve.Step // how
	most  int64         // its contribution
	hops  int
	via   []*hop // of each column if these are paths, else nil
}

// spreader passes parts of the scores of nodes to linked nodes, term by term.
type spreader struct {
	r       *request
	pool    *pool
	text    *laneList // of the text lane, nil if it found nothing
	dense   []*laneList
	columns []int // terms that spread
	nodes   map[graph.ID]*facts
	links   map[graph.ID][]edge
	texts   *source.MentionFinder
	titled  []*candidate // sources that are named by their titles
	silent  int          // sources that did not spread for lack of room
	keep    int64        // share that goes on, in units of 2^-16
	room    *room
	cut     map[graph.ID]bool // nodes not all of whose links were followed
	linked  bool              // whether any link was
}

// newSpreader returns a spreader over the links of a graph.
func (p *pool) newSpreader() *spreader {
	s := &spreader{
		r: p.request, pool: p, room: p.room, cut: map[graph.ID]bool{}, keep: lentShare,
		nodes: map[graph.ID]*facts{}, links: map[graph.ID][]edge{},
	}
	if !p.room.taken { // the first of the retrieval: one more has maps of its own
		p.room.taken = true
		s.nodes, s.links = p.room.nodes, p.room.links
	}
	s.texts = &source.MentionFinder{G: p.g, X: p.x, Keep: s.passes, Known: p.mentions}
	return s
}

// firstTerms returns the indexes of the terms that may spread: splitting the scores by thousands of terms would take
// longer than everything else.
func (e *expander) firstTerms() []int {
	places := make([]int, min(e.terms, maxTerms))
	for i := range places {
		places[i] = i
	}
	return places
}

// toShares lets named nodes count as the best.
func (e *expander) toShares() {
	for _, c := range e.found {
		if c.tier == tierNone {
			continue
		}
		c.share = fixed.One
		if !byRanks(e.req.Fusion) {
			c.score = fixed.One
		}
	}
}

// weigh returns the weight of a part of a score in a list among all lists.
func (s *spreader) weigh(l *laneList, score int64) int64 {
	return l.weight * l.part(score) / s.pool.weights
}

// near returns the scores of a candidate in the dense lanes, one number for each.
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

// terms returns the shares of some terms, by their indexes in the text, in the scores of candidates.
func (s *spreader) terms(ctx context.Context, list []*candidate, only []int) (map[graph.ID][]int64, error) {
	if s.text == nil {
		return map[graph.ID][]int64{}, nil
	}
	ids := idsOf(list)
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

// start makes the first layer and decides which terms spread: those with the largest shares in the sources. The last
// column is for being named. all has the shares of the terms that may spread.
func (s *spreader) start(ctx context.Context, sources []*candidate, all map[graph.ID][]int64) ([]*spread, error) {
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
		near := s.near(c)
		for i, list := range s.dense { // a text close to the question says little about the texts linked to it
			if _, ok := list.lane.Model(); ok && s.text != nil && s.r.row.bands {
				near[i] /= 2
			}
		}
		copy(l.gains[len(s.columns):], near)
		l.gains[len(l.gains)-1] = named[i]
		l.sum = sumOf(l.gains)
		layer[i] = l
	}
	return layer, nil
}

// named returns how far the text names each source, which counts too: fully by key or id; a title counts half of its
// terms' scores.
func (s *spreader) named(ctx context.Context, sources []*candidate, all map[graph.ID][]int64) ([]int64, error) {
	out := make([]int64, len(sources))
	named := make([][]int, len(sources))
	if s.text != nil { // titles count by what their terms give
		var err error
		if named, err = s.r.x.TitlesNamed(ctx, s.r.query(s.r.req.Text), idsOf(sources)); err != nil {
			return nil, fmt.Errorf("look for titles in the text: %w", err)
		}
	}
	for i, c := range sources {
		if c.tier != tierNone {
			out[i] = fixed.One
			continue
		}
		for _, t := range named[i] {
			if terms := all[c.id]; t < len(terms) {
				out[i] += terms[t]
			}
		}
		out[i] /= 2
		if out[i] > 0 && !byRanks(s.r.req.Fusion) {
			c.score += out[i]
			c.lanes = append(c.lanes, retrieve.LaneHit{Lane: retrieve.LaneTitle, Score: out[i]})
			s.titled = append(s.titled, c)
		}
	}
	return out, nil
}

// sender hands on what u has along one link: by an edge, with its weight in units of 2^-16, or by a
// mention, which has none and is never damped.
type sender func(ctx context.Context, u *spread, v *facts, by retrieve.Step, weight int64) error

// mentioning is the weight of a mention.
const mentioning = -1

// round lets the nodes of a layer send, in order and as long as there is room.
func (s *spreader) round(ctx context.Context, layer []*spread, hop int, send sender) error {
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
			if err := s.alongEdge(ctx, u, l, send); err != nil {
				return err
			}
		}
		if hop == 1 && i < maxMentioners {
			if err := s.mentions(ctx, u, send); err != nil {
				return fmt.Errorf("follow the mentions of %s: %w", u.id, err)
			}
		}
	}
	return nil
}

type edge struct {
	source.Link
	out bool
}

// edges returns the entries of a node's buckets that are looked at.
func (s *spreader) edges(ctx context.Context, id graph.ID) ([]edge, error) {
	if links, ok := s.links[id]; ok {
		return links, nil
	}
	bucket, out := s.room.bucket[:0], 0
	for _, dir := range directions(s.r.req.Direction) {
		q := source.BucketQuery{
			Node: id, Direction: dir, Types: s.r.req.ExpandTypes, Limit: maxFanOut + 1, Bare: true,
			Room: bucket[len(bucket):],
		}
		links, _, err := s.r.g.Bucket(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("read edges of %s: %w", id, err)
		}
		if len(links) > maxFanOut {
			links, s.cut[id] = links[:maxFanOut], true
		}
		if bucket = append(bucket, links...); dir == retrieve.Out {
			out = len(bucket)
		}
	}
	all := s.room.edges.list(len(bucket))
	for i, l := range bucket {
		all = append(all, edge{l, i < out})
	}
	s.room.bucket, s.links[id] = bucket, all
	return all, nil
}

var bothDirections = []retrieve.Direction{retrieve.Out, retrieve.In}

func directions(d retrieve.Direction) []retrieve.Direction {
	if d == retrieve.Both {
		return bothDirections
	}
	return []retrieve.Direction{d}
}

func (s *spreader) alongEdge(ctx context.Context, u *spread, l edge, send sender) error {
	v := s.node(l.Other)
	if ok, err := s.followed(ctx, u.id, v, l.Link); err != nil || !ok {
		return err
	}
	s.linked = true
	return send(ctx, u, v, retrieve.Step{Node: l.Other, Type: l.Type, Forward: l.out}, s.r.edgeWeight(l.Link))
}

// followed reports whether an edge from a node to v is followed: to another node, that passes, and not hidden itself.
func (s *spreader) followed(ctx context.Context, from graph.ID, v *facts, l source.Link) (bool, error) {
	if v.id == from {
		return false, nil
	}
	if ok, err := s.passing(ctx, v); err != nil || !ok {
		return false, err
	}
	hidden, err := s.r.filter.HiddenEdge(ctx, l)
	return !hidden, err
}

// facts caches the properties of a node during a request, so that each is looked up once.
type facts struct {
	id            graph.ID
	found         *candidate // nil for a node that no lane found
	asked, passes bool
	damping       [2]int64 // of arrivals against and along an edge, 0 until counted
	inflow        [retrieve.MaxExpand]*inflow
	bound         int64 // of its inflow in all rounds
}

func (s *spreader) node(id graph.ID) *facts {
	v := s.nodes[id]
	if v == nil {
		v = s.room.facts.one()
		v.id = id
		s.nodes[id] = v
	}
	return v
}

func (s *spreader) passes(ctx context.Context, id graph.ID) (bool, error) {
	return s.passing(ctx, s.node(id))
}

func (s *spreader) passing(ctx context.Context, v *facts) (bool, error) {
	if !v.asked {
		ok, err := s.r.filter.Passes(ctx, v.id)
		if err != nil {
			return false, err
		}
		v.asked, v.passes = true, ok
	}
	return v.passes, nil
}

// damp returns min(1, √(4/degree)) in units of 2^-16: of the bucket arrived in alone, as the other would cost as much
// again and changes no answer for the better. forward says whether the edge leads to v.
func (s *spreader) damp(ctx context.Context, v *facts, forward bool) (int64, error) {
	q := source.BucketQuery{Node: v.id, Direction: retrieve.Out, Count: true, Above: freeDegree}
	at := &v.damping[0]
	if forward {
		q.Direction, at = retrieve.In, &v.damping[1]
	}
	if *at != 0 {
		return *at, nil
	}
	_, degree, err := s.r.g.Bucket(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("count edges of %s: %w", v.id, err)
	}
	*at = fixed.One
	if degree > freeDegree {
		// At least 1: no bucket has 2^34 entries.
		*at = int64(fixed.Isqrt(freeDegree << (2 * fixed.FracBits) / uint64(degree)))
	}
	return *at, nil
}

// mentions lets u send to the nodes that its content mentions and to those whose contents mention it.
func (s *spreader) mentions(ctx context.Context, u *spread, send sender) error {
	steps, err := s.mentioned(ctx, u.id)
	if err != nil {
		return err
	}
	for _, by := range steps {
		s.linked = true
		if err := send(ctx, u, s.node(by.Node), by, mentioning); err != nil {
			return err
		}
	}
	return nil
}

func (s *spreader) mentioned(ctx context.Context, id graph.ID) ([]retrieve.Step, error) {
	if len(s.r.req.ExpandTypes) > 0 {
		return nil, nil
	}
	var steps []retrieve.Step
	for _, dir := range directions(s.r.req.Direction) {
		linked, err := s.texts.Linked(ctx, id, dir)
		if err != nil {
			return nil, err
		}
		steps = slices.Grow(steps, len(linked))
		for _, other := range linked {
			steps = append(steps, retrieve.Step{Node: other, Type: "", Forward: dir == retrieve.Out})
		}
	}
	return steps, nil
}

// rankExpanded fills in the ranks of the expansion's list, and their contributions in rank fusion.
func (p *pool) rankExpanded() {
	var list []*candidate
	for _, c := range p.found {
		if c.reached() {
			list = append(list, c)
		}
	}
	rankLast(list)
	for i, c := range list {
		if byRanks(p.req.Fusion) && c.gain > 0 {
			c.score += reciprocal(fixed.One, i+1)
		}
	}
}

// rankLast sorts candidates by their scores in the last list that they are in, and fills in their ranks there.
func rankLast(list []*candidate) {
	last := func(c *candidate) *retrieve.LaneHit { return &c.lanes[len(c.lanes)-1] }
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(last(b).Score, last(a).Score), a.id.Compare(b.id))
	})
	for i, c := range list {
		last(c).Rank = i + 1
	}
}

// expander is the stage that raises what is linked to the candidates.
type expander struct {
	*pool
	terms  int  // of the text
	silent int  // sources that did not contribute for lack of room
	cut    int  // nodes not all of whose links were followed
	linked bool // whether expansion followed any link
}

// expand rescores all candidates by their links, and adds new ones: clause 10.
func (e *expander) expand(ctx context.Context) error {
	if !e.expands() {
		return nil
	}
	e.toShares()
	slices.SortFunc(e.found, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.share, a.share), a.id.Compare(b.id))
	})
	sources := e.found[:min(maxSources, len(e.found))]
	switch e.req.Expansion {
	case retrieve.Decay:
		return e.decay(ctx, sources)
	case retrieve.PPR:
		return e.pagerank(ctx, sources)
	}
	return e.lend(ctx, sources)
}

// expansionWarnings returns the warnings about expansion. An expansion that the request did not ask for causes none if
// it found nothing to do.
func (e *expander) expansionWarnings() []retrieve.Warning {
	var out []retrieve.Warning
	if e.silent > 0 {
		out = append(out, warning(retrieve.ExpansionTruncated, number("sources", e.silent)))
	}
	if e.cut > 0 {
		out = append(out, warning(retrieve.LinksCut, number("nodes", e.cut)))
	}
	asked := e.req.Expansion != retrieve.Lend || len(e.req.ExpandTypes) > 0
	if asked && *e.req.Expand > 0 && !e.linked && len(e.found) > 0 {
		out = append(out, warning(retrieve.NothingLinked))
	}
	return out
}

// reached is a node's gain from expansion, with its path.
type reached struct {
	id   graph.ID
	gain int64 // more than 0
	way  func() *retrieve.Reach
}

// joinReached adds gains to the scores of the candidates, and adds the best of the other nodes. got has no node twice;
// its order does not matter.
func (e *expander) joinReached(got []reached) {
	byID := make(map[graph.ID]*candidate, len(e.found))
	for _, c := range e.found {
		byID[c.id] = c
	}
	slices.SortFunc(got, func(a, b reached) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), a.id.Compare(b.id))
	})
	room := *e.req.MaxExpand
	for _, g := range got {
		c := byID[g.id]
		if c == nil {
			if room == 0 {
				continue
			}
			room--
			c = &candidate{id: g.id}
			e.found = append(e.found, c)
		}
		c.gain, c.reach = g.gain, g.way()
		c.lanes = append(c.lanes, retrieve.LaneHit{Lane: retrieve.LaneExpand, Score: g.gain})
		if !byRanks(e.req.Fusion) {
			c.score += g.gain
		}
	}
	e.rankExpanded()
}

// edgeWeight returns what an edge counts in expansion, in units of 2^-16: its own weight times that
// of its type, rounded down, at most MaxWeight. Whatever spreads along edges asks here, so that
// weights of types hold for all ways to expand.
func (r *request) edgeWeight(l source.Link) int64 {
	if edgeKinds[l.Type] == temporal && r.req.Intent != retrieve.IntentWhen {
		l.Weight = l.Weight * r.row.temporal >> fixed.FracBits
	}
	i, ok := slices.BinarySearchFunc(r.req.EdgeWeights, l.Type,
		func(w retrieve.EdgeWeight, typ string) int { return cmp.Compare(w.Type, typ) })
	if !ok {
		return l.Weight
	}
	return l.Weight * r.req.EdgeWeights[i].Weight >> fixed.FracBits
}
