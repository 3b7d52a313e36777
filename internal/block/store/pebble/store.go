package pebble

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// maxBatch is how many bytes of blocks go into one batch. A larger commit writes all but the last batch
	// unsynced before it moves the head; as logs are ordered, they become durable with it.
	maxBatch = 4 << 20
	// batchSlack is space for the block that exceeds a batch; few are longer.
	batchSlack = 64 << 10
	// closeTimeout is how long a stopped store waits for Pebble to close.
	closeTimeout = 2 * time.Second
	// sample is how many blocks of a write are looked up one by one before the rest may be assumed to be new.
	sample = 4
)

// Store is a store on disk. Safe for concurrent use.
type Store struct {
	database
	calls
	dirty atomic.Bool // whether anything was written
	// flushed is set by Close when everything written is in tables, and nothing only in logs.
	flushed bool

	facts   blocks
	derived derived

	commits sync.Mutex   // held while a commit is applied
	begun   []store.Head // under commits: applied, but not known to be durable, ascending
	format  int64        // under commits, except while opening: of the store, 0 before the first operation

	syncs    sync.Mutex // held while commits are made durable; commits may be locked within
	headFile slotFile   // under syncs
	marker   slotFile   // under syncs
	marked   bool       // whether the marker exists: under syncs
	vouched  store.Head // the newest that the marker names: under syncs
	headMu   sync.Mutex
	head     store.Head // the newest durable one: under headMu; changed under syncs and commits too

	scratches atomic.Int64 // files that Scratch made

	eraseMu sync.RWMutex // read-held by writes of blocks
	// redacted holds the redactions, and whether each was open when it was recorded. Copied on write.
	redacted atomic.Pointer[map[ipld.CID]bool]
}

// database is the database of a store, and the room that it has on its disk.
type database struct {
	dir    string
	opts   Options
	fs     *failFS
	lock   *pdb.Lock
	db     *pdb.DB
	opened chan *pdb.DB // carries db out of the guarded call of openDB, even if that was abandoned

	gate   *gate      // of compactions of db
	roomMu sync.Mutex // held while free space is checked for a change
	// reserve is the size of the file reserve. Changed under roomMu.
	reserve atomic.Uint64
	// dormant is whether the database is open for reading only because the disk lacks space to open it for writing.
	// Changed while no call is in progress.
	dormant  atomic.Bool
	replayed uint64 // bytes of the logs that a dormant database replayed
}

var (
	_ store.Store     = (*Store)(nil)
	_ store.Scratcher = (*Store)(nil)
)

func newStore(dir string, fs *failFS, opts Options) *Store {
	s := &Store{database: database{dir: dir, opts: opts, fs: fs, opened: make(chan *pdb.DB, 1)}}
	s.headFile = slotFile{slotKind: headSlots, fs: fs, dir: dir}
	s.marker = slotFile{slotKind: markerSlots, fs: fs, dir: dir}
	s.calls.fail, s.idle.L = fs.fail, &s.callsMu
	s.facts = blocks{s: s, space: Facts}
	s.derived = derived{blocks{s: s, space: Derived}}
	return s
}

// Facts returns the blocks that operations reach.
func (s *Store) Facts() store.Blocks { return &s.facts }

// Derived returns the blocks and cells that can be rebuilt.
func (s *Store) Derived() store.Derived { return &s.derived }

// SetOwner replaces the content of the owner file, for a server that has opened its socket.
func (s *Store) SetOwner(o Owner) error {
	if err := s.enter(context.Background()); err != nil {
		return err
	}
	defer s.exit()
	if !s.reading() {
		s.tidy() // a server has the time
	}
	return writeOwner(s.fs, s.dir, o)
}

// enterWrite begins a call that writes.
func (s *Store) enterWrite(ctx context.Context) error {
	if s.opts.ReadOnly {
		return store.ErrReadOnly
	}
	if err := s.revive(ctx); err != nil {
		return err
	}
	return s.enter(ctx)
}

// Head returns the newest acknowledged operation.
func (s *Store) Head(ctx context.Context) (store.Head, error) {
	if err := s.enter(ctx); err != nil {
		return store.Head{}, err
	}
	defer s.exit()
	return s.durable(), nil
}

// durable returns the newest head that is durable.
func (s *Store) durable() store.Head {
	s.headMu.Lock()
	defer s.headMu.Unlock()
	return s.head
}

// readHead reads the head record; an empty store has none.
func (s *Store) readHead() (record, error) {
	value, err := s.get(headKey)
	if errors.Is(err, pdb.ErrNotFound) {
		return record{}, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("read head record: %w", err)
	}
	return decodeRecord(value)
}

