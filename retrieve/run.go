package retrieve

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/ipld"
)

// Versions that an answer depends on beside its commit and request. That of the ranking is the newest.
const (
	RankingVersion  = 1
	AnalyserVersion = text.Version
	Language        = "en"
)

// Engine names the versions that gave an answer.
type Engine struct {
	Ranking  int
	Analyser int
	Language string
}

// CurrentEngine returns the versions of this package.
func CurrentEngine() Engine {
	return Engine{Ranking: RankingVersion, Analyser: AnalyserVersion, Language: Language}
}

// Reach says how expansion reached an item in the round that lent it the most: the source at the
// beginning of the way, the length of the way, and its steps, the last to the item.
type Reach struct {
	Seed graph.ID
	Hops int
	Path []Step
}

// Step is one step of a way: over an edge, or by a mention.
type Step struct {
	Node    graph.ID // where it leads
	Type    string   // of the edge; "" for a mention
	Forward bool     // from the edge's source, or from the content that mentions
}

// Item is one packed node.
type Item struct {
	ID       graph.ID
	Key      string // "" for none
	Type     string
	Node     ipld.CID // the node's record
	Rank     int      // from 1 in the order in which items were packed
	Score    int64    // what the order is by, within a tier; below 2^53
	Tier     int      // 0 to 2: clause 8.4
	Tokens   int      // of Rendered
	Rendered string   // lines, each with its line end
	Lanes    []LaneHit
	Reach    *Reach // nil where expansion did not reach it

	Community *Membership // nil unless a community raised it or brought it in
	Recall    *Recalled   // nil where the request is no recall, or has nothing to rank by
	Band      Band        // "" in rankings that have none
	Outdated  graph.ID    // the item that takes its place by rule, zero for none
	// Against is the item that this one follows since it contradicts it, zero where its rank put it
	// here. Its score may be of any height then, 0 where nothing else found it.
	Against graph.ID
}

// Why a node was examined and not packed.
const (
	ReasonBudget    = "budget"    // it did not fit into what was left of the budget
	ReasonDuplicate = "duplicate" // it repeats an item that was packed before it
)

// DroppedItem is a node that was examined and not packed.
type DroppedItem struct {
	ID      graph.ID
	Reason  string   // ReasonBudget or ReasonDuplicate
	Tokens  int      // that it would have taken
	Repeats graph.ID // the item that it repeats, the zero ID without ReasonDuplicate
}

// Answer is what a retrieval found, in order. It is a function of commit and request alone.
type Answer struct {
	Commit       ipld.CID
	Request      Request // resolved
	Engine       Engine
	Items        []Item
	TokensUsed   int
	TokensBudget int // 0 for none
	Dropped      int // the number of DroppedItems
	DroppedItems []DroppedItem
	// Candidates is how many distinct nodes a lane, the exact look-up, expansion, communities or an
	// item that they contradict found.
	Candidates int
	Warnings   []Warning
	Digests    []DigestItem  // that stand before the items, in their order
	Dates      []DateRange   // that the text names, in its order, each once; at most 8
	Readings   []Reading     // what words that no node has were read as
	Kin        []AddedTerm   // looked up beside the text's own terms, in their order
	Recall     *Recollection // nil where the request has no intent
}
