package dense

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/tiers"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// kindMerge is the kind of the keys under which merges are known.
const kindMerge = "dense"

// Merge makes one segment of a run that a manifest notes, the first in the order of groups that later
// does not know yet, and returns it with the key under which later is to know it. Both are undefined
// where there is none. The segment is a pure function of the run; made twice it is the same. An error
// leaves garbage at most.
func Merge(
	ctx context.Context, blocks Blocks, at ipld.CID, later tiers.Later,
) (key, merged ipld.CID, err error) {
	_, root, err := manifest(ctx, blocks, at)
	if err != nil {
		return key, merged, err
	}
	groups, err := loadGroups(ctx, blocks, root)
	if err != nil {
		return key, merged, err
	}
	for kv, err := range groups.Scan(ctx, nil, nil) {
		var l tiers.List
		if err == nil {
			l, err = decodeSegments(kv.Value)
		}
		var made ipld.CID
		if err == nil {
			made, err = l.Made(ctx, later, kindMerge)
		}
		if err != nil {
			return key, merged, err
		}
		if l.Run.Count == 0 || made.Defined() {
			continue
		}
		u := &updater{ctx: ctx, blocks: blocks}
		u.src = reader{get: blocks, cache: NewCache(mergeCache)}
		s, block, err := u.merged(&l, l.Run, nil)
		if err == nil {
			err = blocks.Put(ctx, block)
		}
		if err != nil {
			return key, merged, fmt.Errorf("index of vectors: %w", err)
		}
		return l.Key(kindMerge), s.cid, nil
	}
	return key, merged, nil
}

// settle puts what the run of a group has become in its place, where that is known.
func (u *updater) settle(l *tiers.List) error {
	c, err := l.Made(u.ctx, u.opt.Later, kindMerge)
	if err != nil || !c.Defined() {
		return err
	}
	s, err := u.src.segment(u.ctx, c)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return nil // it is lost: the run waits on, and in the end an update merges it
	}
	if err == nil {
		l.Replace(l.Run, tiers.Ref{CID: s.cid, Docs: s.docs, Kills: s.kills})
	}
	return err
}
