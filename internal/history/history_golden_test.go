package history_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestHistoryGolden freezes the results of reading histories: blame, revisions, branches, and the state after undo.
func TestHistoryGolden(t *testing.T) {
	for layer, answer := range map[string]func(t testing.TB, c cases.Case) any{
		"blame": goldenBlame, "branch": goldenBranch, "oplog": goldenOplog, "revision": goldenRevision,
	} {
		cases.Golden(t, filepath.Join("testdata", "history", layer+".jsonl"), answer)
	}
}

var historyStamp = state.Stamp{Author: "erin", Command: []string{"test"}}

// storeOf returns a store that holds blocks.
func storeOf(t testing.TB, blocks []string) store.Store {
	t.Helper()
	st := mem.New()
	for _, text := range blocks {
		data, err := hex.DecodeString(text)
		if err == nil {
			err = st.Facts().Put(t.Context(), store.NewBlock(ipld.DagCBOR, data))
		}
		must.OK(t, err)
	}
	return st
}

func goldenBlame(t testing.TB, c cases.Case) any {
	var in struct {
		Blocks, Commits []string
		Node            string
	}
	type field struct {
		Field  string `json:"field"`
		Commit int    `json:"commit"` // that last set it
	}
	fields, touches := []field{}, []int{}
	cases.Parse(t, c.Input, &in)
	r := must.Get(care.New(t.Context(), storeOf(t, in.Blocks), historyStamp, core.Options{}))(t)
	number := func(c ipld.CID) int { return slices.Index(in.Commits, c.String()) }
	id := graph.ID(cases.Bytes(t, in.Node))
	s := must.Get(r.Snapshot(t.Context(), in.Commits[len(in.Commits)-1]))(t)
	found := must.Get(history.Blame(t.Context(), s, id))(t)
	for _, f := range found {
		fields = append(fields, field{f.Field, number(f.CID)})
	}
	for i, rev := range in.Commits { // each alone: not all need lead to the last
		for e, err := range history.History(t.Context(), r, history.LogOptions{Rev: rev, Node: id}) {
			must.OK(t, err)
			if number(e.CID) == i {
				touches = append(touches, i)
			}
		}
	}
	return map[string]any{"fields": fields, "touches": touches}
}

// oplogRun records operations as a vector specifies them.
type oplogRun struct {
	t    testing.TB
	st   store.Store
	head store.Head
	refs map[string]string
	n    int
}

// do makes an operation of all refs, unless it changes none.
func (o *oplogRun) do(refs map[string]string, when graph.Time, step oplogStep) {
	o.t.Helper()
	ctx := o.t.Context()
	nodes := prolly.NewNodes(o.st.Facts(), nil)
	tree := must.Get(nodes.Build(ctx, func(yield func(prolly.Entry, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			value := ipld.AppendString(nil, refs[name])
			if c, err := ipld.ParseCID(refs[name]); err == nil {
				value = ipld.AppendLink(nil, c)
			}
			if !yield(prolly.Entry{Key: []byte(name), Value: value}, nil) {
				return
			}
		}
	}))(o.t)
	op := must.Get(commit.NextOperation(ctx, o.st.Facts(), o.head))(o.t)
	op.View, op.Time, op.Actor, op.Command = tree.Root(), when, step.Actor, step.Command
	if op.Actor == "" {
		op.Actor = "erin"
	}
	if op.Command == nil {
		op.Command = []string{"test"}
	}
	block := store.NewBlock(ipld.DagCBOR, op.Encode())
	next := store.Head{Seq: op.Seq, Operation: block.CID}
	must.OK(o.t, o.st.Commit(ctx, o.head, next, block))
	o.head, o.refs = next, refs
}

func (o *oplogRun) open() *core.Repo {
	o.t.Helper()
	return must.Get(care.New(o.t.Context(), o.st, historyStamp, core.Options{}))(o.t)
}

type oplogStep struct {
	Set           map[string]*string
	Actor         string
	Command       []string
	Undo, Restore *uint64
	Redo          bool
}

func goldenOplog(t testing.TB, c cases.Case) any {
	var in struct{ Steps []oplogStep }
	cases.Parse(t, c.Input, &in)
	o := &oplogRun{t: t, st: mem.New(), refs: map[string]string{}}
	steps := []any{}
	for _, step := range in.Steps {
		steps = append(steps, o.step(step))
	}
	return map[string]any{"steps": steps}
}

func (o *oplogRun) step(step oplogStep) map[string]any {
	o.t.Helper()
	var err error
	if o.n++; step.Set != nil {
		o.set(step)
	} else {
		err = o.back(step)
	}
	var moved *history.UndoError
	switch {
	case errors.As(err, &moved):
		return map[string]any{"error": "conflict", "by": moved.By, "ref": string(moved.Ref)}
	case errors.Is(err, history.ErrNothingToUndo), errors.Is(err, history.ErrNothingToRedo):
		return map[string]any{"error": "nothing"}
	case err != nil:
		o.t.Fatal(err)
	}
	return o.answer()
}

