package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// merged is what a merge of two states gives.
type merged struct {
	state     *state             // in conflicts with our version, where that does not hang in the air
	conflicts []*commit.Conflict // in the order of their items
	dropped   int                // embeddings that fit no merged node
}

// stateMerge merges two states that began at one, as clause 14 of the specification says. What it
// reads and writes is in proportion to what the sides changed.
type stateMerge struct {
	ctx                context.Context
	stage              *store.Stage // where new records go
	base, ours, theirs *state
	virtual            bool // whether the result is a base: then a conflict takes what was before
	conflicts          map[graph.Item]*commit.Conflict
	follow             map[graph.Item]bool // edges that go where a node in conflict goes
	out                *state
	dropped            int
}

// mergeStates merges theirs into ours. Trees are written to where those of ours are, records to
// stage.
func mergeStates(
	ctx context.Context, stage *store.Stage, base, ours, theirs *state,
) (*merged, error) {
	return runMerge(&stateMerge{ctx: ctx, stage: stage, base: base, ours: ours, theirs: theirs})
}

func runMerge(m *stateMerge) (*merged, error) {
	m.conflicts = make(map[graph.Item]*commit.Conflict)
	m.out = &state{get: m.stage}
	m.follow = make(map[graph.Item]bool)
	steps := []func() error{
		m.nodes, m.edges, m.pruneEdges, m.marks, m.pruneMarks, m.circles, m.adjacency,
		m.vectors, m.digests, m.profile,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, fmt.Errorf("merge: %w", err)
		}
	}
	out := &merged{state: m.out, dropped: m.dropped}
	for _, c := range m.conflicts {
		out.conflicts = append(out.conflicts, c)
	}
	slices.SortFunc(out.conflicts, func(a, b *commit.Conflict) int {
		return strings.Compare(a.Item.String(), b.Item.String())
	})
	return out, nil
}

func (m *stateMerge) take() graph.Take {
	if m.virtual {
		return graph.TakeBase
	}
	return graph.TakeOurs
}

func (m *stateMerge) nodes() (err error) {
	m.out.nodes, err = prolly.Merge(m.ctx, m.base.nodes, m.ours.nodes, m.theirs.nodes,
		func(c prolly.Conflict) ([]byte, error) {
			return m.record(graph.Item{Kind: graph.NodeItem, ID: graph.ID(c.Key)}, c, graph.MergeNode, nil)
		})
	return err
}

func (m *stateMerge) edges() (err error) {
	m.out.edges, err = prolly.Merge(m.ctx, m.base.edges, m.ours.edges, m.theirs.edges,
		func(c prolly.Conflict) ([]byte, error) {
			item := graph.Item{Kind: graph.EdgeItem, ID: graph.ID(c.Key)}
			return m.record(item, c, graph.MergeEdge, func(block []byte) ([]need, error) {
				e, err := graph.DecodeEdge(block)
				if err != nil {
					return nil, err
				}
				return []need{{graph.OnNode, e.Src}, {graph.OnNode, e.Dst}}, nil
			})
		})
	return err
}

func (m *stateMerge) marks() (err error) {
	m.out.marks, err = prolly.Merge(m.ctx, m.base.marks, m.ours.marks, m.theirs.marks,
		func(c prolly.Conflict) ([]byte, error) {
			on, id, err := graph.ParseMarkKey(c.Key)
			if err != nil {
				return nil, fmt.Errorf("%w tree of marks: %w", store.ErrCorrupt, err)
			}
			return m.record(graph.MarkItem(on, id), c, graph.MergeMark, func([]byte) ([]need, error) {
				return []need{{on, id}}, nil
			})
		})
	return err
}

