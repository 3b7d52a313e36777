package stage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/intent"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of recalls in ranking version 1: clause 26.
const (
	// maxJudged is how many of the best candidates, and as many of those reached, are read to see
	// which entities of the text they have.
	maxJudged = 100
	// raiseShare bounds how much the signals other than the keywords raise a score, as a share of the best one.
	raiseShare = fixed.One / 2
	// maxCausal is how many of the best candidates are put into the order of causes and effects.
	maxCausal = 50
	// causalShare is the share of the best of these candidates' lane scores from which a candidate is relevant on its
	// own.
	causalShare = fixed.One / 2
)

// recaller is the stage that ranks by an intent.
type recaller struct {
	*pool
	recalled *retrieve.Recollection // nil if the request is no recall
}

// recall reranks the candidates by links, names and vectors with the weights of the request's intent, and adds nodes
// that only links lead to: clause 26. The candidates must be in order, and are again.
func (r *recaller) recall(ctx context.Context) error {
	if r.req.Intent == "" {
		return nil
	}
	defer r.trace.stage(StageRecall)
	plan := plan(r.req.Intent)
	r.recalled = &retrieve.Recollection{
		Intent: plan.intent, Width: plan.width, Depth: plan.depth, Limit: plan.visited,
	}
	if r.blank() || len(r.found) == 0 {
		return nil
	}
	top := int64(0)
	for _, c := range r.found {
		if c.tier == tierNone {
			top = max(top, c.score)
		}
	}
	for _, c := range r.found {
		c.recalled = &recalled{}
		c.recalled.Keyword = fixed.One
		if c.tier == tierNone {
			c.recalled.Keyword = share(c.score, top)
		}
		c.recalled.Similarity = r.likeness(c)
	}
	best := r.found[:min(maxJudged, len(r.found))]
	reached, err := r.recallAlong(ctx, plan)
	if err != nil {
		return err
	}
	judged := slices.Concat(best, reached[:min(maxJudged, len(reached))])
	if err := r.judgeEntities(ctx, judged); err != nil {
		return err
	}
	r.recalled.Weights = r.weighSignals(plan.weights)
	w := &r.recalled.Weights
	var raised []*candidate
	for _, c := range r.found {
		s := &c.recalled.Signals
		raise := (w.Entity*s.Entity + w.Similarity*s.Similarity + w.Graph*s.Graph) >> fixed.FracBits
		if raise == 0 {
			continue
		}
		by := int64(fixed.MulDivSat(uint64(max(top, fixed.One)), uint64(raise), fixed.One))
		c.score = min(c.score+by, maxScore-1)
		c.lanes = append(slices.Clip(c.lanes), retrieve.LaneHit{Lane: retrieve.LaneRecall, Score: by})
		raised = append(raised, c)
	}
	rankLast(raised)
	slices.SortFunc(r.found, byRank)
	return nil
}

type recalled struct {
	retrieve.Signals
	at *beamNode // nil if the beam search did not reach it
}

// told returns it as an item has it.
func (c *recalled) told() *retrieve.Recalled {
	if c == nil {
		return nil
	}
	out := &retrieve.Recalled{Signals: c.Signals}
	if c.at != nil {
		out.Way = c.at.way()
	}
	return out
}

// likeness returns the best share of a candidate in a list by vectors.
func (r *recaller) likeness(c *candidate) (best int64) {
	for _, l := range r.lists {
		if _, ok := l.lane.Model(); !ok {
			continue
		}
		for _, h := range c.lanes {
			if h.Lane == l.lane {
				best = max(best, l.part(h.Score))
			}
		}
	}
	return best
}

// recallAlong searches from the best candidates, gives those that are reached their signal, and adds
// others. It returns the reached ones, the nearest first.
func (r *recaller) recallAlong(ctx context.Context, plan *intentPlan) ([]*candidate, error) {
	byID := make(map[graph.ID]*candidate, len(r.found))
	var layer []*beamNode
	for i, c := range r.found {
		byID[c.id] = c
		if i < plan.width {
			layer = append(layer, &beamNode{id: c.id, seed: c.id, value: c.recalled.Keyword})
		}
	}
	b, err := r.beamFrom(ctx, plan, layer)
	if err != nil {
		return nil, err
	}
	r.recalled.Visited = b.visited
	nodes := slices.SortedFunc(maps.Values(b.reached), func(a, b *beamNode) int {
		return cmp.Or(cmp.Compare(b.value, a.value), a.id.Compare(b.id))
	})
	var reached []*candidate
	room := *r.req.MaxExpand
	for _, n := range nodes {
		c := byID[n.id]
		if c == nil {
			if room == 0 {
				continue
			}
			room--
			c = &candidate{id: n.id, recalled: &recalled{}}
			r.found = append(r.found, c)
		}
		c.recalled.Graph, c.recalled.at = n.value, n
		reached = append(reached, c)
	}
	return reached, nil
}

