package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
)

// TouchKind says what is touched.
type TouchKind string

const (
	TouchNode    TouchKind = "node"    // a node, its mark, or an embedding of it
	TouchEdge    TouchKind = "edge"    // an edge, or its mark
	TouchProfile TouchKind = "profile" // the retrieval profiles
	TouchDigest  TouchKind = "digest"  // the texts of digests that models wrote
	TouchTag     TouchKind = "tag"     // a tag that is made, moved, removed, or hidden by a new branch of its name
)

// Touch is one thing that an operation changes in what a ref leads to.
type Touch struct {
	Kind TouchKind
	Ref  graph.RefName // "" for an erasure, which changes all of history
	ID   graph.ID      // of the node or edge
	Type string        // its type: a change of the type is two touches
	// Source is the type of the node that an edge leaves from, "" where there is no such node.
	Source string
}

// Guard decides whether an operation may be recorded. It is called on the goroutine of the writer,
// while other writers wait, once or more for each thing that the operation changes in what HEAD, a
// branch, a stage or a merge in progress leads to, however it does that; its first error refuses
// the operation, which then changes nothing, and comes back to the caller.
//
// A branch that did not exist before, or does not afterwards, is compared with what HEAD leads to
// before the operation; a stage with the commit it builds on. So a new branch at HEAD touches
// nothing, and nobody gets around a Guard by removing a branch and making it anew. A tag of a commit that comes
// with the operation is compared with what HEAD leads to, too.
type Guard func(Touch) error

// guarding asks the guard of one transaction.
type guarding struct {
	ctx   context.Context
	t     *tx
	guard Guard
	ref   graph.RefName
}

// guarded asks the guard about all that the transaction changes. It reads what differs.
func (t *tx) guarded(ctx context.Context, guard Guard) error {
	if guard == nil {
		return nil
	}
	g := &guarding{ctx: ctx, t: t, guard: guard}
	for _, name := range slices.Sorted(maps.Keys(t.edits)) {
		before, _, err := t.view.get(ctx, name)
		if err != nil {
			return err
		}
		after, err := decodeSide(name, t.edits[name])
		if err != nil {
			return err
		}
		if err := g.moved(name, before, after); err != nil {
			return err
		}
	}
	return nil
}

