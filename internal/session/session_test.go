package session_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// second is the error of a call with one other result.
func second[T any](_ T, err error) error { return err }

func startSession(t testing.TB, r *core.Repo, name string, opt session.SessionOptions) *retrieve.Session {
	t.Helper()
	if opt.Author == "" {
		opt.Stamp = repokit.By
	}
	s := must.Get(session.StartSession(t.Context(), r, name, opt))(t)
	return s
}

func retrieveIn(t testing.TB, r *core.Repo, name, text string) (*retrieve.Answer, ipld.CID) {
	t.Helper()
	a, c, err := session.RetrieveIn(t.Context(), r, name, retrieve.Request{Text: text, Floor: retrieve.FloorRest}, repokit.By)
	must.OK(t, err)
	return a, c
}

func TestSessionRefusals(t *testing.T) {
	r := repokit.OpenMem(t)
	_, err := session.StartSession(t.Context(), r, "early", session.SessionOptions{Stamp: repokit.By})
	must.Fail(t, err, store.ErrNotFound)
	repokit.Lines(t, r, repokit.TwoPeople)
	startSession(t, r, "done", session.SessionOptions{})
	must.Get(session.EndSession(t.Context(), r, "done", repokit.By))(t)
	const nobody = "nobody"
	ctx, req := t.Context(), retrieve.Request{Text: "infra"}
	a := must.Get(rank.Retrieve(ctx, repokit.Head(t, r), req))(t)
	before := must.Get(r.Refs(ctx))(t)
	anonymous := session.SessionOptions{Follow: true, Stamp: state.Stamp{Time: 1}}
	retrieveFrom := func(name string, req retrieve.Request) error {
		_, _, err := session.RetrieveIn(ctx, r, name, req, repokit.By)
		return err
	}
	startAs := func(name string, opt session.SessionOptions) error {
		return second(session.StartSession(ctx, r, name, opt))
	}
	for name, c := range map[string]struct{ want, got error }{
		"exists":      {fs.ErrExist, startAs("done", session.SessionOptions{Stamp: repokit.By})},
		"no revision": {store.ErrNotFound, startAs("n", session.SessionOptions{Stamp: repokit.By, At: "nope"})},
		"no author":   {state.ErrInvalid, startAs("new", anonymous)},
		"bad name":    {state.ErrInvalid, startAs("a..b", session.SessionOptions{Stamp: repokit.By})},
		"long name": {state.ErrInvalid,
			startAs(strings.Repeat("n", 256), session.SessionOptions{Stamp: repokit.By})},
		"unknown, retrieve": {store.ErrNotFound, retrieveFrom(nobody, req)},
		"unknown, record":   {store.ErrNotFound, second(session.Record(ctx, r, nobody, a, repokit.By))},
		"unknown, read":     {store.ErrNotFound, second(session.Session(ctx, r, nobody))},
		"unknown, advance":  {store.ErrNotFound, second(session.AdvanceSession(ctx, r, nobody, "HEAD", repokit.By))},
		"unknown, end":      {store.ErrNotFound, second(session.EndSession(ctx, r, nobody, repokit.By))},
		"unknown, rm":       {store.ErrNotFound, session.RemoveSession(ctx, r, nobody, repokit.By)},
		"ended, retrieve":   {state.ErrInvalid, retrieveFrom("done", req)},
		"ended, record":     {state.ErrInvalid, second(session.Record(ctx, r, "done", a, repokit.By))},
		"ended, advance":    {state.ErrInvalid, second(session.AdvanceSession(ctx, r, "done", "HEAD", repokit.By))},
		"ended, end":        {state.ErrInvalid, second(session.EndSession(ctx, r, "done", repokit.By))},
		"bad request": {retrieve.ErrRequest,
			retrieveFrom(session.DefaultSession, retrieve.Request{Limit: new(-1)})},
	} {
		must.True(t, errors.Is(c.got, c.want), "%s: error %v, want %v", name, c.got, c.want)
	}
	after := must.Get(r.Refs(ctx))(t)
	equal := cmp.Comparer(func(a, b ipld.CID) bool { return a == b })
	must.Equal(t, cmp.Diff(before, after, equal), "", "refused calls changed refs")
}

