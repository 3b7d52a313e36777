package repo

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// DefaultSession records the receipts asked for outside any session. It follows HEAD.
const DefaultSession = "_default"

// SessionEntry is one record of a session.
type SessionEntry struct {
	// Name is that under which the session is found, "" where it was not asked for by one. A chain that was kept
	// beside another one has the name of the session in its records.
	Name   string
	CID    ipld.CID
	Record *retrieve.Session
}

// SessionOptions says how a session starts.
type SessionOptions struct {
	Stamp
	At     string // revision to pin; "" for HEAD
	Follow bool   // resolve HEAD at each retrieval instead of pinning a commit
}

// sessionRef returns the ref of a session that may be written.
func sessionRef(name string) (graph.RefName, error) {
	if strings.HasPrefix(name, graph.Imported) {
		return "", invalidf("session %q is imported: it can be read and replayed, not gone on with", name)
	}
	if err := graph.ValidateName(name); err != nil {
		return "", fmt.Errorf("%w: session %q: %w", ErrInvalid, name, err)
	}
	return graph.RefName(graph.Sessions + name), nil
}

// StartSession starts a session. It returns an error wrapping fs.ErrExist where there is one of
// that name.
func (r *Repo) StartSession(
	ctx context.Context, name string, opt SessionOptions,
) (*retrieve.Session, error) {
	ref, err := sessionRef(name)
	if err != nil {
		return nil, err
	}
	rec := &retrieve.Session{
		Name: name, Follow: opt.Follow, Agent: opt.Agent, Task: opt.Task, Actor: opt.Author,
		Time: opt.Time,
	}
	_, err = r.transact(ctx, opt.Stamp, func(t *tx) error {
		if _, ok, err := t.view.get(ctx, ref); err != nil {
			return err
		} else if ok {
			return fmt.Errorf("session %q: %w", name, fs.ErrExist)
		}
		if !opt.Follow {
			rev := opt.At
			if rev == "" {
				rev = string(graph.Head)
			}
			if rec.Commit, err = r.resolve(ctx, t.view, rev); err != nil {
				return err
			}
		}
		return t.appendSession(ctx, ref, rec)
	})
	return rec, err
}

// appendSession stores a session's newest record.
func (t *tx) appendSession(ctx context.Context, ref graph.RefName, rec *retrieve.Session) error {
	if err := rec.Validate(); err != nil {
		return fmt.Errorf("%w: session: %w", ErrInvalid, err)
	}
	c, err := t.putAfter(ctx, rec.Encode(), func() ([]byte, error) {
		if !rec.Prev.Defined() {
			return nil, nil
		}
		return t.stage.Get(ctx, rec.Prev)
	})
	t.setRef(ref, c)
	return err
}

// Session returns the newest record of a session. It returns a *NotFoundError where there is none
// of that name.
func (r *Repo) Session(ctx context.Context, name string) (SessionEntry, error) {
	v, err := r.current(ctx)
	if err != nil {
		return SessionEntry{}, err
	}
	return newestRecord(ctx, v, r.facts(), name)
}

// readableSession returns the ref of a session, which may be an imported one, by its name with or
// without refs/.
func readableSession(ctx context.Context, v *view, name string) (Ref, bool, error) {
	full, imported := importedName(strings.TrimPrefix(name, "refs/"))
	if _, ns, _ := full.SplitImported(); ns != graph.Sessions {
		imported = false
	}
	if imported && string(full) == name {
		return v.get(ctx, full)
	}
	own, err := sessionRef(name)
	if err != nil {
		return Ref{}, false, err
	}
	ref, ok, err := v.get(ctx, own)
	if err == nil && !ok && imported {
		ref, ok, err = v.get(ctx, full)
	}
	return ref, ok, err
}

func newestRecord(
	ctx context.Context, v *view, get store.Getter, name string,
) (SessionEntry, error) {
	ref, ok, err := readableSession(ctx, v, name)
	if err == nil && !ok {
		err = &NotFoundError{What: "session", Name: name}
	}
	if err != nil {
		return SessionEntry{}, err
	}
	e, err := readSession(ctx, get, ref.Target)
	e.Name = name
	return e, err
}

func readSession(ctx context.Context, get store.Getter, c ipld.CID) (SessionEntry, error) {
	rec, err := read(ctx, get, c, retrieve.KindSession, retrieve.DecodeSession)
	return SessionEntry{CID: c, Record: rec}, err
}

// read fetches and decodes a record that package commit does not know. Stored bytes that do not
// decode are corrupt.
func read[T any](
	ctx context.Context, get store.Getter, c ipld.CID, kind string, decode func([]byte) (T, error),
) (T, error) {
	var none T
	block, err := get.Get(ctx, c)
	if err != nil {
		return none, fmt.Errorf("read %s %s: %w", kind, c, err)
	}
	rec, err := decode(block)
	if err != nil {
		return none, fmt.Errorf("read %s %s: %w: %w", kind, c, store.ErrCorrupt, err)
	}
	return rec, nil
}

