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

// Runner is what a retrieval may use beside graph and index. The zero Runner is that of Run.
type Runner struct {
	Counters retrieve.Counters // that requests may name; nil for none but Estimate
	Trace    *Trace            // if given, filled with how the answer came about; for one run at a time
	// Mentions remembers what the texts of the graph's nodes mention; nil for nothing.
	Mentions source.MentionMemo
	// Tuning stands for a constant of the ranking while constants are chosen; nil for none. What it gives
	// is of no version, and its receipt cannot be replayed.
	Tuning *tuning.Constant
}

// Run answers a request at a commit, whose graph and index g and x must be. It returns a
// *RequestError for a request that breaks a bound, an error that wraps ErrTokenizer for one that
// names a token counter which is not there; errors of g and x and the context's come back
// wrapped. Safe for concurrent use where g and x are; it starts no goroutines.
func Run(
	ctx context.Context, g source.Graph, x source.Index, commit ipld.CID, req retrieve.Request,
) (*retrieve.Answer, error) {
	return Runner{}.Run(ctx, g, x, commit, req)
}

// Run is the function Run with what the runner has. A trace changes no answer.
func (u Runner) Run(
	ctx context.Context, g source.Graph, x source.Index, commit ipld.CID, req retrieve.Request,
) (*retrieve.Answer, error) {
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
	r := &run{
		g: g, x: x, req: req.Resolve(), row: row, tuned: u.Tuning != nil, trace: u.Trace, mentions: u.Mentions,
		room: rooms.Get().(*room),
	}
	defer r.room.leave()
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
	r.trace.begin()
	if err := r.lanes(ctx); err != nil {
		return nil, err
	}
	if err := r.expand(ctx); err != nil {
		return nil, err
	}
	if err := r.favour(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(r.found, byRank)
	if err := r.joinCommunities(ctx); err != nil {
		return nil, err
	}
	r.trace.stage(StageExpand)
	if err := r.recall(ctx); err != nil {
		return nil, err
	}
	if r.recalled != nil {
		r.trace.stage(StageRecall)
	}
	if r.unranked, err = r.rerank(ctx); err != nil {
		return nil, err
	}
	if r.req.Rerank != "" {
		r.trace.stage(StageRerank)
	}
	if err := r.orderCauses(ctx); err != nil {
		return nil, err
	}
	if err := r.addNeighbours(ctx); err != nil {
		return nil, err
	}
	if err := r.judge(ctx); err != nil {
		return nil, err
	}
	r.req.Reranker = nil // what it said is in the request
	r.trace.stage(StageArrange)
	a := &retrieve.Answer{
		Commit:       commit,
		Request:      r.req,
		Engine:       r.engine(),
		TokensBudget: *r.req.Budget,
		Candidates:   len(r.found),
		Dates:        r.dated.ranges(),
		Recall:       r.recalled,
	}
	if v := r.outcome; v != nil {
		a.Verdict, a.Because, a.Missing, a.Covered = v.verdict, v.because, v.missing, v.covered
	}
	if err := r.pack(ctx, a); err != nil {
		return nil, err
	}
	a.Warnings, a.Readings, a.Kin = r.warnings(a), r.readings, r.kindred
	idle, err := r.idleWarnings(ctx, a)
	a.Warnings = append(append(a.Warnings, idle...), r.noSparse...)
	if err != nil {
		return nil, err
	}
	r.trace.stage(StagePack)
	return a, nil
}
