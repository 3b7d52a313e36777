package recall

import (
	"cmp"
	"context"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/retrieve"
)

// Recall answers a question from a snapshot as Snapshot.Retrieve does, but the kind of question (why, when, who or
// what) affects the ranking. Without an intent in the request the words decide. The answer's Recall has the intent and
// the weights, its items' Recall their signals; its Verdict says whether the memory holds an answer. Filters, budget,
// sessions and receipts work as in any request, so core.Repo records and replays it. Errors are the same as in
// Snapshot.Retrieve. Safe for concurrent use; it writes nothing.
func Recall(
	ctx context.Context, s *core.Snapshot, q retrieve.Request,
) (*retrieve.Answer, error) {
	q.Intent = cmp.Or(q.Intent, retrieve.IntentAuto)
	return rank.Retrieve(ctx, s, q)
}

// findAll returns the first nodes that have something of a text, however little, without expansion. Names
// are among them, which bands leave out: links lead on from them.
func findAll(
	ctx context.Context, s *core.Snapshot, limit int, q retrieve.Request,
) (*retrieve.Answer, error) {
	q.Limit, q.Budget, q.Expand, q.Ranking = &limit, new(int), new(int), retrieve.PlainRanking
	return rank.Retrieve(ctx, s, q.Explicitly("limit", "budget", "expand"))
}
