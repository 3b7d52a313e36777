package spec_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

func init() {
	runners["tag"] = runRecord
	runners["blame"] = runBlame
	runners["branch"] = runBranch
	runners["oplog"] = runOplog
	runners["revision"] = runRevision
	decoders["tag"] = func(b []byte) (record, error) { return commit.DecodeTag(b) }
}

var historyStamp = repo.Stamp{Author: "erin", Command: []string{"test"}}

// storeOf returns a store that holds blocks.
func storeOf(t *testing.T, blocks []string) store.Store {
	t.Helper()
	st := mem.New()
	for _, text := range blocks {
		data, err := hex.DecodeString(text)
		if err == nil {
			err = st.Facts().Put(t.Context(), store.NewBlock(ipld.DagCBOR, data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func runBlame(t *testing.T, v vector) {
	var in struct {
		Blocks, Commits []string
		Node            string
	}
	type field struct {
		Field  string
		Commit int
	}
	type answer struct {
		Fields  []field
		Touches []int
	}
	var want, got answer
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	r, err := repo.New(t.Context(), storeOf(t, in.Blocks), historyStamp, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	number := func(c ipld.CID) int { return slices.Index(in.Commits, c.String()) }
	id := graph.ID(expand(t, in.Node))
	s, err := r.Snapshot(t.Context(), in.Commits[len(in.Commits)-1])
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Blame(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		got.Fields = append(got.Fields, field{f.Field, number(f.CID)})
	}
	got.Touches = []int{}
	for i, rev := range in.Commits { // each alone: not all need lead to the last
		for e, err := range r.History(t.Context(), repo.LogOptions{Rev: rev, Node: id}) {
			if err != nil {
				t.Fatal(err)
			}
			if number(e.CID) == i {
				got.Touches = append(got.Touches, i)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// oplogRun writes operations as a vector has them.
type oplogRun struct {
	t    *testing.T
	st   store.Store
	head store.Head
	refs map[string]string
	n    int
}

// do makes an operation of all refs, unless it changes none.
func (o *oplogRun) do(refs map[string]string, when graph.Time) {
	o.t.Helper()
	ctx := o.t.Context()
	nodes := prolly.NewNodes(o.st.Facts(), nil)
	tree, err := nodes.Build(ctx, func(yield func(prolly.Entry, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			value := ipld.AppendString(nil, refs[name])
			if c, err := ipld.ParseCID(refs[name]); err == nil {
				value = ipld.AppendLink(nil, c)
			}
			if !yield(prolly.Entry{Key: []byte(name), Value: value}, nil) {
				return
			}
		}
	})
	if err != nil {
		o.t.Fatal(err)
	}
	op, err := commit.NextOperation(ctx, o.st.Facts(), o.head)
	if err != nil {
		o.t.Fatal(err)
	}
	op.View, op.Time, op.Actor, op.Command = tree.Root(), when, "erin", []string{"test"}
	block := store.NewBlock(ipld.DagCBOR, op.Encode())
	next := store.Head{Seq: op.Seq, Operation: block.CID}
	if err := o.st.Commit(ctx, o.head, next, block); err != nil {
		o.t.Fatal(err)
	}
	o.head, o.refs = next, refs
}

func (o *oplogRun) open() *repo.Repo {
	o.t.Helper()
	r, err := repo.New(o.t.Context(), o.st, historyStamp, repo.Options{})
	if err != nil {
		o.t.Fatal(err)
	}
	return r
}

// oplogAnswer is what one step must come to.
type oplogAnswer struct {
	Seq            uint64
	Refs           map[string]string
	Undoes, Redoes uint64
	Error          string
	By             uint64
	Ref            string
}

type oplogStep struct {
	Set           map[string]*string
	Undo, Restore *uint64
	Redo          bool
}

func runOplog(t *testing.T, v vector) {
	var in struct{ Steps []oplogStep }
	var want struct{ Steps []oplogAnswer }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	o := &oplogRun{t: t, st: mem.New(), refs: map[string]string{}}
	for i, step := range in.Steps {
		if diff := cmp.Diff(want.Steps[i], o.step(step)); diff != "" {
			t.Fatalf("step %d (-want +got):\n%s", i, diff)
		}
	}
}

func (o *oplogRun) step(step oplogStep) oplogAnswer {
	o.t.Helper()
	var err error
	if o.n++; step.Set != nil {
		o.set(step.Set)
	} else {
		err = o.back(step)
	}
	var moved *repo.UndoError
	switch {
	case errors.As(err, &moved):
		return oplogAnswer{Error: "conflict", By: moved.By, Ref: string(moved.Ref)}
	case errors.Is(err, repo.ErrNothingToUndo), errors.Is(err, repo.ErrNothingToRedo):
		return oplogAnswer{Error: "nothing"}
	case err != nil:
		o.t.Fatal(err)
	}
	return o.answer()
}

// set changes refs by hand; what changes none is no operation.
func (o *oplogRun) set(change map[string]*string) {
	o.t.Helper()
	refs := maps.Clone(o.refs)
	for name, value := range change {
		if delete(refs, name); value != nil {
			refs[name] = *value
		}
	}
	if !maps.Equal(refs, o.refs) {
		o.do(refs, graph.Time(o.n))
	}
}

func (o *oplogRun) back(step oplogStep) error {
	o.t.Helper()
	ctx, r := o.t.Context(), o.open()
	var err error
	switch {
	case step.Redo:
		_, err = r.Redo(ctx, historyStamp)
	case step.Restore != nil:
		_, err = r.RestoreOperation(ctx, fmt.Sprint(*step.Restore), historyStamp)
	case *step.Undo == 0:
		_, err = r.Undo(ctx, "", historyStamp)
	default:
		_, err = r.Undo(ctx, fmt.Sprint(*step.Undo), historyStamp)
	}
	return err
}

// answer tells what the newest operation is and left, as the log shows it.
func (o *oplogRun) answer() oplogAnswer {
	o.t.Helper()
	ctx, r := o.t.Context(), o.open()
	e, err := r.Operation(ctx, "@")
	if err != nil {
		o.t.Fatal(err)
	}
	all, err := r.Refs(ctx)
	if err != nil {
		o.t.Fatal(err)
	}
	a := oplogAnswer{Seq: e.Operation.Seq, Refs: map[string]string{}}
	for _, ref := range all {
		a.Refs[string(ref.Name)] = ref.Value()
	}
	o.head, o.refs = store.Head{Seq: e.Operation.Seq, Operation: e.CID}, a.Refs
	a.Undoes = o.number(r, e.Operation.Undoes)
	a.Redoes = o.number(r, e.Operation.Redoes)
	return a
}

func (o *oplogRun) number(r *repo.Repo, c ipld.CID) uint64 {
	o.t.Helper()
	if !c.Defined() {
		return 0
	}
	e, err := r.Operation(o.t.Context(), c.String())
	if err != nil {
		o.t.Fatal(err)
	}
	return e.Operation.Seq
}

func runRevision(t *testing.T, v vector) {
	var in struct {
		Blocks     []string
		Operations []struct {
			Time int64
			Refs map[string]string
		}
		Revisions []string
	}
	var want struct{ Commits []string }
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	o := &oplogRun{t: t, st: storeOf(t, in.Blocks)}
	for _, op := range in.Operations {
		o.do(op.Refs, graph.Time(op.Time))
	}
	r := o.open()
	for i, rev := range in.Revisions {
		if got := answerOf(r.Resolve(context.Background(), rev)); got != want.Commits[i] {
			t.Errorf("%q is %s, want %s", rev, got, want.Commits[i])
		}
	}
}

// answerOf is a commit, or the class of the refusal.
func answerOf(c ipld.CID, err error) string {
	var ambiguous *repo.AmbiguousError
	switch {
	case err == nil:
		return c.String()
	case errors.Is(err, store.ErrNotFound):
		return "not_found"
	case errors.As(err, &ambiguous):
		return "ambiguous"
	case errors.Is(err, repo.ErrInvalid), errors.Is(err, graph.ErrInvalid):
		return "invalid"
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}

func runBranch(t *testing.T, v vector) {
	var in struct {
		Blocks     []string
		Operations []struct {
			Time int64
			Refs map[string]string
		}
		Create, Rev, Rename, To, Remove string
		Force                           bool
	}
	var want struct {
		Refs  map[string]string
		Error string
	}
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	o := &oplogRun{t: t, st: storeOf(t, in.Blocks)}
	for _, op := range in.Operations {
		o.do(op.Refs, graph.Time(op.Time))
	}
	r, opt := o.open(), repo.RefOptions{Stamp: historyStamp, Force: in.Force}
	var err error
	switch {
	case in.Create != "":
		_, err = r.CreateBranch(t.Context(), in.Create, in.Rev, opt)
	case in.Rename != "":
		err = r.RenameBranch(t.Context(), in.Rename, in.To, opt)
	default:
		_, err = r.RemoveBranch(t.Context(), in.Remove, opt)
	}
	if refusal(t, v, err) {
		return
	}
	if diff := cmp.Diff(want.Refs, o.answer().Refs); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
