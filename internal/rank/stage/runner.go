package stage

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/tuning"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

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

// Run answers a request at a commit, whose graph and index g and x must be. It returns a
// *RequestError for a request that breaks a bound, an error that wraps ErrTokenizer for one that
// names a token counter which is not there; errors of g and x and the context's come back
// wrapped. Safe for concurrent use where g and x are; it starts no goroutines. A trace changes no
// answer.
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
