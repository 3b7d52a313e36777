package session

import (
	"context"
	"errors"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/retrieve"
)

// Unseen prepares a request for a snapshot in a session: names of excluded nodes become ids, and if requested,
// items that the session has shown are excluded too. If DefaultSession does not exist it has shown nothing. What is
// recorded is a function of the commit and the returned request.
func Unseen(
	ctx context.Context, r *core.Repo, session string, s *core.Snapshot, req retrieve.Request,
) (retrieve.Request, error) {
	req, err := rank.Excluding(ctx, s, req)
	if err != nil || !req.Unseen {
		return req, err
	}
	return complete.ExcludeSeen(req, shown(ctx, r, session))
}

// shown yields the items shown in the records of a session, newest first.
func shown(ctx context.Context, r *core.Repo, session string) iter.Seq2[complete.Shown, error] {
	return func(yield func(complete.Shown, error) bool) {
		for e, err := range SessionLog(ctx, r, session) {
			if session == DefaultSession && isNoSession(err) {
				return
			}
			if err != nil {
				yield(complete.Shown{}, err)
				return
			}
			rec := complete.Shown{Seq: e.Record.Seq}
			if e.Record.Receipt.Defined() {
				rec.IDs, err = shownBy(ctx, r, e.Record)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// isNoSession distinguishes a missing session from a missing record.
func isNoSession(err error) bool {
	var missing *state.NotFoundError
	return errors.As(err, &missing) && missing.What == "session"
}

func shownBy(ctx context.Context, r *core.Repo, s *retrieve.Session) ([]graph.ID, error) {
	rec, err := read(ctx, r.Facts(), s.Receipt, retrieve.KindReceipt, retrieve.DecodeReceipt)
	if err != nil {
		return nil, err
	}
	ids := make([]graph.ID, len(rec.Items))
	for i, item := range rec.Items {
		ids[i] = item.ID
	}
	return ids, nil
}
