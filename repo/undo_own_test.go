package repo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/repo"
)

// TestUndoOwn holds that an agent takes back what it committed, and nothing that others did.
func TestUndoOwn(t *testing.T) {
	r := openMem(t)
	at := by.Time
	as := func(agent string) repo.Stamp {
		at++
		return repo.Stamp{Author: by.Author, Agent: agent, Time: at, Command: []string{"test"}}
	}
	write := func(agent, branch, key string) {
		t.Helper()
		change := `{"node":{"key":"` + key + `","type":"T"}}`
		_, err := r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(change), "x"),
			repo.CommitOptions{Stamp: as(agent), Message: key, Branch: branch})
		if err != nil {
			t.Fatal(err)
		}
	}
	own := func(agent, op string, want error) *repo.Undone {
		t.Helper()
		res, err := r.UndoOwn(t.Context(), op, as(agent))
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Fatalf("%s undoes %q: %v, want %v", agent, op, err, want)
		}
		return res
	}
	write("a", "", "first")                                                                             // operation 2
	write("b", "", "second")                                                                            // 3
	if _, err := r.CreateBranch(t.Context(), "side", "", repo.RefOptions{Stamp: as("b")}); err != nil { // 4
		t.Fatal(err)
	}
	own("c", "", repo.ErrNothingToUndo)
	own("a", "", repo.ErrConflict) // b's stands on it
	own("a", "3", repo.ErrOthers)
	own("b", "4", repo.ErrOthers) // no commit says whose it is
	if res := own("b", "", nil); res.Of.Operation.Seq != 3 {
		t.Errorf("operation %d was taken back", res.Of.Operation.Seq)
	}
	if res := own("a", "", nil); res.Of.Operation.Seq != 2 {
		t.Errorf("operation %d was taken back", res.Of.Operation.Seq)
	}
	own("a", "", repo.ErrNothingToUndo)
	if _, at, err := r.Branch(t.Context()); err != nil || at.Defined() {
		t.Errorf("main is at %s: %v", at, err)
	}
	if _, err := r.Snapshot(t.Context(), "side"); err != nil {
		t.Error(err)
	}
}