// get returns a copy of the value under key, or pdb.ErrNotFound.
func (s *database) get(key []byte) (value []byte, err error) {
	defer func() { rescue(recover(), &err) }()
	v, closer, err := s.db.Get(key)
	if err != nil {
		return nil, damaged(err)
	}
	value = append([]byte{}, v...)
	return value, closer.Close()
}

// damaged returns err, of a read, wrapping store.ErrCorrupt if it indicates damage: a failed checksum, or a missing
// or truncated file.
func damaged(err error) error {
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt(err)
	}
	return marked(err)
}

// Commit stores blocks and moves the head. Up to 4 MiB of blocks are stored in the same step as the head; if there
// are more, a crash may leave some of them without the head.
func (s *Store) Commit(ctx context.Context, old, next store.Head, add ...store.Block) error {
	durable, err := s.Begin(ctx, old, next, add...)
	if err != nil {
		return err
	}
	return durable()
}

// Begin applies a commit.
func (s *Store) Begin(ctx context.Context, old, next store.Head, add ...store.Block) (durable func() error, err error) {
	if err := s.enterWrite(ctx); err != nil {
		return nil, err
	}
	err = s.room(ctx, bytesOf(add)+headBytes)
	if err != nil {
		err = fmt.Errorf("commit operation %d: %w", next.Seq, err)
	} else {
		err = s.begin(old, next, add)
	}
	if err != nil {
		s.exit()
		return nil, err
	}
	return func() error {
		defer s.exit()
		if err := s.sync(next); err != nil {
			return commitError(next, err)
		}
		return nil
	}, nil
}

// begin applies a commit unsynced.
func (s *Store) begin(old, next store.Head, add []store.Block) error {
	if err := store.Verify(add); err != nil {
		return err
	}
	s.commits.Lock()
	defer s.commits.Unlock()
	rec := record{Head: next, previous: old.Operation, after: s.durable()}
	newest := rec.after
	if n := len(s.begun); n > 0 {
		newest = s.begun[n-1]
	}
	if newest != old {
		return fmt.Errorf("commit operation %d: %w", next.Seq, store.ErrHeadMoved)
	}
	if err := old.CheckNext(next); err != nil {
		return err
	}
	err := s.fs.fail.guard(func() error {
		return s.write(Facts, add, func(b *pdb.Batch) error {
			if err := b.Set(headKey, rec.encode(), nil); err != nil {
				return err
			}
			if s.format < FormatVersion {
				if err := b.Set(formatKey, encodeFormat(FormatVersion), nil); err != nil {
					return err
				}
			}
			return s.apply(b)
		})
	})
	if err == nil {
		err = s.fs.fail.err()
	}
	if err != nil {
		return commitError(next, err)
	}
	s.format = FormatVersion
	s.begun = append(s.begun, next)
	return nil
}

// sync makes a commit durable, together with those begun by then, except one whose slot holds the newest durable
// head: a torn write must not hit that slot.
func (s *Store) sync(head store.Head) error {
	s.syncs.Lock()
	defer s.syncs.Unlock()
	for {
		old := s.durable()
		if old.Seq >= head.Seq {
			return nil
		}
		s.commits.Lock()
		last := len(s.begun) - 1
		if s.begun[last].Seq%2 == old.Seq%2 && old.Seq > 0 {
			last--
		}
		next := s.begun[last]
		s.commits.Unlock()
		err := s.fs.fail.guard(func() error {
			// Logs become durable in order, so a durable record implies all before it.
			if err := s.db.LogData(nil, pdb.Sync); err != nil || s.fs.fail.err() != nil {
				return err
			}
			if err := s.headFile.write(next); err != nil {
				return err
			}
			return s.mark(next)
		})
		if err == nil {
			err = s.fs.fail.err()
		}
		if err != nil {
			s.fs.fail.trip(err) // commits begun are in doubt, and none may build on them
			return s.fs.fail.err()
		}
		s.became(next, last+1)
	}
}

// became records that a head, and with it the first n begun commits, is durable.
func (s *Store) became(head store.Head, n int) {
	s.commits.Lock()
	defer s.commits.Unlock()
	s.begun = append(s.begun[:0], s.begun[n:]...)
	s.headMu.Lock()
	defer s.headMu.Unlock()
	s.head = head
}

// headBytes bounds the head record and the format record.
const headBytes = 512

// bytesOf returns how many bytes blocks take in a log.
func bytesOf(blocks []store.Block) int {
	n := 0
	for i := range blocks {
		n += blockKeyLen + len(blocks[i].Data)
	}
	return n
}

