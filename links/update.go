package links

import (
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// Blocks is what an update reads and writes.
type Blocks interface {
	store.Getter
	store.Putter
}

// Change is a node as it is now, without edges where it lost them or is gone.
type Change struct {
	Node
	Known bool // whether it had edges before
}

// Options of an update. The zero value means the defaults. None changes an answer.
type Options struct {
	// Fanout is how many segments of about one size become one: 2 to 8, 4 by default. Nodes are
	// looked up in every segment, so that there should be few.
	Fanout int
}

const (
	defaultFanout = 4
	maxFanout     = 8
	// mergeCache is how many bytes of parts a merge keeps.
	mergeCache = 1 << 20
)

// updater is one run of Update.
type updater struct {
	ctx    context.Context
	blocks Blocks
	fanout int
	src    reader
	m      manifest
	w      *writer // of the newest segment, nil before its first node
}

// Update writes the index of a graph's links: the index base, the undefined CID for none, with
// changes applied, which come ascending by id, each node at most once. It returns the CID of the
// manifest. An error of changes ends the update and is returned. The blocks written before an error
// are garbage. The error wraps store.ErrCorrupt where base is damaged and that is noticed.
//
// The same arguments give the same manifest.
func Update(
	ctx context.Context, blocks Blocks, base ipld.CID, of Of, changes iter.Seq2[Change, error],
	opt Options,
) (ipld.CID, error) {
	u := &updater{ctx: ctx, blocks: blocks, fanout: opt.Fanout}
	if u.fanout < 2 || u.fanout > maxFanout {
		u.fanout = defaultFanout
	}
	u.src = reader{get: blocks, cache: NewCache(mergeCache)}
	c, err := u.run(base, of, changes)
	if err != nil {
		return ipld.CID{}, fmt.Errorf("update index of links: %w", err)
	}
	return c, nil
}

func (u *updater) run(
	base ipld.CID, of Of, changes iter.Seq2[Change, error],
) (c ipld.CID, err error) {
	if base.Defined() {
		m, err := readManifest(u.ctx, u.blocks, base)
		if err != nil {
			return c, err
		}
		u.m = *m
	}
	u.m.of = of
	for ch, err := range changes {
		if err == nil {
			err = u.ctx.Err()
		}
		if err == nil {
			err = u.add(&ch)
		}
		if err != nil {
			return c, err
		}
	}
	if err := u.close(); err != nil {
		return c, err
	}
	block := store.NewBlock(ipld.DagCBOR, u.m.encode())
	return block.CID, u.blocks.Put(u.ctx, block)
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
		u.w = newWriter(u.ctx, u.blocks)
	}
	return u.w.add(&c.Node, kills)
}

// close ends the newest segment and merges what the tiers ask for.
func (u *updater) close() error {
	if u.w == nil {
		return nil
	}
	s, block, err := u.w.finish()
	u.w = nil
	if err != nil {
		return err
	}
	list := append(u.m.segments, index.SegmentRef{CID: s.cid, Docs: s.docs, Kills: s.kills})
	if n := index.MergeCount(list, u.fanout); n > 1 {
		keep := len(list) - n
		segs := make([]*segment, n)
		segs[n-1] = s
		for i, ref := range list[keep : len(list)-1] {
			if segs[i], err = u.src.segment(u.ctx, ref.CID); err != nil {
				return err
			}
		}
		if s, block, err = merge(u.ctx, &u.src, segs, keep == 0, u.blocks); err != nil {
			return fmt.Errorf("merge %d segments: %w", n, err)
		}
		list = list[:keep:keep]
		if s.docs > 0 {
			list = append(list, index.SegmentRef{CID: s.cid, Docs: s.docs, Kills: s.kills})
		}
	}
	if len(list) > maxSegments {
		return fmt.Errorf("%d segments, limit %d", len(list), maxSegments)
	}
	u.m.segments = list
	if s.docs == 0 {
		return nil
	}
	return u.blocks.Put(u.ctx, block)
}
