package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// MaxTogether is how many receipts one operation records, so that a turn stays short.
const MaxTogether = 64

// Record appends the receipt of an answer, from any commit, to a session, and returns the receipt's CID once it is
// durable. The session DefaultSession is created when first needed. It returns a *state.NotFoundError if another
// session does not exist, and an error wrapping state.ErrInvalid if it has ended. Receipts of any sessions that
// wait for the write lock at the same time are written as one operation, in call order; an invalid one fails alone.
func Record(
	ctx context.Context, r *core.Repo, name string, answer *retrieve.Answer, by state.Stamp,
) (ipld.CID, error) {
	if _, err := Session(ctx, r, name); name == DefaultSession && IsMissing(err) {
		opt := SessionOptions{Stamp: by, Follow: true}
		if _, err := StartSession(ctx, r, name, opt); err != nil && !errors.Is(err, fs.ErrExist) {
			return ipld.CID{}, err
		}
	}
	draft, err := Draft(answer)
	if err != nil {
		return ipld.CID{}, err
	}
	draft.Time = by.Time
	e := &core.RecordEntry{Session: name, Draft: draft, By: by, Done: make(chan struct{})}
	if r.SharedStore == nil && !r.Confined() {
		err = RecordTogether(ctx, r, e)
	} else {
		_, err = r.Transact(ctx, by, func(t *core.Tx) error { return appendEntries(ctx, t, []*core.RecordEntry{e}) })
	}
	if err != nil {
		return ipld.CID{}, err
	}
	return draft.CID(), nil
}

// Wait returns the error of an entry once it is durable or has failed. It waits without a limit.
func Wait(e *core.RecordEntry) error {
	<-e.Done
	return e.Err
}

// fits reports whether one operation can record two entries: it names one actor and one command, and each entry may
// expect another HEAD.
func fits(e *core.RecordEntry, o *core.RecordEntry) bool {
	return e.By.Head == nil && o.By.Head == nil && e.By.Author == o.By.Author &&
		slices.Equal(e.By.Secrets.Allow, o.By.Secrets.Allow) && slices.Equal(e.By.Command, o.By.Command)
}

// Add appends an entry to the queue.
func Add(q *core.RecordQueue, e *core.RecordEntry) {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	q.Waiting = append(q.Waiting, e)
}

// withdraw removes an entry, and returns false if a turn has taken it.
func withdraw(q *core.RecordQueue, e *core.RecordEntry) bool {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	q.Waiting = slices.DeleteFunc(q.Waiting, func(w *core.RecordEntry) bool { return w == e })
	return !e.Taken
}

// Take removes and returns the oldest entry of e's session and the entries that one operation can record with it,
// in queue order. No entry overtakes an older one of its session that must wait. It returns nothing if another turn
// has taken e. If e is not among the result it still waits.
func Take(q *core.RecordQueue, e *core.RecordEntry) []*core.RecordEntry {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	if e.Taken {
		return nil
	}
	first := e
	for _, w := range q.Waiting {
		if w.Session == e.Session {
			first = w
			break
		}
	}
	var taken []*core.RecordEntry
	room := MaxTogether - 1        // in addition to the first
	waits := make(map[string]bool) // sessions with an entry that must wait
	q.Waiting = slices.DeleteFunc(q.Waiting, func(w *core.RecordEntry) bool {
		if w != first {
			if room == 0 || waits[w.Session] || !fits(w, first) {
				waits[w.Session] = true
				return false
			}
			room--
		}
		w.Taken, taken = true, append(taken, w)
		return true
	})
	return taken
}

// RecordTogether records an entry together with other waiting ones, and returns when it is durable.
func RecordTogether(ctx context.Context, r *core.Repo, e *core.RecordEntry) error {
	Add(&r.Records, e)
	if err := r.Writer.Turns.Take(ctx); err != nil {
		if withdraw(&r.Records, e) {
			return err
		}
		return Wait(e)
	}
	// The others do not fail if this caller gives up.
	for _, end := range RecordInTurn(context.WithoutCancel(ctx), r, e) {
		end()
	}
	return Wait(e)
}

