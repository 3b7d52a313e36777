package recall

import (
	"context"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/retrieve"
)

// Recall answers a question from a snapshot as Snapshot.Retrieve does, ranked by what it asks for:
// why, when, who or what. A request without an intent has that which its words tell. The answer's
// Recall says which it was and what it weighed, its items' Recall their signals; its Verdict says whether the
// memory holds what is asked. Filters, budget, sessions and receipts are those of any request, so core.Repo records and replays it. Errors are
// those of Snapshot.Retrieve. Safe for concurrent use; it writes nothing.
func Recall(
	ctx context.Context, s *core.Snapshot, q retrieve.Request,
) (*retrieve.Answer, error) {
	if q.Intent == "" {
		q.Intent = retrieve.IntentAuto
	}
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
