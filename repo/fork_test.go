package repo

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// SearchOperations lowers how many operations Undo searches in a store that others share, until what it returns is
// called, for tests.
func SearchOperations(n uint64) (restore func()) {
	was := maxSearched
	maxSearched = n
	return func() { maxSearched = was }
}

// Fork points a branch at a commit, for tests.
func (r *Repo) Fork(ctx context.Context, branch string, at ipld.CID) error {
	by := Stamp{Author: "Tess Tester", Command: []string{"fork"}}
	_, err := r.transact(ctx, by, func(t *tx) error {
		t.setRef(graph.BranchRef(branch), at)
		return nil
	})
	return err
}

// ForgeMerge changes the record of a merge in progress as no verb would, for tests.
func (r *Repo) ForgeMerge(
	ctx context.Context, branch string,
	change func(rec *commit.Merge, tree func(entries map[string][]byte) ipld.CID,
		put func(block []byte) ipld.CID),
) error {
	by := Stamp{Author: "Tess Tester", Command: []string{"forge"}}
	_, err := r.transact(ctx, by, func(t *tx) error {
		p, err := readPending(ctx, t.view, t.nodes, t.stage, graph.BranchRef(branch))
		if err != nil {
			return err
		}
		var failed error
		note := func(c ipld.CID, err error) ipld.CID {
			failed = errors.Join(failed, err)
			return c
		}
		tree := func(entries map[string][]byte) ipld.CID {
			empty, err := emptyTree(ctx, t.nodes)
			if err != nil {
				return note(ipld.CID{}, err)
			}
			o := newOverlay(empty)
			for key, value := range entries {
				o.set([]byte(key), value)
			}
			m, _, err := o.flush(ctx)
			if err != nil {
				return note(ipld.CID{}, err)
			}
			return m.Root()
		}
		put := func(block []byte) ipld.CID { return note(t.put(ctx, block)) }
		change(p.rec, tree, put)
		if failed != nil {
			return failed
		}
		return t.writeMerge(ctx, p.name, p.rec)
	})
	return err
}
