package retrieve

import (
	"cmp"
	"context"
	"slices"

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

// Constants of the ranking.
const (
	laneDepth   = 1000
	maxExamined = 1000
)

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

// candidate is a node on its way through the pipeline.
type candidate struct {
	id    graph.ID
	tier  int
	share int64 // what the lanes give it, at most 65,536: clause 9.6
	score int64
	lanes []LaneHit
	reach *Reach // nil where expansion did not reach it, or lent says how
	gain  int64  // what expansion lent it
	best  int64  // the most of that in one round
	lent  *spread

	member *Membership // of the community that raised it or brought it in, nil for none

	recalled *recalled  // nil where the request is no recall
	band     Band       // "" in rankings that have none
	said     bool       // in a conversation: only of those whose bands are worked out
	beside   *candidate // that it is a neighbour of, nil for none
	outdated graph.ID   // what takes its place by rule, zero for nothing
}

// reached reports whether expansion reached a candidate.
func (c *candidate) reached() bool { return c.reach != nil || c.lent != nil }

// way returns how expansion reached a candidate, nil where it did not. Ways of the few that become
// items are worked out.
func (c *candidate) way() *Reach {
	if c.lent != nil {
		return c.lent.way()
	}
	return c.reach
}

// byRank is the order of clause 9.4.
func byRank(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.score, a.score), a.id.Compare(b.id))
}

// run is one retrieval.
type run struct {
	g      Graph
	x      Index
	req    Request
	row    *ranking // of constants that it ranks by
	tuned  bool     // whether one of them is not that of the version
	filter *filter
	found  []*candidate
	lists  []*laneList // of the lanes that found anything
	// weights is the sum of the weights of lists.
	weights int64
	exact   int // how many nodes the text names
	text    TextResult
	dated   dated
	asked   bool // whether the text lane ran

	readings []Reading   // words that are read as others
	kindred  []AddedTerm // of the text's terms
	wordings map[wordingOf]*wording

	noVectors, otherDims []Warning // of the dense lanes
	noSparse             []Warning // of the sparse lanes
	stale                int       // items found by a vector of a text that they have no more

	silent int  // sources that did not lend for lack of room
	cut    int  // nodes not all of whose links were followed
	linked bool // whether expansion followed any link

	room *room // that it works in

	extractor *extractor // of features of nodes; nil until similarity is asked for

	counter  Counter     // nil for Estimate
	mentions MentionMemo // nil for none
	trace    *Trace      // nil where nobody asks
	idle     idle        // what had nothing to do
	grouped  int         // candidates that communities raised or brought in
	vain     int         // rewrites that found nothing
	unranked bool        // whether reranking was asked for and did nothing

	recalled *Recollection // nil where the request is no recall
}

// lanes collects the candidates of the lanes that the request asks for and of the exact look-up.
func (r *run) lanes(ctx context.Context) error {
	exact, err := r.exactHits(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(exact, byRank)
	r.exact = len(exact) // before the search: a text that names a node is read as it stands
	lists, err := r.search(ctx)
	if err != nil {
		return err
	}
	r.trace.stage(StageLanes)
	if err := r.balance(ctx, lists); err != nil {
		return err
	}
	r.gather(lists, exact)
	r.fuse(lists)
	r.trace.stage(StageFuse)
	return nil
}

// ranked returns the hits in the order of clause 9.4, whatever order an index gave them in.
func ranked(hits []Hit) []Hit {
	hits = slices.Clone(hits)
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
	})
	return hits[:min(len(hits), laneDepth)]
}
