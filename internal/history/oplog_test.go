package history_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

func TestOperationNames(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	for i := range 9 {
		repokit.Fact(t, r, "", fmt.Sprint(i))
	}
	fourth, err := r.OpLog().Find(ctx, "4")
	repokit.Must(t, err)
	full := fourth.CID.String()
	for _, name := range []string{
		"op:4", full, "op:" + full, full[:20], full[7:25], "@~6", "op:@~6", "5~", "10~6", full + "~0",
	} {
		e, err := r.OpLog().Find(ctx, name)
		if err != nil || e.CID != fourth.CID {
			t.Errorf("%s is operation %v, %v", name, e.Operation, err)
		}
	}
	stray := *fourth.Operation
	for _, name := range []string{
		"0", "11", "@~10", "1~1", "nobody", "", full[7:10], ipld.Sum(ipld.DagCBOR, nil).String(),
		"99999999999999999999", "@~99999999999999999999",
	} {
		if _, err := r.OpLog().Find(ctx, name); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: error %v", name, err)
		}
	}
	// The last two are stored, and of another kind.
	for _, name := range []string{"4~x", "4~-1", repokit.Head(t, r).CID().String(), stray.View.String()} {
		if _, err := r.OpLog().Find(ctx, name); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("%q: error %v", name, err)
		}
	}
	moves, err := r.OpLog().Diff(ctx, "4", "3")
	repokit.Must(t, err)
	if len(moves) != 1 || moves[0].Name != "refs/heads/main" ||
		moves[0].From.Target == moves[0].To.Target {
		t.Errorf("differences %v", moves)
	}
	if moves, err := r.OpLog().Diff(ctx, "1", "2"); err != nil || len(moves) != 1 ||
		moves[0].From.Exists() || !moves[0].To.Exists() {
		t.Errorf("differences %v, %v", moves, err)
	}
}

// TestUndoErrors checks that errors name the obstacle.
func TestUndoErrors(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	if _, err := history.Redo(ctx, r, repokit.By); !errors.Is(err, history.ErrNothingToRedo) {
		t.Errorf("redo of nothing: %v", err)
	}
	repokit.Fact(t, r, "", "one")
	repokit.Fact(t, r, "", "two")
	_, err := history.Undo(ctx, r, "2", repokit.By)
	var moved *history.UndoError
	if !errors.As(err, &moved) || !errors.Is(err, state.ErrConflict) {
		t.Fatalf("error %v", err)
	}
	want := &history.UndoError{Seq: 2, Ref: "refs/heads/main", By: 3}
	if diff := cmp.Diff(want, moved); diff != "" {
		t.Error(diff)
	}
	if _, err := history.Undo(ctx, r, "9", repokit.By); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("undo of an operation that is not there: %v", err)
	}
	if _, err := history.RestoreOperation(ctx, r, "9", repokit.By); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("restore of an operation that is not there: %v", err)
	}
	res, err := history.Undo(ctx, r, "", repokit.By)
	repokit.Must(t, err)
	if res.Redo || res.Of.Operation.Seq != 3 || len(res.Refs) != 1 || !res.Operation.Defined() {
		t.Errorf("undone: %+v", res)
	}
	if res, err = history.Undo(ctx, r, "@", repokit.By); err != nil || !res.Redo {
		t.Errorf("undo of an undo: %+v, %v", res, err)
	}
	if res, err = history.RestoreOperation(ctx, r, "@", repokit.By); err != nil || res.Operation.Defined() {
		t.Errorf("restored what is: %+v, %v", res, err)
	}
}

// TestUndoKeepsCommits goes back and finds what was left.
func TestUndoKeepsCommits(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	repokit.Fact(t, r, "", "one")
	two := repokit.Fact(t, r, "", "two")
	_, err := history.Undo(ctx, r, "", repokit.By)
	repokit.Must(t, err)
	if c, err := r.Revisions().Resolve(ctx, "main@{1}"); err != nil || c != two {
		t.Errorf("main@{1} is %s, %v", c, err)
	}
	three := repokit.Fact(t, r, "", "three")
	if _, err := history.Redo(ctx, r, repokit.By); !errors.Is(err, state.ErrConflict) {
		t.Errorf("redo over what came after: %v", err)
	}
	if c, err := r.Revisions().Resolve(ctx, "HEAD"); err != nil || c != three {
		t.Errorf("HEAD is %s, %v", c, err)
	}
}

