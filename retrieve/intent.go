package retrieve

import (
	"slices"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/intent"
)

// Intent is what a request asks for. It decides which links count in a recall: clause 26.
type Intent string

// The intents there are. A request without one is no recall.
const (
	IntentAuto    Intent = "auto"    // that which the words of the text tell
	IntentWhy     Intent = "why"     // a reason
	IntentWhen    Intent = "when"    // a time
	IntentEntity  Intent = "entity"  // who, what, which or where
	IntentGeneral Intent = "general" // nothing in particular
)

// Intents returns all intents.
func Intents() []Intent {
	return []Intent{IntentAuto, IntentWhy, IntentWhen, IntentEntity, IntentGeneral}
}

// ReadIntent returns the intent that the words of a text tell, which is never IntentAuto. It knows
// twelve languages by their question words and asks no model.
func ReadIntent(text string) Intent {
	switch intent.Read(text) {
	case intent.Why:
		return IntentWhy
	case intent.When:
		return IntentWhen
	case intent.Entity:
		return IntentEntity
	}
	return IntentGeneral
}

// settleIntent reads the intent of a request that leaves it to its text.
func (r *Request) settleIntent() {
	if r.Intent == IntentAuto {
		r.Intent = ReadIntent(r.Text)
	}
}

// edgeKind is what an edge says, as far as intents care.
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

// What a step of the beam search keeps, in units of 2^-16: half of what an edge of its kind weighs,
// which is 1 for structural ones, 0.4 for semantic ones, and 1.5 for those of the intent.
const (
	keepStructural = fixed.One / 2
	keepSemantic   = 13_107
	keepFavoured   = 3 * fixed.One / 4
)

// intentPlan is how a recall of one intent searches and ranks.
type intentPlan struct {
	intent  Intent
	width   int // nodes from which a round goes on, and anchors
	depth   int // rounds
	visited int // nodes that are looked at
	favours edgeKind
	weights Signals // in units of 2^-16, together 65,536
}

// intentPlans are the plans of ranking version 1: clause 26.2. No kind of edge is favoured where
// favours is structural.
var intentPlans = []intentPlan{
	{IntentWhy, 15, 5, 500, causal, Signals{6_554, 6_554, 19_660, 32_768}},
	{IntentWhen, 10, 5, 400, temporal, Signals{9_830, 9_830, 19_661, 26_215}},
	{IntentEntity, 10, 4, 400, aboutEntity, Signals{13_107, 26_215, 13_107, 13_107}},
	{IntentGeneral, 10, 4, 500, structural, Signals{16_384, 16_384, 16_384, 16_384}},
}

// plan returns the plan of a settled intent.
func (i Intent) plan() *intentPlan {
	at := slices.IndexFunc(intentPlans, func(p intentPlan) bool { return p.intent == i })
	return &intentPlans[at]
}

// keeps returns what a step along an edge of a type keeps.
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
