package core

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// writers lets the writers of this process in one at a time, in the order in which they ask. A commit gives its turn
// away before it is durable, so that the next one can be made while the disk is waited for. A writer that cannot build
// upon that, as it reads the newest operation from the store, removes blocks, or moves refs by what it read before,
// waits in Lock until all is durable. The zero value is ready.
type writers struct {
	Turns   Turns
	begun   atomic.Pointer[store.Head] // the newest operation of this process, durable or not
	Waiting sync.WaitGroup             // for operations to become durable; added to within a turn
	shared  store.Shared               // nil for a store that no other process writes to
	end     func()                     // of the turn among processes; set within a turn
	held    *HeldTurn                  // takes the turn when it ends, nil for none; set within a turn
}

// Lock waits until no one writes and all writes are durable. If it returns an error, that of the
// context, Unlock must not be called.
func (w *writers) Lock(ctx context.Context) error {
	if err := w.take(ctx); err != nil {
		return err
	}
	w.Waiting.Wait()
	return w.begin(ctx)
}

// Unlock ends the turn that Lock took, among processes and in this one.
func (w *writers) Unlock() {
	if w.shared != nil {
		w.end()
	}
	w.give()
}

// begin begins a turn among processes, or gives the turn back in this one.
func (w *writers) begin(ctx context.Context) (err error) {
	if w.shared == nil {
		return nil
	}
	if w.end, err = w.shared.Turn(ctx); err != nil {
		w.give()
	}
	return err
}

// newest returns the newest operation that was begun: within a turn, the one to build upon.
func (w *writers) newest(ctx context.Context, st store.Store) (store.Head, error) {
	head, err := st.Head(ctx)
	if begun := w.begun.Load(); w.shared == nil && begun != nil && begun.Seq > head.Seq {
		head = *begun
	}
	return head, err
}

// pipeline is Transact for an fn that reads refs through the Tx alone: it does not wait until the
// operations before it are durable, nor lets others wait until its own is.
func (r *Repo) pipeline(ctx context.Context, by state.Stamp, fn func(*Tx) error) (ipld.CID, error) {
	if r.SharedStore != nil {
		return r.Transact(ctx, by, fn)
	}
	c, durable, err := r.inTurn(ctx, by, fn)
	if err != nil {
		return c, err
	}
	err = durable()
	r.Writer.Waiting.Done()
	if err == nil && !c.Defined() { // as others left it, who may not have heard from the disk yet
		err = r.Writer.settle(ctx, r.Store)
	}
	return c, err
}

// settle waits until all that was begun is durable.
func (w *writers) settle(ctx context.Context, st store.Store) error {
	if err := w.Lock(ctx); err != nil {
		return err
	}
	defer w.Unlock()
	head, err := st.Head(ctx)
	if begun := w.begun.Load(); err == nil && begun != nil && head.Seq < begun.Seq {
		err = fmt.Errorf("operation %d was not recorded", begun.Seq)
	}
	return err
}

func (r *Repo) inTurn(
	ctx context.Context, by state.Stamp, fn func(*Tx) error,
) (c ipld.CID, durable func() error, err error) {
	if err := r.Writer.take(ctx); err != nil {
		return ipld.CID{}, nil, err
	}
	defer r.Writer.give()
	if c, durable, err = r.Begin(ctx, by, fn); err == nil {
		r.Writer.Waiting.Add(1)
	}
	return c, durable, err
}

// Turns is a first-come, first-served semaphore: a release hands the slot to the caller that has waited longest,
// so that a later caller cannot take it. The zero value is ready.
type Turns struct {
	Most int // at a time, set before use; 0 for one

	Mu      sync.Mutex
	Taken   int
	Waiting list.List // of chan struct{}, closed when the turn is theirs
}

// takeFree takes a free slot, if there is one. Its caller holds mu.
func (q *Turns) takeFree() bool {
	if q.Taken >= max(1, q.Most) {
		return false
	}
	q.Taken++
	return true
}