// moved asks about one ref.
func (g *guarding) moved(name graph.RefName, before, after Ref) (err error) {
	var from, to *state
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
	case Ref{Name: name}.isMerge():
		if err := g.resolutions(before.Target, after.Target); err != nil {
			return err
		}
		from, to, err = g.pair(before.Target, after.Target, g.pending)
	case strings.HasPrefix(text, keptCommits):
		from, to, err = g.pair(before.Target, after.Target, g.kept)
	case strings.HasPrefix(text, graph.Tags):
		if err := g.guard(Touch{Kind: TouchTag, Ref: name}); err != nil {
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
	tag := graph.TagRef(branchName(name))
	if _, ok, err := g.t.view.get(g.ctx, tag); !ok || err != nil {
		return err
	}
	return g.guard(Touch{Kind: TouchTag, Ref: tag})
}

// tags returns the states to compare for a tag: none, unless it brings commits that no ref had. Then they are those of
// a new branch.
func (g *guarding) tags(after Ref) (from, to *state, err error) {
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
	for _, err := range commit.Between(g.ctx, g.t.stage, []ipld.CID{at}, had) {
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
		for ref, err := range g.t.view.list(g.ctx, prefix) {
			if err != nil {
				return nil, err
			}
			out = append(out, ref.Target)
		}
	}
	for name, item := range g.t.edits {
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
		data, err := g.t.stage.Get(g.ctx, at)
		if err != nil {
			return nil, err
		}
		if ipld.RecordKind(data) == commit.KindCommit {
			out = append(out, at)
		}
	}
	return out, nil
}

// branches returns the states of a branch before and after, HEAD's where it does not exist.
func (g *guarding) branches(before, after ipld.CID, was, is bool) (from, to *state, err error) {
	head, _, err := g.t.view.resolve(g.ctx, graph.Head)
	if err != nil {
		return nil, nil, err
	}
	if !was {
		before = head.Target
	}
	if !is {
		after = head.Target
	}
	if from, err = g.commit(before); err != nil {
		return nil, nil, err
	}
	to, err = g.commit(after)
	return from, to, err
}

// heads returns the states that HEAD leads to before and after.
func (g *guarding) heads(after Ref) (from, to *state, err error) {
	before, _, err := g.t.view.resolve(g.ctx, graph.Head)
	if err != nil {
		return nil, nil, err
	}
	if after.Symbolic != "" {
		name := after.Symbolic
		after, _, err = g.t.view.get(g.ctx, name)
		if item, edited := g.t.edits[name]; edited && err == nil {
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

// pair returns the states of a ref before and after; one that does not exist is the state that the
// other was made from.
func (g *guarding) pair(
	before, after ipld.CID, read func(ipld.CID) (base, now *state, err error),
) (from, to *state, err error) {
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

func (g *guarding) commit(c ipld.CID) (*state, error) {
	if !c.Defined() {
		return loadState(g.ctx, g.t.nodes, g.t.stage, roots{})
	}
	rec, err := commit.ReadCommit(g.ctx, g.t.stage, c)
	if err != nil {
		return nil, err
	}
	return loadState(g.ctx, g.t.nodes, g.t.stage, rootsOf(rec))
}

func (g *guarding) stage(c ipld.CID) (base, now *state, err error) {
	rec, err := commit.ReadStage(g.ctx, g.t.stage, c)
	if err != nil {
		return nil, nil, err
	}
	if base, err = g.commit(rec.Base); err != nil {
		return nil, nil, err
	}
	now, err = loadState(g.ctx, g.t.nodes, g.t.stage, base.staged(rec))
	return base, now, err
}

func (g *guarding) pending(c ipld.CID) (base, now *state, err error) {
	rec, err := commit.ReadMerge(g.ctx, g.t.stage, c)
	if err != nil {
		return nil, nil, err
	}
	if base, err = g.commit(rec.Ours); err != nil {
		return nil, nil, err
	}
	now, err = loadState(g.ctx, g.t.nodes, g.t.stage, (&pending{rec: rec}).roots())
	return base, now, err
}

// kept returns the states of a commit that did not merge, and of the one it was made upon.
func (g *guarding) kept(c ipld.CID) (base, now *state, err error) {
	rec, err := commit.ReadCommit(g.ctx, g.t.stage, c)
	if err != nil {
		return nil, nil, err
	}
	if base, err = g.commit(firstCID(rec.Parents)); err != nil {
		return nil, nil, err
	}
	now, err = g.commit(c)
	return base, now, err
}

// resolutions asks about the items of a merge in progress that are in conflict, or were decided anew.
// One that ends is asked about where it lands.
func (g *guarding) resolutions(before, after ipld.CID) error {
	if !after.Defined() {
		return nil
	}
	now, err := commit.ReadMerge(g.ctx, g.t.stage, after)
	if err != nil {
		return err
	}
	was := &commit.Merge{}
	if before.Defined() {
		if was, err = commit.ReadMerge(g.ctx, g.t.stage, before); err != nil {
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

// items calls fn with what differs between two trees by items, of which the first may be undefined
// for none.
func (g *guarding) items(from, to ipld.CID, fn func(item string, value []byte) error) error {
	a, err := emptyTree(g.ctx, g.t.nodes)
	if err == nil && from.Defined() {
		a, err = g.t.nodes.Load(g.ctx, from)
	}
	if err != nil {
		return fmt.Errorf("read merge in progress: %w", err)
	}
	b, err := g.t.nodes.Load(g.ctx, to)
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
