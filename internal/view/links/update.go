package links

import (
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Change is a node's current state, without edges if it lost them or was removed.
type Change struct {
	Node
	Known bool // whether it had edges before
}

// UpdateOptions of an update. The zero value means the defaults. None changes an answer.
type UpdateOptions struct {
	// Fanout is how many segments of about one size are merged: 2 to 8, 4 by default. A lookup visits every
	// segment, so there should be few.
	Fanout int
	// Later, if not nil, enables background merges.
	Later segment.Later
}

const (
	defaultFanout = 4
	maxFanout     = 8
	// mergeCache is the size of a merge's part cache in bytes.
	mergeCache = 1 << 20
)

// updater is one run of Update.
type updater struct {
	*segment.Updater
	ctx   context.Context
	put   store.Putter
	m     *segment.Manifest
	w     *writer // of the newest segment, nil before its first node
	nodes int     // and kills, in the update so far
}

// Update writes the index of a graph's links: the index base, the undefined CID for none, with changes applied.
// Changes must ascend by id, with each node at most once. It returns the CID of the manifest. An error of changes
// ends the update and is returned. Blocks written before an error are garbage. The error wraps store.ErrCorrupt if
// the update meets damage in base.
//
// The same arguments give the same manifest, except for runs that Later has merged.
func Update(
	ctx context.Context, blocks segment.Blocks, base ipld.CID, of Of, changes iter.Seq2[Change, error],
	opt UpdateOptions,
) (c ipld.CID, err error) {
	if opt.Fanout < 2 || opt.Fanout > maxFanout {
		opt.Fanout = defaultFanout
	}
	u := &updater{ctx: ctx, put: blocks, m: new(segment.Manifest)}
	u.Updater = Format.NewUpdater(blocks, opt.Fanout, opt.Later, mergeCache)
	if base.Defined() {
		if u.m, err = Format.ReadManifest(ctx, blocks, base); err == nil {
			err = u.Settle(ctx, &u.m.List)
		}
	}
	if err == nil {
		err = u.run(changes)
	}
	if err == nil {
		u.m.Roots = of.roots()
		c, err = Format.WriteManifest(ctx, blocks, u.m)
	}
	if err != nil {
		return ipld.CID{}, fmt.Errorf("update index of links: %w", err)
	}
	return c, nil
}

func (u *updater) run(changes iter.Seq2[Change, error]) error {
	for ch, err := range changes {
		if err == nil {
			err = u.ctx.Err()
		}
		if err == nil {
			err = u.add(&ch)
		}
		if err != nil {
			return err
		}
	}
	return u.close()
}

func (u *updater) add(c *Change) error {
	kills := 0
	if c.Known {
		kills = 1
	} else if c.Out.Degree == 0 && c.In.Degree == 0 {
		return nil
	}
	if u.w != nil && u.w.full() {
		if err := u.close(); err != nil {
			return err
		}
	}
	if u.w == nil {
		u.w = newWriter(Format.NewWriter(u.ctx, u.put))
	}
	return u.w.add(&c.Node, kills)
}

// close finishes the newest segment and performs due merges.
func (u *updater) close() error {
	if u.w == nil {
		return nil
	}
	s, block, err := u.w.finish()
	u.w = nil
	if err == nil {
		u.nodes += s.Ref().Size()
		err = u.Add(u.ctx, &u.m.List, s, block)
	}
	if err == nil {
		err = u.Compact(u.ctx, &u.m.List, u.nodes)
	}
	if err == nil {
		err = u.Save(u.ctx)
	}
	return err
}

// Merge merges the run recorded in a manifest, as segment.Format.MergeRun does.
func Merge(
	ctx context.Context, blocks segment.Blocks, manifest ipld.CID,
) (key, merged ipld.CID, err error) {
	m, err := Format.ReadManifest(ctx, blocks, manifest)
	if err != nil {
		return key, merged, err
	}
	return Format.MergeRun(ctx, blocks, &m.List)
}