// SessionRecord returns a record of a session by its CID, as that of the one before another.
func (r *Repo) SessionRecord(ctx context.Context, c ipld.CID) (SessionEntry, error) {
	return readSession(ctx, r.facts(), c)
}

// Sessions returns the newest record of every session, in name order.
func (r *Repo) Sessions(ctx context.Context) ([]SessionEntry, error) {
	v, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	var all []SessionEntry
	for ref, err := range v.list(ctx, graph.Sessions) {
		if err != nil {
			return nil, err
		}
		e, err := readSession(ctx, r.facts(), ref.Target)
		if err != nil {
			return nil, err
		}
		_, e.Name = ref.Name.Split()
		all = append(all, e)
	}
	return all, nil
}

// SessionLog yields a session's records, newest first.
func (r *Repo) SessionLog(ctx context.Context, name string) iter.Seq2[SessionEntry, error] {
	return func(yield func(SessionEntry, error) bool) {
		e, err := r.Session(ctx, name)
		for {
			if !yield(e, err) || err != nil || !e.Record.Prev.Defined() {
				return
			}
			e, err = readSession(ctx, r.facts(), e.Record.Prev)
		}
	}
}

// extend appends a record to a session that has not ended. change fills in what is new.
func (r *Repo) extend(
	ctx context.Context, name string, by Stamp, change func(t *tx, rec *retrieve.Session) error,
) (*retrieve.Session, error) {
	var rec *retrieve.Session
	_, err := r.transact(ctx, by, func(t *tx) error {
		last, err := newestRecord(ctx, t.view, t.stage, name)
		if err != nil {
			return err
		}
		if last.Record.Ended {
			return invalidf("session %q has ended", name)
		}
		next := *last.Record
		next.Seq, next.Prev = next.Seq+1, last.CID
		next.Actor, next.Time, next.Receipt = by.Author, by.Time, ipld.CID{}
		if err := change(t, &next); err != nil {
			return err
		}
		rec = &next
		ref, err := sessionRef(name)
		if err != nil {
			return err
		}
		return t.appendSession(ctx, ref, rec)
	})
	return rec, err
}

// AdvanceSession pins a session to another commit.
func (r *Repo) AdvanceSession(
	ctx context.Context, name, rev string, by Stamp,
) (*retrieve.Session, error) {
	return r.extend(ctx, name, by, func(t *tx, rec *retrieve.Session) error {
		if rec.Follow {
			return invalidf("session %q follows HEAD: there is nothing to advance", name)
		}
		c, err := r.resolve(ctx, t.view, rev)
		rec.Commit = c
		return err
	})
}

// EndSession ends a session: nothing is added to it any more.
func (r *Repo) EndSession(ctx context.Context, name string, by Stamp) (*retrieve.Session, error) {
	return r.extend(ctx, name, by, func(_ *tx, rec *retrieve.Session) error {
		rec.Ended = true
		return nil
	})
}

// RemoveSession removes a session's ref. Its records stay reachable through older operations.
func (r *Repo) RemoveSession(ctx context.Context, name string, by Stamp) error {
	ref, err := sessionRef(name)
	if err != nil {
		return err
	}
	_, err = r.transact(ctx, by, func(t *tx) error {
		_, ok, err := t.view.get(ctx, ref)
		if err == nil && !ok {
			err = &NotFoundError{What: "session", Name: name}
		}
		t.removeRef(ref)
		return err
	})
	return err
}

// RetrieveIn answers a request in a session, from its pinned commit or from HEAD where it follows,
// and records the receipt, whose CID it returns. The session DefaultSession is made when first
// needed.
func (r *Repo) RetrieveIn(
	ctx context.Context, name string, req retrieve.Request, by Stamp,
) (*retrieve.Answer, ipld.CID, error) {
	rec := &retrieve.Session{Follow: true} // what DefaultSession will be
	last, err := r.Session(ctx, name)
	if err == nil {
		rec = last.Record
	} else if name != DefaultSession || !isMissing(err) {
		return nil, ipld.CID{}, err
	}
	if rec.Ended {
		return nil, ipld.CID{}, invalidf("session %q has ended", name)
	}
	snap, err := r.sessionSnapshot(ctx, rec)
	if err != nil {
		return nil, ipld.CID{}, err
	}
	if req, err = r.Unseen(ctx, name, snap, req); err != nil {
		return nil, ipld.CID{}, err
	}
	answer, err := snap.Retrieve(ctx, req)
	if err != nil {
		return nil, ipld.CID{}, err
	}
	c, err := r.Record(ctx, name, answer, by)
	return answer, c, err
}

func (r *Repo) sessionSnapshot(ctx context.Context, rec *retrieve.Session) (*Snapshot, error) {
	if rec.Follow {
		return r.Snapshot(ctx, string(graph.Head))
	}
	return r.At(ctx, rec.Commit)
}