// record merges one record that both sides changed and returns the tree value of the result.
// needs, where given, says what an edge or mark needs to exist.
func (m *stateMerge) record(
	item graph.Item, c prolly.Conflict,
	merge func(graph.Versions, graph.Take) (graph.MergedRecord, error),
	needs func(block []byte) ([]need, error),
) ([]byte, error) {
	con, v, err := m.versions(item, c)
	if err != nil {
		return nil, err
	}
	var res graph.MergedRecord
	if con.Base.Defined() && v.Base == nil {
		res, err = graph.MergeErased(item.Kind, v, m.take())
	} else {
		res, err = merge(v, m.take())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", item, store.ErrCorrupt, err)
	}
	if res.Kind != "" && m.virtual && con.Base.Defined() && v.Base == nil {
		m.conflicts[item] = con
		return c.Base, nil // the erased record itself
	}
	if res.Kind == graph.DeleteModify && needs != nil && !m.virtual {
		list, err := needs(either(v.Ours, v.Theirs))
		if err != nil {
			return nil, err
		}
		remover := m.ours
		if v.Ours != nil {
			remover = m.theirs
		}
		gone, with, err := m.removed(remover, list)
		switch {
		case err != nil:
			return nil, err
		case with:
			res.Kind = ""
			m.follow[item] = true
		case gone:
			res.Kind, res.Record = graph.EndRemoved, nil
		}
	}
	if res.Kind != "" {
		con.Cause = res.Kind
		con.SetFields(res.Fields)
		m.conflicts[item] = con
	}
	switch {
	case res.Record == nil:
		return nil, nil
	case bytes.Equal(res.Record, v.Ours):
		return c.Left, nil
	case bytes.Equal(res.Record, v.Theirs):
		return c.Right, nil
	}
	b := store.NewBlock(ipld.DagCBOR, res.Record)
	return ipld.AppendLink(nil, b.CID), m.stage.Put(m.ctx, b)
}

// either returns the one that is given.
func either(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}

// versions reads the three records of an item; one before both sides that was erased is nil, and
// con.Base names it. That before both sides is put beside the result:
// of a virtual base it may be nowhere else.
func (m *stateMerge) versions(
	item graph.Item, c prolly.Conflict,
) (*commit.Conflict, graph.Versions, error) {
	var v graph.Versions
	con := &commit.Conflict{Item: item}
	for _, side := range []struct {
		item []byte
		get  store.Getter
		cid  *ipld.CID
		to   *[]byte
	}{
		{c.Base, m.base.get, &con.Base, &v.Base},
		{c.Left, m.ours.get, &con.Ours, &v.Ours},
		{c.Right, m.theirs.get, &con.Theirs, &v.Theirs},
	} {
		var err error
		if *side.cid, err = linkItem(side.item); err != nil {
			return nil, v, err
		}
		if side.item == nil {
			continue
		}
		*side.to, err = side.get.Get(m.ctx, *side.cid)
		if side.cid == &con.Base && errors.Is(err, store.ErrRedacted) {
			continue // nobody can tell what the sides changed of it
		}
		if err != nil {
			*side.to, err = commit.Left(err)
		}
		if err != nil {
			return nil, v, fmt.Errorf("read %s: %w", item, err)
		}
	}
	if v.Base == nil {
		return con, v, nil
	}
	return con, v, m.stage.Put(m.ctx, store.Block{CID: con.Base, Data: v.Base})
}

// removed reports whether any of what an item needs is not in side, and if so whether all of
// that is in conflict itself, so that the item goes with it.
func (m *stateMerge) removed(side *state, list []need) (gone, with bool, err error) {
	with = true
	for _, n := range list {
		ok, err := side.has(m.ctx, n)
		if err != nil {
			return false, false, err
		}
		if !ok {
			gone = true
			with = with && m.inConflict(n)
		}
	}
	return gone, gone && with, nil
}

func (m *stateMerge) inConflict(n need) bool {
	kind := graph.NodeItem
	if n.on == graph.OnEdge {
		kind = graph.EdgeItem
	}
	item := graph.Item{Kind: kind, ID: n.id}
	return m.conflicts[item] != nil || m.follow[item]
}

// pruneEdges leaves out the edges that hang in the air because the other side removed an end, and
// notes them as conflicts unless the end is one itself.
func (m *stateMerge) pruneEdges() error {
	edits, err := m.hanging(m.ours.edges, m.theirs.edges, m.out.edges,
		func(_, value []byte) ([]need, error) { return edgeNeeds(m.ctx, m.out, value) },
		func(key []byte) graph.Item { return graph.Item{Kind: graph.EdgeItem, ID: graph.ID(key)} })
	if err != nil {
		return err
	}
	m.out.edges, err = m.out.edges.Edit(m.ctx, edits)
	return err
}

// pruneMarks does the same for marks, after the edges they may be on.
func (m *stateMerge) pruneMarks() error {
	edits, err := m.hanging(m.ours.marks, m.theirs.marks, m.out.marks,
		func(key, _ []byte) ([]need, error) { return markNeeds(key) },
		func(key []byte) graph.Item {
			on, id, _ := graph.ParseMarkKey(key) // markNeeds read it
			return graph.MarkItem(on, id)
		})
	if err != nil {
		return err
	}
	m.out.marks, err = m.out.marks.Edit(m.ctx, edits)
	return err
}

