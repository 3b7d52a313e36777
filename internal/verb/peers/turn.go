package peers

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

// heldTurns has the writer's turns that wait for signatures, by the names given to callers. The zero value is empty.
type heldTurns struct {
	mu     sync.Mutex
	named  map[string]*core.HeldTurn
	closed bool
}

// close ends all turns; their callers cannot return.
func (t *heldTurns) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, turn := range t.named {
		turn.End()
	}
}

// during calls run with the turn that the previous run kept. If signatures are missing, it keeps the turn for the next
// run.
func (t *heldTurns) during(ctx context.Context, sign *verb.Signatures, run func(context.Context) error) error {
	if sign == nil || !sign.Again {
		return run(ctx)
	}
	turn := t.take(sign.Turn)
	err := run(core.WithTurn(ctx, turn))
	var unsigned *state.UnsignedError
	if errors.As(err, &unsigned) && turn.Holds() {
		unsigned.Turn = t.name(turn)
	}
	if unsigned == nil || unsigned.Turn == "" {
		turn.End()
	}
	return err
}

// take removes and returns a named turn. If it has ended, the result holds no turn.
func (t *heldTurns) take(name string) *core.HeldTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := t.named[name]
	if turn == nil {
		return &core.HeldTurn{Lease: verb.SignLease}
	}
	delete(t.named, name)
	return turn
}

// name keeps a turn under a new name until its lease ends. It returns "" if the owner is closing.
func (t *heldTurns) name(turn *core.HeldTurn) string {
	name := rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ""
	}
	if t.named == nil {
		t.named = make(map[string]*core.HeldTurn)
	}
	t.named[name] = turn
	time.AfterFunc(verb.SignLease, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.named, name)
	})
	return name
}
