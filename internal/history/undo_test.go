package history_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

func isSession(name string) bool { return strings.HasPrefix(name, "refs/sessions/") }

// opModel is the operation log written down naively: clause 15.6 word for word.
type opModel struct {
	views []repokit.RefView // views[i] after operation i; views[0] is before the first one
	back  []int             // the operation that i reversed, 0 for none
	redo  []bool            // whether that was an undo
}

func (m *opModel) record(v repokit.RefView, back int, redo bool) {
	m.views, m.back, m.redo = append(m.views, v), append(m.back, back), append(m.redo, redo)
}

func (m *opModel) newest() int { return len(m.views) - 1 }

func (m *opModel) undone(s int) bool {
	for i := s + 1; i <= m.newest(); i++ {
		if m.back[i] == s && !m.undone(i) {
			return true
		}
	}
	return false
}

// changes are the refs that undoing an operation moves.
func (m *opModel) changes(s int) []string {
	if s == 1 {
		return nil
	}
	return slices.DeleteFunc(m.views[s-1].Changed(m.views[s]), isSession)
}

// isUndo reports whether an operation has the field undoes.
func (m *opModel) isUndo(s int) bool { return m.back[s] != 0 && !m.redo[s] }

func (m *opModel) lastUndoable() int {
	for s := m.newest(); s > 1; s-- {
		if m.back[s] == 0 && len(m.changes(s)) > 0 && !m.undone(s) {
			return s
		}
	}
	return 0
}

func (m *opModel) lastUndo() int {
	for s := m.newest(); s > 1; s-- {
		if m.isUndo(s) && !m.undone(s) {
			return s
		}
	}
	return 0
}

// undo predicts the view after undoing s: the error it gives otherwise.
func (m *opModel) undo(s int) (repokit.RefView, error) {
	if s == 0 || len(m.changes(s)) == 0 || m.undone(s) {
		return nil, history.ErrNothingToUndo
	}
	mine := m.changes(s)
	for i := s + 1; i <= m.newest(); i++ {
		if m.undone(i) || m.back[i] > s {
			continue
		}
		for _, name := range m.changes(i) {
			if slices.Contains(mine, name) {
				return nil, state.ErrConflict
			}
		}
	}
	next := maps.Clone(m.views[m.newest()])
	for _, name := range mine {
		if value, ok := m.views[s-1][name]; ok {
			next[name] = value
		} else {
			delete(next, name)
		}
	}
	return next, nil
}

func (m *opModel) restore(s int) repokit.RefView {
	next := maps.Clone(m.views[s])
	maps.DeleteFunc(next, func(name, _ string) bool { return isSession(name) })
	for name, value := range m.views[m.newest()] {
		if isSession(name) {
			next[name] = value
		}
	}
	return next
}

// opWorld is a repository and its model.
type opWorld struct {
	*opModel
	t *rapid.T
	r *core.Repo
	n int // of changes made
}

// do runs a command that may be refused, and records what it did.
func (w *opWorld) do(what string, err error) {
	w.t.Logf("%d: %s: %v", w.newest()+1, what, err)
	now := repokit.ViewOf(w.t, w.r)
	if len(w.views[w.newest()].Changed(now)) > 0 {
		w.record(now, 0, false)
	}
}

// expect compares a command's result with the model.
func (w *opWorld) expect(what string, err error, want repokit.RefView, wantErr error, back int) {
	w.t.Helper()
	w.t.Logf("%d: %s: %v", w.newest()+1, what, err)
	if !errors.Is(err, wantErr) || (err == nil) != (wantErr == nil) {
		w.t.Fatalf("%s: error %v, want %v", what, err, wantErr)
	}
	if wantErr != nil {
		return
	}
	if diff := cmp.Diff(want, repokit.ViewOf(w.t, w.r)); diff != "" {
		w.t.Fatalf("%s: refs differ (-want +got):\n%s", what, diff)
	}
	if len(w.views[w.newest()].Changed(want)) > 0 {
		w.record(want, back, back != 0 && w.isUndo(back))
	}
}

