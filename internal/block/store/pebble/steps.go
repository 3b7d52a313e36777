package pebble

import (
	"bytes"
	"context"
	"errors"
	"slices"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/internal/block/store"
)

// stepBytes is about how much a compaction step writes. That much must be free in addition to the database; a step
// that cannot be smaller writes more.
const stepBytes = 8 << 20

var (
	firstKey = []byte{0}
	lastKey  = []byte{0xff}
)

func isNoRoom(err error) bool { return errors.Is(err, store.ErrNoRoom) }

// rewrite flushes and compacts everything, one key range after another, and gives up before a step that the disk
// has no space for. Space freed by earlier steps stays free.
func (s *database) rewrite(ctx context.Context) error {
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

// flushStep flushes if the disk has space for it.
func (s *database) flushStep() error {
	if err := s.fits(s.demand().flush, slack); err != nil {
		return err
	}
	if err := s.db.Flush(); err != nil {
		return err
	}
	s.settle()
	return nil
}

// settle waits until a step's obsolete files are removed, if the next step may need their space.
func (s *database) settle() {
	if free, ok := s.free(); ok && free < plenty {
		s.awaitRemoval()
	}
}

// compactTop compacts level 0, whose tables overlap, into the level below.
func (s *database) compactTop(ctx context.Context) error {
	for last := -1; ; {
		levels, err := s.db.SSTables()
		if err != nil {
			return err
		}
		n := len(levels[0])
		if n == 0 || n == last { // or others write concurrently
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

// compactRange compacts a key range, which writes at most size bytes, if the disk has space for them.
func (s *database) compactRange(ctx context.Context, from, to []byte, size uint64) error {
	if err := s.fits(size, slack); err != nil {
		return err
	}
	if err := s.compact(ctx, from, to); err != nil {
		return err
	}
	s.settle()
	return nil
}

// compactNarrow does the same table by table: the tables of a middle level in a range may overlap more of the next
// level than was known before the step began.
func (s *database) compactNarrow(ctx context.Context, from, to []byte) error {
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

// narrowSteps bounds the steps that one step is divided into. The next compaction does the rest.
const narrowSteps = 1000

// firstAbove returns the first key of a range that a table above the last level may have, or nil.
func firstAbove(levels [][]pdb.SSTableInfo, from, to []byte) (at []byte) {
	for _, tables := range levels[:len(levels)-1] {
		for _, t := range tables {
			if !overlaps(t, from, to) {
				continue
			}
			key := slices.MaxFunc([][]byte{t.Smallest.UserKey, from}, bytes.Compare)
			if at == nil || bytes.Compare(key, at) < 0 {
				at = key
			}
		}
	}
	return slices.Clone(at)
}

// compact compacts a key range. A step that turns out too large for the disk fails without harm: Pebble removes
// what it wrote.
func (s *database) compact(ctx context.Context, from, to []byte) error {
	err := s.gate.during(s.fs.fail.tripped, s.removedAll, func() error { return s.db.Compact(ctx, from, to, false) })
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
	bytes uint64 // upper bound of what it writes
}

// nextStep returns the step that begins at from: as many tables of the last level as can be compacted writing at
// most limit bytes, but at least one.
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
	if first || bytes.Compare(out.to, lastKey) >= 0 { // no table of the last level is left
		return keyStep{to: lastKey, bytes: stepSize(levels, from, lastKey)}
	}
	return out
}

// stepSize bounds how many bytes compacting a range writes at a time: it moves down level by level, each time with
// the tables of the next level that the tables of the range overlap.
func stepSize(levels [][]pdb.SSTableInfo, from, to []byte) (most uint64) {
	moved := uint64(0)
	for n := range levels[:len(levels)-1] {
		low, high := from, to
		for _, t := range levels[n] {
			if !overlaps(t, from, to) {
				continue
			}
			moved += t.Size
			low = slices.MinFunc([][]byte{low, t.Smallest.UserKey}, bytes.Compare)
			high = slices.MaxFunc([][]byte{high, t.Largest.UserKey}, bytes.Compare)
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
