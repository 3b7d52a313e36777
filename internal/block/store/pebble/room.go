package pebble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	pdb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
)

const (
	// slack must stay free in addition to a change of known size: for a new log, a manifest and options.
	slack = 512 << 10
	// eraseBytes is the space that recording an erasure takes: an operation, stubs, opening the database twice, and
	// the leftovers of an opening that is killed.
	eraseBytes = 2 << 20
	// plenty of free bytes need no calculation: no compaction step takes as much.
	plenty = 1 << 30
	// worthBytes is the size of level 0 and the log from which ordinary writes on a nearly full disk compact them
	// instead of being refused.
	worthBytes = 1 << 20
	// crowdedBytes is the size of level 0 from which ordinary writes compact it while Pebble may not: compacting
	// temporarily takes as much space again.
	crowdedBytes = defaultMemTableBytes
	// reviveTimeout is how long a change waits for running calls before the database is reopened for writing. A
	// callback that writes would wait for itself.
	reviveTimeout = 5 * time.Second
	// removalChecks is how often, a millisecond apart, a change checks whether Pebble has removed the files that it
	// no longer needs.
	removalChecks = 5000
	// quietChecks is the same for waiting until running flushes and compactions end.
	quietChecks = 10_000
)

var _ store.Roomer = (*Store)(nil)

// Room checks whether a small change may be made.
func (s *Store) Room(ctx context.Context) error {
	if err := s.enterWrite(ctx); err != nil {
		return err
	}
	defer s.exit()
	return s.room(ctx, 0)
}

// free returns how many bytes of the disk are free, and whether the file system knows.
func (s *database) free() (uint64, bool) {
	usage, err := s.fs.FS.GetDiskUsage(s.dir)
	return usage.AvailBytes, err == nil
}

// tidy allows background compactions if there is room for them. A process that only reads does without: it would spend
// more on them than on its answer, and wait for them when it closes.
func (s *database) tidy() {
	if free, ok := s.free(); ok {
		s.gate.set(free >= s.demand().automatic())
	}
}

// room returns an error wrapping store.ErrNoRoom if the disk lacks space for a change that writes size bytes, which
// the log and later a table take. Changes that erase may use the reserve; all others must leave space for a flush,
// a compaction step and an erasure.
func (s *database) room(ctx context.Context, size int) error {
	free, ok := s.free()
	if !ok {
		return nil
	}
	cost := 2 * uint64(size)
	s.roomMu.Lock()
	defer s.roomMu.Unlock()
	if free >= plenty+cost {
		s.gate.set(true)
	}
	if store.IsErasing(ctx) {
		return s.fits(cost, restSlack)
	}
	if free >= plenty+cost {
		if s.reserve.Load() == 0 && size > 0 {
			return s.refill(false)
		}
		return nil
	}
	return s.fs.fail.guard(func() error { return s.aboveMark(ctx, cost) })
}

// aboveMark returns an error if a change that takes cost bytes would leave less free than the low-water mark. It
// compacts first if that lowers the mark. roomMu must be held.
func (s *database) aboveMark(ctx context.Context, cost uint64) error {
	for waited, tried := false, false; ; {
		d := s.demand()
		free, ok := s.free()
		if !ok {
			return nil
		}
		s.gate.set(free >= d.automatic())
		reserve := s.reserve.Load()
		mark := d.mark() + cost
		needs := max(mark-min(mark, reserve), cost+slack)
		crowded := !s.gate.isOpen() && (d.files >= l0Files || d.l0 >= crowdedBytes)
		if free >= needs && (!crowded || tried) {
			s.refillNow(false)
			return nil
		}
		if !waited { // running compactions take space temporarily
			waited = true
			s.quiesce()
			continue
		}
		if tried || !crowded && !d.shrinks() || free+reserve < d.flush+slack {
			s.refillNow(false) // the compaction may have used it
			return &store.NoRoomError{Needs: needs, Free: free}
		}
		tried = true
		if err := s.lower(ctx); err != nil {
			return err
		}
	}
}

