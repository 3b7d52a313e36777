package pebble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

const (
	repo        = "/repo/.mnem"
	crashSeed   = 20
	tinyMem     = 32 << 10
	perCommit   = 4    // blocks of one operation
	crashBlock  = 3000 // bytes of each: every few commits flush a memtable
	reopenEvery = 15
)

// opBlocks returns the blocks of operation seq; the first is the operation itself.
func opBlocks(seq uint64) []store.Block {
	out := make([]store.Block, perCommit)
	for i := range out {
		out[i] = storetest.Block(int(seq)*perCommit+i, crashBlock)
	}
	return out
}

func opHead(seq uint64) store.Head {
	if seq == 0 {
		return store.Head{}
	}
	return store.Head{Seq: seq, Operation: opBlocks(seq)[0].CID}
}

// commitOp makes operation seq, with half of its blocks put before the commit.
func commitOp(s *Store, seq uint64) error {
	ctx := context.Background()
	blocks := opBlocks(seq)
	if err := s.Facts().Put(ctx, blocks[perCommit/2:]...); err != nil {
		return err
	}
	if err := s.Derived().Put(ctx, storetest.Block(int(seq), 700)); err != nil {
		return err
	}
	if err := s.Derived().SetCell(ctx, opHead(seq).Operation, blocks[1].CID); err != nil {
		return err
	}
	return s.Commit(ctx, opHead(seq-1), opHead(seq), blocks[:perCommit/2]...)
}

