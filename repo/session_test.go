package repo_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// second is the error of a call with one other result.
func second[T any](_ T, err error) error { return err }

func startSession(
	t testing.TB, r *repo.Repo, name string, opt repo.SessionOptions,
) *retrieve.Session {
	t.Helper()
	if opt.Author == "" {
		opt.Stamp = by
	}
	s, err := r.StartSession(t.Context(), name, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func retrieveIn(t testing.TB, r *repo.Repo, name, text string) (*retrieve.Answer, ipld.CID) {
	t.Helper()
	a, c, err := r.RetrieveIn(t.Context(), name, retrieve.Request{Text: text, Floor: retrieve.FloorRest}, by)
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}

// chain returns a session's records, oldest first, and checks that they are a chain.
func chain(t testing.TB, r *repo.Repo, name string) []*retrieve.Session {
	t.Helper()
	var recs []*retrieve.Session
	var after ipld.CID
	for e, err := range r.SessionLog(t.Context(), name) {
		if err != nil {
			t.Fatal(err)
		}
		if len(recs) > 0 && e.CID != after {
			t.Errorf("record %s follows a link to %s", e.CID, after)
		}
		after = e.Record.Prev
		recs = append([]*retrieve.Session{e.Record}, recs...)
	}
	for i, rec := range recs {
		if rec.Seq != int64(i) || rec.Name != name || rec.Prev.Defined() != (i > 0) {
			t.Errorf("record %d: %+v", i, rec)
		}
	}
	return recs
}

// TestPinnedSession answers from the commit the session began with, until it is advanced.
func TestPinnedSession(t *testing.T) {
	r := openMem(t)
	first := lines(t, r, twoPeople).Commit
	stamp := by
	stamp.Agent, stamp.Task = "helper 2.1", "answer mails"
	startSession(t, r, "work", repo.SessionOptions{Stamp: stamp})
	later := lines(t, r,
		`{"node":{"key":"bob","type":"Person","summary":"Bob leads infra now"}}`).Commit
	before, one := retrieveIn(t, r, "work", "infra")
	if before.Commit != first || len(before.Items) != 2 {
		t.Errorf("answer of %s with %d items, want %s with 2", before.Commit, len(before.Items), first)
	}
	if _, err := r.AdvanceSession(t.Context(), "work", "HEAD", by); err != nil {
		t.Fatal(err)
	}
	after, two := retrieveIn(t, r, "work", "infra")
	if after.Commit != later || len(after.Items) != 3 {
		t.Errorf("advanced: answer of %s with %d items", after.Commit, len(after.Items))
	}
	if _, err := r.AdvanceSession(t.Context(), "work", "HEAD~1", by); err != nil {
		t.Fatal(err)
	}
	back, three := retrieveIn(t, r, "work", "infra")
	if diff := cmp.Diff(render(before), render(back)); diff != "" || one != three {
		t.Errorf("pinned back: receipts %s and %s, %s", one, three, diff)
	}
	if _, err := r.EndSession(t.Context(), "work", by); err != nil {
		t.Fatal(err)
	}
	recs := chain(t, r, "work")
	var got []ipld.CID
	for _, rec := range recs {
		got = append(got, rec.Receipt)
	}
	none := ipld.CID{}
	same(t, "receipts", []ipld.CID{none, one, none, two, none, three, none}, got)
	for i, rec := range recs {
		want := first
		if i == 2 || i == 3 {
			want = later
		}
		if rec.Commit != want || rec.Agent != stamp.Agent || rec.Task != stamp.Task ||
			rec.Actor != by.Author || rec.Ended != (i == len(recs)-1) {
			t.Errorf("record %d: %+v", i, rec)
		}
	}
	res, err := r.Replay(t.Context(), "work")
	if err != nil || !res.Identical || res.Receipts != 3 {
		t.Errorf("replay %+v, %v", res, err)
	}
}

func render(a *retrieve.Answer) (texts []string) {
	for _, item := range a.Items {
		texts = append(texts, item.Rendered)
	}
	return texts
}

// TestFollowingSession answers from HEAD, wherever it is.
func TestFollowingSession(t *testing.T) {
	r := openMem(t)
	startSession(t, r, "live", repo.SessionOptions{Follow: true}) // before there is a commit
	if _, _, err := r.RetrieveIn(t.Context(), "live", retrieve.Request{}, by); !errors.Is(err,
		store.ErrNotFound) {
		t.Errorf("nothing to answer from: %v", err)
	}
	var want []ipld.CID
	for _, text := range []string{twoPeople, `{"node":{"key":"bob","type":"Person"}}`} {
		want = append(want, lines(t, r, text).Commit)
		if a, _ := retrieveIn(t, r, "live", "infra"); a.Commit != want[len(want)-1] {
			t.Errorf("answer of %s, want HEAD", a.Commit)
		}
	}
	if _, err := r.AdvanceSession(t.Context(), "live", "HEAD~1", by); !errors.Is(err,
		repo.ErrInvalid) {
		t.Errorf("advance of a session that follows: %v", err)
	}
	res, err := r.Replay(t.Context(), "live")
	if err != nil || !res.Identical || res.Receipts != 2 {
		t.Errorf("replay %+v, %v", res, err)
	}
}

// TestDefaultSession keeps receipts of no session.
func TestDefaultSession(t *testing.T) {
	r := openMem(t)
	lines(t, r, twoPeople)
	_, one := retrieveIn(t, r, repo.DefaultSession, "infra")
	lines(t, r, `{"node":{"key":"bob","type":"Person","summary":"infra"}}`)
	a, err := head(t, r).Retrieve(t.Context(), retrieve.Request{Text: "infra"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := r.Record(t.Context(), repo.DefaultSession, a, by)
	if err != nil {
		t.Fatal(err)
	}
	recs := chain(t, r, repo.DefaultSession)
	if len(recs) != 3 || !recs[0].Follow || recs[1].Receipt != one || recs[2].Receipt != two {
		t.Errorf("%d records", len(recs))
	}
	rec, req, err := r.Receipt(t.Context(), two)
	if err != nil || req.Text != "infra" || len(rec.Items) != len(a.Items) {
		t.Errorf("receipt %+v of %+v, %v", rec, req, err)
	}
	all, err := r.Sessions(t.Context())
	if err != nil || len(all) != 1 || all[0].Record.Name != repo.DefaultSession {
		t.Errorf("sessions %+v, %v", all, err)
	}
}

func TestSessionRefusals(t *testing.T) {
	r := openMem(t)
	_, err := r.StartSession(t.Context(), "early", repo.SessionOptions{Stamp: by})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("pinned before the first commit: %v", err)
	}
	lines(t, r, twoPeople)
	startSession(t, r, "done", repo.SessionOptions{})
	if _, err := r.EndSession(t.Context(), "done", by); err != nil {
		t.Fatal(err)
	}
	const nobody = "nobody"
	ctx, req := t.Context(), retrieve.Request{Text: "infra"}
	a, err := head(t, r).Retrieve(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	before, err := r.Refs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	anonymous := repo.SessionOptions{Follow: true, Stamp: repo.Stamp{Time: 1}}
	retrieveFrom := func(name string, req retrieve.Request) error {
		_, _, err := r.RetrieveIn(ctx, name, req, by)
		return err
	}
	startAs := func(name string, opt repo.SessionOptions) error {
		return second(r.StartSession(ctx, name, opt))
	}
	for name, c := range map[string]struct{ want, got error }{
		"exists":      {fs.ErrExist, startAs("done", repo.SessionOptions{Stamp: by})},
		"no revision": {store.ErrNotFound, startAs("n", repo.SessionOptions{Stamp: by, At: "nope"})},
		"no author":   {repo.ErrInvalid, startAs("new", anonymous)},
		"bad name":    {repo.ErrInvalid, startAs("a..b", repo.SessionOptions{Stamp: by})},
		"long name": {repo.ErrInvalid,
			startAs(strings.Repeat("n", 256), repo.SessionOptions{Stamp: by})},
		"unknown, retrieve": {store.ErrNotFound, retrieveFrom(nobody, req)},
		"unknown, record":   {store.ErrNotFound, second(r.Record(ctx, nobody, a, by))},
		"unknown, read":     {store.ErrNotFound, second(r.Session(ctx, nobody))},
		"unknown, advance":  {store.ErrNotFound, second(r.AdvanceSession(ctx, nobody, "HEAD", by))},
		"unknown, end":      {store.ErrNotFound, second(r.EndSession(ctx, nobody, by))},
		"unknown, rm":       {store.ErrNotFound, r.RemoveSession(ctx, nobody, by)},
		"ended, retrieve":   {repo.ErrInvalid, retrieveFrom("done", req)},
		"ended, record":     {repo.ErrInvalid, second(r.Record(ctx, "done", a, by))},
		"ended, advance":    {repo.ErrInvalid, second(r.AdvanceSession(ctx, "done", "HEAD", by))},
		"ended, end":        {repo.ErrInvalid, second(r.EndSession(ctx, "done", by))},
		"bad request": {retrieve.ErrRequest,
			retrieveFrom(repo.DefaultSession, retrieve.Request{Limit: new(-1)})},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: error %v, want %v", name, c.got, c.want)
		}
	}
	after, err := r.Refs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	equal := cmp.Comparer(func(a, b ipld.CID) bool { return a == b })
	if diff := cmp.Diff(before, after, equal); diff != "" {
		t.Errorf("refused calls changed refs: %s", diff)
	}
}

// TestRemovedSession removes a session: its name is free, and its receipts can still be replayed.
func TestRemovedSession(t *testing.T) {
	r := openMem(t)
	lines(t, r, twoPeople)
	startSession(t, r, "s", repo.SessionOptions{})
	_, receipt := retrieveIn(t, r, "s", "infra")
	if err := r.RemoveSession(t.Context(), "s", by); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Session(t.Context(), "s"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("removed session: %v", err)
	}
	if all, err := r.Sessions(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("sessions %v, %v", all, err)
	}
	res, err := r.Replay(t.Context(), receipt.String())
	if err != nil || !res.Identical {
		t.Errorf("replay of its receipt: %+v, %v", res, err)
	}
	startSession(t, r, "s", repo.SessionOptions{})
	if recs := chain(t, r, "s"); len(recs) != 1 {
		t.Errorf("a session of the same name has %d records", len(recs))
	}
}

// TestOperations checks that each change of refs is one operation, that says who and what, and
// that reading and refused writes are none.
func TestOperations(t *testing.T) {
	st := mem.New()
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var want [][]string
	as := func(words ...string) repo.Stamp {
		stamp := by
		stamp.Time += graph.Time(len(want))
		stamp.Command = words
		want = append(want, words)
		return stamp
	}
	want = append(want, by.Command) // init
	ctx := t.Context()
	commitAs := func(text string, stamp repo.Stamp) error {
		_, err := r.Commit(ctx, repo.ReadChanges(strings.NewReader(text), ""),
			repo.CommitOptions{Stamp: stamp})
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(commitAs(twoPeople, as("commit", "--message")))
	must(commitAs(twoPeople, by)) // nothing to commit: no operation
	if err := commitAs(`{"node":{}}`, by); err == nil {
		t.Error("a bad line was committed")
	}
	_, err = r.StartSession(ctx, "s", repo.SessionOptions{Stamp: as("session", "start")})
	must(err)
	_, _, err = r.RetrieveIn(ctx, "s", retrieve.Request{Text: "infra"}, as("retrieve"))
	must(err)
	_, err = head(t, r).Retrieve(ctx, retrieve.Request{Text: "infra"})
	must(err)
	_, err = r.AdvanceSession(ctx, "s", "HEAD", as("session", "advance"))
	must(err)
	_, err = r.EndSession(ctx, "s", as("session", "end"))
	must(err)
	must(r.RemoveSession(ctx, "s", as("session", "rm")))
	_, err = r.StageChanges(ctx, repo.ReadChanges(strings.NewReader(`{"node":{"key":"x","type":"T"}}`),
		""), repo.StageOptions{Stamp: as("add")})
	must(err)
	_, err = r.CommitStaged(ctx, "", repo.CommitOptions{Stamp: as("commit")})
	must(err)
	must(r.Unstage(ctx, "", by)) // nothing is staged: no operation
	_, err = r.RebuildIndex(ctx, "HEAD")
	must(err)

	newest, err := st.Head(ctx)
	must(err)
	seq := newest.Seq
	for op, err := range commit.Operations(ctx, st.Facts(), newest.Operation) {
		must(err)
		if op.Operation.Seq != seq {
			t.Fatalf("operation %d, want %d", op.Operation.Seq, seq)
		}
		seq--
		words := want[seq]
		if diff := cmp.Diff(words, op.Operation.Command); diff != "" || op.Operation.Actor != by.Author {
			t.Errorf("operation %d by %q: %s", op.Operation.Seq, op.Operation.Actor, diff)
		}
	}
	if seq != 0 || newest.Seq != uint64(len(want)) {
		t.Errorf("%d operations, %d not seen, want %d", newest.Seq, seq, len(want))
	}
	checkClean(t, r)
}
