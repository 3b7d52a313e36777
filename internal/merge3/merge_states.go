// Package merge3 merges two states with a common base, field by field, as clause 14 of the specification says. The
// result depends only on the three states.
package merge3

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
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Merged is the result of merging two states.
type Merged struct {
	State     *state.State       // with our version in conflicts, unless that would dangle
	Conflicts []*commit.Conflict // in the order of their items
	Dropped   int                // embeddings that match no merged node
}

// StateMerge merges two states with a common base, as clause 14 of the specification says. It reads and writes in
// proportion to what the sides changed.
type StateMerge struct {
	Ctx                context.Context
	Stage              *store.Stage // for new records
	Base, Ours, Theirs *state.State
	Virtual            bool // whether the result is a merge base: conflicts then take the base version
	conflicts          map[graph.Item]*commit.Conflict
	follow             map[graph.Item]bool // edges that follow a node in conflict
	out                *state.State
	dropped            int
}

// MergeStates merges theirs into ours. Trees are written through those of ours, records to stage.
func MergeStates(ctx context.Context, stage *store.Stage, base, ours, theirs *state.State) (*Merged, error) {
	return RunMerge(&StateMerge{Ctx: ctx, Stage: stage, Base: base, Ours: ours, Theirs: theirs})
}

// RunMerge merges m.Theirs into m.Ours. It is MergeStates for callers that set Virtual. m serves one run.
func RunMerge(m *StateMerge) (*Merged, error) {
	m.conflicts = make(map[graph.Item]*commit.Conflict)
	m.out = &state.State{Get: m.Stage}
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
	out := &Merged{State: m.out, Dropped: m.dropped}
	for _, c := range m.conflicts {
		out.Conflicts = append(out.Conflicts, c)
	}
	slices.SortFunc(out.Conflicts, func(a, b *commit.Conflict) int {
		return strings.Compare(a.Item.String(), b.Item.String())
	})
	return out, nil
}

func (m *StateMerge) take() graph.Take {
	if m.Virtual {
		return graph.TakeBase
	}
	return graph.TakeOurs
}

func (m *StateMerge) nodes() (err error) {
	m.out.Nodes, err = prolly.Merge(m.Ctx, m.Base.Nodes, m.Ours.Nodes, m.Theirs.Nodes,
		func(c prolly.Conflict) ([]byte, error) {
			return m.record(graph.Item{Kind: graph.NodeItem, ID: graph.ID(c.Key)}, c, graph.MergeNode, nil)
		})
	return err
}

func (m *StateMerge) edges() (err error) {
	m.out.Edges, err = prolly.Merge(m.Ctx, m.Base.Edges, m.Ours.Edges, m.Theirs.Edges,
		func(c prolly.Conflict) ([]byte, error) {
			item := graph.Item{Kind: graph.EdgeItem, ID: graph.ID(c.Key)}
			return m.record(item, c, graph.MergeEdge, func(block []byte) ([]state.Need, error) {
				e, err := graph.DecodeEdge(block)
				if err != nil {
					return nil, err
				}
				return []state.Need{{On: graph.OnNode, Id: e.Src}, {On: graph.OnNode, Id: e.Dst}}, nil
			})
		})
	return err
}

func (m *StateMerge) marks() (err error) {
	m.out.Marks, err = prolly.Merge(m.Ctx, m.Base.Marks, m.Ours.Marks, m.Theirs.Marks,
		func(c prolly.Conflict) ([]byte, error) {
			on, id, err := graph.ParseMarkKey(c.Key)
			if err != nil {
				return nil, fmt.Errorf("%w tree of marks: %w", store.ErrCorrupt, err)
			}
			return m.record(graph.MarkItem(on, id), c, graph.MergeMark, func([]byte) ([]state.Need, error) {
				return []state.Need{{On: on, Id: id}}, nil
			})
		})
	return err
}