// workload makes operations up to last, closing and reopening the store now and then, and counts the acknowledged
// ones in acked.
func workload(fs vfs.FS, last uint64, acked *atomic.Uint64) error {
	opts := Options{FS: fs, Create: true, MemTableBytes: tinyMem}
	s, err := Open(repo, opts)
	if err != nil {
		return err
	}
	for seq := uint64(1); seq <= last; seq++ {
		if err := commitOp(s, seq); err != nil {
			return errors.Join(err, s.Close())
		}
		acked.Store(seq)
		if seq%reopenEvery == 0 {
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

// checkStore checks that s holds every operation up to its head, which is acked or the next one.
func checkStore(s *Store, acked uint64) (store.Head, error) {
	return checkOverlap(s, acked, acked+1)
}

// checkOverlap is checkStore for a store that may hold operations up to begun.
func checkOverlap(s *Store, acked, begun uint64) (head store.Head, err error) {
	ctx := context.Background()
	if head, err = s.Head(ctx); err != nil {
		return head, err
	}
	if head.Seq < acked || head.Seq > begun || head != opHead(head.Seq) {
		return head, fmt.Errorf("head %v after operation %d was acknowledged", head, acked)
	}
	for seq := uint64(1); seq <= head.Seq; seq++ {
		for _, b := range opBlocks(seq) {
			if _, err := s.Facts().Get(ctx, b.CID); err != nil {
				return head, fmt.Errorf("operation %d of %d: %w", seq, head.Seq, err)
			}
		}
	}
	err = s.Keys(ctx, func(e RawEntry) error {
		if e.Space == Unknown {
			return fmt.Errorf("unknown key %x", e.Key)
		}
		if e.Space == Facts || e.Space == Derived {
			return store.Block{CID: e.CID, Data: e.Value}.Verify()
		}
		return nil
	})
	return head, err
}

// checkRecovery opens the store left by a power cut, first for reading and then for writing, and checks it.
func checkRecovery(fs vfs.FS, acked uint64) error {
	return checkOverlapRecovery(fs, acked, acked+1)
}

// checkOverlapRecovery is checkRecovery for a store that may hold operations up to begun.
func checkOverlapRecovery(fs vfs.FS, acked, begun uint64) error {
	var before store.Head
	s, err := Open(repo, Options{FS: fs, ReadOnly: true})
	switch {
	case errors.Is(err, store.ErrNotFound) && acked == 0:
	case err != nil:
		return fmt.Errorf("reading: %w", err)
	default:
		before, err = checkOverlap(s, acked, begun)
		if err := errors.Join(err, s.Close()); err != nil {
			return fmt.Errorf("reading: %w", err)
		}
	}
	s, err = Open(repo, Options{FS: fs, Create: true, MemTableBytes: tinyMem})
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	head, err := checkOverlap(s, acked, begun)
	if err != nil {
		return fmt.Errorf("writing: %w", errors.Join(err, s.Close()))
	}
	if before != head {
		return fmt.Errorf("reading found head %v, writing %v", before, head)
	}
	slots, err := HeadFile(repo, fs)
	if err != nil || slots.Newest() != head {
		return fmt.Errorf("head file %v with head %v: %w", slots, head, err)
	}
	if err := commitOp(s, head.Seq+1); err != nil {
		return fmt.Errorf("going on: %w", err)
	}
	return s.Close()
}

// TestCrash cuts power at the changes of a workload, once losing everything unsynced and once a random part of it,
// and checks that every acknowledged operation is there.
func TestCrash(t *testing.T) {
	stride := effort.Pick(13, 7, 1)
	if effort.Race {
		stride = 23
	}
	rng := rand.New(rand.NewPCG(crashSeed, 0))
	var acked atomic.Uint64
	var fs *testkit.CrashFS
	points, kinds := 0, make(map[string]int)
	fs = testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if op.N%stride != 0 {
			return nil
		}
		points++
		kinds[op.Kind]++
		done := acked.Load() // before the clone: operations acknowledged by now must be in it
		for _, percent := range []int{0, rng.IntN(100)} {
			if err := checkRecovery(fs.Clone(percent, rng), done); err != nil {
				t.Errorf("seed %d, change %d (%s %s), %d%% of what was not synced: %v",
					crashSeed, op.N, op.Kind, op.Path, percent, err)
			}
		}
		return nil
	})
	must.OK(t, workload(fs, 40, &acked))
	t.Logf("%d changes, power cut at %d: %v", fs.Ops(), points, kinds)
	must.True(t, points >= 20 && acked.Load() == 40, "%d points tested, %d operations", points, acked.Load())
}

// TestFailingDisk makes every change from the k-th on fail, for many k: calls return with a suitable error, and
// acknowledged operations are there when the disk works again.
func TestFailingDisk(t *testing.T) {
	effort.Alone(t)
	const last = 18
	count := testkit.NewCrashFS(nil, nil)
	var acked atomic.Uint64
	must.OK(t, workload(count, last, &acked))
	stride := effort.Pick(17, 9, 1)
	for k := 1; k < count.Ops(); k += stride {
		acked.Store(0)
		var full atomic.Bool
		mem := vfs.NewCrashableMem()
		fs := testkit.NewCrashFS(mem, func(op testkit.Op) error {
			if op.N >= k && op.Kind != "remove" {
				full.Store(true)
				return syscall.ENOSPC
			}
			return nil
		})
		err := workload(fs, last, &acked)
		if full.Load() && err == nil && acked.Load() < last {
			t.Errorf("change %d: no error after %d operations", k, acked.Load())
		}
		must.True(t, err == nil || errors.Is(err, syscall.ENOSPC),
			"change %d: error %v does not name its cause", k, err)
		must.True(t, err == nil || !errors.Is(err, store.ErrCorrupt),
			"change %d: a full disk is told as damage: %v", k, err)
		must.OK(t, checkRecovery(mem, acked.Load()), "change ", k, ": after the disk works again")
	}
}

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
	must.True(t, points >= 20, "%d points tested", points)
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
			err := durable()
			must.True(t, err == nil, "%v", err)
		})
	}
	begin(2)
	<-entered
	for n := range uint64(others) {
		begin(3 + n)
	}
	must.Fail(t, must.Err(beginOp(s, 3)), store.ErrHeadMoved)
	must.Equal(t, must.Get(s.Head(t.Context()))(t), opHead(1), "head")
	close(release)
	wg.Wait()
	must.Equal(t, must.Get(s.Head(t.Context()))(t), opHead(2+others), "head")
	n := syncs.Load()
	must.True(t, n <= 3, "%d syncs of %d commits", n, 1+others)
}
