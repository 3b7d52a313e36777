package links

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/graph"
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

type writer struct {
	*segment.Writer
	nodes, filters *segment.Section
	busy           busyWriter
	part           partWriter
	hashes         []uint64 // of the nodes of the next filter
	first          graph.ID // of them
	parts          int      // that they are in
	last           graph.ID
}

func newWriter(to *segment.Writer) *writer {
	w := &writer{Writer: to, part: partWriter{numbers: map[string]int{}}}
	w.nodes, w.filters, w.busy.section = w.Section(secNodes), w.Section(secFilters), w.Section(secBusy)
	return w
}

// add adds a node, whose id must ascend; kills is how many segments' nodes it replaces.
func (w *writer) add(n *Node, kills int) error {
	if w.Docs > 0 && bytes.Compare(w.last[:], n.ID[:]) >= 0 {
		return fmt.Errorf("node %s after %s", n.ID, w.last)
	}
	for _, b := range [...]*Bucket{&n.Out, &n.In} {
		if b.Degree < 0 || b.Degree > maxDegree || b.Whole() && len(b.Entries) != b.Degree {
			return fmt.Errorf("node %s: %d of %d entries", n.ID, len(b.Entries), b.Degree)
		}
	}
	if len(w.part.ids) > 0 && w.part.size+n.most() > partSize {
		if err := w.endPart(); err != nil {
			return err
		}
	}
	if w.last = n.ID; len(w.hashes) == 0 {
		w.first = n.ID
	}
	w.hashes = append(w.hashes, hashID(n.ID))
	w.Docs++
	w.Kills += kills
	w.part.add(n)
	return w.busy.add(n)
}

func (w *writer) full() bool { return w.Docs == maxNodes }

func (w *writer) endPart() error {
	if len(w.part.ids) == 0 {
		return nil
	}
	first := graph.ID(w.part.ids)
	w.nodes.Buf, w.nodes.Key = w.part.finish(), first[:]
	if err := w.nodes.Cut(); err != nil {
		return err
	}
	if w.parts++; w.parts < filterParts {
		return nil
	}
	return w.endFilter()
}

func (w *writer) endFilter() error {
	w.filters.Buf, w.filters.Key = newBloom(w.hashes), bytes.Clone(w.first[:])
	w.hashes, w.parts = w.hashes[:0], 0
	return w.filters.Cut()
}

// finish writes the remaining parts and returns the segment with its block, which is not written.
func (w *writer) finish() (*segment.Segment, store.Block, error) {
	err := w.endPart()
	if err == nil && w.Spilled() { // inline parts need neither filters nor busy nodes
		err = w.busy.cut()
		if err == nil && w.parts > 0 {
			err = w.endFilter()
		}
	}
	if err != nil {
		return nil, store.Block{}, err
	}
	return w.Finish()
}
