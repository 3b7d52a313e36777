package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// roleAny is what a block is that leads somewhere but not to one kind of block: its own kind tells.
// It is a role of collections alone.
const roleAny = role(255)

// marker marks the blocks that operations and leases lead to.
type marker struct {
	ctx      context.Context
	facts    store.Blocks
	progress func(what string, done int)
	marked   cidSet
	texts    cidSet // cells of the indexes of texts of the graphs among them
}

func newMarker(ctx context.Context, r *Repo, progress func(string, int)) *marker {
	return &marker{ctx: ctx, facts: r.facts(), progress: progress}
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
	for c := head; c.Defined() && !m.has(c); {
		o, err := commit.ReadOperation(m.ctx, m.facts, c)
		if err != nil {
			return err
		}
		if o.Seq < horizon {
			break
		}
		if err := m.reach(lead{o.View, roleAny}); err != nil {
			return fmt.Errorf("refs of operation %d: %w", o.Seq, err)
		}
		m.add(c)
		if o.Seq == horizon {
			return m.beyond(o)
		}
		c = o.Parent
	}
	return nil
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
		if o, err = commit.ReadOperation(m.ctx, m.facts, next); err != nil {
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
	return m.reach(lead{c, roleAny})
}

// reach marks a block and all that it leads to.
func (m *marker) reach(root lead) error {
	return walkLeads(root, func(l lead) ([]lead, error) {
		if !m.add(l.cid) {
			return nil, nil
		}
		switch l.as {
		case roleEdge, roleMark, roleEmbedding, roleProfile, roleRaw:
			return nil, nil // they lead nowhere
		}
		block, err := m.facts.Get(m.ctx, l.cid)
		if errors.Is(err, store.ErrRedacted) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if ipld.RecordKind(block) == graph.KindGraph {
			m.texts.Add(textsKey(l.cid))
		}
		next, err := ownLeads(l, block)
		if err != nil {
			err = fmt.Errorf("block %s: %w: %w", l.cid, store.ErrCorrupt, err)
		}
		return next, err
	})
}

// ownLeads returns what a block leads to in its role or, where that is open, by its kind. Kinds
// that it does not know lead to all that they link to: a record of a later version must not lose
// what belongs to it.
func ownLeads(l lead, block []byte) ([]lead, error) {
	if l.as != roleAny {
		next, _, err := leads(l, block)
		return next, err
	}
	if l.cid.Codec() == ipld.Raw {
		return nil, nil
	}
	kind := ipld.RecordKind(block)
	switch kind {
	case commit.KindStage:
		return stageLeads(block)
	case graph.KindEdge, graph.KindMark, graph.KindEmbedding, retrieve.KindProfile:
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
