package history_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// undoWorld is a repository whose branches people and captures extend; t is a *testing.T or a *rapid.T.
type undoWorld struct {
	t must.T
	r *core.Repo
}

var captureStamp = state.Stamp{Author: repokit.By.Author, Time: repokit.By.Time, Command: []string{"capture"}}

// write commits lines to a branch, "" for that of HEAD.
func (w undoWorld) write(stamp state.Stamp, branch string, lines ...string) {
	w.t.Helper()
	must.Get(w.r.Commit(context.Background(), state.ReadChanges(strings.NewReader(strings.Join(lines, "\n")), "x"),
		core.CommitOptions{Stamp: stamp, Branch: branch, Message: strings.Join(stamp.Command, " ")}))(w.t)
}

// keys are the keys of all nodes of HEAD, sorted.
func (w undoWorld) keys() []string {
	w.t.Helper()
	ctx := context.Background()
	var out []string
	_, at, err := w.r.Branch(ctx)
	must.OK(w.t, err)
	s := must.Get(w.r.At(ctx, at))(w.t)
	for n, err := range s.Nodes(ctx, graph.ID{}) {
		must.OK(w.t, err)
		out = append(out, n.Node.Key)
	}
	slices.Sort(out)
	return out
}

func keyLine(key string) string { return `{"node":{"key":"` + key + `","type":"T"}}` }

// captureModel models undo and redo with interleaved captures: changes in effect, undone ones with the number in
// effect at that time, and captures.
type captureModel struct {
	done, captured []string
	undone         []struct {
		key   string
		stood int
	}
}

func (m *captureModel) undo() error {
	n := len(m.done) - 1
	if n < 0 {
		return history.ErrNothingToUndo
	}
	m.undone = append(m.undone, struct {
		key   string
		stood int
	}{m.done[n], n})
	m.done = m.done[:n]
	return nil
}

func (m *captureModel) redo() error {
	n := len(m.undone) - 1
	switch {
	case n < 0:
		return history.ErrNothingToRedo
	case m.undone[n].stood != len(m.done):
		return state.ErrConflict
	}
	m.done, m.undone = append(m.done, m.undone[n].key), m.undone[:n]
	return nil
}

func (m *captureModel) keys() []string {
	out := slices.Concat(m.done, m.captured)
	slices.Sort(out)
	return out
}

// TestUndoKeepsCaptures compares random changes, captures, undos and redos with the model: undo reverses a user's
// change, and no capture is lost.
func TestUndoKeepsCaptures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		r := must.Get(care.New(ctx, mem.New(), repokit.By, core.Options{}))(t)
		w, m := undoWorld{t, r}, &captureModel{}
		for i := range rapid.IntRange(1, 20).Draw(t, "steps") {
			key := fmt.Sprintf("k%02d", i)
			var got, want error
			switch what := rapid.SampledFrom([]string{"write", "capture", "undo", "redo"}).Draw(t, "what"); what {
			case "write":
				w.write(repokit.By, "", keyLine(key))
				m.done = append(m.done, key)
			case "capture":
				w.write(captureStamp, "", keyLine(key))
				m.captured = append(m.captured, key)
			case "undo":
				_, got = history.Undo(ctx, r, "", repokit.By)
				want = m.undo()
			default:
				_, got = history.Redo(ctx, r, repokit.By)
				want = m.redo()
			}
			must.Require(t, errors.Is(got, want) && (got == nil) == (want == nil),
				"step %d: %v, want %v", i, got, want)
			must.Equal(t, cmp.Diff(m.keys(), w.keys(), cmpopts.EquateEmpty()), "", "step ", i)
		}
		report, err := care.Fsck(ctx, r, care.FsckOptions{})
		must.Require(t, err == nil && len(report.Errors) <= 0, "fsck: %v %v", err, report.Errors)
	})
}

// TestUndoRefusesWithCaptures has undo refuse, and change nothing, if a capture depends on the change or if the
// change created the branch.
func TestUndoRefusesWithCaptures(t *testing.T) {
	refused := func(w undoWorld, by, target uint64, items bool) {
		t.Helper()
		before := repokit.ViewOf(t, w.r)
		_, err := history.Undo(t.Context(), w.r, "", state.Stamp{Author: "Tess Tester", Time: 1, Command: []string{"undo"}})
		var moved *history.UndoError
		must.True(t, errors.As(err, &moved) && moved.By == by && moved.Seq == target && (len(moved.Items) > 0) == items,
			"%v (%+v), want a conflict of %d with %d, items %v", err, moved, target, by, items)
		must.Same(t, before, repokit.ViewOf(t, w.r), "refs moved")
	}
	w := undoWorld{t, repokit.OpenMem(t)}
	w.write(repokit.By, "", keyLine("alice"))
	w.write(captureStamp, "", keyLine("turn"), `{"edge":{"type":"says","src":"turn","dst":"alice"}}`)
	refused(w, 3, 2, true)

	w = undoWorld{t, repokit.OpenMem(t)}
	w.write(repokit.By, "", keyLine("alice"))
	w.write(captureStamp, "", `{"node":{"key":"alice","summary":"grew"}}`)
	refused(w, 3, 2, true)

	w = undoWorld{t, repokit.OpenMem(t)}
	w.write(captureStamp, "", keyLine("turn")) // operation 2
	must.Get(w.r.Branches().Create(t.Context(), "side", "HEAD", core.RefOptions{Stamp: repokit.By}))(t)
	w.write(captureStamp, "side", keyLine("later"))
	refused(w, 4, 3, false)

	w = undoWorld{t, repokit.OpenMem(t)}
	w.write(repokit.By, "", keyLine("alice"))
	w.write(captureStamp, "", `{"remove":{"node":"alice"}}`, keyLine("turn"))
	refused(w, 3, 2, false) // nothing is left to take back
}

