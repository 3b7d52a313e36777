package repo_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

func TestOperationNames(t *testing.T) {
	r, ctx := openMem(t), t.Context()
	for i := range 9 {
		fact(t, r, "", fmt.Sprint(i))
	}
	fourth, err := r.Operation(ctx, "4")
	must(t, err)
	full := fourth.CID.String()
	for _, name := range []string{
		"op:4", full, "op:" + full, full[:20], full[7:25], "@~6", "op:@~6", "5~", "10~6", full + "~0",
	} {
		e, err := r.Operation(ctx, name)
		if err != nil || e.CID != fourth.CID {
			t.Errorf("%s is operation %v, %v", name, e.Operation, err)
		}
	}
	stray := *fourth.Operation
	for _, name := range []string{
		"0", "11", "@~10", "1~1", "nobody", "", full[7:10], ipld.Sum(ipld.DagCBOR, nil).String(),
		"99999999999999999999", "@~99999999999999999999",
	} {
		if _, err := r.Operation(ctx, name); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: error %v", name, err)
		}
	}
	// The last two are stored, and of another kind.
	for _, name := range []string{"4~x", "4~-1", head(t, r).CID().String(), stray.View.String()} {
		if _, err := r.Operation(ctx, name); !errors.Is(err, repo.ErrInvalid) {
			t.Errorf("%q: error %v", name, err)
		}
	}
	moves, err := r.DiffOperations(ctx, "4", "3")
	must(t, err)
	if len(moves) != 1 || moves[0].Name != "refs/heads/main" ||
		moves[0].From.Target == moves[0].To.Target {
		t.Errorf("differences %v", moves)
	}
	if moves, err := r.DiffOperations(ctx, "1", "2"); err != nil || len(moves) != 1 ||
		moves[0].From.Exists() || !moves[0].To.Exists() {
		t.Errorf("differences %v, %v", moves, err)
	}
}

// TestUndoErrors names what stands in the way.
func TestUndoErrors(t *testing.T) {
	r, ctx := openMem(t), t.Context()
	if _, err := r.Redo(ctx, by); !errors.Is(err, repo.ErrNothingToRedo) {
		t.Errorf("redo of nothing: %v", err)
	}
	fact(t, r, "", "one")
	fact(t, r, "", "two")
	_, err := r.Undo(ctx, "2", by)
	var moved *repo.UndoError
	if !errors.As(err, &moved) || !errors.Is(err, repo.ErrConflict) {
		t.Fatalf("error %v", err)
	}
	want := &repo.UndoError{Seq: 2, Ref: "refs/heads/main", By: 3}
	if diff := cmp.Diff(want, moved); diff != "" {
		t.Error(diff)
	}
	if _, err := r.Undo(ctx, "9", by); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("undo of an operation that is not there: %v", err)
	}
	if _, err := r.RestoreOperation(ctx, "9", by); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("restore of an operation that is not there: %v", err)
	}
	res, err := r.Undo(ctx, "", by)
	must(t, err)
	if res.Redo || res.Of.Operation.Seq != 3 || len(res.Refs) != 1 || !res.Operation.Defined() {
		t.Errorf("undone: %+v", res)
	}
	if res, err = r.Undo(ctx, "@", by); err != nil || !res.Redo {
		t.Errorf("undo of an undo: %+v, %v", res, err)
	}
	if res, err = r.RestoreOperation(ctx, "@", by); err != nil || res.Operation.Defined() {
		t.Errorf("restored what is: %+v, %v", res, err)
	}
}

// TestUndoKeepsCommits goes back and finds what was left.
func TestUndoKeepsCommits(t *testing.T) {
	r, ctx := openMem(t), t.Context()
	fact(t, r, "", "one")
	two := fact(t, r, "", "two")
	_, err := r.Undo(ctx, "", by)
	must(t, err)
	if c, err := r.Resolve(ctx, "main@{1}"); err != nil || c != two {
		t.Errorf("main@{1} is %s, %v", c, err)
	}
	three := fact(t, r, "", "three")
	if _, err := r.Redo(ctx, by); !errors.Is(err, repo.ErrConflict) {
		t.Errorf("redo over what came after: %v", err)
	}
	if c, err := r.Resolve(ctx, "HEAD"); err != nil || c != three {
		t.Errorf("HEAD is %s, %v", c, err)
	}
}

// TestFsckNamesReversals plants operations that say what is not so.
func TestFsckNamesReversals(t *testing.T) {
	for name, edit := range map[string]func(r *repo.Repo, op *commit.Operation){
		"an undo of an undo": func(r *repo.Repo, op *commit.Operation) {
			e, _ := r.Operation(t.Context(), "@")
			op.Undoes = e.CID
		},
		"a redo of what is no undo": func(r *repo.Repo, op *commit.Operation) {
			e, _ := r.Operation(t.Context(), "2")
			op.Redoes = e.CID
		},
		"an undo of nothing": func(_ *repo.Repo, op *commit.Operation) {
			op.Undoes = ipld.Sum(ipld.DagCBOR, nil)
		},
	} {
		st := mem.New()
		r, err := repo.New(t.Context(), st, by, repo.Options{})
		must(t, err)
		fact(t, r, "", "one")
		_, err = r.Undo(t.Context(), "", by)
		must(t, err)
		checkClean(t, r)
		old, err := st.Head(t.Context())
		must(t, err)
		op, err := commit.NextOperation(t.Context(), st.Facts(), old)
		must(t, err)
		last, err := commit.ReadOperation(t.Context(), st.Facts(), old.Operation)
		must(t, err)
		op.View, op.Time, op.Actor, op.Command = last.View, last.Time, "x", []string{"x"}
		edit(r, op)
		block := store.NewBlock(ipld.DagCBOR, op.Encode())
		must(t, st.Commit(t.Context(), old, store.Head{Seq: op.Seq, Operation: block.CID}, block))
		report, err := r.Fsck(t.Context(), repo.FsckOptions{})
		must(t, err)
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
	r, ctx := openMem(t), t.Context()
	const n, hour = 40, 3_600_000_000
	var all []ipld.CID
	for i := range n {
		line := fmt.Sprintf(`{"node":{"key":"k","type":"T","props":{"n":%d}}}`, i)
		stamp := by
		stamp.Time += graph.Time(i * hour)
		res, err := r.Commit(ctx, repo.ReadChanges(strings.NewReader(line), "x"),
			repo.CommitOptions{Stamp: stamp, Message: "m"})
		must(t, err)
		all = append(all, res.Commit)
	}
	for i, want := range all {
		at := (by.Time + graph.Time(i*hour) + hour/2).String()
		for _, rev := range []string{
			fmt.Sprintf("main@{%d}", n-1-i), "@{" + at + "}", fmt.Sprintf("HEAD@{op:%d}", i+2),
			fmt.Sprintf("main~%d", n-1-i),
		} {
			if c, err := r.Resolve(ctx, rev); c != want || err != nil {
				t.Fatalf("%s is %s, %v, want %s", rev, c, err, want)
			}
		}
	}
	from, until, err := r.Range(ctx, "..main~3")
	must(t, err)
	if from[0] != all[n-4] || until[0] != all[n-1] {
		t.Errorf("range from %s until %s", from, until)
	}
	for _, bad := range []string{"..", "a..main", "main..a"} {
		if _, _, err := r.Range(ctx, bad); err == nil {
			t.Errorf("range %q is accepted", bad)
		}
	}
}
