package pebble

import (
	"bytes"
	"context"
	"errors"
	"slices"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/internal/block/store"
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
	if err := s.flushStep(); err != nil {
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
		limit := uint64(stepBytes)
		if free, ok := s.free(); ok {
			limit = min(limit, free-min(free, slack))
		}
		step := nextStep(levels, from, limit)
		err = s.compactRange(ctx, from, step.to, step.bytes)
		if isNoRoom(err) {
			err = s.compactNarrow(ctx, from, step.to)
		}
		if err != nil {
			return err
		}
		from = step.next
	}
	return nil
}

// flushStep flushes if the disk has room for that.
func (s *Store) flushStep() error {
	if err := s.fits(s.demand().flush); err != nil {
		return err
	}
	if err := s.db.Flush(); err != nil {
		return err
	}
	s.settle()
	return nil
}

// settle waits for the files that a step made superfluous to be removed if the next step may need their
// room.
func (s *Store) settle() {
	if free, ok := s.free(); ok && free < plenty {
		s.awaitRemoval()
	}
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
	s.settle()
	return nil
}

// compactNarrow does what compactRange does, a table after the other: the tables of a middle level that a
// range meets may overlap more of the next level than was known before the step began.
func (s *Store) compactNarrow(ctx context.Context, from, to []byte) error {
	for range narrowSteps {
		levels, err := s.db.SSTables()
		if err != nil {
			return err
		}
		at := firstAbove(levels, from, to)
		if at == nil {
			return nil
		}
		if err := s.compactRange(ctx, at, append(slices.Clone(at), 0), stepSize(levels, at, at)); err != nil {
			return err
		}
	}
	return nil
}

// narrowSteps bounds the steps that one step is divided into. What is left then the next compaction does.
const narrowSteps = 1000

// firstAbove returns the first key of a range that a table above the last level may have, nil for none.
func firstAbove(levels [][]pdb.SSTableInfo, from, to []byte) (at []byte) {
	for _, tables := range levels[:len(levels)-1] {
		for _, t := range tables {
			if !overlaps(t, from, to) {
				continue
			}
			if key := larger(t.Smallest.UserKey, from); at == nil || bytes.Compare(key, at) < 0 {
				at = key
			}
		}
	}
	return slices.Clone(at)
}

// compact compacts a range of keys. A step that turns out larger than the disk has room for fails without
// harm: Pebble removes what it wrote.
func (s *Store) compact(ctx context.Context, from, to []byte) error {
	err := s.gate.during(s.fs.fuse.blown, s.removedAll, func() error { return s.db.Compact(ctx, from, to, false) })
	if isFull(err) {
		s.quiesce()
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

// nextStep returns the step that begins at from: as many tables of the last level as may be while it writes
// limit bytes at most, one at least.
func nextStep(levels [][]pdb.SSTableInfo, from []byte, limit uint64) keyStep {
	out := keyStep{to: lastKey, bytes: stepSize(levels, from, lastKey)}
	if out.bytes <= limit {
		return out
	}
	first := true
	for _, t := range levels[len(levels)-1] {
		if bytes.Compare(t.Largest.UserKey, from) <= 0 {
			continue
		}
		size := stepSize(levels, from, t.Largest.UserKey)
		if !first && size > limit {
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
