package repo

import (
	"context"
	"iter"

	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Session is a chain of recorded answers, pinned to one commit unless it follows HEAD.
type Session struct {
	repo *Repo
	name string
}

// StartSession begins a session. It is pinned to a revision, "" for what HEAD is at now, or follows HEAD.
func (r *Repo) StartSession(ctx context.Context, name, rev string, follow bool) (*Session, error) {
	opt := session.SessionOptions{Stamp: r.stamp("session"), At: rev, Follow: follow}
	if _, err := session.StartSession(ctx, r.core, name, opt); err != nil {
		return nil, err
	}
	return &Session{r, name}, nil
}

// Session returns the session of a name. The error wraps ErrNotFound if there is none.
func (r *Repo) Session(ctx context.Context, name string) (*Session, error) {
	if _, err := session.Session(ctx, r.core, name); err != nil {
		return nil, err
	}
	return &Session{r, name}, nil
}

// Sessions lists the names of the sessions, in order.
func (r *Repo) Sessions(ctx context.Context) ([]string, error) {
	list, err := session.Sessions(ctx, r.core)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name
	}
	return names, nil
}

// Name is the name of the session.
func (s *Session) Name() string { return s.name }

// Retrieve answers a request from the session's commit and records the answer. It returns the receipt's CID.
func (s *Session) Retrieve(ctx context.Context, req retrieve.Request) (*retrieve.Answer, ipld.CID, error) {
	req, err := asked(ctx, s.repo.meaning, req)
	if err != nil {
		return nil, ipld.CID{}, err
	}
	return session.RetrieveIn(ctx, s.repo.core, s.name, req, s.repo.stamp("retrieve"))
}

// Advance pins the session to another revision, "" for HEAD.
func (s *Session) Advance(ctx context.Context, rev string) error {
	if rev == "" {
		rev = "HEAD"
	}
	_, err := session.AdvanceSession(ctx, s.repo.core, s.name, rev, s.repo.stamp("session"))
	return err
}

// End closes the session: it takes no more answers, and can still be replayed.
func (s *Session) End(ctx context.Context) error {
	_, err := session.EndSession(ctx, s.repo.core, s.name, s.repo.stamp("session"))
	return err
}

// Records yields the records of the session, newest first.
func (s *Session) Records(ctx context.Context) iter.Seq2[*retrieve.Session, error] {
	return seq(session.SessionLog(ctx, s.repo.core, s.name),
		func(e session.SessionEntry) *retrieve.Session { return e.Record })
}

// Replayed is the result of a replay.
type Replayed struct {
	Receipts  int  // that were replayed
	Identical bool // whether each gave the same bytes
	// First is the first difference, and Number the index of its receipt. First is nil if all are identical, or if
	// something that a receipt needs was erased since: then the replay cannot be compared, and Redacted is the
	// receipt's number.
	First    *retrieve.Difference
	Number   int
	Redacted int
}

// Replay runs every recorded answer of the session again, at its commit, and compares the bytes.
func (s *Session) Replay(ctx context.Context) (*Replayed, error) { return s.repo.Replay(ctx, s.name) }

// Replay runs the answers of a session again, by its name, or one receipt by its CID.
func (r *Repo) Replay(ctx context.Context, name string) (*Replayed, error) {
	res, err := session.Replay(ctx, r.core, name)
	if err != nil {
		return nil, err
	}
	out := &Replayed{Receipts: res.Receipts, Identical: res.Identical, Redacted: len(res.Redacted)}
	if res.First != nil {
		out.First, out.Number = res.First.Difference, res.First.Number
	}
	return out, nil
}
