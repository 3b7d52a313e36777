package core

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	TouchNode    state.TouchKind = "node"    // a node, its mark, or an embedding of it
	TouchEdge    state.TouchKind = "edge"    // an edge, or its mark
	TouchProfile state.TouchKind = "profile" // the retrieval profiles
	TouchDigest  state.TouchKind = "digest"  // the texts of digests that models wrote
	TouchTag     state.TouchKind = "tag"     // a tag that is made, moved, removed, or hidden by a new branch of its name
)

type guarding struct {
	ctx   context.Context
	t     *Tx
	guard state.Guard
	ref   graph.RefName
}

// guarded asks the guard about all that the transaction changes. It reads what differs.
func (t *Tx) guarded(ctx context.Context, guard state.Guard) error {
	if guard == nil {
		return nil
	}
	g := &guarding{ctx: ctx, t: t, guard: guard}
	for _, name := range slices.Sorted(maps.Keys(t.Edits)) {
		before, _, err := t.View.Get(ctx, name)
		if err != nil {
			return err
		}
		after, err := decodeSide(name, t.Edits[name])
		if err != nil {
			return err
		}
		if err := g.moved(name, before, after); err != nil {
			return err
		}
	}
	return nil
}

func (g *guarding) moved(name graph.RefName, before, after Ref) (err error) {
	var from, to *state.State
	g.ref = name
	_, branch := name.Branch()
	switch text := string(name); {
	case branch:
		if err := g.shadows(name, before); err != nil {
			return err
		}
		from, to, err = g.branches(before.Target, after.Target, before.Exists(), after.Exists())
	case name == graph.Head:
		from, to, err = g.heads(after)
	case strings.HasPrefix(text, graph.Stages):
		from, to, err = g.pair(before.Target, after.Target, g.stage)
	case Ref{Name: name}.IsMerge():
		if err := g.resolutions(before.Target, after.Target); err != nil {
			return err
		}
		from, to, err = g.pair(before.Target, after.Target, g.pending)
	case strings.HasPrefix(text, keptCommits):
		from, to, err = g.pair(before.Target, after.Target, g.kept)
	case strings.HasPrefix(text, graph.Tags):
		if err := g.guard(state.Touch{Kind: TouchTag, Ref: name}); err != nil {
			return err
		}
		from, to, err = g.tags(after)
	default:
		return nil // sessions and what was imported are no state of the memory
	}
	if err != nil {
		return err
	}
	return g.between(from, to)
}

// shadows asks about the tag that a new branch of the same name hides: the name leads to the branch then.
func (g *guarding) shadows(name graph.RefName, before Ref) error {
	if before.Exists() {
		return nil
	}
	tag := graph.TagRef(BranchName(name))
	if _, ok, err := g.t.View.Get(g.ctx, tag); !ok || err != nil {
		return err
	}
	return g.guard(state.Touch{Kind: TouchTag, Ref: tag})
}

// tags returns the states to compare for a tag: none, unless it brings commits that no ref had. Then it is
// compared like a new branch.
func (g *guarding) tags(after Ref) (from, to *state.State, err error) {
	if !after.Exists() {
		return nil, nil, nil
	}
	at, err := g.t.peeled(g.ctx, after.Target)
	if err != nil {
		return nil, nil, err
	}
	had, err := g.had()
	if err != nil {
		return nil, nil, err
	}
	for _, err := range commit.Between(g.ctx, g.t.Stage, []ipld.CID{at}, had) {
		if err != nil {
			return nil, nil, err
		}
		return g.branches(ipld.CID{}, at, false, true)
	}
	return nil, nil, nil
}

// had returns the commits of refs before the transaction, and of what it keeps of other repositories.
func (g *guarding) had() (out []ipld.CID, err error) {
	for _, prefix := range []string{graph.Heads, graph.Tags, graph.Remotes, graph.Imported, keptCommits} {
		for ref, err := range g.t.View.List(g.ctx, prefix) {
			if err != nil {
				return nil, err
			}
			out = append(out, ref.Target)
		}
	}
	for name, item := range g.t.Edits {
		text := string(name)
		if !strings.HasPrefix(text, graph.Remotes) && !strings.HasPrefix(text, graph.Imported) {
			continue
		}
		ref, err := decodeSide(name, item)
		if err != nil {
			return nil, err
		}
		if ref.Exists() {
			out = append(out, ref.Target)
		}
	}
	return g.commits(out)
}

// commits returns what is a commit, or a tag of one, of what refs lead to: sessions of remotes are neither.
func (g *guarding) commits(of []ipld.CID) (out []ipld.CID, err error) {
	for _, c := range of {
		at, err := g.t.peeled(g.ctx, c)
		if err != nil {
			return nil, err
		}
		data, err := g.t.Stage.Get(g.ctx, at)
		if err != nil {
			return nil, err
		}
		if ipld.RecordKind(data) == commit.KindCommit {
			out = append(out, at)
		}
	}
	return out, nil
}

