package pebble

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/internal/block/store"
)

const (
	logSuffix      = ".log"
	tableSuffix    = ".sst"
	manifestPrefix = "MANIFEST-"
	optionsPrefix  = "OPTIONS-"
)

func (s *database) reading() bool { return s.opts.ReadOnly || s.dormant.Load() }

// openFitting opens the database. Opening it for writing writes a manifest, options, a log, and the contents of the
// logs as tables. If the disk may lack space for that, it first opens the database for reading, which writes
// nothing, and removes leftovers of failed openings. If ordinary changes would still be refused, the store stays
// dormant: open for reading, until a change arrives that fits or frees space.
func (s *database) openFitting(db string, created bool) error {
	free, ok := s.free()
	if !ok || s.opts.ReadOnly {
		return s.openDB(db, s.opts.ReadOnly)
	}
	s.measureReserve()
	logs, err := s.sizeOfLogs(db)
	if err != nil {
		return err
	}
	if free >= plenty+2*logs {
		return s.openDB(db, false)
	}
	if !created {
		if free < minReserve+slack {
			return &store.NoRoomError{Needs: minReserve + slack, Free: free}
		}
		return s.openDB(db, false)
	}
	if err := s.openDormant(db); err != nil {
		return err
	}
	if err := s.opens(context.Background()); err != nil {
		return nil //nolint:nilerr // it stays dormant, and changes say why
	}
	return s.closeAndOpen(db)
}

// sizeOfLogs returns the total size of the database's logs in bytes.
func (s *database) sizeOfLogs(db string) (size uint64, err error) {
	names, err := s.fs.List(db)
	for _, name := range names {
		if !strings.HasSuffix(name, logSuffix) {
			continue
		}
		info, err := s.fs.Stat(s.fs.PathJoin(db, name))
		if err != nil {
			return 0, err
		}
		size += uint64(max(info.Size(), 0))
	}
	return size, err
}

// openDormant opens the database for reading, and removes files it does not need.
func (s *database) openDormant(db string) error {
	replayed := new(sync.Map)
	s.fs.logs = replayed
	err := s.openDB(db, true)
	s.fs.logs = nil
	if err != nil {
		return err
	}
	s.dormant.Store(true)
	if err := s.removeUnneeded(db, replayed); err != nil {
		return err
	}
	s.replayed, err = s.sizeOfLogs(db)
	return err
}

// removeUnneeded removes files that the database, open for reading, does not need: logs that it did not replay,
// tables in no level, and replaced manifests and options. Pebble removes them too, but only at the end of an
// opening, which first needs space.
func (s *database) removeUnneeded(db string, replayed *sync.Map) error {
	desc, err := pdb.Peek(db, s.fs)
	if err != nil {
		return err
	}
	levels, err := s.db.SSTables()
	if err != nil {
		return err
	}
	tables := make(map[string]bool)
	for _, level := range levels {
		for _, t := range level {
			tables[t.BackingSSTNum.String()+tableSuffix] = true
		}
	}
	names, err := s.fs.List(db)
	if err != nil {
		return err
	}
	manifest, options := s.fs.PathBase(desc.ManifestFilename), newestOptions(names)
	for _, name := range names {
		unneeded := false
		switch {
		case strings.HasSuffix(name, logSuffix):
			_, needed := replayed.Load(name)
			unneeded = !needed
		case strings.HasSuffix(name, tableSuffix):
			unneeded = !tables[name]
		case strings.HasPrefix(name, manifestPrefix):
			unneeded = name != manifest
		case strings.HasPrefix(name, optionsPrefix):
			unneeded = name != options
		case strings.HasSuffix(name, ".dbtmp"), strings.HasPrefix(name, "temporary."):
			unneeded = true
		}
		if unneeded {
			if err := removeIfThere(s.fs, s.fs.PathJoin(db, name)); err != nil {
				return fmt.Errorf("remove what an opening left: %w", err)
			}
		}
	}
	return nil
}

// newestOptions returns the name of the options file with the highest number.
func newestOptions(names []string) (newest string) {
	highest := int64(-1)
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, optionsPrefix)
		if n, err := strconv.ParseInt(digits, 10, 64); ok && err == nil && n > highest {
			newest, highest = name, n
		}
	}
	return newest
}

// opens returns an error wrapping store.ErrNoRoom if a dormant database cannot be opened for writing for a change
// with ctx. roomMu must be held, except while the store is being opened.
func (s *database) opens(ctx context.Context) error {
	free, ok := s.free()
	if !ok {
		return nil
	}
	d := s.demand()
	needs := d.flush + slack
	if store.IsErasing(ctx) {
		return s.fits(needs, restSlack)
	}
	mark, reserve := d.mark()+slack, s.reserve.Load()
	if needs = max(needs, mark-min(mark, reserve)); free < needs {
		return &store.NoRoomError{Needs: needs, Free: free}
	}
	return nil
}

// closeAndOpen opens a database that is open already, perhaps dormant, for writing.
func (s *database) closeAndOpen(db string) error {
	if err := s.fs.fail.guard(s.db.Close); err != nil {
		return err
	}
	s.db = nil
	if err := s.openDB(db, false); err != nil {
		return err
	}
	s.dormant.Store(false)
	s.replayed = 0
	return nil
}

// revive opens a dormant database for writing if a change with ctx may be made then. It waits until no call is in
// progress.
func (s *Store) revive(ctx context.Context) error {
	if !s.dormant.Load() {
		return nil
	}
	s.roomMu.Lock()
	defer s.roomMu.Unlock()
	if !s.dormant.Load() {
		return nil
	}
	if err := s.fs.fail.err(); err != nil { // an earlier change closed the database and could not reopen it
		return err
	}
	if err := s.opens(ctx); err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, reviveTimeout)
	defer cancel()
	if err := s.pause(wait); err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%w to write while others read: try again", store.ErrNoRoom)
		}
		return err
	}
	defer s.resume()
	var slots, marker Slots
	err := s.closeAndOpen(s.fs.PathJoin(s.dir, dbName))
	if err == nil {
		slots, marker, err = headFiles(s.fs, s.dir)
	}
	if err == nil {
		err = s.loadHead(slots, marker)
	}
	if err == nil {
		err = s.loadMarker(marker)
	}
	if err != nil {
		s.fs.fail.trip(err)
		return s.fs.fail.err()
	}
	return nil
}
