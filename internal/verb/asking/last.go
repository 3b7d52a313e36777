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
	"github.com/mnem-project/mnem/internal/rank"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// maxLast is the largest number of contexts in an answer.
const maxLast = 1000

// LastRequest asks what agents were given last.
type LastRequest struct {
	Session string `op:"" complete:"session" doc:"of this {SESSION} alone: its name, or what its program calls it"`
	Limit   int    `op:",short=n" default:"1" doc:"the last {N} times"`
	verb.Params
}

func (q *LastRequest) Check() error {
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

func last(ctx context.Context, s *verb.Service, q *LastRequest, emit func(*GivenContext) error) error {
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
func (l *lastReader) sessions(ctx context.Context, q *LastRequest, list *[]*GivenContext) error {
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
