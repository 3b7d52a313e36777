package asking

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory/review"
	"github.com/mnem-project/mnem/internal/rank"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/outlining"
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

type sessionStartRequest struct {
	SessionRequest
	Follow bool `op:",remote" doc:"answer from HEAD at each retrieval"`
	verb.AtRevision
	verb.Params
}

type sessionAdvanceRequest struct {
	SessionRequest
	To string `op:",remote" default:"HEAD" complete:"rev" doc:"the {REV}ision to pin"`
}

type sessionListRequest struct{}

type sessionLogRequest struct {
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

func (q *sessionStartRequest) Check() error {
	if q.Given("at") && q.Given("follow") {
		return verb.Exclude("at", "follow")
	}
	return nil
}

func (q *sessionLogRequest) Check() error { return verb.CheckLimit(q.Limit) }

// The verbs of sessions.
var (
	SessionStart = verb.Define(verb.Spec{
		Command: "session start", Right: verb.NoRight, Confined: true, Usage: "NAME [flags]", Effect: verb.Writes,
		Title: "Start a session at a commit",
		Doc: "Start a session that answers from the commit at --at, or with --follow from what HEAD is at\n" +
			"each retrieval. --agent and --task say who works on what.",
		Example: "  mnem session start review\n  mnem session start audit --at HEAD~1 --task 'winter launch'",
	}, func(ctx context.Context, s *verb.Service, q *sessionStartRequest) (*Session, error) {
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
	}, func(ctx context.Context, s *verb.Service, _ *sessionListRequest, emit func(*Session) error) error {
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
	}, func(ctx context.Context, s *verb.Service, q *sessionAdvanceRequest) (*Session, error) {
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

func sessionLog(ctx context.Context, s *verb.Service, q *sessionLogRequest, emit func(*SessionRecord) error) error {
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

// maxLast is the largest number of contexts in an answer.
const maxLast = 1000

type lastRequest struct {
	Session string `op:"" complete:"session" doc:"of this {SESSION} alone: its name, or what its program calls it"`
	Limit   int    `op:",short=n" default:"1" doc:"the last {N} times"`
	verb.Params
}

func (q *lastRequest) Check() error {
	switch {
	case q.Limit < 1 || q.Limit > maxLast:
		return verb.Bad("limit", "%d is not between 1 and %d", q.Limit, maxLast)
	case q.Given("session") && q.Session == "":
		return verb.Bad("session", "want a name")
	}
	return nil
}

// GivenContext is a context that an agent was given.
type GivenContext struct {
	Time    graph.Time  `json:"time"`
	Session string      `json:"session"`
	Host    verb.Text   `json:"host"`                // null of what no hook gave
	Event   verb.Text   `json:"event"`               // of the hook
	Commit  ipld.CID    `json:"commit" shape:"null"` // that was asked
	Query   *string     `json:"query"`               // null if the memory gave nothing
	Items   []GivenItem `json:"items"`
	Tokens  int         `json:"tokens"` // of the items
	SHA256  verb.Text   `json:"sha256"` // of everything that a hook gave, with its own words
	Receipt ipld.CID    `json:"receipt" shape:"null"`
	// Exact is whether the items are exactly those given. Otherwise they are all items of the receipt; a hook gave some
	// of them, but it is no longer known which.
	Exact bool      `json:"exact"`
	Why   verb.Text `json:"why"` // why a hook could not ask
}

// GivenItem is one memory that was given.
type GivenItem struct {
	ID       graph.ID  `json:"id"`
	Key      verb.Text `json:"key"`
	Type     string    `json:"type"`
	Tokens   int       `json:"tokens"`
	Rendered *string   `json:"rendered"` // null if it was hidden or erased since, or is rendered differently now
}

// Last lists the latest contexts that agents were given.
var Last = verb.Stream(verb.Spec{
	Command: "session last", Right: verb.NoRight, Usage: "[flags]", Effect: verb.Reads, Local: true,
	Title: "Show what an agent was given last, and why",
	Doc: "Print what a hook, or an answer in a session, last gave an agent: when, in which session, what was\n" +
		"asked, the memories with their ids and texts, how many tokens they have, the commit, and the receipt,\n" +
		"with which 'mnem session replay RECEIPT' asks the same again. A prompt to which nothing was known is told\n" +
		"of, too, and why where the memory could not be asked. With --json, one object a line.",
	Example: "  mnem session last\n  mnem session last -n 5 --json",
}, last)

func last(ctx context.Context, s *verb.Service, q *lastRequest, emit func(*GivenContext) error) error {
	dir, err := s.OwnDir()
	if err != nil {
		return err
	}
	told, err := capture.LastTold(dir, q.Session, q.Limit)
	if err != nil {
		return err
	}
	l := &lastReader{Service: s, told: make(map[givenKey]bool)}
	if l.now, err = s.At(ctx, string(graph.Head)); err != nil {
		return err
	}
	var list []*GivenContext
	for _, t := range told {
		one := &GivenContext{
			Time: t.Time, Session: capture.SessionName(t.Host, t.Session), Host: verb.Text(t.Host), Event: verb.Text(t.Event),
			Commit: t.Commit, Tokens: t.Tokens, SHA256: verb.Text(t.Text), Receipt: t.Receipt, Exact: true, Why: verb.Text(t.Why),
		}
		l.told[givenKey{t.Receipt, t.Time}] = true
		rec, req, err := l.receipt(ctx, t.Receipt, t.Draft)
		if err == nil {
			err = l.fill(ctx, one, t.Items, rec, req)
		}
		if err != nil {
			return err
		}
		list = append(list, one)
	}
	if err := l.sessions(ctx, q, &list); err != nil {
		return err
	}
	if len(list) == 0 && q.Session != "" {
		return &state.NotFoundError{What: "session", Name: q.Session}
	}
	slices.SortStableFunc(list, func(a, b *GivenContext) int { return cmp.Compare(b.Time, a.Time) })
	for _, one := range list[:min(len(list), q.Limit)] {
		if err := emit(one); err != nil {
			return err
		}
	}
	return nil
}

type givenKey struct {
	receipt ipld.CID
	at      graph.Time
}

type lastReader struct {
	*verb.Service
	now  *core.Snapshot
	told map[givenKey]bool // contexts recorded by hooks
}

// receipt returns a receipt, which may be in no session yet, and its request: nil if it cannot be read any more.
func (l *lastReader) receipt(
	ctx context.Context, c ipld.CID, draft *core.DraftReceipt,
) (*retrieve.Receipt, *retrieve.Request, error) {
	if !c.Defined() {
		return nil, nil, nil
	}
	if draft != nil {
		if err := sessionpkg.CheckDraft(ctx, l.Repo, draft); errors.Is(err, state.ErrInvalid) {
			return nil, nil, nil
		} else if err != nil {
			return nil, nil, err
		}
		rec, err := retrieve.DecodeReceipt(draft.Block)
		if err != nil {
			return nil, nil, err
		}
		req, err := rec.Request(draft.Texts[0], draft.Texts[1:]...)
		return rec, &req, err
	}
	rec, req, err := sessionpkg.Receipt(ctx, l.Repo, c)
	if unreadable(err) {
		return nil, nil, nil
	}
	return rec, &req, err
}

// unreadable reports whether an error says that a record is gone, or needs another ranking version.
func unreadable(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrRedacted) ||
		errors.Is(err, retrieve.ErrRankingVersion)
}

// fill adds the items, those of the receipt if ids is nil, rendered from the current memory.
func (l *lastReader) fill(
	ctx context.Context, one *GivenContext, ids []graph.ID, rec *retrieve.Receipt, req *retrieve.Request,
) error {
	one.Items = []GivenItem{}
	if rec == nil {
		for _, id := range ids {
			one.Items = append(one.Items, GivenItem{ID: id})
		}
		return nil
	}
	one.Commit, one.Query = rec.Commits[0], &req.Text
	if ids == nil {
		one.Tokens = rec.Tokens
	}
	at, err := l.Repo.At(ctx, one.Commit)
	if errors.Is(err, store.ErrNotFound) { // of an imported session
		at, err = nil, nil
	}
	if err != nil {
		return err
	}
	texts := map[graph.ID]string{}
	if at != nil {
		switch answer, err := rank.Retrieve(ctx, at, *req); {
		case err == nil:
			for i := range answer.Items {
				texts[answer.Items[i].ID] = answer.Items[i].Rendered
			}
		case !unreadable(err):
			return err
		}
	}
	for _, it := range rec.Items {
		if ids != nil && !slices.Contains(ids, it.ID) {
			continue
		}
		item := GivenItem{ID: it.ID, Tokens: it.Tokens}
		if err := item.name(ctx, at); err != nil {
			return err
		}
		text, ok := texts[it.ID]
		hidden, err := l.hidden(ctx, it.ID)
		if err != nil {
			return err
		}
		if ok && !hidden && sha256.Sum256([]byte(text)) == it.Rendered {
			item.Rendered = &text
		}
		one.Items = append(one.Items, item)
	}
	return nil
}

// name fills in the name that the item has in a snapshot, nil for none.
func (item *GivenItem) name(ctx context.Context, at *core.Snapshot) error {
	if at == nil {
		return nil
	}
	n, _, err := at.Node(ctx, item.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		item.Key, item.Type = verb.Text(n.Key), n.Type
	}
	return err
}

// hidden reports whether a node is hidden, or not there, now.
func (l *lastReader) hidden(ctx context.Context, id graph.ID) (bool, error) {
	if _, _, err := l.now.Node(ctx, id); errors.Is(err, store.ErrNotFound) {
		return true, nil
	} else if err != nil {
		return false, err
	}
	m, err := l.now.Mark(ctx, graph.OnNode, id)
	return m != nil && m.State.Hides(), err
}

// sessions adds what sessions recorded and hooks did not note, as much as is asked for.
func (l *lastReader) sessions(ctx context.Context, q *lastRequest, list *[]*GivenContext) error {
	var open []sessionpkg.SessionEntry
	var err error
	if q.Session == "" {
		open, err = sessionpkg.Sessions(ctx, l.Repo)
	} else if e, one := sessionpkg.Session(ctx, l.Repo, q.Session); one == nil {
		open = []sessionpkg.SessionEntry{e}
	} else if !errors.Is(one, store.ErrNotFound) && !(errors.Is(one, state.ErrInvalid) && len(*list) > 0) {
		err = one
	}
	if err != nil {
		return err
	}
	oldest := graph.Time(graph.MinTime)
	if len(*list) >= q.Limit {
		oldest = (*list)[q.Limit-1].Time
	}
	for taken := 0; taken < q.Limit && len(open) > 0; {
		i := 0
		for j := range open {
			if open[j].Record.Time > open[i].Record.Time {
				i = j
			}
		}
		e := open[i]
		if e.Record.Time < oldest {
			return nil
		}
		if e.Record.Receipt.Defined() && !l.told[givenKey{e.Record.Receipt, e.Record.Time}] {
			rec, req, err := l.receipt(ctx, e.Record.Receipt, nil)
			if err != nil {
				return err
			}
			one := &GivenContext{
				Time: e.Record.Time, Session: e.Name, Receipt: e.Record.Receipt,
				Exact: !capture.OfHook(e.Record.Name),
			}
			if err := l.fill(ctx, one, nil, rec, req); err != nil {
				return err
			}
			*list, taken = append(*list, one), taken+1
		}
		if !e.Record.Prev.Defined() {
			open = slices.Delete(open, i, i+1)
			continue
		}
		if open[i], err = sessionpkg.SessionRecord(ctx, l.Repo, e.Record.Prev); err != nil {
			return err
		}
		open[i].Name = e.Name
	}
	return nil
}

const (
	// briefMarks and briefNodes are how many marks, and nodes that differ, a brief looks at.
	briefMarks, briefNodes = 2000, 2000
	// briefPairs and briefNewest are how many of them it names.
	briefPairs, briefNewest = 2, 3
	// briefUndecided is how many undecided pairs it names, of the briefLater newest memories: a session waits for it.
	briefUndecided, briefLater = 3, 16
	// briefTokens is the budget for news by scopes.
	briefTokens = 300
)

// BriefRequest asks for the information that an agent gets when its session begins: an answer to the request, and news.
type BriefRequest struct {
	RetrieveRequest
	Since string `op:"from" doc:"the {CID} of the commit since which things are news"`
}

// Brief is the information that an agent gets when its session begins.
type Brief struct {
	Answer       *Answer              `json:"answer"`
	Contradicted []BriefPair          `json:"contradicted"` // pairs of memories that contradict each other
	More         bool                 `json:"more"`         // whether there may be more of them
	Undecided    []BriefPair          `json:"undecided"`    // later memories, each with an earlier one that it may replace
	News         *BriefNews           `json:"news"`         // null if the commit is unknown
	Map          *outlining.MapAnswer `json:"map"`          // news by scopes, null if no digests are stored
}

// BriefPair are two memories that contradict each other, or a later and an earlier one.
type BriefPair struct {
	A NamedMemory `json:"a"`
	B NamedMemory `json:"b"`
}

// NamedMemory is a memory with its text.
type NamedMemory struct {
	ID   graph.ID `json:"id"`
	Text string   `json:"text"`
}

// BriefNews counts the changes of memories since a commit.
type BriefNews struct {
	review.Since
	Newest []NamedMemory `json:"newest"`
}

// TellBrief gives hooks the information for the start of a session. It is not a command.
var TellBrief = verb.Define(verb.Spec{
	Command: "brief", Right: verb.NoRight, Usage: "[flags]", Effect: verb.Reads, Local: true,
	Title: "Summarise the memory for the start of a session",
}, brief)

func brief(ctx context.Context, s *verb.Service, q *BriefRequest) (*Brief, error) {
	out := new(Brief)
	err := ask(ctx, s, &q.RetrieveRequest, q, func(a *Answer) error {
		out.Answer = a
		return nil
	})
	if err != nil {
		return nil, err
	}
	at, err := s.Repo.At(ctx, out.Answer.Commit)
	if err != nil {
		return nil, err
	}
	pairs, more, err := review.Contradictions(ctx, at, briefMarks, briefPairs)
	if err != nil {
		return nil, err
	}
	out.More = more
	for _, p := range pairs {
		out.Contradicted = append(out.Contradicted, BriefPair{named(p[0]), named(p[1])})
	}
	if q.Since == "" {
		return out, nil
	}
	c, err := ipld.ParseCID(q.Since)
	if err != nil {
		return nil, verb.Bad("from", "%w", err)
	}
	from, err := s.Repo.At(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		return out, nil // collected, or of another repository
	}
	if err != nil {
		return nil, err
	}
	undecided, err := review.UndecidedSince(ctx, from, at, briefLater, briefUndecided)
	if err != nil {
		return nil, err
	}
	for _, p := range undecided {
		out.Undecided = append(out.Undecided, BriefPair{named(p.Later), named(p.Earlier)})
	}
	since, err := review.ChangedSince(ctx, from, at, briefNodes, briefNewest)
	if err != nil {
		return nil, err
	}
	out.News = &BriefNews{Since: *since}
	for _, n := range since.Newest {
		out.News.Newest = append(out.News.Newest, named(n))
	}
	out.Map, err = outlining.NewsOf(ctx, from, at, briefTokens)
	return out, err
}

func named(n *graph.Node) NamedMemory { return NamedMemory{n.ID, cmp.Or(n.Summary, n.Key)} }
