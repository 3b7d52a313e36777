package history_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// TestUndoOwn checks that an agent undoes its own commits, and nothing that others did.
func TestUndoOwn(t *testing.T) {
	r := repokit.OpenMem(t)
	at := repokit.By.Time
	as := func(agent string) state.Stamp {
		at++
		return state.Stamp{Author: repokit.By.Author, Agent: agent, Time: at, Command: []string{"test"}}
	}
	write := func(agent, branch, key string) {
		t.Helper()
		change := `{"node":{"key":"` + key + `","type":"T"}}`
		must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(change), "x"),
			core.CommitOptions{Stamp: as(agent), Message: key, Branch: branch}))(t)
	}
	own := func(agent, op string, want error) *history.Undone {
		t.Helper()
		res, err := history.UndoOwn(t.Context(), r, op, as(agent))
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Fatalf("%s undoes %q: %v, want %v", agent, op, err, want)
		}
		return res
	}
	write("a", "", "first")                                                                                  // operation 2
	write("b", "", "second")                                                                                 // 3
	if _, err := r.Branches().Create(t.Context(), "side", "", core.RefOptions{Stamp: as("b")}); err != nil { // 4
		t.Fatal(err)
	}
	own("c", "", history.ErrNothingToUndo)
	own("a", "", state.ErrConflict) // b's stands on it
	own("a", "3", history.ErrOthers)
	own("b", "4", history.ErrOthers) // no commit says whose it is
	must.Equal(t, own("b", "", nil).Of.Operation.Seq, 3, "operation")
	must.Equal(t, own("a", "", nil).Of.Operation.Seq, 2, "operation")
	own("a", "", history.ErrNothingToUndo)
	if _, at, err := r.Branch(t.Context()); err != nil || at.Defined() {
		t.Errorf("main is at %s: %v", at, err)
	}
	must.Get(r.Snapshot(t.Context(), "side"))(t)
}
