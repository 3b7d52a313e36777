package core

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/state"
)

// HeldTurn keeps the writer's turn of a transaction that lacked signatures, for the next one of the same caller: that
// builds upon the same state, so that the signatures made by then fit its records. Others wait for it no longer
// than its lease. The zero value holds no turn. Safe for concurrent use.
type HeldTurn struct {
	Lease time.Duration // how long it holds an unused turn

	mu    sync.Mutex
	of    *Turns // whose turn it holds, nil for none
	timer *time.Timer
}

type heldTurnKey struct{}

// WithTurn returns a context whose transactions use the turn that h holds. They leave it with h, and so does one that
// lacks signatures.
func WithTurn(ctx context.Context, h *HeldTurn) context.Context {
	return context.WithValue(ctx, heldTurnKey{}, h)
}

func heldTurnOf(ctx context.Context) *HeldTurn {
	h, _ := ctx.Value(heldTurnKey{}).(*HeldTurn)
	return h
}

// Holds reports whether it holds a turn.
func (h *HeldTurn) Holds() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of != nil
}

// End gives the turn that it holds to the next writer.
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

// keep holds a turn that its caller has.
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

// use returns the turn to its caller, and reports whether it held one.
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

// give ends a turn: it goes to who holds it for the next transaction of the same caller, or to the next writer.
func (w *writers) give() {
	h := w.held
	if w.held = nil; h != nil {
		h.keep(&w.Turns)
		return
	}
	w.Turns.Give()
}

// hold has the turn under way held after a transaction that lacks signatures, if its context is for that. Other
// processes with the same store would not know of it.
func (w *writers) hold(ctx context.Context, err error) {
	var unsigned *state.UnsignedError
	if h := heldTurnOf(ctx); h != nil && w.shared == nil && errors.As(err, &unsigned) {
		w.held = h
	}
}
