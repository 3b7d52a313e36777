package repo

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// maxTogether is how many receipts one operation records at most, so that a turn stays short.
const maxTogether = 64

// Record appends the receipt of an answer to a session, whichever commit the answer is from, and
// returns the receipt's CID once it is durable. The session DefaultSession is made when first needed.
// It returns a *NotFoundError where there is no other session of that name, and an error wrapping
// ErrInvalid where it has ended. Receipts that wait for their turn together, of one or of several
// sessions, are written as one operation, in the order in which they were asked for; what is wrong
// with one of them fails that one alone.
func (r *Repo) Record(
	ctx context.Context, name string, answer *retrieve.Answer, by Stamp,
) (ipld.CID, error) {
	if _, err := r.Session(ctx, name); name == DefaultSession && isMissing(err) {
		opt := SessionOptions{Stamp: by, Follow: true}
		if _, err := r.StartSession(ctx, name, opt); err != nil && !errors.Is(err, fs.ErrExist) {
			return ipld.CID{}, err
		}
	}
	draft, err := Draft(answer)
	if err != nil {
		return ipld.CID{}, err
	}
	draft.Time = by.Time
	e := &recordEntry{session: name, draft: draft, by: by, done: make(chan struct{})}
	if r.shared == nil {
		err = r.recordTogether(ctx, e)
	} else {
		_, err = r.transact(ctx, by, func(t *tx) error { return t.appendEntries(ctx, []*recordEntry{e}) })
	}
	if err != nil {
		return ipld.CID{}, err
	}
	return draft.CID(), nil
}

// recordEntry is a receipt that waits to be recorded.
type recordEntry struct {
	session string
	draft   *DraftReceipt
	by      Stamp
	taken   bool          // out of the queue; guarded by the queue
	done    chan struct{} // closed when it is durable or has failed
	err     error         // set before that
}

func (e *recordEntry) wait() error {
	<-e.done
	return e.err
}

// fits reports whether one operation can tell of two entries: it names one actor and one command, and
// what HEAD must lead to is a matter of each.
func (e *recordEntry) fits(o *recordEntry) bool {
	return e.by.Head == nil && o.by.Head == nil && e.by.Author == o.by.Author &&
		slices.Equal(e.by.Secrets.Allow, o.by.Secrets.Allow) && slices.Equal(e.by.Command, o.by.Command)
}

// recordQueue is the receipts that wait for their turn. The zero value is ready.
type recordQueue struct {
	mu      sync.Mutex
	waiting []*recordEntry // in the order in which they were asked for
}

func (q *recordQueue) add(e *recordEntry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, e)
}

// withdraw takes an entry back, and reports false where a turn has taken it.
func (q *recordQueue) withdraw(e *recordEntry) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(w *recordEntry) bool { return w == e })
	return !e.taken
}

// take returns the oldest entry of e's session and what one operation can record with it, in the order in which they
// were asked for, none of them before an older one of its session that must wait; nothing where another turn has taken
// e. Where e is not among them it waits still.
func (q *recordQueue) take(e *recordEntry) []*recordEntry {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.taken {
		return nil
	}
	first := e
	for _, w := range q.waiting {
		if w.session == e.session {
			first = w
			break
		}
	}
	var taken []*recordEntry
	room := maxTogether - 1        // beside the first
	waits := make(map[string]bool) // sessions of which one must wait
	q.waiting = slices.DeleteFunc(q.waiting, func(w *recordEntry) bool {
		if w != first {
			if room == 0 || waits[w.session] || !w.fits(first) {
				waits[w.session] = true
				return false
			}
			room--
		}
		w.taken, taken = true, append(taken, w)
		return true
	})
	return taken
}

// recordTogether records an entry, with what waits beside it, and returns when it is durable.
func (r *Repo) recordTogether(ctx context.Context, e *recordEntry) error {
	r.records.add(e)
	if err := r.writer.turns.take(ctx); err != nil {
		if r.records.withdraw(e) {
			return err
		}
		return e.wait()
	}
	// The others do not fail where the caller of this one gives up.
	for _, end := range r.recordInTurn(context.WithoutCancel(ctx), e) {
		end()
	}
	return e.wait()
}

// recordInTurn begins what is recorded with an entry, after older ones of its session that do not fit it, and gives the
// turn away.
func (r *Repo) recordInTurn(ctx context.Context, e *recordEntry) (ends []func()) {
	begun := false
	defer func() {
		if !begun { // it panics: what it has begun before ends
			r.records.withdraw(e)
			for _, end := range ends {
				end()
			}
		}
	}()
	defer r.writer.turns.give()
	for taken := r.records.take(e); taken != nil; taken = r.records.take(e) {
		ends = append(ends, r.beginTaken(ctx, taken)...)
	}
	begun = true
	return ends
}

// beginTaken begins entries that a turn has taken.
func (r *Repo) beginTaken(ctx context.Context, taken []*recordEntry) []func() {
	begun := false
	defer func() {
		if !begun { // it panics, and the others do not wait for ever
			for _, e := range taken {
				e.err = errors.New("the operation that was to record it failed")
				close(e.done)
			}
		}
	}()
	ends := r.beginRecords(ctx, taken)
	begun = true
	return ends
}

// beginRecords makes one operation of entries, or one of each where that fails. What it returns waits
// until they are durable, and must be called after the turn.
func (r *Repo) beginRecords(ctx context.Context, list []*recordEntry) (ends []func()) {
	_, durable, err := r.begin(ctx, list[0].by, func(t *tx) error { return t.appendEntries(ctx, list) })
	if err != nil && len(list) > 1 {
		for i := range list {
			ends = append(ends, r.beginRecords(ctx, list[i:i+1])...)
		}
		return ends
	}
	if err == nil {
		r.writer.waiting.Add(1)
	}
	return []func(){func() {
		if err == nil {
			err = durable()
			r.writer.waiting.Done()
		}
		for _, e := range list {
			e.err = err
			close(e.done)
		}
	}}
}

// appendEntries appends receipts to their sessions.
func (t *tx) appendEntries(ctx context.Context, list []*recordEntry) error {
	last := make(map[string]SessionEntry)
	for _, e := range list {
		ref, err := sessionRef(e.session)
		if err != nil {
			return err
		}
		rec, ok := last[e.session]
		if !ok {
			if rec, err = newestRecord(ctx, t.view, t.stage, e.session); err != nil {
				return err
			}
		}
		if rec.Record.Ended {
			return invalidf("session %q has ended", e.session)
		}
		if last[e.session], err = t.appendDraft(ctx, ref, rec, e.draft, e.by); err != nil {
			return err
		}
	}
	return nil
}