// step does one random thing.
func (w *opWorld) step() {
	ctx, r := context.Background(), w.r
	name := rapid.SampledFrom([]string{"a", "b", "main"}).Draw(w.t, "name")
	op := rapid.IntRange(1, w.newest()).Draw(w.t, "op")
	force := core.RefOptions{Stamp: repokit.By, Force: true}
	line := fmt.Sprintf(`{"node":{"key":"k%d","type":"T"}}`, w.n)
	w.n++
	switch rapid.IntRange(0, 11).Draw(w.t, "what") {
	case 0:
		_, err := r.Branches().Create(ctx, name, "HEAD", force)
		w.do("branch "+name, err)
	case 1:
		_, err := r.Branches().Remove(ctx, name, force)
		w.do("branch -d "+name, err)
	case 2:
		err := r.Branches().Rename(ctx, name, name+"x", force)
		w.do("branch -m "+name, err)
	case 3:
		_, err := r.Tags().Create(ctx, "t"+name, "HEAD", core.TagOptions{RefOptions: force})
		w.do("tag t"+name, err)
	case 4:
		w.do("switch "+name, r.Branches().Switch(ctx, name, core.SwitchOptions{Stamp: repokit.By}))
	case 5:
		_, err := r.Stages().Add(ctx, state.ReadChanges(strings.NewReader(line), "x"),
			core.StageOptions{Stamp: repokit.By})
		w.do("add", err)
	case 6:
		_, err := session.StartSession(ctx, r, fmt.Sprint("s", w.n), session.SessionOptions{Stamp: repokit.By})
		w.do("session", err)
	case 7:
		_, err := r.Stages().Commit(ctx, "", core.CommitOptions{Stamp: repokit.By, Message: "m"})
		w.do("commit staged", err)
	case 8:
		_, err := history.Undo(ctx, r, fmt.Sprint(op), repokit.By)
		want, wantErr := w.undo(op)
		w.expect(fmt.Sprint("undo ", op), err, want, wantErr, op)
	case 9:
		_, err := history.Redo(ctx, r, repokit.By)
		s := w.lastUndo()
		want, wantErr := w.undo(s)
		if errors.Is(wantErr, history.ErrNothingToUndo) {
			wantErr = history.ErrNothingToRedo
		}
		w.expect("redo", err, want, wantErr, s)
	case 10:
		_, err := history.RestoreOperation(ctx, r, fmt.Sprint(op), repokit.By)
		w.expect(fmt.Sprint("restore ", op), err, w.restore(op), nil, 0)
	default:
		w.stepBack()
	}
}

// stepBack commits or undoes: undoing without a name is never a conflict.
func (w *opWorld) stepBack() {
	ctx := context.Background()
	if rapid.Bool().Draw(w.t, "commit") {
		line := fmt.Sprintf(`{"node":{"key":"c%d","type":"T"}}`, w.n)
		_, err := w.r.Commit(ctx, state.ReadChanges(strings.NewReader(line), "x"),
			core.CommitOptions{Stamp: repokit.By, Message: "m"})
		w.do("commit", err)
		return
	}
	_, err := history.Undo(ctx, w.r, "", repokit.By)
	s := w.lastUndoable()
	want, wantErr := w.undo(s)
	if errors.Is(wantErr, state.ErrConflict) {
		w.t.Fatalf("undo without a name is a conflict over operation %d", s)
	}
	w.expect("undo", err, want, wantErr, s)
}

// TestUndoModel holds random sequences of operations, undo, redo and restore to the naive model.
func TestUndoModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := care.New(context.Background(), mem.New(), repokit.By, core.Options{})
		must.OK(t, err)
		w := &opWorld{opModel: &opModel{}, t: t, r: r}
		w.record(repokit.RefView{}, 0, false)
		w.record(repokit.ViewOf(t, r), 0, false)
		w.do("commit", func() error { _, err := repokit.TryLines(r, `{"node":{"key":"z","type":"T"}}`); return err }())
		for range rapid.IntRange(1, 24).Draw(t, "steps") {
			w.step()
		}
		w.checkLog()
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{})
		if err != nil || len(report.Errors) > 0 {
			t.Fatalf("fsck: %v %v", err, report.Errors)
		}
	})
}

// checkLog compares the operation log with the views.
func (w *opWorld) checkLog() {
	s := w.newest()
	for e, err := range w.r.OpLog().All(context.Background()) {
		must.OK(w.t, err)
		var names []string
		for _, m := range e.Refs {
			names = append(names, string(m.Name))
			if m.From.Value() != w.views[s-1][string(m.Name)] ||
				m.To.Value() != w.views[s][string(m.Name)] {
				w.t.Fatalf("operation %d: %v", s, m)
			}
		}
		if want := w.views[s-1].Changed(w.views[s]); !slices.Equal(names, want) {
			w.t.Fatalf("operation %d changed %v, want %v", s, names, want)
		}
		s--
	}
	if s != 0 {
		w.t.Fatalf("the log ends before operation %d", s)
	}
}