// set changes refs by hand; if nothing changes there is no operation.
func (o *oplogRun) set(step oplogStep) {
	o.t.Helper()
	refs := maps.Clone(o.refs)
	for name, value := range step.Set {
		if delete(refs, name); value != nil {
			refs[name] = *value
		}
	}
	if !maps.Equal(refs, o.refs) {
		o.do(refs, graph.Time(o.n), step)
	}
}

func (o *oplogRun) back(step oplogStep) error {
	o.t.Helper()
	ctx, r := o.t.Context(), o.open()
	var err error
	switch {
	case step.Redo:
		_, err = history.Redo(ctx, r, historyStamp)
	case step.Restore != nil:
		_, err = history.RestoreOperation(ctx, r, fmt.Sprint(*step.Restore), historyStamp)
	case *step.Undo == 0:
		_, err = history.Undo(ctx, r, "", historyStamp)
	default:
		_, err = history.Undo(ctx, r, fmt.Sprint(*step.Undo), historyStamp)
	}
	return err
}

// answer describes the newest operation and its result, as the log shows them.
func (o *oplogRun) answer() map[string]any {
	o.t.Helper()
	ctx, r := o.t.Context(), o.open()
	e := must.Get(r.OpLog().Find(ctx, "@"))(o.t)
	all := must.Get(r.Refs(ctx))(o.t)
	refs := map[string]string{}
	for _, ref := range all {
		refs[string(ref.Name)] = ref.Value()
	}
	o.head, o.refs = store.Head{Seq: e.Operation.Seq, Operation: e.CID}, refs
	a := map[string]any{"seq": e.Operation.Seq, "refs": refs}
	if n := o.number(r, e.Operation.Undoes); n > 0 {
		a["undoes"] = n
	}
	if n := o.number(r, e.Operation.Redoes); n > 0 {
		a["redoes"] = n
	}
	return a
}

func (o *oplogRun) number(r *core.Repo, c ipld.CID) uint64 {
	o.t.Helper()
	if !c.Defined() {
		return 0
	}
	e := must.Get(r.OpLog().Find(o.t.Context(), c.String()))(o.t)
	return e.Operation.Seq
}

// pastInput is a repository: all its blocks, and all its refs after each operation.
type pastInput struct {
	Blocks     []string
	Operations []struct {
		Time int64
		Refs map[string]string
	}
}

func (in pastInput) run(t testing.TB) *oplogRun {
	o := &oplogRun{t: t, st: storeOf(t, in.Blocks)}
	for _, op := range in.Operations {
		o.do(op.Refs, graph.Time(op.Time), oplogStep{})
	}
	return o
}

func goldenRevision(t testing.TB, c cases.Case) any {
	var in struct {
		pastInput
		Revisions []string
	}
	cases.Parse(t, c.Input, &in)
	r := in.run(t).open()
	commits := []string{}
	for _, rev := range in.Revisions {
		commits = append(commits, answerOf(r.Revisions().Resolve(context.Background(), rev)))
	}
	return map[string]any{"commits": commits}
}

// answerOf is a commit, or the class of the refusal.
func answerOf(c ipld.CID, err error) string {
	var ambiguous *state.AmbiguousError
	switch {
	case err == nil:
		return c.String()
	case errors.Is(err, store.ErrNotFound):
		return "not_found"
	case errors.As(err, &ambiguous):
		return "ambiguous"
	case errors.Is(err, state.ErrInvalid), errors.Is(err, graph.ErrInvalid):
		return "invalid"
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}

func goldenBranch(t testing.TB, c cases.Case) any {
	var in struct {
		pastInput
		Create, Rev, Rename, To, Remove string
		Force                           bool
	}
	cases.Parse(t, c.Input, &in)
	o := in.run(t)
	r, opt := o.open(), core.RefOptions{Stamp: historyStamp, Force: in.Force}
	var err error
	switch {
	case in.Create != "":
		_, err = r.Branches().Create(t.Context(), in.Create, in.Rev, opt)
	case in.Rename != "":
		err = r.Branches().Rename(t.Context(), in.Rename, in.To, opt)
	default:
		_, err = r.Branches().Remove(t.Context(), in.Remove, opt)
	}
	var used *core.InUseError
	switch {
	case errors.As(err, &used):
		return map[string]any{"error": "used"}
	case errors.Is(err, fs.ErrExist):
		return map[string]any{"error": "exists"}
	case errors.Is(err, store.ErrNotFound):
		return map[string]any{"error": "not_found"}
	case errors.Is(err, state.ErrInvalid):
		return map[string]any{"error": "name"}
	case err != nil:
		t.Fatal(err)
	}
	return map[string]any{"refs": o.answer()["refs"]}
}
