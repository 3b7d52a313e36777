package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// roleAny is what a block is that leads somewhere but not to one kind of block: its own kind tells.
// It is a role of collections alone.
const roleAny = role(255)

// waveMost is how many blocks are read in one order of CIDs at most. The more they are, the more of them
// lie in one block of a table; a place for each takes 50 bytes.
const waveMost = 1 << 18

// marker marks the blocks that operations and leases lead to.
type marker struct {
	ctx      context.Context
	facts    store.Blocks
	progress func(what string, done int)
	marked   cidSet
	texts    cidSet // cells of the indexes of texts of the graphs among them
}

func newMarker(ctx context.Context, r *Repo, progress func(string, int)) *marker {
	return &marker{ctx: ctx, facts: r.store.Facts(), progress: progress}
}

func (m *marker) has(c ipld.CID) bool { return m.marked.Has(c) }

// add marks a block and reports whether it was not marked before.
func (m *marker) add(c ipld.CID) bool {
	added := m.marked.Add(c)
	if n := m.marked.Len(); added && n%progressEvery == 0 {
		m.progress("blocks in use", n)
	}
	return added
}

// operations marks the operations from head down to the horizon with all that their views lead to,
// and those that are kept beyond it, alone.
func (m *marker) operations(head ipld.CID, horizon uint64) error {
	var views []reached
	for c := head; c.Defined() && !m.has(c); {
		o, err := commit.ReadOperation(m.ctx, linked{m.facts}, c)
		if err != nil {
			return err
		}
		if o.Seq < horizon {
			break
		}
		m.add(c)
		if m.add(o.View) {
			views = append(views, reached{lead{o.View, roleAny}, o.Seq})
		}
		if o.Seq == horizon {
			if err := m.beyond(o); err != nil {
				return err
			}
			break
		}
		c = o.Parent
	}
	return m.reach(views)
}

// beyond marks the operations behind the horizon that skip links go through: commit.Kept.
func (m *marker) beyond(o *commit.Operation) error {
	for {
		next := o.Skip
		if o.Seq%2 == 1 {
			next = o.Parent
		}
		if !next.Defined() || !m.add(next) {
			return nil
		}
		var err error
		if o, err = commit.ReadOperation(m.ctx, linked{m.facts}, next); err != nil {
			return err
		}
	}
}

// lease marks what a leased block leads to. One that is not there any more leads nowhere.
func (m *marker) lease(c ipld.CID) error {
	if m.has(c) {
		return nil
	}
	has, err := m.facts.Has(m.ctx, c)
	if err != nil || !has {
		return err
	}
	m.add(c)
	return m.reach([]reached{{lead: lead{c, roleAny}}})
}

// reached is a lead to a block that was just marked, and the operation by which it was found, 0 for a
// lease.
type reached struct {
	lead
	seq uint64
}

// reach marks blocks and all that they lead to. Of the blocks that are still to be read it takes the
// newest, as many as a wave has, and reads these in the order of their CIDs, which is that of the
// store: one by one in the order of the leads, each would be sought for.
func (m *marker) reach(todo []reached) error {
	var wave []reached
	for len(todo) > 0 {
		first := max(0, len(todo)-waveMost)
		wave = append(wave[:0], todo[first:]...)
		todo = todo[:first]
		slices.SortFunc(wave, func(a, b reached) int { return a.cid.Compare(b.cid) })
		at := -1
		cids := func(yield func(ipld.CID) bool) {
			for at = range wave {
				if !yield(wave[at].cid) {
					return
				}
			}
		}
		err := store.GetEach(m.ctx, m.facts, cids, func(_ ipld.CID, block []byte, err error) error {
			next, err := m.read(wave[at].lead, block, err)
			for _, l := range next {
				if m.add(l.cid) && !l.as.leaf() {
					todo = append(todo, reached{l, wave[at].seq})
				}
			}
			if err != nil && wave[at].seq > 0 {
				err = fmt.Errorf("refs of operation %d: %w", wave[at].seq, err)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// leaf reports whether blocks of a role lead nowhere.
func (r role) leaf() bool {
	switch r {
	case roleEdge, roleMark, roleEmbedding, roleWritten, roleProfile, roleRaw:
		return true
	}
	return false
}

// read returns what a block leads to, of which err is that of reading it.
func (m *marker) read(l lead, block []byte, err error) ([]lead, error) {
	switch {
	case errors.Is(err, store.ErrRedacted):
		return nil, nil
	case errors.Is(err, store.ErrNotFound):
		return nil, &MissingError{l.cid}
	case err != nil:
		return nil, err
	}
	kind := ""
	if l.as == roleAny {
		kind = ipld.PeekKind(block)
	}
	if l.as == roleGraph || kind == graph.KindGraph {
		m.texts.Add(textsKey(l.cid))
	}
	next, err := ownLeads(l, kind, block)
	if err != nil {
		err = fmt.Errorf("block %s: %w: %w", l.cid, store.ErrCorrupt, err)
	}
	return next, err
}

// ownLeads returns what a block leads to in its role or, where that is open, by its kind. Kinds
// that it does not know lead to all that they link to: a record of a later version must not lose
// what belongs to it.
func ownLeads(l lead, kind string, block []byte) ([]lead, error) {
	if l.as != roleAny {
		next, _, err := leads(l, block)
		return next, err
	}
	if l.cid.Codec() == ipld.Raw {
		return nil, nil
	}
	switch kind {
	case commit.KindStage:
		return stageLeads(block)
	case graph.KindEdge, graph.KindMark, graph.KindEmbedding, distill.KindWritten, retrieve.KindProfile:
		return nil, nil
	}
	for _, r := range []role{roleCommit, roleTag, roleSession, roleReceipt, roleGraph, roleNode} {
		if kind == r.String() {
			next, _, err := leads(lead{l.cid, r}, block)
			return next, err
		}
	}
	var out []lead
	err := ipld.Links(l.cid, block, func(c ipld.CID) error {
		out = append(out, lead{c, roleAny})
		return nil
	})
	return out, err
}

func stageLeads(block []byte) ([]lead, error) {
	s, err := commit.DecodeStage(block)
	if err != nil {
		return nil, err
	}
	out := []lead{{s.Graph, roleGraph}}
	return opt(opt(out, s.Base, roleCommit), s.Vectors, roleVectors), nil
}
