// Package session records answers: sessions, their chains of receipts, receipts drafted without the write lock, and
// the replay that compares bytes.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// DefaultSession records receipts requested outside of any session. It follows HEAD.
const DefaultSession = "_default"

// SessionEntry is one record of a session.
type SessionEntry struct {
	// Name is the name under which the session was found, "" if it was not found by name. A chain stored next to
	// another one has the session's name in its records.
	Name   string
	CID    ipld.CID
	Record *retrieve.Session
}

// SessionOptions says how a session starts.
type SessionOptions struct {
	state.Stamp
	At     string // revision to pin; "" for HEAD
	Follow bool   // resolve HEAD at each retrieval instead of pinning a commit
}

// SessionRef returns the ref of a writable session, by the name that core.Repo.Own returns.
func SessionRef(name string) (graph.RefName, error) {
	if strings.HasPrefix(name, graph.Imported) {
		return "", state.Invalidf("session %q is imported: it can be read and replayed, not gone on with", name)
	}
	if err := graph.ValidateName(name); err != nil {
		return "", fmt.Errorf("%w: session %q: %w", state.ErrInvalid, name, err)
	}
	return graph.RefName(graph.Sessions + name), nil
}

// StartSession starts a session. It returns an error wrapping fs.ErrExist if one with that name exists.
func StartSession(ctx context.Context, r *core.Repo, name string, opt SessionOptions) (*retrieve.Session, error) {
	ref, err := SessionRef(r.Own(name))
	if err != nil {
		return nil, err
	}
	rec := &retrieve.Session{
		Name: r.Own(name), Follow: opt.Follow, Agent: opt.Agent, Task: opt.Task, Actor: opt.Author,
		Time: opt.Time,
	}
	_, err = r.Transact(ctx, opt.Stamp, func(t *core.Tx) error {
		if _, ok, err := t.View.Get(ctx, ref); err != nil {
			return err
		} else if ok {
			return fmt.Errorf("session %q: %w", name, fs.ErrExist)
		}
		if !opt.Follow {
			at := cmp.Or(opt.At, string(graph.Head))
			if rec.Commit, err = r.Revisions().ResolveIn(ctx, t.View, at); err != nil {
				return err
			}
		}
		return appendSession(ctx, t, ref, rec)
	})
	return rec, err
}

func appendSession(ctx context.Context, t *core.Tx, ref graph.RefName, rec *retrieve.Session) error {
	if err := rec.Validate(); err != nil {
		return fmt.Errorf("%w: session: %w", state.ErrInvalid, err)
	}
	c, err := t.PutAfter(ctx, rec.Encode(), func() ([]byte, error) {
		if !rec.Prev.Defined() {
			return nil, nil
		}
		return t.Stage.Get(ctx, rec.Prev)
	})
	t.SetRef(ref, c)
	return err
}

// Session returns the newest record of a session. It returns a *state.NotFoundError if it does not exist.
func Session(ctx context.Context, r *core.Repo, name string) (SessionEntry, error) {
	v, err := r.Current(ctx)
	if err != nil {
		return SessionEntry{}, err
	}
	return newestRecord(ctx, v, r.Facts(), name)
}

// readableSession returns the ref of a session, possibly an imported one, by its name with or without refs/.
func readableSession(ctx context.Context, v *core.View, name string) (core.Ref, bool, error) {
	full, imported := core.ImportedName(strings.TrimPrefix(name, "refs/"))
	if _, ns, _ := full.SplitImported(); ns != graph.Sessions {
		imported = false
	}
	if imported && string(full) == name {
		return v.Get(ctx, full)
	}
	own, err := SessionRef(v.Own(name))
	if err != nil {
		return core.Ref{}, false, err
	}
	ref, ok, err := v.Get(ctx, own)
	if err == nil && !ok && imported {
		ref, ok, err = v.Get(ctx, full)
	}
	return ref, ok, err
}

func newestRecord(ctx context.Context, v *core.View, get store.Getter, name string) (SessionEntry, error) {
	ref, ok, err := readableSession(ctx, v, name)
	if err == nil && !ok {
		err = &state.NotFoundError{What: "session", Name: name}
	}
	if err != nil {
		return SessionEntry{}, err
	}
	e, err := ReadSession(ctx, get, ref.Target)
	e.Name = name
	return e, err
}

// ReadSession reads a session record by its CID and leaves the entry's Name empty. The error wraps store.ErrCorrupt
// if the block does not decode.
func ReadSession(ctx context.Context, get store.Getter, c ipld.CID) (SessionEntry, error) {
	rec, err := read(ctx, get, c, retrieve.KindSession, retrieve.DecodeSession)
	return SessionEntry{CID: c, Record: rec}, err
}

// read fetches and decodes a record unknown to package commit. Stored bytes that do not decode are corrupt.
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

// SessionRecord returns a record of a session by its CID, for instance the previous record of another.
func SessionRecord(ctx context.Context, r *core.Repo, c ipld.CID) (SessionEntry, error) {
	return ReadSession(ctx, r.Facts(), c)
}

