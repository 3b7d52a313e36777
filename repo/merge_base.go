package repo

import (
	"context"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// baseFinder finds what two commits began at. Where that is more than one commit it merges them
// into a virtual one, which lives in memory only.
type baseFinder struct {
	ctx     context.Context
	scratch *store.Stage
	nodes   *prolly.Nodes
	done    map[[2]ipld.CID]ipld.CID
}

// mergeBase returns the state that two commits began at: that of their best common ancestor, of a
// virtual merge of several, or the empty one.
func (t *tx) mergeBase(ctx context.Context, left, right ipld.CID) (*state, error) {
	scratch := store.NewStage(t.repo.facts(), 0)
	f := &baseFinder{
		ctx: ctx, scratch: scratch, nodes: prolly.NewNodes(scratch, t.repo.trees),
		done: make(map[[2]ipld.CID]ipld.CID),
	}
	c, err := f.base(left, right)
	if err != nil {
		return nil, err
	}
	return f.state(c)
}

func (f *baseFinder) state(c ipld.CID) (*state, error) {
	if !c.Defined() {
		return loadState(f.ctx, f.nodes, f.scratch, roots{})
	}
	rec, err := commit.ReadCommit(f.ctx, f.scratch, c)
	if err != nil {
		return nil, err
	}
	return loadState(f.ctx, f.nodes, f.scratch, rootsOf(rec))
}

// base returns the commit, real or virtual, that two commits began at.
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

// join returns the virtual merge of two commits: what is in conflict has what was before both.
func (f *baseFinder) join(left, right ipld.CID) (ipld.CID, error) {
	pair := [2]ipld.CID{left, right}
	if c, ok := f.done[pair]; ok {
		return c, nil
	}
	before, err := f.base(left, right)
	if err != nil {
		return ipld.CID{}, err
	}
	var states [3]*state
	for i, c := range []ipld.CID{before, left, right} {
		if states[i], err = f.state(c); err != nil {
			return ipld.CID{}, err
		}
	}
	res, err := runMerge(&stateMerge{
		ctx: f.ctx, stage: f.scratch, base: states[0], ours: states[1], theirs: states[2],
		virtual: true,
	})
	if err != nil {
		return ipld.CID{}, err
	}
	c, err := f.record(res.state, left, right)
	f.done[pair] = c
	return c, err
}

// record writes the record of a virtual commit.
func (f *baseFinder) record(s *state, parents ...ipld.CID) (ipld.CID, error) {
	rec := &commit.Commit{
		Parents: parents, Vectors: s.vectorsRoot(), Digests: s.digestsRoot(), Profile: s.profile,
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
	g := store.NewBlock(ipld.DagCBOR, s.record().Encode())
	rec.Graph = g.CID
	b := store.NewBlock(ipld.DagCBOR, rec.Encode())
	return b.CID, f.scratch.Put(f.ctx, g, b)
}
