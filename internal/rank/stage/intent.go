package stage

import (
	"slices"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/intent"
	"github.com/mnem-project/mnem/retrieve"
)

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

// settleIntent reads the intent of a request that leaves it to its text.
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

// intentPlans are the plans of ranking version 1: clause 26.2. No kind of edge is favoured where
// favours is structural.
var intentPlans = []intentPlan{
	{retrieve.IntentWhy, 15, 5, 500, causal, retrieve.Signals{Keyword: 6_554, Entity: 6_554, Similarity: 19_660, Graph: 32_768}},
	{retrieve.IntentWhen, 10, 5, 400, temporal, retrieve.Signals{Keyword: 9_830, Entity: 9_830, Similarity: 19_661, Graph: 26_215}},
	{retrieve.IntentEntity, 10, 4, 400, aboutEntity, retrieve.Signals{Keyword: 13_107, Entity: 26_215, Similarity: 13_107, Graph: 13_107}},
	{retrieve.IntentGeneral, 10, 4, 500, structural, retrieve.Signals{Keyword: 16_384, Entity: 16_384, Similarity: 16_384, Graph: 16_384}},
}

// plan returns the plan of a settled intent.
func plan(i retrieve.Intent) *intentPlan {
	at := slices.IndexFunc(intentPlans, func(p intentPlan) bool { return p.intent == i })
	return &intentPlans[at]
}

// keeps returns the share that a step along an edge of a type keeps.
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