// RecordInTurn starts recording an entry and those recorded with it, after older entries of its session that do not
// fit, and releases the turn.
func RecordInTurn(ctx context.Context, r *core.Repo, e *core.RecordEntry) (ends []func()) {
	begun := false
	defer func() {
		if !begun { // a panic: end what was begun before
			withdraw(&r.Records, e)
			for _, end := range ends {
				end()
			}
		}
	}()
	defer r.Writer.Turns.Give()
	for taken := Take(&r.Records, e); taken != nil; taken = Take(&r.Records, e) {
		ends = append(ends, beginTaken(ctx, r, taken)...)
	}
	begun = true
	return ends
}

func beginTaken(ctx context.Context, r *core.Repo, taken []*core.RecordEntry) []func() {
	begun := false
	defer func() {
		if !begun { // it panics, and the others do not wait for ever
			for _, e := range taken {
				e.Err = errors.New("the operation that was to record it failed")
				close(e.Done)
			}
		}
	}()
	ends := beginRecords(ctx, r, taken)
	begun = true
	return ends
}

// beginRecords records entries as one operation, or as one each if that fails. The returned functions wait until
// they are durable, and must be called after the turn.
func beginRecords(ctx context.Context, r *core.Repo, list []*core.RecordEntry) (ends []func()) {
	_, durable, err := r.Begin(ctx, list[0].By, func(t *core.Tx) error { return appendEntries(ctx, t, list) })
	if err != nil && len(list) > 1 {
		for i := range list {
			ends = append(ends, beginRecords(ctx, r, list[i:i+1])...)
		}
		return ends
	}
	if err == nil {
		r.Writer.Waiting.Add(1)
	}
	return []func(){func() {
		if err == nil {
			err = durable()
			r.Writer.Waiting.Done()
		}
		for _, e := range list {
			e.Err = err
			close(e.Done)
		}
	}}
}

// appendEntries appends receipts to their sessions.
func appendEntries(ctx context.Context, t *core.Tx, list []*core.RecordEntry) error {
	last := make(map[string]SessionEntry)
	for _, e := range list {
		ref, err := SessionRef(t.Repo.Own(e.Session))
		if err != nil {
			return err
		}
		rec, ok := last[e.Session]
		if !ok {
			if rec, err = newestRecord(ctx, t.View, t.Stage, e.Session); err != nil {
				return err
			}
		}
		if rec.Record.Ended {
			return state.Invalidf("session %q has ended", e.Session)
		}
		if last[e.Session], err = appendDraft(ctx, t, ref, rec, e.Draft, e.By); err != nil {
			return err
		}
	}
	return nil
}

// Draft returns the receipt of an answer, for RecordDrafts, without a time.
func Draft(answer *retrieve.Answer) (*core.DraftReceipt, error) {
	receipt, query := answer.Receipt()
	if err := receipt.Validate(); err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	texts := append([]string{string(query)}, answer.Request.Rewrites...)
	return &core.DraftReceipt{Block: receipt.Encode(), Texts: texts}, nil
}

