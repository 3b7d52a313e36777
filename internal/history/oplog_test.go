package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

func TestOperationNames(t *testing.T) {
	r, ctx := repokit.OpenMem(t), t.Context()
	for i := range 9 {
		repokit.Fact(t, r, "", fmt.Sprint(i))
	}
	fourth := must.Get(r.OpLog().Find(ctx, "4"))(t)
	full := fourth.CID.String()
	for _, name := range []string{
		"op:4", full, "op:" + full, full[:20], full[7:25], "@~6", "op:@~6", "5~", "10~6", full + "~0",
	} {
		e := must.Get(r.OpLog().Find(ctx, name))(t, name)
		must.Equal(t, e.CID, fourth.CID, name, " is operation ", e.Operation)
	}
	stray := *fourth.Operation
	for _, name := range []string{
		"0", "11", "@~10", "1~1", "nobody", "", full[7:10], ipld.Sum(ipld.DagCBOR, nil).String(),
		"99999999999999999999", "@~99999999999999999999",
	} {
		must.Fail(t, must.Err(r.OpLog().Find(ctx, name)), store.ErrNotFound, name)
	}
	// The last two are stored, and of another kind.
	for _, name := range []string{"4~x", "4~-1", repokit.Head(t, r).CID().String(), stray.View.String()} {
		must.Fail(t, must.Err(r.OpLog().Find(ctx, name)), state.ErrInvalid, name)
	}
	moves := must.Get(r.OpLog().Diff(ctx, "4", "3"))(t)
	must.True(t, len(moves) == 1 && moves[0].Name == "refs/heads/main" && moves[0].From.Target != moves[0].To.Target,
		"differences %v", moves)
	moves, err := r.OpLog().Diff(ctx, "1", "2")
	must.True(t, err == nil && len(moves) == 1 && !moves[0].From.Exists() && moves[0].To.Exists(),
		"differences %v, %v", moves, err)
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
		"an undo of nothing": func(_ *core.Repo, op *commit.Operation) { op.Undoes = ipld.Sum(ipld.DagCBOR, nil) },
	} {
		st := mem.New()
		r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
		repokit.Fact(t, r, "", "one")
		must.Get(history.Undo(t.Context(), r, "", repokit.By))(t)
		repokit.CheckClean(t, r)
		old := must.Get(st.Head(t.Context()))(t)
		op := must.Get(commit.NextOperation(t.Context(), st.Facts(), old))(t)
		last := must.Get(commit.ReadOperation(t.Context(), st.Facts(), old.Operation))(t)
		op.View, op.Time, op.Actor, op.Command = last.View, last.Time, "x", []string{"x"}
		edit(r, op)
		block := store.NewBlock(ipld.DagCBOR, op.Encode())
		must.OK(t, st.Commit(t.Context(), old, store.Head{Seq: op.Seq, Operation: block.CID}, block))
		report := must.Get(care.Fsck(t.Context(), r, care.FsckOptions{}))(t)
		found := false
		for _, e := range report.Errors {
			found = found || e.CID == block.CID && strings.Contains(e.Message, "takes back")
		}
		if !found {
			t.Errorf("%s is not named: %v", name, report.Errors)
		}
	}
}

func TestOnDatabase(t *testing.T) { repokit.OnDatabase(t, 5) }
