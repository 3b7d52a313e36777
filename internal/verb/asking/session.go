package asking

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Session is the newest record of a session.
type Session struct {
	Known string `json:"session"` // the name that it is found under; Name is the name in its records: see session.SessionEntry
	retrieve.Session
	Records int64 `json:"records"`
	Ended   bool  `json:"ended"`
}

func sessionOf(name string, s *retrieve.Session) *Session {
	return &Session{name, *s, s.Seq + 1, s.Ended}
}

// SessionRequest names a session to change.
type SessionRequest struct {
	Name string `op:",arg,required,remote" doc:"the name of the session"`
	verb.Actor
}

// SessionStartRequest asks for a session.
type SessionStartRequest struct {
	SessionRequest
	Follow bool `op:",remote" doc:"answer from HEAD at each retrieval"`
	verb.AtRevision
	verb.Params
}

// SessionAdvanceRequest asks for a session to be pinned elsewhere.
type SessionAdvanceRequest struct {
	SessionRequest
	To string `op:",remote" default:"HEAD" complete:"rev" doc:"the {REV}ision to pin"`
}

// SessionListRequest asks for all sessions.
type SessionListRequest struct{}

// SessionLogRequest asks for the records of a session.
type SessionLogRequest struct {
	Name  string `op:",arg,required,remote" doc:"the name of the session"`
	Limit int    `op:",short=n,remote" doc:"at most {N} records; 0 for all"`
}

// SessionRecord is one record of a session.
type SessionRecord struct {
	Record  ipld.CID   `json:"record"`
	Event   string     `json:"event"`
	Time    graph.Time `json:"time"`
	Actor   string     `json:"actor"`
	Commit  ipld.CID   `json:"commit" shape:"null"` // of the answer, or the pinned one
	Receipt ipld.CID   `json:"receipt" shape:"null"`
	Query   *string    `json:"query"`
	Items   *int       `json:"items"`
	Tokens  *int       `json:"tokens"`
	Title   *string    `json:"title"` // of the items
}

// Removed names the removed session.
type Removed struct {
	Removed string `json:"removed"`
}

func (q *SessionStartRequest) Check() error {
	if q.Given("at") && q.Given("follow") {
		return verb.Exclude("at", "follow")
	}
	return nil
}

func (q *SessionLogRequest) Check() error { return verb.CheckLimit(q.Limit) }

// The verbs of sessions.
var (
	SessionStart = verb.Define(verb.Spec{
		Command: "session start", Right: verb.NoRight, Confined: true, Usage: "NAME [flags]", Effect: verb.Writes,
		Title: "Start a session at a commit",
		Doc: "Start a session that answers from the commit at --at, or with --follow from what HEAD is at\n" +
			"each retrieval. --agent and --task say who works on what.",
		Example: "  mnem session start review\n  mnem session start audit --at HEAD~1 --task 'winter launch'",
	}, func(ctx context.Context, s *verb.Service, q *SessionStartRequest) (*Session, error) {
		opt := sessionpkg.SessionOptions{Stamp: s.Commit.Stamp, At: q.At, Follow: q.Follow}
		rec, err := sessionpkg.StartSession(ctx, s.Repo, q.Name, opt)
		return session(q.Name, rec, err)
	})

	SessionList = verb.Stream(verb.Spec{
		Command: "session list", Right: verb.NoRight, Confined: true, Effect: verb.Reads,
		Title: "List sessions by name",
		Doc: "List all sessions in order of name. A session that went on at two machines has two chains after a\n" +
			"sync: that of the other one is NAME.CID, with the first record that differs. With --json, one object\n" +
			"a line.",
		Example: "  mnem session list",
	}, func(ctx context.Context, s *verb.Service, _ *SessionListRequest, emit func(*Session) error) error {
		all, err := sessionpkg.Sessions(ctx, s.Repo)
		for _, e := range all {
			if err == nil {
				err = emit(sessionOf(e.Name, e.Record))
			}
		}
		return err
	})

	SessionAdvance = verb.Define(verb.Spec{
		Command: "session advance", Right: verb.NoRight, Confined: true, Usage: "NAME [flags]", Effect: verb.Writes, Complete: "session",
		Title:   "Pin a session to another commit",
		Doc:     "Pin a session to the commit at --to for the retrievals to come.",
		Example: "  mnem session advance review\n  mnem session advance review --to HEAD",
	}, func(ctx context.Context, s *verb.Service, q *SessionAdvanceRequest) (*Session, error) {
		rec, err := sessionpkg.AdvanceSession(ctx, s.Repo, q.Name, q.To, s.Commit.Stamp)
		return session(q.Name, rec, err)
	})

	SessionEnd = verb.Define(verb.Spec{
		Command: "session end", Right: verb.NoRight, Confined: true, Usage: "NAME [flags]", Effect: verb.Writes, Complete: "session",
		Title:   "End a session",
		Doc:     "End a session. It can still be read and replayed; nothing is recorded in it any more.",
		Example: "  mnem session end review",
	}, func(ctx context.Context, s *verb.Service, q *SessionRequest) (*Session, error) {
		rec, err := sessionpkg.EndSession(ctx, s.Repo, q.Name, s.Commit.Stamp)
		return session(q.Name, rec, err)
	})

	SessionRemove = verb.Define(verb.Spec{
		Command: "session rm", Right: verb.OwnRight, Confined: true, Usage: "NAME [flags]", Effect: verb.Destroys, Complete: "session",
		Title:   "Remove a session",
		Doc:     "Remove a session and its receipts from sight. Their records stay in older operations.",
		Example: "  mnem session rm review",
	}, func(ctx context.Context, s *verb.Service, q *SessionRequest) (*Removed, error) {
		if err := sessionpkg.RemoveSession(ctx, s.Repo, q.Name, s.Commit.Stamp); err != nil {
			return nil, err
		}
		return &Removed{q.Name}, nil
	})

	SessionLog = verb.Stream(verb.Spec{
		Command: "session log", Right: verb.NoRight, Confined: true, Usage: "NAME [flags]", Effect: verb.Reads, Complete: "session",
		Title: "List what a session recorded, newest first",
		Doc: "List the records of a session, newest first: where it was pinned, and every receipt with its\n" +
			"query, commit, numbers of items and tokens, and the names of the first items, but for those that\n" +
			"were hidden since. With --json, one object a line.",
		Example: "  mnem session log review\n  mnem session log review -n 5 --json",
	}, sessionLog)
)

