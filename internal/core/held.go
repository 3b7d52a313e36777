package core

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/state"
)

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
