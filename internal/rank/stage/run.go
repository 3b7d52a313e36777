// Package stage answers requests: it filters, ranks, expands, packs and renders the nodes of one immutable commit, one
// stage after the other.
//
// All ranked values are integers and every order is total: tier descending, score descending, id ascending. The package
// starts no goroutines. Golden files of package rank freeze the answers.
//
// # Likeness
//
// The likeness of two nodes is the share of common terms in their texts. Diversification weighs it against relevance. A
// node repeats an item only if nine tenths are common and nothing differs that may change the meaning: type, state,
// validity, a property, or the telling words, which are numbers, names and negations. When in doubt both are shown. The
// package knows no synonyms, nor that "on" is not "off".
//
// # Cost
//
// The reads of a retrieval grow with the nodes it ranks, not with the size of the memory. Expansion reads most: two
// buckets of up to 128 nodes a round and the number of edges of each node that a lane found, that may contribute in the
// next round, or that may join. Bounds that need no reads select these nodes; contributions to any other node are never
// computed. Links that were read are kept until the answer, at most about 1,500 a round.
package stage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/base/tuning"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
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

func (c *candidate) reached() bool { return c.reach != nil || c.inflow != nil }

// way returns how expansion reached a candidate, nil if it did not. Ways of the few that become items are worked out.
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
	slices.SortFunc(hits, source.Hit.Compare)
	return hits[:min(len(hits), laneDepth)]
}

// Runner holds the tools of a retrieval other than graph and index.
type Runner struct {
	Counters retrieve.Counters // that requests may name; nil for none but Estimate
	Trace    *Trace            // if given, filled with how the answer came about; for one run at a time
	// Mentions caches the mentions in the texts of the graph's nodes; nil for no cache.
	Mentions source.MentionMemo
	// Tuning changes a constant of the ranking, for measurements; nil for none. Such an answer has no ranking version,
	// and its receipt cannot be replayed.
	Tuning *tuning.Constant
}

// run is one retrieval: its candidates, and what the warnings say of its stages.
type run struct {
	*pool
	find     *finder
	expand   *expander
	pack     *packer
	grouped  int  // candidates that communities raised or brought in
	unranked bool // whether reranking was asked for and did nothing
}

// Run answers a request at a commit, whose graph and index g and x must be. It returns a *RequestError for a request
// that breaks a bound, an error that wraps ErrTokenizer for one that names a token counter which is not there; errors
// of g and x and the context's come back wrapped. Safe for concurrent use where g and x are; it starts no goroutines. A
// trace changes no answer.
func (u Runner) Run(
	ctx context.Context, g source.Graph, x source.Index, commit ipld.CID, req retrieve.Request,
) (*retrieve.Answer, error) {
	q, err := u.request(g, x, req)
	if err != nil {
		return nil, err
	}
	q.room = rooms.Get().(*room)
	defer q.room.leave()
	q.trace.begin()
	r := run{find: &finder{request: q}}
	if r.pool, err = r.find.find(ctx); err != nil {
		return nil, err
	}
	r.expand = &expander{pool: r.pool, terms: r.find.text.Terms}
	if err := r.expand.expand(ctx); err != nil {
		return nil, err
	}
	if err := r.favour(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(r.found, byRank)
	if r.grouped, err = r.joinCommunities(ctx); err != nil {
		return nil, err
	}
	q.trace.stage(StageExpand)
	recall := &recaller{pool: r.pool}
	if err := recall.recall(ctx); err != nil {
		return nil, err
	}
	if r.unranked, err = r.rerank(ctx); err != nil {
		return nil, err
	}
	if err := recall.arrange(ctx); err != nil {
		return nil, err
	}
	verdict, err := (&examiner{r.pool}).judge(ctx)
	if err != nil {
		return nil, err
	}
	q.req.Reranker = nil // what it said is in the request
	q.trace.stage(StageArrange)
	a := &retrieve.Answer{
		Commit:       commit,
		Request:      q.req,
		Engine:       q.engine(),
		TokensBudget: *q.req.Budget,
		Candidates:   len(r.found),
		Dates:        q.dated.ranges(),
		Recall:       recall.recalled,
		Readings:     q.readings,
		Kin:          r.find.kindred,
	}
	if v := verdict; v != nil {
		a.Verdict, a.Because, a.Missing, a.Covered = v.verdict, v.because, v.missing, v.covered
	}
	r.pack = newPacker(r.pool, a)
	if err := r.pack.pack(ctx); err != nil {
		return nil, err
	}
	if a.Warnings, err = r.warnings(ctx, a); err != nil {
		return nil, err
	}
	q.trace.stage(StagePack)
	return a, nil
}

// request checks a request and resolves what its text says about itself.
func (u Runner) request(g source.Graph, x source.Index, req retrieve.Request) (*request, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	row, err := tunedRow(req.Ranking, u.Tuning)
	if err != nil {
		return nil, err
	}
	for _, err := range []error{checkResolved(&req), checkDays(&req), checkLanes(&req), checkRewritten(&req)} {
		if err != nil {
			return nil, err
		}
	}
	r := &request{
		g: g, x: x, req: req.Resolve(), row: row, tuned: u.Tuning != nil, trace: u.Trace, mentions: u.Mentions,
	}
	r.req.Settled = true
	settleIntent(&r.req)
	if r.counter, err = find(u.Counters, r.req.Tokenizer); err != nil {
		return nil, err
	}
	r.dated = readDates(&r.req)
	r.filter = source.NewFilter(g, &r.req)
	if showsReplaced(row, &r.req, r.dated.alone) {
		r.filter.Replaced = make(map[graph.ID]*graph.Mark)
		r.past = asksPast(&r.req)
	}
	return r, nil
}

// checkResolved refuses what only a repository and a session can turn into ids.
func checkResolved(r *retrieve.Request) error {
	if len(r.ExcludeNames) > 0 {
		return source.Reject("exclude", "names need a repository that knows them: give ids")
	}
	if r.Unseen {
		return source.Reject("unseen", "needs a session: only a session knows what it has shown")
	}
	if r.Profile != "" && !r.Settled {
		return source.Reject("profile", "needs a repository, which knows its profiles")
	}
	return nil
}

func find(c retrieve.Counters, name string) (retrieve.Counter, error) {
	if name == retrieve.Estimate {
		return nil, nil
	}
	if counter := c[name]; counter != nil {
		return counter, nil
	}
	known := append([]string{retrieve.Estimate}, slices.Sorted(maps.Keys(c))...)
	return nil, &tokenizerError{source.Reject("tokenizer", "no token counter %s here, known: %s",
		source.Quoted(name), strings.Join(known, ", "))}
}

// tokenizerError is a *RequestError that wraps ErrTokenizer too.
type tokenizerError struct{ error }

func (e *tokenizerError) Unwrap() []error { return []error{e.error, retrieve.ErrTokenizer} }

func (r *request) tokens(s string) (int, error) {
	if r.counter == nil {
		return text.EstimateTokens(s), nil
	}
	n := r.counter(s)
	if n < 0 || n > graph.MaxCount {
		return 0, fmt.Errorf("token counter %s: %d tokens of a text of %d bytes",
			source.Quoted(r.req.Tokenizer), n, len(s))
	}
	return n, nil
}

// trimBlank cuts the white space that clause 8.4 names: a fixed set, whatever Unicode adds.
func trimBlank(s string) string { return strings.Trim(s, " \t\r\n") }
func isBlank(s string) bool     { return trimBlank(s) == "" }