// branches returns the states of a branch before and after, HEAD's if it does not exist.
func (g *guarding) branches(before, after ipld.CID, was, is bool) (from, to *state.State, err error) {
	if !was || !is {
		head, _, err := g.t.View.Resolve(g.ctx, graph.Head)
		if err != nil {
			return nil, nil, err
		}
		if !was {
			before = head.Target
		}
		if !is {
			after = head.Target
		}
	}
	if from, err = g.commit(before); err != nil {
		return nil, nil, err
	}
	to, err = g.commit(after)
	return from, to, err
}

// heads returns the states that HEAD leads to before and after.
func (g *guarding) heads(after Ref) (from, to *state.State, err error) {
	before, _, err := g.t.View.Resolve(g.ctx, graph.Head)
	if err != nil {
		return nil, nil, err
	}
	if after.Symbolic != "" {
		name := after.Symbolic
		after, _, err = g.t.View.Get(g.ctx, name)
		if item, edited := g.t.Edits[name]; edited && err == nil {
			after, err = decodeSide(name, item)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if from, err = g.commit(before.Target); err != nil {
		return nil, nil, err
	}
	to, err = g.commit(after.Target)
	return from, to, err
}

// pair returns the states of a ref before and after; one that does not exist is the state that the other was made from.
func (g *guarding) pair(
	before, after ipld.CID, read func(ipld.CID) (base, now *state.State, err error),
) (from, to *state.State, err error) {
	if after.Defined() {
		if from, to, err = read(after); err != nil {
			return nil, nil, err
		}
	}
	if before.Defined() {
		base, now, err := read(before)
		if err != nil {
			return nil, nil, err
		}
		from = now
		if to == nil {
			to = base
		}
	}
	return from, to, nil
}

func (g *guarding) commit(c ipld.CID) (*state.State, error) {
	s, err := g.t.At(g.ctx, c)
	if err != nil {
		return nil, err
	}
	return s.State, nil
}

func (g *guarding) stage(c ipld.CID) (base, now *state.State, err error) {
	rec, err := commit.ReadStage(g.ctx, g.t.Stage, c)
	if err != nil {
		return nil, nil, err
	}
	if base, err = g.commit(rec.Base); err != nil {
		return nil, nil, err
	}
	now, err = state.LoadState(g.ctx, g.t.Nodes, g.t.Stage, base.Staged(rec))
	return base, now, err
}

func (g *guarding) pending(c ipld.CID) (base, now *state.State, err error) {
	rec, err := commit.ReadMerge(g.ctx, g.t.Stage, c)
	if err != nil {
		return nil, nil, err
	}
	if base, err = g.commit(rec.Ours); err != nil {
		return nil, nil, err
	}
	now, err = state.LoadState(g.ctx, g.t.Nodes, g.t.Stage, (&Pending{Rec: rec}).Roots())
	return base, now, err
}

// kept returns the states of a commit that did not merge, and of the one it was made upon.
func (g *guarding) kept(c ipld.CID) (base, now *state.State, err error) {
	rec, err := commit.ReadCommit(g.ctx, g.t.Stage, c)
	if err != nil {
		return nil, nil, err
	}
	if base, err = g.commit(FirstCID(rec.Parents)); err != nil {
		return nil, nil, err
	}
	now, err = g.commit(c)
	return base, now, err
}

// resolutions asks about the items of a merge in progress that are in conflict or newly decided. A
// merge that ends is asked about on the branch it lands on.
func (g *guarding) resolutions(before, after ipld.CID) error {
	if !after.Defined() {
		return nil
	}
	now, err := commit.ReadMerge(g.ctx, g.t.Stage, after)
	if err != nil {
		return err
	}
	was := &commit.Merge{}
	if before.Defined() {
		if was, err = commit.ReadMerge(g.ctx, g.t.Stage, before); err != nil {
			return err
		}
	}
	err = g.items(was.Conflicts, now.Conflicts, func(item string, _ []byte) error {
		return g.resolved(now, item, nil)
	})
	if err != nil {
		return err
	}
	return g.items(was.Resolutions, now.Resolutions, func(item string, value []byte) error {
		return g.resolved(now, item, value)
	})
}

// items calls fn with each item that differs between two trees. The first tree may be undefined, for none.
func (g *guarding) items(from, to ipld.CID, fn func(item string, value []byte) error) error {
	a, err := state.EmptyTree(g.ctx, g.t.Nodes)
	if err == nil && from.Defined() {
		a, err = g.t.Nodes.Load(g.ctx, from)
	}
	if err != nil {
		return fmt.Errorf("read merge in progress: %w", err)
	}
	b, err := g.t.Nodes.Load(g.ctx, to)
	if err != nil {
		return fmt.Errorf("read merge in progress: %w", err)
	}
	for d, err := range prolly.Diff(g.ctx, a, b) {
		if err == nil {
			err = fn(string(d.Key), d.New)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// between asks about what differs between two states, either of them nil for no ref at all.
func (g *guarding) between(from, to *state.State) error {
	if from == nil || to == nil {
		return nil
	}
	if from.Profile != to.Profile {
		if err := g.guard(state.Touch{Kind: TouchProfile, Ref: g.ref}); err != nil {
			return err
		}
	}
	if from.DigestsRoot() != to.DigestsRoot() {
		if err := g.guard(state.Touch{Kind: TouchDigest, Ref: g.ref}); err != nil {
			return err
		}
	}
	if err := g.records(from, to); err != nil {
		return err
	}
	for c, err := range prolly.Diff(g.ctx, from.Marks, to.Marks) {
		if err != nil {
			return fmt.Errorf("diff marks: %w", err)
		}
		on, id, err := graph.ParseMarkKey(c.Key)
		if err != nil {
			return fmt.Errorf("diff marks: %w: %w", store.ErrCorrupt, err)
		}
		item := g.node
		if on == graph.OnEdge {
			item = g.edge
		}
		if err := item(id, from, to); err != nil {
			return err
		}
	}
	for c, err := range prolly.Diff(g.ctx, from.Vectors, to.Vectors) {
		if err != nil {
			return fmt.Errorf("diff embeddings: %w", err)
		}
		if len(c.Key) < graph.IDLen {
			return fmt.Errorf("%w tree key of %d bytes", store.ErrCorrupt, len(c.Key))
		}
		if err := g.node(graph.ID(c.Key[:graph.IDLen]), from, to); err != nil {
			return err
		}
	}
	return nil
}

func (g *guarding) records(from, to *state.State) error {
	diff := state.Diff{From: from, To: to}
	for _, items := range []struct {
		on  graph.Target
		ask func(graph.ID, ...*state.State) error
	}{{graph.OnNode, g.node}, {graph.OnEdge, g.edge}} {
		a, b := diff.Trees(items.on)
		for id, err := range state.MergeIDs(prolly.Diff(g.ctx, a, b), nil) {
			if err == nil {
				err = items.ask(id, from, to)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// node asks about a node as each of some states has it. One that none has, as an embedding may be of, has no type.
func (g *guarding) node(id graph.ID, in ...*state.State) error {
	var touches []state.Touch
	for _, s := range in {
		n, _, err := s.Shown(g.ctx, id)
		if err != nil {
			return err
		}
		if n != nil {
			touches = append(touches, state.Touch{Kind: TouchNode, Ref: g.ref, ID: id, Type: n.Type})
		}
	}
	return g.ask(TouchNode, id, touches)
}

// edge asks about an edge as each of some states has it.
func (g *guarding) edge(id graph.ID, in ...*state.State) error {
	var touches []state.Touch
	for _, s := range in {
		e, _, err := s.Edge(g.ctx, id)
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		t := state.Touch{Kind: TouchEdge, Ref: g.ref, ID: id, Type: e.Type}
		src, _, err := s.Shown(g.ctx, e.Src)
		if err != nil {
			return err
		}
		if src != nil {
			t.Source = src.Type
		}
		touches = append(touches, t)
	}
	return g.ask(TouchEdge, id, touches)
}

// ask asks about each of some touches once; about the item without a type if there is none.
func (g *guarding) ask(kind state.TouchKind, id graph.ID, touches []state.Touch) error {
	if touches == nil {
		touches = []state.Touch{{Kind: kind, Ref: g.ref, ID: id}}
	}
	for _, t := range slices.Compact(touches) {
		if err := g.guard(t); err != nil {
			return err
		}
	}
	return nil
}

// resolved asks about one item of a merge in progress that was decided: as either side has it, and as it was decided.
func (g *guarding) resolved(rec *commit.Merge, name string, value []byte) error {
	item, err := graph.ParseItem(name)
	if err != nil {
		return fmt.Errorf("read resolutions: %w: %w", store.ErrCorrupt, err)
	}
	if item.Kind == graph.ProfileItem {
		return g.guard(state.Touch{Kind: TouchProfile, Ref: g.ref})
	}
	ours, err := g.commit(rec.Ours)
	if err != nil {
		return err
	}
	theirs, err := g.commit(rec.Theirs)
	if err != nil {
		return err
	}
	if item.Kind == graph.EdgeItem || item.Kind == graph.EdgeMarkItem {
		return g.edge(item.ID, ours, theirs)
	}
	if err := g.node(item.ID, ours, theirs); err != nil {
		return err
	}
	if value == nil || item.Kind != graph.NodeItem {
		return nil
	}
	res, err := commit.DecodeResolution(value)
	if err != nil || !res.Record.Defined() {
		return err
	}
	n, err := commit.ReadNode(g.ctx, g.t.Stage, res.Record)
	if err != nil {
		return err
	}
	return g.guard(state.Touch{Kind: TouchNode, Ref: g.ref, ID: item.ID, Type: n.Type})
}