// TestRemovedSession removes a session: its name is free, and its receipts can still be replayed.
func TestRemovedSession(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, repokit.TwoPeople)
	startSession(t, r, "s", session.SessionOptions{})
	_, receipt := retrieveIn(t, r, "s", "infra")
	must.OK(t, session.RemoveSession(t.Context(), r, "s", repokit.By))
	must.Fail(t, must.Err(session.Session(t.Context(), r, "s")), store.ErrNotFound)
	all, err := session.Sessions(t.Context(), r)
	must.True(t, err == nil && len(all) == 0, "sessions %v, %v", all, err)
	res, err := session.Replay(t.Context(), r, receipt.String())
	must.True(t, err == nil && res.Identical, "replay of its receipt: %+v, %v", res, err)
	startSession(t, r, "s", session.SessionOptions{})
	recs := repokit.Chain(t, r, "s")
	must.True(t, len(recs) == 1, "a session of the same name has %d records", len(recs))
}

// TestOperations checks that each change of refs is one operation, with author and command, and that reading and
// refused writes make none.
func TestOperations(t *testing.T) {
	st := mem.New()
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	var want [][]string
	as := func(words ...string) state.Stamp {
		stamp := repokit.By
		stamp.Time += graph.Time(len(want))
		stamp.Command = words
		want = append(want, words)
		return stamp
	}
	want = append(want, repokit.By.Command) // init
	ctx := t.Context()
	commitAs := func(text string, stamp state.Stamp) error {
		_, err := r.Commit(ctx, state.ReadChanges(strings.NewReader(text), ""), core.CommitOptions{Stamp: stamp})
		return err
	}
	must.OK(t, commitAs(repokit.TwoPeople, as("commit", "--message")))
	must.OK(t, commitAs(repokit.TwoPeople, repokit.By)) // nothing to commit: no operation
	err := commitAs(`{"node":{}}`, repokit.By)
	must.True(t, err != nil, "a bad line was committed")
	must.Get(session.StartSession(ctx, r, "s", session.SessionOptions{Stamp: as("session", "start")}))(t)
	_, _, err = session.RetrieveIn(ctx, r, "s", retrieve.Request{Text: "infra"}, as("retrieve"))
	must.OK(t, err)
	must.Get(rank.Retrieve(ctx, repokit.Head(t, r), retrieve.Request{Text: "infra"}))(t)
	must.Get(session.AdvanceSession(ctx, r, "s", "HEAD", as("session", "advance")))(t)
	must.Get(session.EndSession(ctx, r, "s", as("session", "end")))(t)
	must.OK(t, session.RemoveSession(ctx, r, "s", as("session", "rm")))
	_, err = r.Stages().Add(ctx, state.ReadChanges(strings.NewReader(`{"node":{"key":"x","type":"T"}}`),
		""), core.StageOptions{Stamp: as("add")})
	must.OK(t, err)
	must.Get(r.Stages().Commit(ctx, "", core.CommitOptions{Stamp: as("commit")}))(t)
	must.OK(t, r.Stages().Remove(ctx, "", repokit.By)) // nothing is staged: no operation
	must.Get(r.Indexes().Rebuild(ctx, "HEAD"))(t)

	newest := must.Get(st.Head(ctx))(t)
	seq := newest.Seq
	for op, err := range commit.Operations(ctx, st.Facts(), newest.Operation) {
		must.OK(t, err)
		must.Require(t, op.Operation.Seq == seq, "operation %d, want %d", op.Operation.Seq, seq)
		seq--
		words := want[seq]
		if diff := cmp.Diff(words, op.Operation.Command); diff != "" || op.Operation.Actor != repokit.By.Author {
			t.Errorf("operation %d by %q: %s", op.Operation.Seq, op.Operation.Actor, diff)
		}
	}
	must.True(t, seq == 0 && newest.Seq == uint64(len(want)),
		"%d operations, %d not seen, want %d", newest.Seq, seq, len(want))
	repokit.CheckClean(t, r)
}