// RecordDrafts appends receipts to a session, oldest first, in one operation, and returns how many it appended. A
// missing session is created; it follows HEAD. It skips receipts that the session already has with the same time.
// The receipts come from outside of the repository: one that is damaged, or refers to a commit or nodes that the
// repository does not have, is an error wrapping state.ErrInvalid, and then nothing is recorded; see CheckDraft.
func RecordDrafts(ctx context.Context, r *core.Repo, name string, list []*core.DraftReceipt, by state.Stamp) (int, error) {
	ref, err := SessionRef(r.Own(name))
	if err != nil {
		return 0, err
	}
	for _, d := range list {
		if err := CheckDraft(ctx, r, d); err != nil {
			return 0, err
		}
	}
	added := 0
	_, err = r.Transact(ctx, by, func(t *core.Tx) error {
		added = 0
		last, err := newestRecord(ctx, t.View, t.Stage, name)
		has := err == nil
		if err != nil && !IsMissing(err) {
			return err
		}
		if has && last.Record.Ended {
			return state.Invalidf("session %q has ended", name)
		}
		var known map[recorded]bool
		if has && len(list) > 0 {
			if known, err = recordedSince(ctx, t.Stage, last, list[0].Time); err != nil {
				return err
			}
		}
		for _, d := range list {
			if known[recorded{d.CID(), d.Time}] {
				continue
			}
			if !has {
				first := &retrieve.Session{
					Name: r.Own(name), Follow: true, Agent: by.Agent, Task: by.Task, Actor: by.Author, Time: d.Time,
				}
				if err := appendSession(ctx, t, ref, first); err != nil {
					return err
				}
				last, has = SessionEntry{CID: ipld.Sum(ipld.DagCBOR, first.Encode()), Record: first}, true
			}
			if last, err = appendDraft(ctx, t, ref, last, d, by); err != nil {
				return err
			}
			added++
		}
		return nil
	})
	return added, err
}

type recorded struct {
	receipt ipld.CID
	at      graph.Time
}

// recordedSince returns the receipts of a session from its newest record back to a time.
func recordedSince(
	ctx context.Context, get store.Getter, e SessionEntry, since graph.Time,
) (map[recorded]bool, error) {
	known := make(map[recorded]bool)
	for e.Record.Time >= since {
		if e.Record.Receipt.Defined() {
			known[recorded{e.Record.Receipt, e.Record.Time}] = true
		}
		if !e.Record.Prev.Defined() {
			break
		}
		var err error
		if e, err = ReadSession(ctx, get, e.Record.Prev); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// appendDraft stores a receipt and the record of a session that adds it.
func appendDraft(
	ctx context.Context, t *core.Tx, ref graph.RefName, last SessionEntry, d *core.DraftReceipt, by state.Stamp,
) (SessionEntry, error) {
	for _, s := range d.Texts {
		t.Secrets.Note(nil, guard.Text("query", s))
		if err := t.Stage.Put(ctx, store.NewBlock(ipld.Raw, []byte(s))); err != nil {
			return last, err
		}
	}
	c, err := t.Put(ctx, d.Block)
	if err != nil {
		return last, err
	}
	next := *last.Record
	next.Seq, next.Prev = next.Seq+1, last.CID
	next.Actor, next.Time, next.Receipt = by.Author, d.Time, c
	if err := appendSession(ctx, t, ref, &next); err != nil {
		return last, err
	}
	return SessionEntry{CID: ipld.Sum(ipld.DagCBOR, next.Encode()), Record: &next}, nil
}

// CheckDraft returns an error wrapping state.ErrInvalid unless a receipt is complete and refers only to data of the
// repository.
func CheckDraft(ctx context.Context, r *core.Repo, d *core.DraftReceipt) error {
	rec, err := retrieve.DecodeReceipt(d.Block)
	if err == nil {
		err = rec.Validate()
	}
	if err == nil && len(d.Texts) == 0 {
		err = errors.New("no query")
	}
	if err == nil {
		_, err = rec.Request(d.Texts[0], d.Texts[1:]...)
	}
	if err != nil {
		return fmt.Errorf("%w: receipt %s: %w", state.ErrInvalid, d.CID(), err)
	}
	at, err := r.At(ctx, rec.Commits[0])
	if err != nil {
		return draftErr(d, err)
	}
	for _, it := range rec.Items {
		_, c, err := at.Node(ctx, it.ID)
		if errors.Is(err, store.ErrRedacted) {
			continue // erased since
		}
		if err == nil && c != it.Node {
			err = fmt.Errorf("node %s is another one in commit %s", it.ID, rec.Commits[0])
		}
		if err != nil {
			return draftErr(d, err)
		}
	}
	return nil
}

func draftErr(d *core.DraftReceipt, err error) error {
	if errors.Is(err, store.ErrCorrupt) {
		return err
	}
	return fmt.Errorf("%w: receipt %s: %w", state.ErrInvalid, d.CID(), err)
}
