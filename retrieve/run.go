package retrieve

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/ipld"
)

// Versions that an answer depends on besides its commit and request. RankingVersion is the newest ranking.
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

// Reach says how expansion reached an item, in the round with the largest contribution: the node at the start of the
// path, the path's length, and its steps. The last step ends at the item.
type Reach struct {
	Seed graph.ID `json:"seed"`
	Hops int      `json:"hops"`
	Path []Step   `json:"path"`
}

// Step is one step of a way: over an edge, or by a mention.
type Step struct {
	Node    graph.ID `json:"id"`                // the node it leads to
	Type    string   `json:"edge" shape:"null"` // of the edge; "" for a mention
	Forward bool     `json:"forward"`           // from the edge's source, or from the content that mentions
}

// Item is one packed node.
type Item struct {
	ID       graph.ID  `json:"id"`
	Key      string    `json:"key" shape:"null"` // "" for none
	Type     string    `json:"type"`
	Node     ipld.CID  `json:"-"`                                        // the node's record
	Band     Band      `json:"band,omitempty" shape:"answer|maybe|rest"` // confidence, "" in rankings that have none
	Rank     int       `json:"rank"`                                     // from 1 in packing order
	Score    int64     `json:"score"`                                    // sort key within a tier; below 2^53
	Tier     int       `json:"-"`                                        // 0 to 2: clause 8.4
	Tokens   int       `json:"tokens"`                                   // of Rendered
	Rendered string    `json:"rendered"`                                 // lines, each with its line end
	Lanes    []LaneHit `json:"-"`
	Reach    *Reach    `json:"-"` // nil where expansion did not reach it

	Community *Membership `json:"-"` // nil unless a community raised it or brought it in
	Recall    *Recalled   `json:"-"` // nil unless the request is a recall and has signals to rank by
	// Against is the item that this one follows since it contradicts it, zero if its rank put it
	// here. Its score may be of any height then, 0 if nothing else found it.
	Against graph.ID `json:"-"`
	// Later is an older memory that says nearly the same and comes after this one for that, zero for none.
	Later graph.ID `json:"-"`
	// Replaced says what superseded the item, which is then outdated; nil if nothing did.
	Replaced *Replacement `json:"replaced,omitempty"`
}

// Replacement says that a memory is outdated.
type Replacement struct {
	By    graph.ID   `json:"by"`    // the newer memory
	Time  graph.Time `json:"time"`  // when that was said
	Actor string     `json:"actor"` // by whom
}

// Why a node was examined and not packed.
const (
	ReasonBudget    = "budget"    // it did not fit into the remaining budget
	ReasonDuplicate = "duplicate" // it repeats an item that was packed before it
)

// DroppedItem is a node that was examined and not packed.
type DroppedItem struct {
	ID      graph.ID `json:"id"`
	Reason  string   `json:"reason"`               // ReasonBudget or ReasonDuplicate
	Tokens  int      `json:"tokens"`               // that it would have taken
	Repeats graph.ID `json:"repeats" shape:"null"` // the item that it repeats, the zero ID without ReasonDuplicate
}

// Answer holds the items found, in order. It is a function of commit and request alone.
type Answer struct {
	Commit       ipld.CID
	Request      Request // resolved
	Engine       Engine
	Verdict      Verdict // "" if nothing but a time, or nothing, is asked
	Because      string  // why, in a line for people; "" without a verdict
	Missing      []Lack  // parts of the question that the best item lacks
	Covered      int64   // the share of the question that the best item covers, in units of 2^-16
	Items        []Item
	TokensUsed   int
	TokensBudget int // 0 for none
	Dropped      int // the number of DroppedItems
	DroppedItems []DroppedItem
	// Candidates is how many distinct nodes a lane, the exact look-up, expansion, communities or an
	// item that they contradict found.
	Candidates int
	Warnings   []Warning
	Digests    []DigestItem  // printed before the items, in their order
	Dates      []DateRange   // that the text names, in its order, each once; at most 8
	Readings   []Reading     // known words read in place of unknown ones
	Kin        []AddedTerm   // terms added to the text's own, in their order
	Recall     *Recollection // nil if the request has no intent
}
