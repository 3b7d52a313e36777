package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/store"
)

const (
	reserveName = "reserve"
	// maxReserve and minReserve bound the reserve, which is as large as the files of the database:
	// opening a store writes its logs anew as tables, a memtable at a time.
	maxReserve = 32 << 20
	minReserve = 1 << 20
	// slack is what must stay free beside a change whose size is known: for logs, manifests and
	// options.
	slack = 2 << 20
	zeros = 1 << 20
	// restSlack is what closing a store may still take of a disk that is full.
	restSlack = 64 << 10
)

// room returns an error wrapping store.ErrNoRoom where only changes that erase may be made, and ctx is
// not of one. Those may use the reserve.
func (s *Store) room(ctx context.Context) error {
	if s.opts.FS != nil {
		return nil // a reserve is of a disk
	}
	if store.IsErasing(ctx) {
		s.spend()
		return nil
	}
	if !s.short.Load() || s.stock() {
		return nil
	}
	return fmt.Errorf("%w: what is left is kept for changes that erase", store.ErrNoRoom)
}

// spend gives the reserve away where the disk has not much more than that.
func (s *Store) spend() {
	if free, ok := s.free(); ok && free >= maxReserve+slack {
		return
	}
	s.reserving.Lock()
	defer s.reserving.Unlock()
	if spent := spendReserve(s.fs.FS, s.dir); spent > 0 {
		s.spent = spent
		s.short.Store(true)
	}
}

// spendReserve removes the reserve of the store in dir, and returns its size, 0 where there is none.
func spendReserve(fs vfs.FS, dir string) int64 {
	name := fs.PathJoin(dir, reserveName)
	info, err := fs.Stat(name)
	if err != nil || fs.Remove(name) != nil {
		return 0
	}
	return info.Size()
}

// stock makes the reserve as large as it should be, and returns false where there is no room for one. It
// is not synced: a disk that is not full has room for it after a power cut as well.
func (s *Store) stock() bool {
	s.reserving.Lock()
	defer s.reserving.Unlock()
	want := int64(min(max(s.db.Metrics().DiskSpaceUsage(), minReserve), maxReserve))
	want = max(want, s.spent) // or else what is left of it would do
	name := s.fs.FS.PathJoin(s.dir, reserveName)
	have := int64(0)
	if info, err := s.fs.FS.Stat(name); err == nil {
		have = info.Size()
	}
	if have >= want/2 { // so that it is not made anew for each commit of a store that grows
		s.short.Store(false)
		return true
	}
	if free, ok := s.free(); ok && int64(free)+have < want+slack {
		return have > 0
	}
	if err := reserveFile(s.fs.FS, name, want); err != nil {
		s.opts.Logf("keep room in reserve: %v", errors.Join(err, removeIfThere(s.fs.FS, name)))
		if isFull(err) {
			return false
		}
	}
	s.spent = 0
	s.short.Store(false)
	return true
}

// restock makes the reserve for the next one that opens the store: where there is no room for all of it
// of what is left, or else that would go to changes that erase nothing.
func (s *Store) restock() {
	if s.stock() {
		return
	}
	s.reserving.Lock()
	defer s.reserving.Unlock()
	free, ok := s.free()
	if rest := min(int64(free), s.spent) - restSlack; ok && rest > 0 {
		name := s.fs.FS.PathJoin(s.dir, reserveName)
		if err := reserveFile(s.fs.FS, name, rest); err != nil {
			s.opts.Logf("keep room in reserve: %v", errors.Join(err, removeIfThere(s.fs.FS, name)))
		}
	}
}

// reserveFile makes a file that takes so many bytes of the disk.
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
			_, err = f.WriteAt([]byte{0}, size-1) // so that its length tells how much it takes
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

// free returns how many bytes of the disk are free, and whether it tells.
func (s *Store) free() (uint64, bool) {
	usage, err := s.fs.FS.GetDiskUsage(s.dir)
	return usage.AvailBytes, err == nil
}

// fits returns an error wrapping store.ErrNoRoom unless so many bytes more have room on the disk, as
// far as it tells: a write that fails would stop the store.
func (s *Store) fits(size uint64) error {
	if free, ok := s.free(); ok && free < size+slack {
		return fmt.Errorf("%w: %d bytes are needed for a moment and %d are free", store.ErrNoRoom,
			size+slack, free)
	}
	return nil
}

// stepBytes is about how much of the last level is written anew in one step of a compaction: so much
// must be free beside the database, and what is above it.
const stepBytes = 8 << 20

var (
	firstKey = []byte{0}
	lastKey  = []byte{0xff}
)

// rewrite flushes and compacts all there is, one range of keys after the other, and gives up before a
// step that the disk has no room for.
func (s *Store) rewrite(ctx context.Context) error {
	if err := s.fits(s.db.Metrics().MemTable.Size); err != nil {
		return err
	}
	if err := s.db.Flush(); err != nil {
		return err
	}
	for from := firstKey; from != nil; {
		to, next, size, err := s.step(from)
		if err == nil {
			err = s.fits(size)
		}
		if err == nil {
			err = s.db.Compact(ctx, from, to, false)
		}
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

// step returns the last key of the range of a step that begins at from, the first one of the next
// range, nil for none, and how many bytes the step writes at most.
func (s *Store) step(from []byte) (to, next []byte, size uint64, err error) {
	levels, err := s.db.SSTables()
	if err != nil {
		return nil, nil, 0, err
	}
	last := len(levels) - 1
	to = lastKey
	for _, t := range levels[last] {
		if bytes.Compare(t.Largest.UserKey, from) < 0 {
			continue
		}
		if size += t.Size; size >= stepBytes && bytes.Compare(t.Largest.UserKey, from) > 0 {
			to = slices.Clone(t.Largest.UserKey)
			next = append(slices.Clone(to), 0)
			break
		}
	}
	size = 0
	whole := 0 // levels that are taken as a whole: tables of level 0 overlap, and draw in the next one
	for n, tables := range levels {
		if len(tables) > 0 && n < last {
			whole++
		}
		for _, t := range tables {
			inside := bytes.Compare(t.Largest.UserKey, from) >= 0 && bytes.Compare(t.Smallest.UserKey, to) <= 0
			if inside || whole <= 2 && n < last {
				size += t.Size
			}
		}
	}
	return to, next, size, nil
}
