package core_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestHeldTurn has a transaction without its signature keep the turn for the next one of its context: another writer that
// asked before that is after it, and the state that it builds upon is the same.
func TestHeldTurn(t *testing.T) {
	r := openDecide(t)
	ada := secret(t, 1)
	turn := &core.HeldTurn{Lease: time.Hour}
	ctx := core.WithTurn(t.Context(), turn)
	made := state.Signatures{}
	by := decideBy
	by.Sign = made.Sign
	commit := func(ctx context.Context, by state.Stamp, key string) (*core.CommitResult, error) {
		return r.Decide(ctx, core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: by}, Long: true}, addNode(ctx, key))
	}
	_, err := commit(t.Context(), by, "signed")
	var lacks *state.UnsignedError
	if !errors.As(err, &lacks) || turn.Holds() {
		t.Fatalf("%v, holds %t", err, turn.Holds())
	}
	if _, err = commit(ctx, by, "signed"); !errors.As(err, &lacks) || !turn.Holds() {
		t.Fatalf("%v, holds %t", err, turn.Holds())
	}
	var wg sync.WaitGroup
	var second *core.CommitResult
	wg.Go(func() {
		var err error
		if second, err = commit(t.Context(), decideBy, "unsigned"); err != nil {
			t.Error(err)
		}
	})
	queued(&r.Writer.Turns, 1)
	signature := must.Get(ada.Sign(lacks.Records[0]))(t)
	made.Add(lacks.Records[0], signature)
	first, err := commit(ctx, by, "signed")
	if err != nil || !turn.Holds() {
		t.Fatalf("%v, holds %t", err, turn.Holds())
	}
	turn.End()
	turn.End() // it holds none any more
	wg.Wait()
	must.Check(t, len(second.Parents) == 1 && second.Parents[0] == first.Commit,
		"the second is upon %v, want %v", second.Parents, first.Commit)
	must.Check(t, r.Writer.Turns.Try(), "a turn was not given back")
	r.Writer.Turns.Give()
}

// TestHeldTurnEnds lets the lease of a turn run out.
func TestHeldTurnEnds(t *testing.T) {
	r := openDecide(t)
	turn := &core.HeldTurn{Lease: time.Millisecond}
	by := decideBy
	by.Sign = state.Signatures{}.Sign
	opt := core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: by}}
	var lacks *state.UnsignedError
	if _, err := r.Decide(core.WithTurn(t.Context(), turn), opt, addNode(t.Context(), "x")); !errors.As(err, &lacks) {
		t.Fatal(err)
	}
	opt.Sign = nil
	if _, err := r.Decide(t.Context(), opt, addNode(t.Context(), "y")); err != nil || turn.Holds() {
		t.Errorf("%v, holds %t", err, turn.Holds())
	}
}
