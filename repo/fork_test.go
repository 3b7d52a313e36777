package repo

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Fork points a branch at a commit, for tests.
func (r *Repo) Fork(ctx context.Context, branch string, at ipld.CID) error {
	by := Stamp{Author: "Tess Tester", Command: []string{"fork"}}
	_, err := r.transact(ctx, by, func(t *tx) error {
		t.setRef(graph.BranchRef(branch), at)
		return nil
	})
	return err
}

// MergeBaseSize returns the number of nodes of the state that two commits began at, for tests.
func (r *Repo) MergeBaseSize(ctx context.Context, a, b ipld.CID) (n uint64, err error) {
	by := Stamp{Author: "Tess Tester", Command: []string{"base"}}
	_, err = r.transact(ctx, by, func(t *tx) error {
		s, err := t.mergeBase(ctx, a, b)
		if err == nil {
			n = s.nodes.Len()
		}
		return err
	})
	return n, err
}
