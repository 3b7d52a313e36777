package care_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// forgetful is a store that loses the answers to commits: the commits are made.
type forgetful struct {
	*mem.Store
	lost bool
}

func (s *forgetful) Commit(ctx context.Context, old, next store.Head, add ...store.Block) error {
	err := s.Store.Commit(ctx, old, next, add...)
	if err == nil && s.lost {
		err = fmt.Errorf("commit operation %d: %w", next.Seq, store.ErrUnknown)
	}
	return err
}

// TestPurgeOfUnknownOutcome: the next opening finishes a purge whose commit was made but not confirmed.
func TestPurgeOfUnknownOutcome(t *testing.T) {
	ctx := t.Context()
	by := state.Stamp{Author: "a", Time: 1, Command: []string{"x"}}
	st := &forgetful{Store: mem.New()}
	r := must.Get(care.New(ctx, st, by, core.Options{}))(t)
	line := `{"node":{"key":"secret","type":"N","summary":"The word is heron."}}`
	must.Get(r.Commit(ctx, state.ReadChanges(strings.NewReader(line), "x"), core.CommitOptions{Stamp: by}))(t)
	snap := must.Get(r.Snapshot(ctx, "HEAD"))(t)
	id := must.Get(rank.Find(ctx, snap, "secret", nil))(t)
	_, block, err := snap.Node(ctx, id)
	must.OK(t, err)
	st.lost = true
	_, err = care.Purge(ctx, r, "secret", care.PurgeOptions{Stamp: by})
	must.Fail(t, err, store.ErrUnknown)
	st.lost = false
	must.Get(care.New(ctx, st, by, core.Options{}))(t)
	_, err = st.Facts().Get(ctx, block)
	must.Fail(t, err, store.ErrRedacted)
}
