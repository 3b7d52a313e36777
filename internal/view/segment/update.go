package segment

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Updater adds segments to lists and merges them by tier. Not safe for concurrent use.
type Updater struct {
	*Reader
	blocks  Blocks
	later   Later
	fanout  int
	fresh   map[ipld.CID]*Segment // segments of this run
	unsaved *store.Block          // the block of the newest, if it is not written yet
}

// NewUpdater returns an updater. fanout is how many segments of about one size are merged, at least 2; later, if
// not nil, enables background merges; cache is the size of the part cache in bytes.
func (f *Format) NewUpdater(blocks Blocks, fanout int, later Later, cache int64) *Updater {
	return &Updater{
		Reader: f.NewReader(blocks, NewCache(cache)), blocks: blocks, later: later, fanout: fanout,
		fresh: map[ipld.CID]*Segment{},
	}
}

// Changed reports whether any segment was added.
func (u *Updater) Changed() bool { return len(u.fresh) > 0 }

// Settle replaces the run of a list by its merged segment, if that is known.
func (u *Updater) Settle(ctx context.Context, l *List) error {
	c, err := l.Made(ctx, u.later, u.format.Name)
	if err != nil || !c.Defined() {
		return err
	}
	s, err := u.Segment(ctx, c)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return nil // it is lost: the run waits on, and in the end an update merges it
	}
	if err == nil {
		l.Replace(l.Run, s.Ref())
	}
	return err
}

// Add adds a segment to a list. Its block is not written until Compact or Save: it may be merged before anything
// reads it.
func (u *Updater) Add(ctx context.Context, l *List, s *Segment, block store.Block) error {
	if err := u.Save(ctx); err != nil {
		return err
	}
	u.fresh[s.CID], u.unsaved = s, &block
	l.Segments = append(l.Segments, s.Ref())
	if n := len(l.Segments); n > u.format.MaxSegments {
		return fmt.Errorf("%d segments, limit %d", n, u.format.MaxSegments)
	}
	return nil
}

// Save writes the block of the newest segment.
func (u *Updater) Save(ctx context.Context) error {
	if u.unsaved == nil {
		return nil
	}
	err := u.blocks.Put(ctx, *u.unsaved)
	u.unsaved = nil
	if err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	return nil
}

// Compact performs due merges after the given number of changes, at the end of an update or of its list.
func (u *Updater) Compact(ctx context.Context, l *List, changes int) error {
	maxWaiting := 0
	if u.later != nil {
		maxWaiting = u.format.MaxWaiting
	}
	run, noted := l.Due(u.fanout, maxWaiting, changes)
	if run.Count > 1 {
		s, block, err := u.merged(ctx, l, run)
		if err != nil {
			return err
		}
		u.fresh[s.CID], u.unsaved = s, nil
		if s.Ref().Size() > 0 {
			u.unsaved = &block
		}
		l.Replace(run, s.Ref())
	}
	if !noted {
		return nil
	}
	return u.Settle(ctx, l) // it may have been made for an earlier manifest
}

// merged merges a run into one segment. Its parts are written, its own block is not.
func (u *Updater) merged(ctx context.Context, l *List, run Run) (s *Segment, b store.Block, err error) {
	segs := make([]*Segment, run.Count)
	for i, ref := range l.Segments[run.From:run.End()] {
		if segs[i] = u.fresh[ref.CID]; segs[i] != nil {
			continue
		}
		if segs[i], err = u.Segment(ctx, ref.CID); err != nil {
			return nil, b, err
		}
	}
	s, b, err = u.format.Merge(ctx, u.Reader, segs, run.From == 0, u.format.NewWriter(ctx, u.blocks))
	if err != nil {
		err = fmt.Errorf("merge %d segments: %w", run.Count, err)
	}
	return s, b, err
}

// MergeRun merges the run recorded in a list, and returns the segment with the key under which Later must store it.
// Both are undefined if there is no run. The segment is a pure function of the run, so repeating the merge is safe.
// An error leaves at most garbage.
func (f *Format) MergeRun(ctx context.Context, blocks Blocks, l *List) (key, merged ipld.CID, err error) {
	if l.Run.Count == 0 {
		return key, merged, nil
	}
	u := f.NewUpdater(blocks, 0, nil, f.CacheBytes)
	s, block, err := u.merged(ctx, l, l.Run)
	if err == nil {
		err = blocks.Put(ctx, block)
	}
	if err != nil {
		return key, merged, fmt.Errorf("%s index: %w", f.Name, err)
	}
	return l.Key(f.Name), s.CID, nil
}

// MergeWaiting is MergeRun for the list of a manifest.
func (f *Format) MergeWaiting(ctx context.Context, blocks Blocks, manifest ipld.CID) (key, merged ipld.CID, err error) {
	m, err := f.ReadManifest(ctx, blocks, manifest)
	if err != nil {
		return key, merged, err
	}
	return f.MergeRun(ctx, blocks, &m.List)
}
