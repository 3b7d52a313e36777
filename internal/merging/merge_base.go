package merging

import (
	"context"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// baseFinder finds the merge base of two commits. If there are several, it merges them into a virtual commit in memory.
type baseFinder struct {
	ctx     context.Context
	scratch *store.Stage
	nodes   *prolly.Nodes
	done    map[[2]ipld.CID]ipld.CID
}

// mergeBase returns the state of the merge base of two commits: that of their best common ancestor, of a virtual
// merge of several, or the empty state.
func mergeBase(ctx context.Context, t *core.Tx, left, right ipld.CID) (*state.State, error) {
	scratch := store.NewStage(t.Repo.Facts(), 0)
	f := &baseFinder{
		ctx: ctx, scratch: scratch, nodes: prolly.NewNodes(scratch, t.Repo.Trees),
		done: make(map[[2]ipld.CID]ipld.CID),
	}
	c, err := f.base(left, right)
	if err != nil {
		return nil, err
	}
	return f.state(c)
}

func (f *baseFinder) state(c ipld.CID) (*state.State, error) {
	if !c.Defined() {
		return state.LoadState(f.ctx, f.nodes, f.scratch, state.Roots{})
	}
	rec, err := commit.ReadCommit(f.ctx, f.scratch, c)
	if err != nil {
		return nil, err
	}
	return state.LoadState(f.ctx, f.nodes, f.scratch, state.RootsOf(rec))
}

// base returns the merge base, real or virtual, of two commits.
func (f *baseFinder) base(left, right ipld.CID) (ipld.CID, error) {
	bases, err := commit.MergeBases(f.ctx, f.scratch, left, right)
	if err != nil || len(bases) == 0 {
		return ipld.CID{}, err
	}
	base := bases[0]
	for _, next := range bases[1:] {
		if base, err = f.join(base, next); err != nil {
			return ipld.CID{}, err
		}
	}
	return base, nil
}

// join returns the virtual merge of two commits: conflicts take their base version.
func (f *baseFinder) join(left, right ipld.CID) (ipld.CID, error) {
	pair := [2]ipld.CID{left, right}
	if c, ok := f.done[pair]; ok {
		return c, nil
	}
	before, err := f.base(left, right)
	if err != nil {
		return ipld.CID{}, err
	}
	var states [3]*state.State
	for i, c := range []ipld.CID{before, left, right} {
		if states[i], err = f.state(c); err != nil {
			return ipld.CID{}, err
		}
	}
	res, err := merge3.RunMerge(&merge3.StateMerge{
		Ctx: f.ctx, Stage: f.scratch, Base: states[0], Ours: states[1], Theirs: states[2],
		Virtual: true,
	})
	if err != nil {
		return ipld.CID{}, err
	}
	c, err := f.record(res.State, left, right)
	f.done[pair] = c
	return c, err
}

// record writes the record of a virtual commit.
func (f *baseFinder) record(s *state.State, parents ...ipld.CID) (ipld.CID, error) {
	rec := &commit.Commit{
		Parents: parents, Vectors: s.VectorsRoot(), Digests: s.DigestsRoot(), Profile: s.Profile,
		Author: "virtual", Change: graph.ID{1},
	}
	var over []*commit.Commit
	for _, p := range parents {
		c, err := commit.ReadCommit(f.ctx, f.scratch, p)
		if err != nil {
			return ipld.CID{}, err
		}
		over = append(over, c)
	}
	rec.Height = commit.HeightOver(over...)
	g := store.NewBlock(ipld.DagCBOR, s.Record().Encode())
	rec.Graph = g.CID
	b := store.NewBlock(ipld.DagCBOR, rec.Encode())
	return b.CID, f.scratch.Put(f.ctx, g, b)
}