// hanging returns the edits that leave out of a merged tree what needs something that only one
// side has and that is not merged. What hung in the air on its own side before stays.
func (m *stateMerge) hanging(
	ours, theirs, out *prolly.Map, needs func(key, value []byte) ([]need, error),
	item func(key []byte) graph.Item,
) ([]prolly.Edit, error) {
	found := make(map[string]bool)
	if m.virtual {
		return nil, nil
	}
	for _, side := range []*prolly.Map{ours, theirs} {
		for c, err := range prolly.Diff(m.ctx, side, out) {
			if err != nil {
				return nil, err
			}
			if c.New == nil || found[string(c.Key)] {
				continue
			}
			list, err := needs(c.Key, c.New)
			if err != nil {
				return nil, fmt.Errorf("%s: %w: %w", item(c.Key), store.ErrCorrupt, err)
			}
			gone, with, err := m.missing(list)
			if err != nil {
				return nil, err
			}
			if !gone {
				continue
			}
			found[string(c.Key)] = true
			if with {
				m.follow[item(c.Key)] = true
				continue
			}
			if err := m.hangs(item(c.Key), c.Key, ours, theirs); err != nil {
				return nil, err
			}
		}
	}
	return removals(found), nil
}

// missing reports whether any of what is needed is not merged though a side has it, and if so
// whether all of that is in conflict itself.
func (m *stateMerge) missing(list []need) (gone, with bool, err error) {
	with = true
	for _, n := range list {
		merged, err := m.out.has(m.ctx, n)
		if err != nil {
			return false, false, err
		}
		if merged {
			continue
		}
		for _, side := range []*state{m.ours, m.theirs} {
			ok, err := side.has(m.ctx, n)
			if err != nil {
				return false, false, err
			}
			if ok {
				gone = true
				with = with && m.inConflict(n)
				break
			}
		}
	}
	return gone, gone && with, nil
}

// hangs notes that an item's end was removed.
func (m *stateMerge) hangs(item graph.Item, key []byte, ours, theirs *prolly.Map) error {
	con := m.conflicts[item]
	if con == nil {
		con = &commit.Conflict{Item: item}
		base := m.base.edges
		if _, mark := item.Mark(); mark {
			base = m.base.marks
		}
		if err := m.sides(con, key, base, ours, theirs); err != nil {
			return err
		}
	}
	con.Cause, con.Fields = graph.EndRemoved, nil
	m.conflicts[item] = con
	return nil
}

// sides fills in the records of a conflict from the trees that have them.
func (m *stateMerge) sides(con *commit.Conflict, key []byte, base, ours, theirs *prolly.Map) error {
	for _, side := range []struct {
		tree *prolly.Map
		to   *ipld.CID
	}{{base, &con.Base}, {ours, &con.Ours}, {theirs, &con.Theirs}} {
		var err error
		if *side.to, err = lookup(m.ctx, side.tree, key); err != nil {
			return err
		}
	}
	return m.keepBase(con.Base)
}

// keepBase puts a record of the base beside the result.
func (m *stateMerge) keepBase(c ipld.CID) error {
	if !c.Defined() {
		return nil
	}
	data, err := m.base.get.Get(m.ctx, c)
	if errors.Is(err, store.ErrRedacted) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", c, err)
	}
	return m.stage.Put(m.ctx, store.Block{CID: c, Data: data})
}

func removals(keys map[string]bool) []prolly.Edit {
	edits := make([]prolly.Edit, 0, len(keys))
	for key := range keys {
		edits = append(edits, prolly.Edit{Key: []byte(key)})
	}
	slices.SortFunc(edits, func(a, b prolly.Edit) int { return bytes.Compare(a.Key, b.Key) })
	return edits
}

// adjacency derives the adjacency trees from what the merged edges differ in from ours.
func (m *stateMerge) adjacency() error {
	out, in := newOverlay(m.ours.out), newOverlay(m.ours.in)
	for c, err := range prolly.Diff(m.ctx, m.ours.edges, m.out.edges) {
		if err != nil {
			return err
		}
		for _, side := range []struct {
			item []byte
			get  store.Getter
			kept bool
		}{{c.Old, m.ours.get, false}, {c.New, m.stage, true}} {
			if side.item == nil {
				continue
			}
			id, err := linkItem(side.item)
			if err != nil {
				return err
			}
			e, err := commit.ReadEdge(m.ctx, side.get, id)
			if err != nil {
				return err
			}
			var value []byte
			if side.kept {
				value = adjacency.Value(e)
			}
			out.set(adjacency.OutKey(e), value)
			in.set(adjacency.InKey(e), value)
		}
	}
	var err error
	if m.out.out, _, err = out.flush(m.ctx); err != nil {
		return err
	}
	m.out.in, _, err = in.flush(m.ctx)
	return err
}