// Take waits for the turn, which Give must end, or returns the error of a context that ends before.
func (q *Turns) Take(ctx context.Context) error {
	q.Mu.Lock()
	if q.takeFree() {
		q.Mu.Unlock()
		return nil
	}
	given := make(chan struct{})
	place := q.Waiting.PushBack(given)
	q.Mu.Unlock()
	select {
	case <-given:
		return nil
	case <-ctx.Done():
	}
	q.Mu.Lock()
	select {
	case <-given: // both at once
		q.Mu.Unlock()
		q.Give()
	default:
		q.Waiting.Remove(place)
		q.Mu.Unlock()
	}
	return ctx.Err()
}

// Try takes a free slot without waiting, and reports whether it did.
func (q *Turns) Try() bool {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	return q.takeFree()
}

// Give hands the turn to the caller that has waited longest.
func (q *Turns) Give() {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	next := q.Waiting.Front()
	if next == nil {
		q.Taken--
		return
	}
	close(q.Waiting.Remove(next).(chan struct{}))
}

// HeldTurn keeps the writer's turn of a transaction that lacked signatures for the next transaction of the same caller.
// That transaction builds on the same state, so the signatures fit its records. Other writers wait at most Lease. The
// zero value holds no turn. Safe for concurrent use.
type HeldTurn struct {
	Lease time.Duration // how long it holds an unused turn

	mu    sync.Mutex
	of    *Turns // the semaphore that the turn belongs to, nil for none
	timer *time.Timer
}

type heldTurnKey struct{}

// WithTurn returns a context whose transactions use the turn that h holds, and return it to h. A transaction that lacks
// signatures leaves its own turn with h.
func WithTurn(ctx context.Context, h *HeldTurn) context.Context {
	return context.WithValue(ctx, heldTurnKey{}, h)
}

func heldTurnOf(ctx context.Context) *HeldTurn {
	h, _ := ctx.Value(heldTurnKey{}).(*HeldTurn)
	return h
}

// Holds reports whether h holds a turn.
func (h *HeldTurn) Holds() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of != nil
}

// End passes the turn to the next writer.
func (h *HeldTurn) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end()
}

func (h *HeldTurn) end() {
	if h.of != nil {
		h.timer.Stop()
		h.of.Give()
		h.of = nil
	}
}

// keep takes over the caller's turn.
func (h *HeldTurn) keep(q *Turns) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of = q
	var timer *time.Timer
	timer = time.AfterFunc(h.Lease, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.timer == timer { // otherwise the turn was used since
			h.end()
		}
	})
	h.timer = timer
}

// use passes the turn to the caller, and reports whether h held one.
func (h *HeldTurn) use(q *Turns) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of != q {
		return false
	}
	h.timer.Stop()
	h.of, h.timer = nil, nil
	return true
}

// take takes the turn, which give must end.
func (w *writers) take(ctx context.Context) error {
	if h := heldTurnOf(ctx); h != nil && h.use(&w.Turns) {
		w.held = h
		return nil
	}
	return w.Turns.Take(ctx)
}

// give ends a turn. It goes to the HeldTurn that keeps it for the same caller, if any, else to the next writer.
func (w *writers) give() {
	h := w.held
	if w.held = nil; h != nil {
		h.keep(&w.Turns)
		return
	}
	w.Turns.Give()
}

// hold keeps the current turn after a transaction that lacks signatures, if its context has a HeldTurn. A shared store
// has none: its other processes would not see it.
func (w *writers) hold(ctx context.Context, err error) {
	var unsigned *state.UnsignedError
	if h := heldTurnOf(ctx); h != nil && w.shared == nil && errors.As(err, &unsigned) {
		w.held = h
	}
}

// bell tells watchers that the operation head moved. The zero value is ready.
type bell struct {
	mu sync.Mutex
	ch chan struct{} // closed by the next ring; nil without listeners
}

// Listen returns a channel that the next ring closes. All who listen before it share the channel.
func (b *bell) Listen() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
