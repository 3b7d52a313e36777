package pebble

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// beginOp begins operation seq.
func beginOp(s *Store, seq uint64) (durable func() error, err error) {
	return s.Begin(context.Background(), opHead(seq-1), opHead(seq), opBlocks(seq)...)
}

// overlapped makes operations up to last, one to five at a time. It counts the acknowledged ones in acked and all
// in begun.
func overlapped(fs vfs.FS, last uint64, rng *rand.Rand, acked, begun *atomic.Uint64) error {
	opts := Options{FS: fs, Create: true, MemTableBytes: tinyMem}
	s, err := Open(repo, opts)
	if err != nil {
		return err
	}
	for seq := uint64(1); seq <= last; {
		var waits []func() error
		var seqs []uint64
		for range 1 + rng.IntN(5) {
			begun.Store(seq)
			wait, err := beginOp(s, seq)
			if err != nil {
				return errors.Join(err, s.Close())
			}
			waits, seqs = append(waits, wait), append(seqs, seq)
			seq++
		}
		for _, i := range rng.Perm(len(waits)) {
			if err := waits[i](); err != nil {
				return err
			}
			acked.Store(max(acked.Load(), seqs[i]))
		}
		if rng.IntN(5) == 0 {
			if err := s.Close(); err != nil {
				return err
			}
			if s, err = Open(repo, opts); err != nil {
				return err
			}
		}
	}
	return s.Close()
}

// TestCrashOverlapping cuts power at the changes of overlapping commits, and once more during the recovery.
func TestCrashOverlapping(t *testing.T) {
	stride := effort.Pick(11, 5, 1)
	if effort.Race {
		stride = 31
	}
	rng := rand.New(rand.NewPCG(crashSeed, 2))
	cut := rand.New(rand.NewPCG(crashSeed, 3))
	var acked, begun atomic.Uint64
	var fs *testkit.CrashFS
	points := 0
	fs = testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if op.N%stride != 0 {
			return nil
		}
		points++
		done, most := acked.Load(), begun.Load()
		for _, percent := range []int{0, cut.IntN(100)} {
			image := fs.Clone(percent, cut)
			again, second := image, 0
			if points%4 == 0 {
				var inner *testkit.CrashFS
				inner = testkit.NewCrashFS(image, func(testkit.Op) error {
					if second++; second%7 == 0 {
						again = inner.Clone(cut.IntN(100), cut)
					}
					return nil
				})
				s, err := Open(repo, Options{FS: inner, Create: true, MemTableBytes: tinyMem})
				if err != nil {
					t.Errorf("change %d: open: %v", op.N, err)
					continue
				}
				must.OK(t, s.Close())
			}
			if err := checkOverlapRecovery(again, done, most); err != nil {
				t.Errorf("seed %d, change %d (%s %s), %d%% of what was not synced, %d changes later: %v",
					crashSeed, op.N, op.Kind, op.Path, percent, second, err)
			}
		}
		return nil
	})
	must.OK(t, overlapped(fs, 60, rng, &acked, &begun))
	t.Logf("%d changes, power cut at %d", fs.Ops(), points)
	must.Check(t, points >= 20, "%d points tested", points)
}

// TestCommitsShareSyncs begins many commits while one is made durable: they share one or two syncs of the log, and
// Head returns none of them before.
func TestCommitsShareSyncs(t *testing.T) {
	const others = 30
	var counting, holding atomic.Bool
	var syncs atomic.Int32
	entered, release := make(chan struct{}), make(chan struct{})
	fs := testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if op.Path == repo+"/"+headName && op.Kind == "syncdata" && counting.Load() {
			syncs.Add(1)
			if holding.CompareAndSwap(true, false) {
				close(entered)
				<-release
			}
		}
		return nil
	})
	s := openFS(t, fs, Options{Create: true})
	defer s.Close()
	must.OK(t, commitOp(s, 1))
	counting.Store(true)
	holding.Store(true)
	var wg sync.WaitGroup
	begin := func(seq uint64) {
		t.Helper()
		durable := must.Get(s.Begin(t.Context(), opHead(seq-1), opHead(seq)))(t)
		wg.Go(func() {
			if err := durable(); err != nil {
				t.Error(err)
			}
		})
	}
	begin(2)
	<-entered
	for n := range uint64(others) {
		begin(3 + n)
	}
	_, err := beginOp(s, 3)
	must.Fail(t, err, store.ErrHeadMoved)
	must.Equal(t, must.Get(s.Head(t.Context()))(t), opHead(1), "head")
	close(release)
	wg.Wait()
	must.Equal(t, must.Get(s.Head(t.Context()))(t), opHead(2+others), "head")
	if n := syncs.Load(); n > 3 {
		t.Errorf("%d syncs of %d commits", n, 1+others)
	}
}