func session(name string, s *retrieve.Session, err error) (*Session, error) {
	if err != nil {
		return nil, verb.CommitHint(err)
	}
	return sessionOf(name, s), nil
}

func sessionLog(ctx context.Context, s *verb.Service, q *SessionLogRequest, emit func(*SessionRecord) error) error {
	n := 0
	var later *sessionpkg.SessionEntry
	now, err := s.At(ctx, string(graph.Head))
	if err != nil {
		return err
	}
	give := func(before *retrieve.Session) error {
		out, err := recordOf(ctx, s.Repo, *later, before, history.Titler{Now: now})
		if err == nil {
			err = emit(out)
		}
		return err
	}
	for e, err := range sessionpkg.SessionLog(ctx, s.Repo, q.Name) {
		if err != nil {
			return err
		}
		if later != nil {
			if err := give(e.Record); err != nil {
				return err
			}
			if n++; n == q.Limit {
				return nil
			}
		}
		later = &e
	}
	if later == nil {
		return nil
	}
	return give(nil)
}

// recordOf returns the form of a record; before is the one before it, nil for the first.
func recordOf(
	ctx context.Context, r *core.Repo, e sessionpkg.SessionEntry, before *retrieve.Session, titles history.Titler,
) (*SessionRecord, error) {
	s := e.Record
	out := &SessionRecord{
		Record: e.CID, Event: eventOf(s, before), Time: s.Time, Actor: s.Actor, Commit: s.Commit,
		Receipt: s.Receipt,
	}
	if s.Receipt.Defined() {
		rec, req, err := sessionpkg.Receipt(ctx, r, s.Receipt)
		if err != nil {
			return nil, err
		}
		out.Commit, out.Query = rec.Commits[0], &req.Text
		out.Items, out.Tokens = new(len(rec.Items)), &rec.Tokens
		title, err := itemsTitle(ctx, r, rec, titles)
		if err != nil {
			return nil, err
		}
		out.Title = &title
	}
	return out, nil
}

func itemsTitle(ctx context.Context, r *core.Repo, rec *retrieve.Receipt, titles history.Titler) (string, error) {
	at, err := r.At(ctx, rec.Commits[0])
	if errors.Is(err, store.ErrNotFound) {
		return "", nil // of an imported session
	}
	if err != nil {
		return "", err
	}
	ids := make([]graph.ID, len(rec.Items))
	for i, it := range rec.Items {
		ids[i] = it.ID
	}
	return titles.Nodes(ctx, at, ids)
}

func eventOf(s, before *retrieve.Session) string {
	switch {
	case before == nil:
		return "start"
	case s.Receipt.Defined():
		return "retrieve"
	case s.Ended:
		return "end"
	}
	return "advance"
}