// fits returns an error if size bytes, and rest bytes that must stay free, do not fit even without the reserve, which
// it spends if less than slack would stay. roomMu must be held.
func (s *database) fits(size, rest uint64) error {
	free, ok := s.free()
	if ok && free < size+slack {
		s.spend()
		free, ok = s.free()
	}
	if ok && free < size+rest {
		return &store.NoRoomError{Needs: size + rest, Free: free, Erasing: true}
	}
	return nil
}

// demand is how much the database may have to write on its own.
type demand struct {
	flush uint64 // tables of data that is only in the log
	l0    uint64 // tables of level 0, including those of a flush
	files int64  // of level 0
	base  uint64 // the level below level 0, with which level 0 is compacted as a whole
	below uint64 // all levels below level 0
	step  uint64 // a compaction step below level 0
}

// demand calculates how much the database may have to write.
func (s *database) demand() demand {
	m := s.db.Metrics()
	log := m.WAL.Size
	if s.dormant.Load() {
		log = s.replayed
	}
	d := demand{flush: log + log/16}
	d.l0, d.files = uint64(m.Levels[0].TablesSize)+d.flush, m.Levels[0].TablesCount
	depth := 0
	for n := 1; n < len(m.Levels); n++ {
		size := uint64(m.Levels[n].TablesSize)
		if size == 0 {
			continue
		}
		depth++
		d.below += size
		if depth == 1 && (n < len(m.Levels)-1 || size <= baseBytes) {
			d.base = size
		}
	}
	if d.base == 0 {
		depth++ // level 0 gets a new level below it
	}
	for n := 1; n < depth; n++ {
		d.step = max(d.step, stepOf(n))
	}
	d.step = min(d.step, d.below+d.l0)
	return d
}

// stepOf bounds the bytes written to compact one table of the nth level below level 0: Pebble ends a table when it
// overlaps ten times its size of the next level, whose tables extend beyond it on both sides.
func stepOf(n int) uint64 { return uint64(11*targetSize(n) + 2*targetSize(n+1)) }

// targetSize is the size of Pebble's tables in the nth used level below level 0. A compaction step temporarily
// takes space for about ten of them, so small stores get small tables.
func targetSize(n int) int64 {
	if n == 0 {
		return 2 << 20
	}
	return min(8<<20, int64(128<<10)<<n)
}

// mark returns how many bytes must be free or in reserve for a flush, a compaction step and an erasure.
func (d demand) mark() uint64 { return max(d.l0+d.base, d.step) + eraseBytes }

// automatic returns how many bytes must be free to allow background compactions, which choose their tables
// themselves, while a memtable is written.
func (d demand) automatic() uint64 {
	return d.l0 + d.base + 2*d.step + eraseBytes + 4*defaultMemTableBytes
}

// shrinks reports whether compacting level 0 lowers the mark enough to be worth it.
func (d demand) shrinks() bool {
	return d.l0 >= worthBytes && d.l0+d.base >= d.step+worthBytes || d.base > 2*baseBytes
}

// lower flushes and compacts level 0 to lower the mark. roomMu must be held.
func (s *database) lower(ctx context.Context) error {
	err := s.flushStep()
	if err == nil {
		err = s.compactTop(ctx)
	}
	if err == nil {
		err = s.lowerBase(ctx)
	}
	if isNoRoom(err) { // the check of free space decides
		s.opts.Logf("compact on a disk that is nearly full: %v", err)
		err = nil
	}
	if err == nil {
		s.awaitRemoval()
		return nil
	}
	return fmt.Errorf("compact: %w", err)
}

// lowerBase moves tables of the highest level below level 0 down while that is too large. With more space Pebble
// does so on its own.
func (s *database) lowerBase(ctx context.Context) error {
	levels, err := s.db.SSTables()
	if err != nil {
		return err
	}
	n := 1
	for n < len(levels)-1 && len(levels[n]) == 0 {
		n++
	}
	size := uint64(0)
	for _, t := range levels[n] {
		size += t.Size
	}
	for _, t := range levels[n] {
		if n == len(levels)-1 || size <= baseBytes {
			return nil
		}
		size -= min(size, t.Size)
		if err := s.compact(ctx, t.Smallest.UserKey, append(t.Largest.UserKey, 0)); err != nil {
			return err
		}
	}
	return nil
}