// write puts blocks into batches, in key order, applies all but the last one unsynced, and passes that one to last.
// It skips erased blocks, and if any of the first blocks is already stored, all that are.
func (s *Store) write(space Space, add []store.Block, last func(*pdb.Batch) error) error {
	s.eraseMu.RLock()
	defer s.eraseMu.RUnlock()
	s.dirty.Store(true)
	batch := s.newBatch(add)
	if len(add) > 0 {
		// One iterator moving forward finds present blocks several times faster than single Gets.
		it, err := s.db.NewIter(nil)
		if err != nil {
			return damaged(err)
		}
		if batch, err = s.fill(batch, it, space, add); err != nil {
			return errors.Join(err, it.Close())
		}
		_ = it.Close() // Close repeats the errors of damaged places, which fill has rewritten
	}
	return last(batch)
}

// newBatch returns a batch with capacity for blocks, up to the size of a batch. Growing by doubling would leave six
// bytes of garbage for each one stored.
func (s *database) newBatch(add []store.Block) *pdb.Batch {
	const rest, overhead = 256, 8 // head, format and cell records; lengths of one block
	size := rest
	for _, b := range add {
		size += blockKeyLen + overhead + len(b.Data)
	}
	return s.db.NewBatchWithSize(min(size, maxBatch+batchSlack), pdb.WithMaxRetainedSizeBytes(2*(maxBatch+batchSlack)))
}

// fill adds absent blocks to batch, and whenever it is full applies it and starts a new one. Keys are hashes, so
// the first ones in key order are a fair sample: if none of them is stored, few others are, and the rest is written
// without a lookup, which would read a part of a table for each. Blocks written twice only take space until they are
// compacted.
func (s *Store) fill(batch *pdb.Batch, it *pdb.Iterator, space Space, add []store.Block) (*pdb.Batch, error) {
	redacted := *s.redacted.Load()
	found := false
	var last ipld.CID
	for i, n := range keyOrder(add) {
		b := &add[n]
		open, known := redacted[b.CID]
		if known && !open || b.CID == last {
			continue
		}
		last = b.CID
		key := space.key(b.CID)
		if (found || i < sample) && holds(it, key, b.Data) {
			found = true
			continue
		}
		if batch.Len() > maxBatch {
			if err := s.apply(batch); err != nil {
				return nil, err
			}
			batch.Reset()
		}
		if err := batch.Set(key, b.Data, nil); err != nil {
			return nil, err
		}
		if open && space == Facts {
			if err := batch.Delete(Gaps.key(b.CID), nil); err != nil {
				return nil, err
			}
		}
	}
	return batch, nil
}

// keyOrder returns the indexes of blocks in the order of their keys.
func keyOrder(blocks []store.Block) iter.Seq2[int, int] {
	// The first bits of a key, which nearly always decide, and the index packed behind them sort faster than with a
	// comparison function.
	index := uint64(1)<<bits.Len(uint(len(blocks))) - 1
	places := make([]uint64, len(blocks))
	for i := range blocks {
		c := &blocks[i].CID
		digest := c.Digest()
		key := uint64(c.Codec())<<56 | binary.BigEndian.Uint64(digest[:])>>8
		places[i] = key&^index | uint64(i)
	}
	slices.Sort(places)
	for from, to := 0, 0; from < len(places); from = to {
		for to = from + 1; to < len(places) && (places[from]^places[to])&^index == 0; to++ {
		}
		if to-from > 1 {
			slices.SortFunc(places[from:to], func(a, b uint64) int {
				return blocks[a&index].CID.Compare(blocks[b&index].CID)
			})
		}
	}
	return func(yield func(int, int) bool) {
		for i, p := range places {
			if !yield(i, int(p&index)) {
				return
			}
		}
	}
}

// holds reports whether value is stored under key. It returns false if that cannot be read: rewriting repairs it.
func holds(it *pdb.Iterator, key, value []byte) bool {
	if !it.SeekPrefixGE(key) {
		return false
	}
	got, err := it.ValueAndErr()
	return err == nil && bytes.Equal(got, value)
}

// apply applies a batch unsynced.
func (s *database) apply(b *pdb.Batch) error { return s.db.Apply(b, pdb.NoSync) }