// TestFsckNamesReversals plants operations with false claims.
func TestFsckNamesReversals(t *testing.T) {
	for name, edit := range map[string]func(r *core.Repo, op *commit.Operation){
		"an undo of an undo": func(r *core.Repo, op *commit.Operation) {
			e, _ := r.OpLog().Find(t.Context(), "@")
			op.Undoes = e.CID
		},
		"a redo of what is no undo": func(r *core.Repo, op *commit.Operation) {
			e, _ := r.OpLog().Find(t.Context(), "2")
			op.Redoes = e.CID
		},
		"an undo of nothing": func(_ *core.Repo, op *commit.Operation) {
			op.Undoes = ipld.Sum(ipld.DagCBOR, nil)
		},
	} {
		st := mem.New()
		r, err := care.New(t.Context(), st, repokit.By, core.Options{})
		repokit.Must(t, err)
		repokit.Fact(t, r, "", "one")
		_, err = history.Undo(t.Context(), r, "", repokit.By)
		repokit.Must(t, err)
		repokit.CheckClean(t, r)
		old, err := st.Head(t.Context())
		repokit.Must(t, err)
		op, err := commit.NextOperation(t.Context(), st.Facts(), old)
		repokit.Must(t, err)
		last, err := commit.ReadOperation(t.Context(), st.Facts(), old.Operation)
		repokit.Must(t, err)
		op.View, op.Time, op.Actor, op.Command = last.View, last.Time, "x", []string{"x"}
		edit(r, op)
		block := store.NewBlock(ipld.DagCBOR, op.Encode())
		repokit.Must(t, st.Commit(t.Context(), old, store.Head{Seq: op.Seq, Operation: block.CID}, block))
		report, err := care.Fsck(t.Context(), r, care.FsckOptions{})
		repokit.Must(t, err)
		found := false
		for _, e := range report.Errors {
			found = found || e.CID == block.CID && strings.Contains(e.Message, "takes back")
		}
		if !found {
			t.Errorf("%s is not named: %v", name, report.Errors)
		}
	}
}

// TestPastOfBranch resolves times and moves after a long history.
func TestPastOfBranch(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	const n, hour = 40, 3_600_000_000
	var all []ipld.CID
	for i := range n {
		line := fmt.Sprintf(`{"node":{"key":"k","type":"T","props":{"n":%d}}}`, i)
		stamp := repokit.By
		stamp.Time += graph.Time(i * hour)
		res, err := r.Commit(ctx, state.ReadChanges(strings.NewReader(line), "x"),
			core.CommitOptions{Stamp: stamp, Message: "m"})
		repokit.Must(t, err)
		all = append(all, res.Commit)
	}
	for i, want := range all {
		at := (repokit.By.Time + graph.Time(i*hour) + hour/2).String()
		for _, rev := range []string{
			fmt.Sprintf("main@{%d}", n-1-i), "@{" + at + "}", fmt.Sprintf("HEAD@{op:%d}", i+2),
			fmt.Sprintf("main~%d", n-1-i),
		} {
			if c, err := r.Revisions().Resolve(ctx, rev); c != want || err != nil {
				t.Fatalf("%s is %s, %v, want %s", rev, c, err, want)
			}
		}
	}
	from, until, err := r.Revisions().Range(ctx, "..main~3")
	repokit.Must(t, err)
	if from[0] != all[n-4] || until[0] != all[n-1] {
		t.Errorf("range from %s until %s", from, until)
	}
	for _, bad := range []string{"..", "a..main", "main..a"} {
		if _, _, err := r.Revisions().Range(ctx, bad); err == nil {
			t.Errorf("range %q is accepted", bad)
		}
	}
}
