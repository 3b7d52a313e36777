package stage

import (
	"cmp"
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of the ranking.
const (
	laneDepth   = 1000
	maxExamined = 1000
)

// candidate is a node on its way through the pipeline.
type candidate struct {
	id    graph.ID
	tier  int
	share int64 // what the lanes give it, at most 65,536: clause 9.6
	score int64
	lanes []retrieve.LaneHit
	reach *retrieve.Reach // nil if expansion did not reach it, or lent says how
	gain  int64           // what expansion lent it
	best  int64           // the most of that in one round
	lent  *spread

	member *retrieve.Membership // of the community that raised it or brought it in, nil for none

	recalled *recalled       // nil if the request is no recall
	band     retrieve.Band   // "" in rankings that have none
	said     bool            // in a conversation: only of those whose bands are worked out
	beside   *candidate      // that it is a neighbour of, nil for none
	nearer   bool            // whether it was written clearly nearer to that than the other neighbour
	heir     *retrieve.Reach // from what it replaced, if no lane found it
	replaced *replaced       // nil unless another one superseded it
	chunk    bool            // by its type: only of those whose bands are worked out
	again    bool            // whether one of its file comes before it
	later    graph.ID        // an older one that says nearly the same, which it was moved before
}

// reached reports whether expansion reached a candidate.
func (c *candidate) reached() bool { return c.reach != nil || c.lent != nil }

// way returns how expansion reached a candidate, nil if it did not. Ways of the few that become
// items are worked out.
func (c *candidate) way() *retrieve.Reach {
	if c.lent != nil {
		return c.lent.way()
	}
	return cmp.Or(c.reach, c.heir)
}

// byRank is the order of clause 9.4.
func byRank(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.score, a.score), a.id.Compare(b.id))
}

// run is one retrieval.
type run struct {
	g      source.Graph
	x      source.Index
	req    retrieve.Request
	row    *ranking // of constants that it ranks by
	tuned  bool     // whether one of them is not that of the version
	filter *source.Filter
	found  []*candidate
	lists  []*laneList // of the lanes that found anything
	// weights is the sum of the weights of lists.
	weights int64
	exact   int // how many nodes the text names
	text    source.TextResult
	dated   dated
	asked   bool // whether the text lane ran

	readings []retrieve.Reading   // words that are read as others
	kindred  []retrieve.AddedTerm // of the text's terms
	wordings map[wordingOf]*wording

	noVectors, otherDims []retrieve.Warning // of the dense lanes
	noSparse             []retrieve.Warning // of the sparse lanes
	stale                int                // items found by a vector of a text that they have no more

	silent int  // sources that did not lend for lack of room
	cut    int  // nodes not all of whose links were followed
	linked bool // whether expansion followed any link

	room *room // that it works in

	extractor *extractor // of features of nodes; nil until similarity is asked for

	counter  retrieve.Counter   // nil for Estimate
	mentions source.MentionMemo // nil for none
	trace    *Trace             // nil if none is asked for
	idle     idle               // what had nothing to do
	grouped  int                // candidates that communities raised or brought in
	vain     int                // rewrites without hits
	unranked bool               // whether reranking was asked for and did nothing

	past   bool         // whether the text asks how things were
	behind []*candidate // replaced memories that may follow what replaced them, the best first

	recalled *retrieve.Recollection // nil if the request is no recall
	outcome  *judged                // nil if there is no verdict
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
	r.sumWordings(lists)
	r.trace.weighed(lists)
	r.gather(lists, exact)
	r.fuse(lists)
	err = r.setAside(ctx)
	r.trace.stage(StageFuse)
	return err
}

// ranked returns the hits in the order of clause 9.4, whatever order an index gave them in.
func ranked(hits []source.Hit) []source.Hit {
	hits = slices.Clone(hits)
	slices.SortFunc(hits, func(a, b source.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
	})
	return hits[:min(len(hits), laneDepth)]
}
