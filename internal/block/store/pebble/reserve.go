package pebble

import (
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

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
