package stage

import (
	"cmp"
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
	id     graph.ID
	tier   int
	share  int64 // the lanes' score, at most 65,536: clause 9.6
	score  int64
	lanes  []retrieve.LaneHit
	reach  *retrieve.Reach // nil if expansion did not reach it, or if inflow has it
	gain   int64           // its gain from expansion
	best   int64           // the most of that in one round
	inflow *spread

	member *retrieve.Membership // of the community that raised it or brought it in, nil for none

	recalled *recalled       // nil if the request is no recall
	band     retrieve.Band   // "" in rankings that have none
	said     bool            // in a conversation: only of those whose bands are worked out
	beside   *candidate      // that it is a neighbour of, nil for none
	nearer   bool            // whether it was written clearly nearer to that than the other neighbour
	heir     *retrieve.Reach // from the node that it replaced, if no lane found it
	replaced *replaced       // nil unless another one superseded it
	chunk    bool            // by its type: only of those whose bands are worked out
	again    bool            // whether another chunk of its file comes before it
	later    graph.ID        // an older one that says nearly the same, which it was moved before
}

// reached reports whether expansion reached a candidate.
func (c *candidate) reached() bool { return c.reach != nil || c.inflow != nil }

// way returns how expansion reached a candidate, nil if it did not. Ways of the few that become
// items are worked out.
func (c *candidate) way() *retrieve.Reach {
	if c.inflow != nil {
		return c.inflow.way()
	}
	return cmp.Or(c.reach, c.heir)
}

// byRank is the order of clause 9.4.
func byRank(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.score, a.score), a.id.Compare(b.id))
}

// request holds a resolved request, the graph and index that it is asked of, and what was looked up for it: all stages read it.
type request struct {
	g      source.Graph
	x      source.Index
	req    retrieve.Request
	row    *ranking // of constants that it ranks by
	tuned  bool     // whether one of them differs from the version's
	filter *source.Filter
	dated  dated
	past   bool // whether the text asks how things were

	readings  []retrieve.Reading // words that are read as others
	wordings  map[wordingOf]*wording
	extractor *extractor // of features of nodes; nil until similarity is asked for

	room     *room              // that it works in
	counter  retrieve.Counter   // nil for Estimate
	mentions source.MentionMemo // nil for none
	trace    *Trace             // if given, filled
}

// pool holds the candidates of a request and the lists of the lanes that found them.
type pool struct {
	*request
	found   []*candidate
	lists   []*laneList  // of the lanes that found anything
	weights int64        // the sum of the weights of lists
	behind  []*candidate // replaced memories that may follow what replaced them, the best first
}

// ranked returns the hits in the order of clause 9.4, whatever order an index gave them in.
func ranked(hits []source.Hit) []source.Hit {
	hits = slices.Clone(hits)
	slices.SortFunc(hits, func(a, b source.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
	})
	return hits[:min(len(hits), laneDepth)]
}