// Close waits for running calls, flushes, so that no acknowledged data is only in the log, and releases the lock. A
// flush that fails, for instance on a full disk, is reported to Options.Logf and is no error: acknowledged data is
// durable in the log, and each call has returned its own outcome.
func (s *Store) Close() error {
	if err := s.end(); err != nil {
		return err
	}
	s.roomMu.Lock()
	defer s.roomMu.Unlock()
	if s.dirty.Load() {
		err := s.fs.fail.guard(s.flushStep)
		if s.flushed = err == nil; !s.flushed {
			s.opts.Logf("write what is in the log as tables: %v", err)
		}
	}
	if !s.opts.ReadOnly && s.fs.fail.err() == nil && s.durable().Seq > 0 {
		if err := s.refill(true); err != nil {
			s.opts.Logf("keep room in reserve: %v", err)
		}
	}
	if err := s.release(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// release closes the database, removes the owner file and releases the lock, in this order. A stopped store's
// database may hang or panic while it closes; the lock is still released, which is safe because the switch keeps
// the abandoned database from writing.
func (s *Store) release() error {
	stopped := s.fs.fail.err()
	var errs []error
	if s.db != nil && stopped == nil {
		err := s.fs.fail.guard(s.db.Close)
		if stopped = s.fs.fail.err(); stopped != nil {
			s.opts.Logf("close the database: %v", err) // of a compaction, which loses nothing
			err = nil
		}
		errs = append(errs, err)
		if stopped == nil && s.flushed {
			s.removeLogs()
		}
		if stopped == nil {
			s.markEnd()
		}
	} else if stopped != nil {
		s.abandon()
	}
	errs = append(errs, s.headFile.close(), s.marker.close())
	if stopped != nil {
		s.fs.fail.settle()
	}
	if err := removeIfThere(s.fs.FS, s.fs.FS.PathJoin(s.dir, ownerName)); err != nil {
		s.opts.Logf("remove owner file: %v", err) // a stale one is harmless
	}
	errs = append(errs, s.lock.Close(), s.fs.lock.Close())
	return errors.Join(errs...)
}

// removeLogs removes all logs but the newest, which is empty, after a flush. Pebble keeps old ones for reuse, each
// up to the size of a memtable, and would remove them only at the next opening for writing.
func (s *database) removeLogs() {
	db := s.fs.PathJoin(s.dir, dbName)
	names, err := s.fs.List(db)
	if err != nil {
		s.opts.Logf("list logs: %v", err)
		return
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, logSuffix) })
	// Their numbers have at least six digits, zero-padded.
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	for _, name := range names[:max(len(names), 1)-1] {
		if err := s.fs.Remove(s.fs.PathJoin(db, name)); err != nil {
			s.opts.Logf("remove an old log: %v", err)
		}
	}
}

// abandon closes the database of a stopped store if possible; with a halted goroutine it is not.
func (s *database) abandon() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		db := s.db
		if db == nil {
			db = <-s.opened
		}
		if db != nil {
			_ = db.Close() // it failed already; the cause is known
		}
	}()
	timeout := time.NewTimer(closeTimeout)
	defer timeout.Stop()
	select {
	case <-done:
	case <-s.fs.fail.halted:
	case <-timeout.C:
	}
}

// calls counts the calls of a store that are in progress, and can let none begin while the database is replaced.
type calls struct {
	fail    *failSwitch // ends all calls once it is tripped
	callsMu sync.Mutex
	idle    sync.Cond // on callsMu: running dropped to 0, or a pause ended
	running int
	paused  bool // no call may begin: the database is being replaced
	closed  bool
}

// enter begins a call, which exit must end.
func (c *calls) enter(ctx context.Context) error {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	for c.paused {
		c.idle.Wait()
	}
	if err := c.callable(ctx); err != nil {
		return err
	}
	c.running++
	return nil
}

// callable returns the error for a call that begins now. callsMu must be held.
func (c *calls) callable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.closed {
		return store.ErrClosed
	}
	return c.fail.err()
}

func (c *calls) exit() {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	if c.running--; c.running == 0 {
		c.idle.Broadcast()
	}
}

// pause waits for a moment in which no call is in progress and lets none begin until resume. Calls that begin
// before that moment do not wait: a callback of a running call may make them.
func (c *calls) pause(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		c.callsMu.Lock()
		defer c.callsMu.Unlock()
		c.idle.Broadcast()
	})
	defer stop()
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	for c.running > 0 || c.paused {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.idle.Wait()
	}
	if err := c.callable(ctx); err != nil {
		return err
	}
	c.paused = true
	return nil
}

func (c *calls) resume() {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	c.paused = false
	c.idle.Broadcast()
}

// end waits until no call is in progress and lets none begin any more. It fails if that was done before.
func (c *calls) end() error {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	if c.closed {
		return store.ErrClosed
	}
	c.closed = true
	for c.running > 0 || c.paused {
		c.idle.Wait()
	}
	return nil
}