// quiesce waits until no flush and no compaction is running, and obsolete files are removed.
func (s *database) quiesce() {
	for range quietChecks {
		m := s.db.Metrics()
		if m.Flush.NumInProgress == 0 && m.Compact.NumInProgress == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	s.awaitRemoval()
}

// awaitRemoval waits, within a bound, until Pebble has removed the files that it no longer needs.
func (s *database) awaitRemoval() {
	for range removalChecks {
		if s.removedAll() {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// removedAll reports whether the directory has no more tables and logs than the database needs.
func (s *database) removedAll() bool {
	m := s.db.Metrics()
	want := min(m.WAL.Files, m.MemTable.Count) // an obsolete log counts until Pebble knows that it is
	for _, l := range m.Levels {
		want += l.TablesCount
	}
	names, err := s.fs.List(s.fs.PathJoin(s.dir, dbName))
	for _, name := range names {
		if strings.HasSuffix(name, tableSuffix) || strings.HasSuffix(name, logSuffix) {
			want--
		}
	}
	return err != nil || want >= 0 && s.fs.fail.removing.Load() == 0
}

// noRecycling removes logs at once. Pebble would keep five, each as large as a memtable, to overwrite them, which
// ReuseForWrite does not do anyway. Pebble keeps none if the cleaner has the method by which an ArchiveCleaner says
// that it needs the files' contents; DeleteCleaner provides the other methods.
type noRecycling struct {
	pdb.DeleteCleaner
	needsContents
}

type needsContents struct{ pdb.ArchiveCleaner }

const (
	reserveName = "reserve"
	// maxReserve and minReserve bound the reserve, which is as large as the tables of the database. It lets a purge
	// be recorded on a disk that another program filled completely.
	maxReserve = 4 << 20
	minReserve = 1 << 20
	zeros      = 1 << 20
	// restSlack is how much of a full disk a reduced reserve leaves free.
	restSlack = 64 << 10
)

// spend releases the reserve for a change that erases. roomMu must be held.
func (s *database) spend() {
	if s.reserve.Load() > 0 && s.fs.FS.Remove(s.reservePath()) == nil {
		s.reserve.Store(0)
	}
}

func (s *database) reservePath() string { return s.fs.FS.PathJoin(s.dir, reserveName) }

// measureReserve reads the size of the reserve.
func (s *database) measureReserve() {
	s.reserve.Store(0)
	if info, err := s.fs.FS.Stat(s.reservePath()); err == nil {
		s.reserve.Store(uint64(max(info.Size(), 0)))
	}
}

// refill makes the reserve full size if the disk has space for it; a closing store takes what is left instead. The
// reserve is not synced: after a power cut it is made again. roomMu must be held.
func (s *database) refill(closing bool) error {
	if _, ok := s.free(); !ok {
		return nil
	}
	return s.fs.fail.guard(func() error {
		s.refillNow(closing)
		return nil
	})
}

func (s *database) refillNow(closing bool) {
	want := min(max(s.db.Metrics().DiskSpaceUsage(), minReserve), maxReserve)
	if have := s.reserve.Load(); have >= want/2 && have <= maxReserve { // do not make it again for each commit
		return
	}
	s.spend()
	free, _ := s.free()
	if free < want+slack {
		if !closing || free < 2*restSlack {
			return
		}
		want = min(want, free-restSlack)
	}
	err := reserveFile(s.fs.FS, s.reservePath(), int64(want))
	if err != nil { // nothing depends on it
		s.opts.Logf("keep room in reserve: %v", errors.Join(err, removeIfThere(s.fs.FS, s.reservePath())))
		return
	}
	s.reserve.Store(want)
}

// reserveFile makes a file that takes size bytes of the disk.
func reserveFile(fs vfs.FS, name string, size int64) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return errors.Join(occupy(f, size), f.Close())
}

func occupy(f vfs.File, size int64) error {
	if preallocates {
		if err := f.Preallocate(0, size); err == nil {
			_, err = f.WriteAt([]byte{0}, size-1) // so that its length shows how much it takes
			return err
		} else if isFull(err) {
			return err
		}
	}
	b := make([]byte, zeros)
	for size > 0 {
		n, err := f.Write(b[:min(size, zeros)])
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}
