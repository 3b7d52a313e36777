package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/tiers"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// kindMerge is the kind of the keys under which merges are known.
const kindMerge = "text"

// maxWaiting is how many segments an index may have while a merge is waited for.
const maxWaiting = 128

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
	return m.Key(kindMerge), s.cid, nil
}

// settle puts what the run of the manifest has become in its place, where that is known.
func (u *updater) settle() error {
	c, err := u.m.Made(u.ctx, u.opt.Later, kindMerge)
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
func (u *updater) replace(run tiers.Run, s *segment) error {
	ref := tiers.Ref{CID: s.cid, Docs: s.docs, Kills: s.kills}
	if ref.Size() == 0 && (s.terms != (sums{}) || s.filled != (sums{})) {
		return corrupt("nothing is left, but its statistics are %v in %v", s.terms, s.filled)
	}
	u.m.Replace(run, ref)
	return nil
}

// due returns the run of segments to merge now, and notes one in the manifest that is left for
// later.
func (u *updater) due() (tiers.Run, error) {
	run, noted := u.m.Due(tiers.Policy{
		Fanout: u.opt.Fanout, Later: u.opt.Later != nil, MaxWaiting: maxWaiting,
	}, u.changes)
	if noted {
		return run, u.settle() // it may have been made for a manifest before
	}
	return run, nil
}

// merged makes one segment of a run. Its parts are written, its own block is not.
func (u *updater) merged(run tiers.Run) (*segment, store.Block, error) {
	segs := make([]*segment, run.Count)
	for i, ref := range u.m.Segments[run.From:run.End()] {
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