// record merges one record that both sides changed and returns the tree value of the result. needs, if not nil,
// returns what an edge or mark references.
func (m *StateMerge) record(
	item graph.Item, c prolly.Conflict,
	merge func(graph.Versions, graph.Take) (graph.MergedRecord, error),
	needs func(block []byte) ([]state.Need, error),
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
	if res.Kind != "" && m.Virtual && con.Base.Defined() && v.Base == nil {
		m.conflicts[item] = con
		return c.Base, nil // the erased record itself
	}
	if res.Kind == graph.DeleteModify && needs != nil && !m.Virtual {
		list, err := needs(either(v.Ours, v.Theirs))
		if err != nil {
			return nil, err
		}
		remover := m.Ours
		if v.Ours != nil {
			remover = m.Theirs
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
	return ipld.AppendLink(nil, b.CID), m.Stage.Put(m.Ctx, b)
}

// either returns the argument that is not nil.
func either(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}

// versions reads the three records of an item. An erased base record is nil, and con.Base names it. The base record
// is also staged: for a virtual base it may be stored nowhere else.
func (m *StateMerge) versions(item graph.Item, c prolly.Conflict) (*commit.Conflict, graph.Versions, error) {
	var v graph.Versions
	con := &commit.Conflict{Item: item}
	for _, side := range []struct {
		item []byte
		get  store.Getter
		cid  *ipld.CID
		to   *[]byte
	}{
		{c.Base, m.Base.Get, &con.Base, &v.Base},
		{c.Left, m.Ours.Get, &con.Ours, &v.Ours},
		{c.Right, m.Theirs.Get, &con.Theirs, &v.Theirs},
	} {
		var err error
		if *side.cid, err = state.LinkItem(side.item); err != nil {
			return nil, v, err
		}
		if side.item == nil {
			continue
		}
		*side.to, err = side.get.Get(m.Ctx, *side.cid)
		if side.cid == &con.Base && errors.Is(err, store.ErrRedacted) {
			continue // what the sides changed of it is unknown
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
	return con, v, m.Stage.Put(m.Ctx, store.Block{CID: con.Base, Data: v.Base})
}

// removed reports whether side lacks any reference of an item, and if so whether all missing ones are in conflict
// themselves, so that the item goes with them.
func (m *StateMerge) removed(side *state.State, list []state.Need) (gone, with bool, err error) {
	with = true
	for _, n := range list {
		ok, err := side.Has(m.Ctx, n)
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

func (m *StateMerge) inConflict(n state.Need) bool {
	kind := graph.NodeItem
	if n.On == graph.OnEdge {
		kind = graph.EdgeItem
	}
	item := graph.Item{Kind: kind, ID: n.Id}
	return m.conflicts[item] != nil || m.follow[item]
}

// pruneEdges drops edges that dangle because the other side removed an end. It records them as conflicts unless the
// end is in conflict itself.
func (m *StateMerge) pruneEdges() error {
	edits, err := m.dangling(m.Ours.Edges, m.Theirs.Edges, m.out.Edges,
		func(_, value []byte) ([]state.Need, error) { return state.EdgeNeeds(m.Ctx, m.out, value) },
		func(key []byte) graph.Item { return graph.Item{Kind: graph.EdgeItem, ID: graph.ID(key)} })
	if err != nil {
		return err
	}
	m.out.Edges, err = m.out.Edges.Edit(m.Ctx, edits)
	return err
}

// pruneMarks does the same for marks, after the edges they may be on.
func (m *StateMerge) pruneMarks() error {
	edits, err := m.dangling(m.Ours.Marks, m.Theirs.Marks, m.out.Marks,
		func(key, _ []byte) ([]state.Need, error) { return state.MarkNeeds(key) },
		func(key []byte) graph.Item {
			on, id, _ := graph.ParseMarkKey(key) // MarkNeeds read it
			return graph.MarkItem(on, id)
		})
	if err != nil {
		return err
	}
	m.out.Marks, err = m.out.Marks.Edit(m.Ctx, edits)
	return err
}

// dangling returns the edits that drop from a merged tree the entries that reference something only one side has and
// the merge does not keep. An entry that dangled on its own side already stays.
func (m *StateMerge) dangling(
	ours, theirs, out *prolly.Map, needs func(key, value []byte) ([]state.Need, error),
	item func(key []byte) graph.Item,
) ([]prolly.Edit, error) {
	found := make(map[string]bool)
	if m.Virtual {
		return nil, nil
	}
	for _, side := range []*prolly.Map{ours, theirs} {
		for c, err := range prolly.Diff(m.Ctx, side, out) {
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
			if err := m.dangles(item(c.Key), c.Key, ours, theirs); err != nil {
				return nil, err
			}
		}
	}
	return removals(found), nil
}

// missing reports whether any reference is not merged although a side has it, and if so whether all such are in
// conflict themselves.
func (m *StateMerge) missing(list []state.Need) (gone, with bool, err error) {
	with = true
	for _, n := range list {
		merged, err := m.out.Has(m.Ctx, n)
		if err != nil {
			return false, false, err
		}
		if merged {
			continue
		}
		for _, side := range []*state.State{m.Ours, m.Theirs} {
			ok, err := side.Has(m.Ctx, n)
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

// dangles records a conflict for an item whose end was removed.
func (m *StateMerge) dangles(item graph.Item, key []byte, ours, theirs *prolly.Map) error {
	con := m.conflicts[item]
	if con == nil {
		con = &commit.Conflict{Item: item}
		base := m.Base.Edges
		if _, mark := item.Mark(); mark {
			base = m.Base.Marks
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
func (m *StateMerge) sides(con *commit.Conflict, key []byte, base, ours, theirs *prolly.Map) error {
	for _, side := range []struct {
		tree *prolly.Map
		to   *ipld.CID
	}{{base, &con.Base}, {ours, &con.Ours}, {theirs, &con.Theirs}} {
		var err error
		if *side.to, err = state.Lookup(m.Ctx, side.tree, key); err != nil {
			return err
		}
	}
	return m.keepBase(con.Base)
}

// keepBase stages a record of the base.
func (m *StateMerge) keepBase(c ipld.CID) error {
	if !c.Defined() {
		return nil
	}
	data, err := m.Base.Get.Get(m.Ctx, c)
	if errors.Is(err, store.ErrRedacted) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", c, err)
	}
	return m.Stage.Put(m.Ctx, store.Block{CID: c, Data: data})
}

func removals(keys map[string]bool) []prolly.Edit {
	edits := make([]prolly.Edit, 0, len(keys))
	for key := range keys {
		edits = append(edits, prolly.Edit{Key: []byte(key)})
	}
	slices.SortFunc(edits, func(a, b prolly.Edit) int { return bytes.Compare(a.Key, b.Key) })
	return edits
}

// adjacency derives the adjacency trees from how the merged edges differ from ours.
func (m *StateMerge) adjacency() error {
	out, in := state.NewOverlay(m.Ours.Out), state.NewOverlay(m.Ours.In)
	for c, err := range prolly.Diff(m.Ctx, m.Ours.Edges, m.out.Edges) {
		if err != nil {
			return err
		}
		for _, side := range []struct {
			item []byte
			get  store.Getter
			kept bool
		}{{c.Old, m.Ours.Get, false}, {c.New, m.Stage, true}} {
			if side.item == nil {
				continue
			}
			id, err := state.LinkItem(side.item)
			if err != nil {
				return err
			}
			e, err := commit.ReadEdge(m.Ctx, side.get, id)
			if err != nil {
				return err
			}
			var value []byte
			if side.kept {
				value = adjacency.Value(e)
			}
			out.Set(adjacency.OutKey(e), value)
			in.Set(adjacency.InKey(e), value)
		}
	}
	var err error
	if m.out.Out, _, err = out.Flush(m.Ctx); err != nil {
		return err
	}
	m.out.In, _, err = in.Flush(m.Ctx)
	return err
}

// digests merges the texts of digests: if both sides have a new one for a source, the one with the smaller CID wins.
func (m *StateMerge) digests() (err error) {
	m.out.Digests, err = prolly.Merge(m.Ctx, m.Base.Digests, m.Ours.Digests, m.Theirs.Digests,
		func(c prolly.Conflict) ([]byte, error) {
			if c.Right == nil || c.Left != nil && bytes.Compare(c.Left, c.Right) <= 0 {
				return c.Left, nil
			}
			return c.Right, nil
		})
	return err
}

// ReadProfiles reads a record of profiles; an undefined c gives nil.
func ReadProfiles(ctx context.Context, get store.Getter, c ipld.CID) (*retrieve.Profiles, error) {
	if !c.Defined() {
		return nil, nil
	}
	block, err := get.Get(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read profiles: %w", err)
	}
	p, err := retrieve.DecodeProfiles(block)
	if err != nil {
		err = fmt.Errorf("read profiles %s: %w: %w", c, store.ErrCorrupt, err)
	}
	return p, err
}

// profile merges the retrieval profiles.
func (m *StateMerge) profile() error {
	base, ours, theirs := m.Base.Profile, m.Ours.Profile, m.Theirs.Profile
	switch {
	case ours == theirs, theirs == base:
		m.out.Profile = ours
		return nil
	case ours == base:
		m.out.Profile = theirs
		return nil
	}
	v, err := ReadProfileVersions(m.Ctx, [3]ProfileAt{
		{m.Base.Get, base}, {m.Ours.Get, ours}, {m.Theirs.Get, theirs},
	})
	if err != nil {
		return err
	}
	merged, fields := retrieve.MergeProfiles(v, m.take())
	if len(fields) > 0 {
		item := graph.Item{Kind: graph.ProfileItem}
		con := &commit.Conflict{
			Item: item, Cause: graph.EditEdit, Base: base, Ours: ours, Theirs: theirs,
		}
		if !base.Defined() {
			con.Cause = graph.AddAdd
		}
		con.SetFields(fields)
		m.conflicts[item] = con
		if err := m.keepBase(base); err != nil {
			return err
		}
	}
	m.out.Profile, err = PutMerged(m.Ctx, m.Stage, merged)
	return err
}

// ProfileAt locates a record of profiles.
type ProfileAt struct {
	Get store.Getter
	CID ipld.CID
}

// ReadProfileVersions reads the profiles of base, ours and theirs.
func ReadProfileVersions(ctx context.Context, at [3]ProfileAt) (v retrieve.ProfileVersions, err error) {
	for i, to := range []**retrieve.Profiles{&v.Base, &v.Ours, &v.Theirs} {
		if *to, err = ReadProfiles(ctx, at[i].Get, at[i].CID); err != nil {
			return v, err
		}
	}
	return v, nil
}

// PutMerged stages merged profiles; nil is none.
func PutMerged(ctx context.Context, stage *store.Stage, p *retrieve.Profiles) (ipld.CID, error) {
	if p.Empty() {
		return ipld.CID{}, nil
	}
	b := store.NewBlock(ipld.DagCBOR, p.Encode())
	return b.CID, stage.Put(ctx, b)
}