// Sessions returns the newest record of every session, in name order.
func Sessions(ctx context.Context, r *core.Repo) ([]SessionEntry, error) {
	v, err := r.Current(ctx)
	if err != nil {
		return nil, err
	}
	var all []SessionEntry
	for ref, err := range v.List(ctx, graph.Sessions) {
		if err != nil {
			return nil, err
		}
		e, err := ReadSession(ctx, r.Facts(), ref.Target)
		if err != nil {
			return nil, err
		}
		_, e.Name = ref.Name.Split()
		all = append(all, e)
	}
	return all, nil
}

// SessionLog yields a session's records, newest first.
func SessionLog(ctx context.Context, r *core.Repo, name string) iter.Seq2[SessionEntry, error] {
	return func(yield func(SessionEntry, error) bool) {
		e, err := Session(ctx, r, name)
		for {
			if !yield(e, err) || err != nil || !e.Record.Prev.Defined() {
				return
			}
			e, err = ReadSession(ctx, r.Facts(), e.Record.Prev)
		}
	}
}

// extend appends a record to a session that has not ended. change fills in its new fields.
func extend(
	ctx context.Context, r *core.Repo, name string, by state.Stamp, change func(t *core.Tx, rec *retrieve.Session) error,
) (*retrieve.Session, error) {
	var rec *retrieve.Session
	_, err := r.Transact(ctx, by, func(t *core.Tx) error {
		last, err := newestRecord(ctx, t.View, t.Stage, name)
		if err != nil {
			return err
		}
		if last.Record.Ended {
			return state.Invalidf("session %q has ended", name)
		}
		next := *last.Record
		next.Seq, next.Prev = next.Seq+1, last.CID
		next.Actor, next.Time, next.Receipt = by.Author, by.Time, ipld.CID{}
		if err := change(t, &next); err != nil {
			return err
		}
		rec = &next
		ref, err := SessionRef(r.Own(name))
		if err != nil {
			return err
		}
		return appendSession(ctx, t, ref, rec)
	})
	return rec, err
}

// AdvanceSession pins a session to another commit.
func AdvanceSession(
	ctx context.Context, r *core.Repo, name, rev string, by state.Stamp,
) (*retrieve.Session, error) {
	return extend(ctx, r, name, by, func(t *core.Tx, rec *retrieve.Session) error {
		if rec.Follow {
			return state.Invalidf("session %q follows HEAD: there is nothing to advance", name)
		}
		c, err := r.Revisions().ResolveIn(ctx, t.View, rev)
		rec.Commit = c
		return err
	})
}

// EndSession ends a session: nothing can be added to it any more.
func EndSession(ctx context.Context, r *core.Repo, name string, by state.Stamp) (*retrieve.Session, error) {
	return extend(ctx, r, name, by, func(_ *core.Tx, rec *retrieve.Session) error {
		rec.Ended = true
		return nil
	})
}

// RemoveSession removes a session's ref. Its records stay reachable through older operations.
func RemoveSession(ctx context.Context, r *core.Repo, name string, by state.Stamp) error {
	ref, err := SessionRef(r.Own(name))
	if err != nil {
		return err
	}
	_, err = r.Transact(ctx, by, func(t *core.Tx) error {
		_, ok, err := t.View.Get(ctx, ref)
		if err == nil && !ok {
			err = &state.NotFoundError{What: "session", Name: name}
		}
		t.RemoveRef(ref)
		return err
	})
	return err
}

// RetrieveIn answers a request in a session, from its pinned commit or from HEAD if it follows, records the receipt
// and returns its CID. The session DefaultSession is created when first needed.
func RetrieveIn(
	ctx context.Context, r *core.Repo, name string, req retrieve.Request, by state.Stamp,
) (*retrieve.Answer, ipld.CID, error) {
	rec := &retrieve.Session{Follow: true} // as DefaultSession will be
	last, err := Session(ctx, r, name)
	if err == nil {
		rec = last.Record
	} else if name != DefaultSession || !IsMissing(err) {
		return nil, ipld.CID{}, err
	}
	if rec.Ended {
		return nil, ipld.CID{}, state.Invalidf("session %q has ended", name)
	}
	snap, err := sessionSnapshot(ctx, r, rec)
	if err != nil {
		return nil, ipld.CID{}, err
	}
	if req, err = Unseen(ctx, r, name, snap, req); err != nil {
		return nil, ipld.CID{}, err
	}
	answer, err := rank.Retrieve(ctx, snap, req)
	if err != nil {
		return nil, ipld.CID{}, err
	}
	c, err := Record(ctx, r, name, answer, by)
	return answer, c, err
}

func sessionSnapshot(ctx context.Context, r *core.Repo, rec *retrieve.Session) (*core.Snapshot, error) {
	if rec.Follow {
		return r.Snapshot(ctx, string(graph.Head))
	}
	return r.At(ctx, rec.Commit)
}

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
