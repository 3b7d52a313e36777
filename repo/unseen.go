package repo

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// Unseen returns a request that is ready to be answered from a snapshot in a session: names of
// excluded nodes become ids, and where the request asks for it, what the session has shown is
// excluded too. The session DefaultSession has shown nothing where there is none. What is recorded
// is a function of the commit and the returned request.
func (r *Repo) Unseen(
	ctx context.Context, session string, s *Snapshot, req retrieve.Request,
) (retrieve.Request, error) {
	req, err := s.excluding(ctx, req)
	if err != nil || !req.Unseen {
		return req, err
	}
	return req.ExcludeSeen(r.shown(ctx, session))
}

// shown yields what the records of a session have shown, newest first.
func (r *Repo) shown(ctx context.Context, session string) iter.Seq2[retrieve.Shown, error] {
	return func(yield func(retrieve.Shown, error) bool) {
		for e, err := range r.SessionLog(ctx, session) {
			if session == DefaultSession && isNoSession(err) {
				return
			}
			if err != nil {
				yield(retrieve.Shown{}, err)
				return
			}
			rec := retrieve.Shown{Seq: e.Record.Seq}
			if e.Record.Receipt.Defined() {
				rec.IDs, err = r.shownBy(ctx, e.Record)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// isNoSession tells a session that is not there from a record that is missing.
func isNoSession(err error) bool {
	var missing *NotFoundError
	return errors.As(err, &missing) && missing.What == "session"
}

func (r *Repo) shownBy(ctx context.Context, s *retrieve.Session) ([]graph.ID, error) {
	rec, err := read(ctx, r.facts(), s.Receipt, retrieve.KindReceipt, retrieve.DecodeReceipt)
	if err != nil {
		return nil, err
	}
	ids := make([]graph.ID, len(rec.Items))
	for i, item := range rec.Items {
		ids[i] = item.ID
	}
	return ids, nil
}

// excluding returns the request with the names of excluded nodes resolved. A whole id stands for
// itself whether or not the commit has the node, which may be gone; any other name that the commit
// does not know is refused, as it would exclude nothing.
func (s *Snapshot) excluding(
	ctx context.Context, req retrieve.Request,
) (retrieve.Request, error) {
	if err := req.ValidateGiven(); err != nil {
		return req, err
	}
	exclude := slices.Clone(req.Exclude)
	for _, name := range req.ExcludeNames {
		id, err := s.Name(ctx, name)
		if errors.Is(err, store.ErrNotFound) {
			if whole, bad := graph.ParseID(strings.TrimPrefix(name, "id:")); bad == nil {
				id, err = whole, nil
			}
		}
		if err != nil {
			return req, err
		}
		exclude = append(exclude, id)
	}
	req.Exclude, req.ExcludeNames = exclude, nil
	return req, nil
}