// TestUndoPassesOver checks which operations undo skips: captures, and those of sessions and remote-tracking refs,
// which the answer lists; others' operations, which it does not list.
func TestUndoPassesOver(t *testing.T) {
	w := undoWorld{t, repokit.OpenMem(t)}
	w.write(repokit.By, "", keyLine("mine")) // operation 2
	must.Get(session.StartSession(t.Context(), w.r, "s", session.SessionOptions{Stamp: repokit.By}))(t)
	w.write(captureStamp, "", keyLine("turn")) // 4
	bob := state.Stamp{Author: "bob", Time: 1, Command: []string{"branch"}}
	must.Get(w.r.Branches().Create(t.Context(), "bobs", "HEAD", core.RefOptions{Stamp: bob}))(t)
	undone := must.Get(history.Undo(t.Context(), w.r, "", repokit.By))(t)
	var skipped []uint64
	for _, e := range undone.Skipped {
		skipped = append(skipped, e.Operation.Seq)
	}
	must.True(t, undone.Of.Operation.Seq == 2 && slices.Equal(skipped, []uint64{4, 3}) && undone.SkippedAll == 2,
		"took back %d, passed over %v of %d", undone.Of.Operation.Seq, skipped, undone.SkippedAll)
	must.Same(t, w.keys(), []string{"turn"}, "nodes")
	must.Fail(t, must.Err(history.Undo(t.Context(), w.r, "", repokit.By)), history.ErrNothingToUndo)
	undone, err := history.Undo(t.Context(), w.r, "5", repokit.By)
	must.True(t, err == nil && undone.Of.Operation.Actor == "bob", "by number: %v", err)

	// Bob's change of the branch is an obstacle; a retirement was requested.
	w = undoWorld{t, repokit.OpenMem(t)}
	w.write(repokit.By, "", keyLine("mine"))
	w.write(bob, "", keyLine("bobs"))
	var moved *history.UndoError
	_, err = history.Undo(t.Context(), w.r, "", repokit.By)
	must.True(t, errors.As(err, &moved) && moved.By == 3, "bob's change is built on: %v", err)
	retire := captureStamp
	retire.Command = []string{"capture", "--retire"}
	w.write(retire, "", keyLine("retired"))
	undone, err = history.Undo(t.Context(), w.r, "", repokit.By)
	must.True(t, err == nil && undone.Of.Operation.Seq == 4, "a retirement: %v", err)
}

// TestUndoOwnKeepsCaptures holds that an agent's undo passes over captures that its own reads made.
func TestUndoOwnKeepsCaptures(t *testing.T) {
	w := undoWorld{t, repokit.OpenMem(t)}
	agent := repokit.By
	agent.Agent = "claude-code"
	w.write(agent, "", keyLine("mine"))
	agent.Command = []string{"capture"}
	w.write(agent, "", keyLine("turn"))
	agent.Command = []string{"undo"}
	undone, err := history.UndoOwn(t.Context(), w.r, "", agent)
	must.Require(t, err == nil && undone.Of.Operation.Seq == 2 && undone.SkippedAll == 1, "%+v, %v", undone, err)
	must.Same(t, w.keys(), []string{"turn"}, "nodes")
}

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
		must.Require(t, errors.Is(err, want) && (want != nil || err == nil),
			"%s undoes %q: %v, want %v", agent, op, err, want)
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

// ones is a model to which all texts are the same.
type ones struct{}

func (ones) Model() string { return "ones" }

func (ones) Vectors(_ context.Context, texts []string) ([][]int8, error) {
	out := make([][]int8, len(texts))
	for i := range out {
		out[i] = []int8{127, 127}
	}
	return out, nil
}

// TestUndoPassesOverVectors undoes the requested change although vectors were committed since, and keeps the
// vectors of what stays.
func TestUndoPassesOverVectors(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"one"}}`)
	repokit.Lines(t, r, `{"node":{"key":"b","type":"T","summary":"two"}}`)
	n, err := r.Embeddings().Rest(t.Context(), ones{}, nil)
	must.Require(t, n == 2 && err == nil, "%d nodes embedded, %v", n, err)
	must.Get(history.Undo(t.Context(), r, "", repokit.By))(t)
	got := make(map[core.EmbeddingState]int)
	for e, err := range repokit.Head(t, r).Embeddings(t.Context(), "ones") {
		must.OK(t, err)
		got[e.State]++
	}
	must.True(t, len(got) == 1 && got[core.EmbeddingCurrent] == 1,
		"embeddings %v, want the one of the node that stays", got)
	must.Get(history.Redo(t.Context(), r, repokit.By))(t)
	must.Equal(t, repokit.Sizes(repokit.Head(t, r))[0], 2, "nodes after redo")
}
