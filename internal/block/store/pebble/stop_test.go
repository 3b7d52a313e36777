package pebble

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/ipld"
)

// wantStopped checks that every call on a stopped store reports it, that the store can be closed, and that every
// acknowledged operation is there afterwards.
func wantStopped(t *testing.T, s *Store, fs vfs.FS, cause error, acked uint64) {
	t.Helper()
	ctx := context.Background()
	b := opBlocks(1)[0]
	_, gerr := s.Facts().Get(ctx, b.CID)
	_, herr := s.Head(ctx)
	for name, err := range map[string]error{
		"Get": gerr, "Head": herr, "Put": s.Facts().Put(ctx, b),
		"Commit":  s.Commit(ctx, opHead(acked), opHead(acked+1)),
		"Iterate": s.Facts().Iterate(ctx, ipld.CID{}, func(store.Block) error { return nil }),
	} {
		must.Fail(t, err, ErrStopped, name, ": error")
		must.Fail(t, err, cause, name, ": error")
		must.True(t, !errors.Is(err, store.ErrUnknown), "%s: %v, and nothing was begun", name, err)
	}
	err := s.Close()
	must.True(t, err == nil || errors.Is(err, ErrStopped), "Close: %v", err)
	must.OK(t, checkRecovery(fs, acked))
}

func TestStopAfterFatal(t *testing.T) {
	fs := vfs.NewMem()
	s := openFS(t, fs, Options{Create: true})
	must.OK(t, commitOp(s, 1))
	l := &logger{fail: s.fs.fail, logf: s.opts.Logf}
	l.Fatalf("pebble: fatal commit error: %v", syscall.EIO)
	l.Fatalf("later and of no interest: %d", 1)
	wantStopped(t, s, fs, syscall.EIO, 1)
}

func TestStopAfterPanic(t *testing.T) {
	fs := vfs.NewMem()
	s := openFS(t, fs, Options{Create: true})
	must.OK(t, commitOp(s, 1))
	err := s.fs.fail.guard(func() error { panic(syscall.EIO) })
	must.True(t, errors.Is(err, syscall.EIO) && strings.Contains(err.Error(), "panic"), "guarded panic: %v", err)
	wantStopped(t, s, fs, syscall.EIO, 1)
}

// TestStopByKind fails one change of each kind of file once: the store stops there, and the lock is free after
// Close. If the failed commit is there after all, its error says that its outcome is unknown.
func TestStopByKind(t *testing.T) {
	tests := []struct{ kind, suffix string }{
		{"write", ".log"}, {"syncdata", ".log"}, {"create", ".log"},
		{"create", ".sst"}, {"write", ".sst"}, {"syncdata", ".sst"}, {"sync", "/db"},
		{"syncdata", "/head"}, {"writeat", "/head"}, {"write", "MANIFEST"}, {"sync", "MANIFEST"},
	}
	for _, tt := range tests {
		t.Run(tt.kind+" "+tt.suffix, func(t *testing.T) {
			var armed, hit atomic.Bool
			mem := vfs.NewCrashableMem()
			fs := testkit.NewCrashFS(mem, func(op testkit.Op) error {
				match := op.Kind == tt.kind && strings.Contains(op.Path, tt.suffix)
				if match && armed.Load() && hit.CompareAndSwap(false, true) {
					return syscall.EIO
				}
				return nil
			})
			s := openFS(t, fs, Options{Create: true, MemTableBytes: tinyMem})
			acked := uint64(2)
			for seq := uint64(1); seq <= acked; seq++ {
				must.OK(t, commitOp(s, seq))
			}
			armed.Store(true)
			var err error
			for err == nil && acked < 60 {
				if err = commitOp(s, acked+1); err == nil {
					acked++
				}
			}
			must.Require(t, hit.Load() || err != nil, "no %s of %s in 60 operations", tt.kind, tt.suffix)
			disk := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
			wantStopped(t, s, mem, syscall.EIO, acked)
			wantTold(t, disk, acked, err)
		})
	}
}

// wantTold checks that the error of a commit that was made after all says that its outcome is unknown.
func wantTold(t *testing.T, fs vfs.FS, acked uint64, err error) {
	t.Helper()
	s := openFS(t, fs, Options{})
	head, headErr := s.Head(t.Context())
	made := head.Seq > acked
	must.True(t, headErr == nil && (!made || errors.Is(err, store.ErrUnknown)),
		"operation %d: made %v, by the error %v; %v", acked+1, made, err, headErr)
	must.OK(t, s.Close())
}

// TestCallbackPanic lets a panic of Iterate's callback through, and the store continues.
func TestCallbackPanic(t *testing.T) {
	ctx := context.Background()
	s := openMem(t)
	must.OK(t, commitOp(s, 1))
	func() {
		defer func() {
			r := recover()
			must.True(t, r == "mine", "recovered %v", r)
		}()
		_ = s.Facts().Iterate(ctx, ipld.CID{}, func(store.Block) error { panic("mine") })
	}()
	must.Fail(t, must.Err(s.Facts().Get(ctx, storetest.Block(1, 8).CID)), store.ErrNotFound)
	must.OK(t, s.Close())
}

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
	err := commitOp(s, acked+1)
	must.Require(t, errors.Is(err, store.ErrNoRoom) && s.dormant.Load(), "a commit on a full disk: %v", err)
	q.Grow(quota)
	fills.Store(true)
	if err := s.Room(t.Context()); !errors.Is(err, ErrStopped) { // the call that opens it
		t.Errorf("the disk fills up again: %v", err)
	}
	must.Fail(t, s.Room(t.Context()), ErrStopped)
	fills.Store(false)
	wantStopped(t, s, q, syscall.ENOSPC, acked)
}
