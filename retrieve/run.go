package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/fixed"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/ipld"
)

// Versions that an answer depends on beside its commit and request. Version 1 of the ranking is
// everything in clauses 8 to 12.
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

// Constants of ranking version 1: clauses 8.1 and 11.
const (
	laneDepth   = 1000
	maxExamined = 1000
)

// Lane names a list in which an item was found.
type Lane string

const (
	LaneText    Lane = "text"
	LaneRecency Lane = "recency"
	LaneExact   Lane = "exact"  // named by the text; the score is 65,536
	LaneExpand  Lane = "expand" // lent to over edges and mentions; the score is the sum
)

// LaneHit is an item's place in one list.
type LaneHit struct {
	Lane  Lane
	Rank  int // from 1
	Score int64
}

// Reach says how expansion reached an item in the round that lent it the most: the source at the
// beginning of the way, and the length of the way.
type Reach struct {
	Seed graph.ID
	Hops int
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
}

// Why a node was examined and not packed.
const (
	ReasonBudget    = "budget"    // it did not fit into what was left of the budget
	ReasonDuplicate = "duplicate" // it repeats an item that was packed before it
)

// Reasons returns the reasons there are, in a fixed order.
func Reasons() []string { return []string{ReasonBudget, ReasonDuplicate} }

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
	Candidates   int // distinct nodes that any lane, the exact look-up or expansion found
	Warnings     []Warning
}

// candidate is a node on its way through the pipeline.
type candidate struct {
	id    graph.ID
	tier  int
	lane  int64 // score in the list of the text or recency lane, 0 outside of it
	score int64
	lanes []LaneHit
	reach *Reach
	gain  int64 // what expansion lent it
	best  int64 // the most of that in one round
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
	filter *filter
	found  []*candidate
	text   TextResult

	profiles *profiler // nil until similarity is asked for
}

// Run answers a request at a commit, whose graph and index g and x must be. It returns a
// *RequestError for a request that breaks a bound; errors of g and x and the context's come back
// wrapped. Safe for concurrent use where g and x are; it starts no goroutines.
func Run(
	ctx context.Context, g Graph, x Index, commit ipld.CID, req Request,
) (*Answer, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if err := req.checkResolved(); err != nil {
		return nil, err
	}
	r := &run{g: g, x: x, req: req.Resolve()}
	r.filter = newFilter(g, &r.req)
	if err := r.lanes(ctx); err != nil {
		return nil, err
	}
	silent, err := r.expand(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(r.found, byRank)
	if err := r.diversify(ctx); err != nil {
		return nil, err
	}
	a := &Answer{
		Commit:       commit,
		Request:      r.req,
		Engine:       CurrentEngine(),
		TokensBudget: *r.req.Budget,
		Candidates:   len(r.found),
	}
	if err := r.pack(ctx, a); err != nil {
		return nil, err
	}
	a.Warnings = r.warnings(a, silent)
	return a, nil
}

// lanes collects the candidates of the lane that the request asks for and of the exact look-up.
func (r *run) lanes(ctx context.Context) error {
	hits, lane, err := r.search(ctx)
	if err != nil {
		return fmt.Errorf("search the %s lane: %w", lane, err)
	}
	exact, err := r.exactHits(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(exact, byRank)
	byID := make(map[graph.ID]*candidate, len(exact))
	for i, c := range exact {
		c.lanes = append(c.lanes, LaneHit{Lane: LaneExact, Rank: i + 1, Score: fixed.One})
		byID[c.id] = c
	}
	r.found = slices.Grow(exact, len(hits))
	// One allocation for all: there may be a thousand, of which ten become items.
	fresh, places := make([]candidate, len(hits)), make([]LaneHit, len(hits))
	for i, h := range hits {
		places[i] = LaneHit{Lane: lane, Rank: i + 1, Score: h.Score}
		c := byID[h.ID]
		if c == nil {
			c = &fresh[i]
			c.id, c.lanes = h.ID, places[i:i+1:i+1]
			r.found = append(r.found, c)
		} else {
			c.lanes = append(c.lanes, places[i])
		}
		c.lane, c.score = h.Score, h.Score
	}
	return nil
}

// search asks the index for one list, in order and no deeper than the lane.
func (r *run) search(ctx context.Context) (hits []Hit, lane Lane, err error) {
	accept := r.filter.accept(ctx)
	if trimBlank(r.req.Text) == "" {
		hits, err = r.x.Recency(ctx, accept, laneDepth)
		return ranked(hits), LaneRecency, err
	}
	r.text, err = r.x.Text(ctx, r.req.Text, accept, laneDepth)
	return ranked(r.text.Hits), LaneText, err
}

// ranked returns the hits in the order of clause 9.4, whatever order an index gave them in.
func ranked(hits []Hit) []Hit {
	hits = slices.Clone(hits)
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
	})
	return hits[:min(len(hits), laneDepth)]
}
