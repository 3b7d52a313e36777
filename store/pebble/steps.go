package pebble

import (
	"bytes"
	"context"
	"errors"
	"slices"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/store"
)

// stepBytes is about how much a step of a compaction writes. So much must be free beside the database; a
// step that can be no smaller writes more.
const stepBytes = 8 << 20

var (
	firstKey = []byte{0}
	lastKey  = []byte{0xff}
)

func isNoRoom(err error) bool { return errors.Is(err, store.ErrNoRoom) }

// rewrite flushes and compacts all there is, one range of keys after the other, and gives up before a
// step that the disk has no room for. What earlier steps freed stays free.
func (s *Store) rewrite(ctx context.Context) error {
	if err := s.fits(s.demand().flush); err != nil {
		return err
	}
	if err := s.db.Flush(); err != nil {
		return err
	}
	if err := s.compactTop(ctx); err != nil {
		return err
	}
	for from := firstKey; from != nil; {
		levels, err := s.db.SSTables()
		if err != nil {
			return err
		}
		step := nextStep(levels, from)
		if err := s.compactRange(ctx, from, step.to, step.bytes); err != nil {
			return err
		}
		from = step.next
	}
	return nil
}

// compactTop compacts level 0, whose tables overlap, into the level below.
func (s *Store) compactTop(ctx context.Context) error {
	for last := -1; ; {
		levels, err := s.db.SSTables()
		if err != nil {
			return err
		}
		n := len(levels[0])
		if n == 0 || n == last { // or others write at the same time
			return nil
		}
		last = n
		d := s.demand()
		from := levels[0][0].Smallest.UserKey
		if err := s.compactRange(ctx, from, append(slices.Clone(from), 0), d.l0+d.base); err != nil {
			return err
		}
	}
}

// compactRange compacts a range of keys, which writes so many bytes at most, if the disk has room for
// these.
func (s *Store) compactRange(ctx context.Context, from, to []byte, size uint64) error {
	if err := s.fits(size); err != nil {
		return err
	}
	if err := s.compact(ctx, from, to); err != nil {
		return err
	}
	if free, ok := s.free(); ok && free < plenty {
		s.awaitRemoval() // the next step needs what this one freed
	}
	return nil
}

// compact compacts a range of keys. A step that turns out larger than the disk has room for fails without
// harm: Pebble removes what it wrote.
func (s *Store) compact(ctx context.Context, from, to []byte) error {
	err := s.gate.during(s.fs.fuse.blown, func() error { return s.db.Compact(ctx, from, to, false) })
	if isFull(err) {
		s.awaitRemoval()
		free, _ := s.free()
		return &store.NoRoomError{Needs: 2*free + slack, Free: free, Erasing: true}
	}
	return err
}

// keyStep is a step of a compaction.
type keyStep struct {
	to    []byte // the last key of its range
	next  []byte // the first one of the next range, nil for none
	bytes uint64 // that it writes at most
}

// nextStep returns the step that begins at from: as many tables of the last level as stepBytes allow, one
// at least.
func nextStep(levels [][]pdb.SSTableInfo, from []byte) keyStep {
	out := keyStep{to: lastKey, bytes: stepSize(levels, from, lastKey)}
	if out.bytes <= stepBytes {
		return out
	}
	first := true
	for _, t := range levels[len(levels)-1] {
		if bytes.Compare(t.Largest.UserKey, from) <= 0 {
			continue
		}
		size := stepSize(levels, from, t.Largest.UserKey)
		if !first && size > stepBytes {
			return out
		}
		to := slices.Clone(t.Largest.UserKey)
		out = keyStep{to: to, next: append(slices.Clone(to), 0), bytes: size}
		first = false
	}
	if first || bytes.Compare(out.to, lastKey) >= 0 { // nothing of the last level is left
		return keyStep{to: lastKey, bytes: stepSize(levels, from, lastKey)}
	}
	return out
}

// stepSize returns how many bytes compacting a range writes at once at most: it goes down level by level,
// each time with the tables of the next level that the tables of the range overlap.
func stepSize(levels [][]pdb.SSTableInfo, from, to []byte) (most uint64) {
	moved := uint64(0)
	for n := range levels[:len(levels)-1] {
		low, high := from, to
		for _, t := range levels[n] {
			if !overlaps(t, from, to) {
				continue
			}
			moved += t.Size
			low, high = smaller(low, t.Smallest.UserKey), larger(high, t.Largest.UserKey)
		}
		if moved == 0 {
			continue
		}
		size := moved
		for _, t := range levels[n+1] {
			if overlaps(t, low, high) {
				size += t.Size
			}
		}
		most = max(most, size)
	}
	return most
}

func overlaps(t pdb.SSTableInfo, from, to []byte) bool {
	return bytes.Compare(t.Largest.UserKey, from) >= 0 && bytes.Compare(t.Smallest.UserKey, to) <= 0
}

func smaller(a, b []byte) []byte {
	if bytes.Compare(b, a) < 0 {
		return b
	}
	return a
}

func larger(a, b []byte) []byte {
	if bytes.Compare(b, a) > 0 {
		return b
	}
	return a
}
