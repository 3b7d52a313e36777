package repokit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// On commits change lines to a branch.
func On(t testing.TB, r *core.Repo, branch, text string) ipld.CID {
	t.Helper()
	opt := core.CommitOptions{Stamp: By, Branch: branch, Message: branch}
	res := must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), branch), opt))(t)
	return res.Commit
}

// Fork is ForkBranch, but ends the test at an error. It moves a branch that exists.
func Fork(t testing.TB, r *core.Repo, branch string, at ipld.CID) {
	t.Helper()
	must.OK(t, ForkBranch(t.Context(), r, branch, at))
}

// Options returns options of a merge by By into a branch, "" for that of HEAD.
func Options(branch string) core.MergeOptions {
	return core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: By, Branch: branch}}
}

// GraphOf merges one revision into a branch made at another and returns the graph.
func GraphOf(t *testing.T, r *core.Repo, ours, theirs ipld.CID) ipld.CID {
	t.Helper()
	Fork(t, r, "into", ours)
	res := must.Get(merging.Merge(t.Context(), r, theirs.String(), Options("into")))(t)
	return res.Graph
}

// Conflicted is a repository whose main has a merge of draft in progress.
func Conflicted(t *testing.T) (r *core.Repo, ours, theirs ipld.CID) {
	t.Helper()
	r = OpenMem(t)
	base := Lines(t, r, `
{"node":{"key":"a","type":"T","summary":"A"}}
{"node":{"key":"b","type":"T","summary":"B"}}
{"node":{"key":"c","type":"T","summary":"C"}}
{"edge":{"type":"e","src":"a","dst":"b"}}
{"edge":{"type":"e","src":"b","dst":"c"}}
{"mark":{"node":"b","state":"stale"}}`).Commit
	Fork(t, r, "draft", base)
	ours = Lines(t, r, `
{"node":{"key":"a","summary":"A1"}}
{"remove":{"node":"b"}}
{"node":{"key":"d","type":"T"}}`).Commit
	theirs = On(t, r, "draft", `
{"node":{"key":"a","summary":"A2","props":{"n":1}}}
{"node":{"key":"b","summary":"B2"}}`)
	res, err := merging.Merge(t.Context(), r, "draft", Options(""))
	var clash *core.MergeError
	if !errors.As(err, &clash) || len(clash.Conflicts) != 2 || len(res.Conflicts) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	must.Require(t, !res.Commit.Defined() && Head(t, r).CID() == ours, "the branch moved")
	return r, ours, theirs
}

// Resolve resolves one conflict of the merge in progress and returns that merge afterwards.
func Resolve(t *testing.T, r *core.Repo, item string, choice merging.Choice) *core.PendingMerge {
	t.Helper()
	p := must.Get(merging.ResolveConflict(t.Context(), r, item, choice, core.CommitOptions{Stamp: By}))(t)
	return p
}

// Changes returns the choice that resolves a conflict by change lines.
func Changes(text string) merging.Choice {
	return merging.Choice{Changes: state.ReadChanges(strings.NewReader(text), "fix")}
}

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
