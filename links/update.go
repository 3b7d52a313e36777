package links

import (
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/internal/tiers"
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
	// Later, where given, has merges made beside the updates.
	Later tiers.Later
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
	opt    Options
	src    reader
	m      manifest
	w      *writer // of the newest segment, nil before its first node
	nodes  int     // and kills of the update so far
}

// Update writes the index of a graph's links: the index base, the undefined CID for none, with
// changes applied, which come ascending by id, each node at most once. It returns the CID of the
// manifest. An error of changes ends the update and is returned. The blocks written before an error
// are garbage. The error wraps store.ErrCorrupt where base is damaged and that is noticed.
//
// The same arguments give the same manifest, but for the runs that Later knows.
func Update(
	ctx context.Context, blocks Blocks, base ipld.CID, of Of, changes iter.Seq2[Change, error],
	opt Options,
) (ipld.CID, error) {
	u := &updater{ctx: ctx, blocks: blocks, opt: opt}
	if u.opt.Fanout < 2 || u.opt.Fanout > maxFanout {
		u.opt.Fanout = defaultFanout
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
		if err := u.settle(); err != nil {
			return c, err
		}
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
	u.nodes += s.docs + s.kills
	u.m.Segments = append(u.m.Segments, tiers.Ref{CID: s.cid, Docs: s.docs, Kills: s.kills})
	run, noted := u.m.Due(tiers.Policy{
		Fanout: u.opt.Fanout, Later: u.opt.Later != nil, MaxWaiting: maxWaiting,
	}, u.nodes)
	if run.Count > 1 {
		if s, block, err = u.merged(run, s); err != nil {
			return err
		}
		u.m.Replace(run, tiers.Ref{CID: s.cid, Docs: s.docs, Kills: s.kills})
	}
	if len(u.m.Segments) > maxSegments {
		return fmt.Errorf("%d segments, limit %d", len(u.m.Segments), maxSegments)
	}
	if s.docs+s.kills > 0 {
		err = u.blocks.Put(u.ctx, block)
	}
	if err == nil && noted {
		err = u.settle() // it may have been made for a manifest before
	}
	return err
}

// merged makes one segment of a run. Its parts are written, its own block is not. newest is the
// segment at the end of the list, whose block is not written either; nil where all are.
func (u *updater) merged(run tiers.Run, newest *segment) (*segment, store.Block, error) {
	segs := make([]*segment, run.Count)
	for i, ref := range u.m.Segments[run.From:run.End()] {
		if newest != nil && ref.CID == newest.cid {
			segs[i] = newest
			continue
		}
		var err error
		if segs[i], err = u.src.segment(u.ctx, ref.CID); err != nil {
			return nil, store.Block{}, err
		}
	}
	s, block, err := merge(u.ctx, &u.src, segs, run.From == 0, u.blocks)
	if err != nil {
		err = fmt.Errorf("merge %d segments: %w", run.Count, err)
	}
	return s, block, err
}