// judgeEntities gives candidates the share of the text's entities that they have, weighted by rarity.
func (r *recaller) judgeEntities(ctx context.Context, list []*candidate) error {
	a := text.English
	all := entitiesOf(a, r.req.Text)
	m := newMatcher(a)
	total := int64(0)
	for _, e := range all {
		idfs, err := r.x.IDFs(ctx, e.terms)
		if err != nil {
			return fmt.Errorf("weigh the entities of the text: %w", err)
		}
		m.learn(e)
		e.idf = sumOf(idfs)
		total += e.idf
	}
	if total == 0 {
		return nil
	}
	for _, c := range list {
		n, _, err := r.g.Node(ctx, c.id)
		if err != nil {
			return fmt.Errorf("read node %s: %w", c.id, err)
		}
		has, err := r.entitiesIn(ctx, m, n, all)
		if err != nil {
			return err
		}
		sum := int64(0)
		for i, e := range all {
			if has>>i&1 == 1 {
				sum += e.idf
			}
		}
		c.recalled.Entity = share(sum, total)
	}
	return nil
}

// weighSignals returns the weights of the signals. The weight of a signal that no candidate has is distributed to the
// others in proportion. The keywords' signal is the score, which counts whole; half the weight of the others raises it.
// Measurements with full weights gave worse answers, since expansion has done half of their work.
func (r *recaller) weighSignals(w retrieve.Signals) retrieve.Signals {
	var any retrieve.Signals
	for _, c := range r.found {
		any.Entity |= c.recalled.Entity
		any.Similarity |= c.recalled.Similarity
		any.Graph |= c.recalled.Graph
	}
	for _, s := range []struct {
		has    int64
		weight *int64
	}{{any.Entity, &w.Entity}, {any.Similarity, &w.Similarity}, {any.Graph, &w.Graph}} {
		if s.has == 0 {
			*s.weight = 0
		}
	}
	sum := w.Keyword + w.Entity + w.Similarity + w.Graph
	for _, n := range []*int64{&w.Entity, &w.Similarity, &w.Graph} {
		*n = share(*n, sum) * raiseShare >> fixed.FracBits
	}
	w.Keyword = fixed.One
	return w
}

// arrange puts what belongs together next to each other, once the candidates are in their order.
func (r *recaller) arrange(ctx context.Context) error {
	if r.req.Intent != retrieve.IntentWhy {
		return nil
	}
	if err := r.orderCauses(ctx); err != nil {
		return err
	}
	return r.addNeighbours(ctx)
}

// orderCauses puts causes before their effects among the best candidates of a recall that asks for a reason, if both
// are relevant on their own: clause 26.5. It moves a cause to right before the first of its effects, and keeps the
// order of all others. It follows chains of causes and stops when a cycle would return.
func (r *recaller) orderCauses(ctx context.Context) error {
	if r.recalled.Weights.Keyword == 0 {
		return nil
	}
	window := r.found[:min(maxCausal, len(r.found))]
	least := int64(1)
	for _, c := range window {
		if c.tier == tierNone {
			least = max(least, c.share*causalShare>>fixed.FracBits)
		}
	}
	var relevant []*candidate
	for _, c := range window {
		if c.tier == tierNone && c.share >= least {
			relevant = append(relevant, c)
		}
	}
	causes, err := r.causesAmong(ctx, relevant)
	if err != nil || len(causes) == 0 {
		return err
	}
	out := make([]*candidate, 0, len(window))
	done := make(map[*candidate]bool, len(window))
	var put func(c *candidate)
	put = func(c *candidate) { // as deep as there are candidates at most
		if done[c] {
			return
		}
		done[c] = true
		for _, cause := range causes[c] {
			put(cause)
		}
		out = append(out, c)
	}
	for _, c := range window {
		put(c)
	}
	copy(window, out)
	return nil
}

