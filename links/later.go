package links

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/tiers"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

const (
	// kindMerge is the kind of the keys under which merges are known.
	kindMerge = "links"
	// maxWaiting is how many segments an index may have while a merge is waited for.
	maxWaiting = 64
)

// Merge makes one segment of the run that a manifest notes, and returns it with the key under which
// Later is to know it. Both are undefined where there is no run. The segment is a pure function of
// the run; made twice it is the same. An error leaves garbage at most.
func Merge(
	ctx context.Context, blocks Blocks, manifest ipld.CID,
) (key, merged ipld.CID, err error) {
	m, err := readManifest(ctx, blocks, manifest)
	if err != nil || m.Run.Count == 0 {
		return key, merged, err
	}
	u := &updater{ctx: ctx, blocks: blocks, m: *m}
	u.src = reader{get: blocks, cache: NewCache(mergeCache)}
	s, block, err := u.merged(m.Run, nil)
	if err == nil {
		err = blocks.Put(ctx, block)
	}
	if err != nil {
		return key, merged, fmt.Errorf("index of links: %w", err)
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
	if err == nil {
		u.m.Replace(u.m.Run, tiers.Ref{CID: s.cid, Docs: s.docs, Kills: s.kills})
	}
	return err
}
