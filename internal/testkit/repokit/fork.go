package repokit

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// SearchOperations lowers how many operations Undo searches in a store that others share, until what it returns is
// called, for tests.
func SearchOperations(n uint64) (restore func()) {
	was := history.MaxSearched
	history.MaxSearched = n
	return func() { history.MaxSearched = was }
}

// ForkBranch points a branch at a commit, for tests.
func ForkBranch(ctx context.Context, r *core.Repo, branch string, at ipld.CID) error {
	by := state.Stamp{Author: "Tess Tester", Command: []string{"fork"}}
	_, err := r.Transact(ctx, by, func(t *core.Tx) error {
		t.SetRef(graph.BranchRef(branch), at)
		return nil
	})
	return err
}

// ForgeMerge changes the record of a merge in progress as no verb would, for tests.
func ForgeMerge(
	ctx context.Context, r *core.Repo, branch string,
	change func(rec *commit.Merge, tree func(entries map[string][]byte) ipld.CID,
		put func(block []byte) ipld.CID),
) error {
	by := state.Stamp{Author: "Tess Tester", Command: []string{"forge"}}
	_, err := r.Transact(ctx, by, func(t *core.Tx) error {
		p, err := core.ReadPending(ctx, t.View, t.Nodes, t.Stage, graph.BranchRef(branch))
		if err != nil {
			return err
		}
		var failed error
		note := func(c ipld.CID, err error) ipld.CID {
			failed = errors.Join(failed, err)
			return c
		}
		tree := func(entries map[string][]byte) ipld.CID {
			empty, err := state.EmptyTree(ctx, t.Nodes)
			if err != nil {
				return note(ipld.CID{}, err)
			}
			o := state.NewOverlay(empty)
			for key, value := range entries {
				o.Set([]byte(key), value)
			}
			m, _, err := o.Flush(ctx)
			if err != nil {
				return note(ipld.CID{}, err)
			}
			return m.Root()
		}
		put := func(block []byte) ipld.CID { return note(t.Put(ctx, block)) }
		change(p.Rec, tree, put)
		if failed != nil {
			return failed
		}
		return t.WriteMerge(ctx, p.Name, p.Rec)
	})
	return err
}