// causesAmong returns the causes of candidates among them, each list in their order.
func (r *request) causesAmong(ctx context.Context, list []*candidate) (map[*candidate][]*candidate, error) {
	byID := make(map[graph.ID]*candidate, len(list))
	for _, c := range list {
		byID[c.id] = c
	}
	causes := map[*candidate][]*candidate{}
	for _, c := range list {
		links, _, err := r.g.Bucket(ctx, source.BucketQuery{
			Node: c.id, Direction: retrieve.Out, Types: causalTypes, Limit: maxFanOut, Bare: true,
		})
		if err != nil {
			return nil, fmt.Errorf("read effects of %s: %w", c.id, err)
		}
		for _, l := range links {
			effect := byID[l.Other]
			if effect == nil || effect == c || slices.Contains(causes[effect], c) {
				continue
			}
			if hidden, err := r.filter.HiddenEdge(ctx, l); err != nil {
				return nil, err
			} else if !hidden {
				causes[effect] = append(causes[effect], c)
			}
		}
	}
	return causes, nil
}

// ReadIntent returns the intent of a text, never IntentAuto. It knows the question words of twelve languages and asks
// no model.
func ReadIntent(text string) retrieve.Intent {
	switch intent.Read(text) {
	case intent.Why:
		return retrieve.IntentWhy
	case intent.When:
		return retrieve.IntentWhen
	case intent.Entity:
		return retrieve.IntentEntity
	}
	return retrieve.IntentGeneral
}

func settleIntent(r *retrieve.Request) {
	if r.Intent == retrieve.IntentAuto {
		r.Intent = ReadIntent(r.Text)
	}
}

// edgeKind is the kind of an edge with respect to intents.
type edgeKind uint8

const (
	structural edgeKind = iota // any edge that is none of the others
	causal
	temporal
	aboutEntity
	semantic
)

// edgeKinds are the kinds of the types of edges that package memory writes.
var edgeKinds = map[string]edgeKind{
	"causes": causal, "enables": causal, "prevents": causal,
	"follows": temporal, "near": temporal,
	"mentions": aboutEntity, "about": aboutEntity,
	"similar": semantic,
}

// causalTypes are the types of causal edges, from cause to effect, ascending.
var causalTypes = []string{"causes", "enables", "prevents"}

// The share that a step of the beam search keeps, in units of 2^-16: half the weight of an edge of its kind, which is 1
// for structural edges, 0.4 for semantic ones, and 1.5 for those of the intent.
const (
	keepStructural = fixed.One / 2
	keepSemantic   = 13_107
	keepFavoured   = 3 * fixed.One / 4
)

// intentPlan is how a recall of one intent searches and ranks.
type intentPlan struct {
	intent  retrieve.Intent
	width   int // nodes kept in each round, and anchors
	depth   int // rounds
	visited int // nodes that are looked at
	favours edgeKind
	weights retrieve.Signals // in units of 2^-16, together 65,536
}

// intentPlans are the plans of ranking version 1: clause 26.2. No kind of edge is favoured where favours is structural.
var intentPlans = []intentPlan{
	{retrieve.IntentWhy, 15, 5, 500, causal, retrieve.Signals{Keyword: 6_554, Entity: 6_554, Similarity: 19_660, Graph: 32_768}},
	{retrieve.IntentWhen, 10, 5, 400, temporal, retrieve.Signals{Keyword: 9_830, Entity: 9_830, Similarity: 19_661, Graph: 26_215}},
	{retrieve.IntentEntity, 10, 4, 400, aboutEntity, retrieve.Signals{Keyword: 13_107, Entity: 26_215, Similarity: 13_107, Graph: 13_107}},
	{retrieve.IntentGeneral, 10, 4, 500, structural, retrieve.Signals{Keyword: 16_384, Entity: 16_384, Similarity: 16_384, Graph: 16_384}},
}

func plan(i retrieve.Intent) *intentPlan {
	at := slices.IndexFunc(intentPlans, func(p intentPlan) bool { return p.intent == i })
	return &intentPlans[at]
}

func (p *intentPlan) keeps(typ string) int64 {
	switch kind := edgeKinds[typ]; {
	case kind == structural:
		return keepStructural
	case kind == p.favours:
		return keepFavoured
	case kind == semantic:
		return keepSemantic
	}
	return keepStructural
}
