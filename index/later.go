package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// Later is where merges are made that would keep an update waiting: a commit pays for its change,
// and once in a while a merge costs a thousand times as much. An update that finds one due notes
// the run of segments in its manifest and leaves it to whoever calls Merge; the first update after
// that puts the result in its place. Until then later segments are merged among themselves.
type Later interface {
	// Merged returns the segment that Merge made for a key, undefined where it made none yet.
	Merged(ctx context.Context, key ipld.CID) (ipld.CID, error)
}

const (
	// mergeNow is how many documents and kills an update merges itself whatever its changes are,
	// and mergeShare how many for each of its changes.
	mergeNow   = 256
	mergeShare = 8
	// maxWaiting is how many segments an index may have while a merge is waited for.
	maxWaiting = 128
)

// Run is the segments of a manifest that are to become one: Count of them, the zero value none.
type Run struct{ From, Count int }

func (r Run) end() int { return r.From + r.Count }

// mergeKey identifies what the run of a manifest becomes: it depends on the segments and whether
// any is older, which decides what becomes of kills.
func (m *Manifest) mergeKey() ipld.CID {
	key := []byte("mnem:merge:1:")
	if m.Run.From == 0 {
		key = append(key, '0')
	}
	for _, s := range m.Segments[m.Run.From:m.Run.end()] {
		key = append(key, s.CID.Bytes()...)
	}
	return ipld.Sum(ipld.Raw, key)
}

// Merge makes one segment of the run that a manifest notes, and returns it with the key under which
// Later is to know it. Both are undefined where there is no run. The segment is a pure function of
// the run; made twice it is the same. An error leaves garbage at most.
func Merge(
	ctx context.Context, blocks Blocks, manifest ipld.CID, opt Options,
) (key, merged ipld.CID, err error) {
	m, err := ReadManifest(ctx, blocks, manifest)
	if err != nil || m.Run.Count == 0 {
		return key, merged, err
	}
	u := &updater{ctx: ctx, blocks: blocks, opt: opt.withDefaults(), m: *m}
	u.src = source{get: blocks, cache: NewCache(u.opt.CacheBytes)}
	s, block, err := u.merged(m.Run)
	if err == nil {
		err = blocks.Put(ctx, block)
	}
	if err != nil {
		return key, merged, err
	}
	return m.mergeKey(), s.cid, nil
}

// settle puts what the run of the manifest has become in its place, where that is known.
func (u *updater) settle() error {
	if u.m.Run.Count == 0 || u.opt.Later == nil {
		return nil
	}
	c, err := u.opt.Later.Merged(u.ctx, u.m.mergeKey())
	if err != nil || !c.Defined() {
		return err
	}
	s, err := u.src.segment(u.ctx, c)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return nil // it is lost: the run waits on, and in the end an update merges it
	}
	if err != nil {
		return err
	}
	return u.replace(u.m.Run, s)
}

// replace makes s of a run of segments.
func (u *updater) replace(run Run, s *segment) error {
	ref := SegmentRef{CID: s.cid, Docs: s.docs, Kills: s.kills}
	list := append([]SegmentRef{}, u.m.Segments[:run.From]...)
	if ref.size() > 0 {
		list = append(list, ref)
	} else if s.terms != (sums{}) || s.filled != (sums{}) {
		return corrupt("nothing is left, but its statistics are %v in %v", s.terms, s.filled)
	}
	u.m.Segments = append(list, u.m.Segments[run.end():]...)
	if run == u.m.Run {
		u.m.Run = Run{}
	}
	return nil
}

// due returns the run of segments to merge now, and notes one in the manifest that is left for
// later.
func (u *updater) due() (Run, error) {
	all := u.m.Segments
	if u.opt.Later == nil || len(all) > maxWaiting {
		u.m.Run = Run{}
		n := MergeCount(all, u.opt.Fanout)
		return Run{len(all) - n, n}, nil
	}
	n := 0
	if waits := u.m.Run.Count > 0; waits {
		n = tiers(all[u.m.Run.end():], u.opt.Fanout)
	} else {
		n = MergeCount(all, u.opt.Fanout)
	}
	run, size := Run{len(all) - n, n}, 0
	for _, s := range all[run.From:] {
		size += s.size()
	}
	if n < 2 || size <= max(mergeNow, mergeShare*u.changes) {
		return run, nil
	}
	if u.m.Run.Count == 0 {
		u.m.Run = run
		return Run{}, u.settle()
	}
	return Run{}, nil
}

// merged makes one segment of a run. Its parts are written, its own block is not.
func (u *updater) merged(run Run) (*segment, store.Block, error) {
	segs := make([]*segment, run.Count)
	for i, ref := range u.m.Segments[run.From:run.end()] {
		s := u.fresh[ref.CID]
		if s == nil {
			var err error
			if s, err = u.src.segment(u.ctx, ref.CID); err != nil {
				return nil, store.Block{}, err
			}
		}
		segs[i] = s
	}
	s, block, err := merge(u.ctx, &u.src, segs, run.From == 0, u.blocks)
	if err != nil {
		err = fmt.Errorf("merge %d segments: %w", run.Count, err)
	}
	return s, block, err
}
