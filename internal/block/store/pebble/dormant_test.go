package pebble

import (
	"errors"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestDormantThatCannotWake fills the disk again while a dormant store is opened for writing: that stops the store,
// and each later call reports it. Reopening recovers.
func TestDormantThatCannotWake(t *testing.T) {
	const quota = 64 << 20
	var fills atomic.Bool
	q := testkit.NewQuotaFS(testkit.NewCrashFS(nil, func(testkit.Op) error {
		if fills.Load() {
			return syscall.ENOSPC
		}
		return nil
	}), quota)
	s := openFS(t, q, Options{Create: true})
	const acked = 3
	for seq := uint64(1); seq <= acked; seq++ {
		must.OK(t, commitOp(s, seq))
	}
	must.OK(t, s.Close())
	q.Grow(-q.Free())
	s = openFS(t, q, Options{})
	if err := commitOp(s, acked+1); !errors.Is(err, store.ErrNoRoom) || !s.dormant.Load() {
		t.Fatalf("a commit on a full disk: %v", err)
	}
	q.Grow(quota)
	fills.Store(true)
	if err := s.Room(t.Context()); !errors.Is(err, ErrStopped) { // the call that opens it
		t.Errorf("the disk fills up again: %v", err)
	}
	must.Fail(t, s.Room(t.Context()), ErrStopped)
	fills.Store(false)
	wantStopped(t, s, q, syscall.ENOSPC, acked)
}
