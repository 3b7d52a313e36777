package exchange_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// clientOf is one client of a repository in a database.
type clientOf struct {
	t *testing.T
	r *core.Repo
}

func (c clientOf) ok(err error) {
	c.t.Helper()
	must.OK(c.t, err)
}

func (c clientOf) commit(branch, key, summary string) {
	c.t.Helper()
	line := `{"node":{"key":"` + key + `","type":"fact","summary":"` + summary + `"}}`
	_, err := c.r.Commit(c.t.Context(), state.ReadChanges(strings.NewReader(line), "x"),
		core.CommitOptions{Stamp: repokit.By, Branch: branch, Message: key})
	c.ok(err)
}

// on returns the branch that HEAD is on, and the branch that something is staged for, "" for none.
func (c clientOf) on() [2]string {
	c.t.Helper()
	branch, _, err := c.r.Branch(c.t.Context())
	c.ok(err)
	st, err := c.r.Stages().Status(c.t.Context(), "")
	c.ok(err)
	if !st.Staged {
		return [2]string{branch}
	}
	return [2]string{branch, st.Branch}
}

func (c clientOf) want(branch, staged string) {
	c.t.Helper()
	if got := c.on(); got != [2]string{branch, staged} {
		c.t.Errorf("HEAD is on %q, staged for %q, want %q and %q", got[0], got[1], branch, staged)
	}
}

func (c clientOf) has(key string, want bool) {
	c.t.Helper()
	_, err := repokit.Head(c.t, c.r).Name(c.t.Context(), key)
	var missing *state.NotFoundError
	must.True(c.t, (!want || err == nil) && (want || errors.As(err, &missing)), "%s: %v, want there %v", key, err, want)
}

// clients returns two clients of one new repository, and a function that opens another.
func clients(t *testing.T) (a, b clientOf, open func(name string) clientOf) {
	server := pgserver.Start(t)
	dir := t.TempDir()
	repokit.LinkDatabase(t, dir, server.URL("two"))
	opt := core.Options{Wait: 10 * time.Second, Client: "ada"}
	r := must.Get(care.Init(t.Context(), dir, repokit.By, opt))(t)
	closing := func(r *core.Repo) clientOf {
		t.Cleanup(func() {
			repokit.CheckClean(t, r)
			err := r.Close()
			must.True(t, err == nil, "%v", err)
		})
		return clientOf{t, r}
	}
	open = func(name string) clientOf {
		opt.Client = name
		r := must.Get(care.Open(dir, opt))(t)
		return closing(r)
	}
	a = closing(r)
	return a, open("bob"), open
}

// TestClients has two clients switch, stage, merge and undo concurrently.
func TestClients(t *testing.T) {
	t.Parallel()
	a, b, open := clients(t)
	ctx := t.Context()
	a.commit("", "first", "one")

	// HEAD
	a.ok(a.r.Branches().Switch(ctx, "draft", core.SwitchOptions{Stamp: repokit.By, Create: true}))
	a.want("draft", "")
	b.want("main", "")
	a.commit("", "of a", "drafted")
	b.commit("", "of b", "said")
	a.has("of b", false)
	b.has("of a", false)
	open("ada").want("draft", "")
	open("").want("main", "")

	// staging
	stage := func(c clientOf, key string) {
		_, err := c.r.Stages().Add(ctx, state.ReadChanges(strings.NewReader(`{"node":{"key":"`+key+`","type":"fact"}}`), "x"),
			core.StageOptions{Stamp: repokit.By})
		c.ok(err)
	}
	stage(a, "staged by a")
	b.want("main", "")
	stage(b, "staged by b")
	a.want("draft", "draft")
	b.want("main", "main")
	_, err := b.r.Stages().Commit(ctx, "", core.CommitOptions{Stamp: repokit.By, Message: "staged"})
	b.ok(err)
	b.has("staged by b", true)
	b.has("staged by a", false)
	a.want("draft", "draft")

	// undo: the newest operation of b, which is not the newest of all
	a.commit("", "second of a", "drafted")
	undone, err := history.Undo(ctx, b.r, "", repokit.By)
	b.ok(err)
	must.Equal(t, undone.Of.Operation.Actor, repokit.By.Author, undone.Of)
	b.has("staged by b", false)
	a.has("second of a", true)
	must.Fail(t, must.Err(history.Undo(ctx, open("carl").r, "", repokit.By)), history.ErrNothingToUndo)
	must.Fail(t, must.Err(history.Redo(ctx, a.r, repokit.By)), history.ErrNothingToRedo)
	_, err = history.Redo(ctx, b.r, repokit.By)
	b.ok(err)
	b.has("staged by b", true)

	// HEAD at a commit, which a collection leaves alone
	a.ok(a.r.Branches().Switch(ctx, "aside", core.SwitchOptions{Stamp: repokit.By, Create: true}))
	a.commit("", "aside", "soon on no branch")
	at, err := a.r.Branches().Detach(ctx, "HEAD", repokit.By)
	a.ok(err)
	_, err = b.r.Branches().Remove(ctx, "aside", core.RefOptions{Stamp: repokit.By, Force: true})
	b.ok(err)
	_, err = care.GC(ctx, b.r, care.GCOptions{Stamp: repokit.By, KeepOps: 1})
	b.ok(err)
	branch, now, err := a.r.Branch(ctx)
	must.True(t, err == nil && branch == "" && now == at, "HEAD is on %q at %s: %v", branch, now, err)
	a.has("aside", true)
	_, err = repokit.TryLines(a.r, `{"node":{"key":"x","type":"T"}}`)
	must.True(t, errors.As(err, new(*core.DetachedError)), "%v", err)
	a.ok(a.r.Branches().Switch(ctx, "draft", core.SwitchOptions{Stamp: repokit.By}))

	// names of branches
	a.ok(a.r.Branches().Rename(ctx, "", "sketch", core.RefOptions{Stamp: repokit.By}))
	a.want("sketch", "sketch")
	b.want("main", "")
	_, err = a.r.Branches().Remove(ctx, "sketch", core.RefOptions{Stamp: repokit.By})
	must.True(t, errors.As(err, new(*core.InUseError)), "%v", err)
	a.ok(a.r.Branches().Switch(ctx, "main", core.SwitchOptions{Stamp: repokit.By}))
	a.want("main", "sketch")
	b.ok(b.r.Branches().Rename(ctx, "main", "trunk", core.RefOptions{Stamp: repokit.By}))
	a.want("trunk", "sketch") // a client without its own HEAD uses the repository's
}

// diverge makes the branches left and right, which conflict with main and with each other.
func (c clientOf) diverge() {
	c.t.Helper()
	c.commit("", "k", "one")
	for _, name := range []string{"left", "right"} {
		_, err := c.r.Branches().Create(c.t.Context(), name, "", core.RefOptions{Stamp: repokit.By})
		c.ok(err)
		c.commit(name, "k", name)
	}
	c.commit("", "k", "here")
}

// conflict begins a merge that conflicts.
func (c clientOf) conflict(rev string) {
	c.t.Helper()
	var stopped *core.MergeError
	_, err := merging.Merge(c.t.Context(), c.r, rev, core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: repokit.By}})
	must.Require(c.t, errors.As(err, &stopped), "%v", err)
}

// TestClientsMerge has two clients, each with a merge in progress on one branch, end their own.
func TestClientsMerge(t *testing.T) {
	t.Parallel()
	a, b, _ := clients(t)
	ctx := t.Context()
	a.diverge()
	a.conflict("left")
	if _, err := b.r.PendingMerge(ctx, ""); !errors.As(err, new(*state.NotFoundError)) {
		t.Errorf("another client's merge: %v", err)
	}
	b.conflict("right")
	for c, theirs := range map[clientOf]string{a: "left", b: "right"} {
		p, err := c.r.PendingMerge(ctx, "")
		c.ok(err)
		tip, err := c.r.Snapshot(ctx, theirs)
		c.ok(err)
		must.True(t, p.Branch == "main" && p.Theirs == tip.CID() && p.Open() == 1, "%+v", p)
	}
	if _, err := a.r.Branches().Remove(ctx, "main", core.RefOptions{Stamp: repokit.By}); !errors.As(err, new(*core.InUseError)) {
		t.Error(err)
	}
	a.ok(a.r.Branches().Rename(ctx, "main", "trunk", core.RefOptions{Stamp: repokit.By}))
	if branch, err := merging.AbortMerge(ctx, a.r, core.CommitOptions{Stamp: repokit.By}); err != nil || branch != "trunk" {
		t.Errorf("%q, %v", branch, err)
	}
	opt := core.CommitOptions{Stamp: repokit.By}
	_, err := merging.ResolveConflict(ctx, b.r, "k", merging.Choice{Take: graph.TakeTheirs}, opt)
	b.ok(err)
	_, err = merging.ContinueMerge(ctx, b.r, core.MergeOptions{CommitOptions: opt})
	b.ok(err)
	n := repokit.NodeByKey(t, repokit.Head(t, a.r), "k")
	must.True(t, n.Summary == "right", "the summary is %q", n.Summary)
}

// TestClientsOldMerge has clients end merges recorded without a client, as before clients existed.
func TestClientsOldMerge(t *testing.T) {
	t.Parallel()
	a, b, open := clients(t)
	none, ctx := open(""), t.Context()
	a.diverge()
	opt := core.CommitOptions{Stamp: repokit.By}
	begin := func(rev string) {
		t.Helper()
		none.conflict(rev)
		for _, c := range []clientOf{a, b} {
			_, err := c.r.PendingMerge(ctx, "")
			c.ok(err)
			_, err = merging.Merge(ctx, c.r, "right", core.MergeOptions{CommitOptions: opt})
			must.True(t, errors.As(err, new(*core.InProgressError)), "merged during a merge in progress: %v", err)
		}
	}
	gone := func(cs ...clientOf) {
		t.Helper()
		for _, c := range cs {
			p, err := c.r.PendingMerge(ctx, "")
			must.True(t, errors.As(err, new(*state.NotFoundError)), "%+v, %v", p, err)
		}
	}
	begin("left")
	_, err := merging.AbortMerge(ctx, a.r, opt)
	a.ok(err)
	gone(a, b, none)

	begin("left")
	_, err = merging.ResolveConflict(ctx, a.r, "k", merging.Choice{Take: graph.TakeTheirs}, opt)
	a.ok(err)
	b.commit("", "k", "moved on") // the resolution conflicts with it, in a merge that then belongs to a
	_, err = merging.ContinueMerge(ctx, a.r, core.MergeOptions{CommitOptions: opt})
	must.True(t, errors.As(err, new(*core.MergeError)), "%v", err)
	gone(b, none)
	_, err = merging.ResolveConflict(ctx, a.r, "k", merging.Choice{Take: graph.TakeTheirs}, opt)
	a.ok(err)
	_, err = merging.ContinueMerge(ctx, a.r, core.MergeOptions{CommitOptions: opt})
	a.ok(err)
	gone(a, b, none)
	n := repokit.NodeByKey(t, repokit.Head(t, a.r), "k")
	must.True(t, n.Summary == "left", "the summary is %q", n.Summary)
}

// TestClientsLongNames checks that no branch gets a name so long that the refs derived from it exceed the limit.
func TestClientsLongNames(t *testing.T) {
	t.Parallel()
	a, _, open := clients(t)
	long, ctx := open(strings.Repeat("c", 64)), t.Context()
	a.diverge()
	long.conflict("left")
	name := strings.Repeat("b", 250)
	for _, c := range []clientOf{a, long} {
		must.Fail(t, c.r.Branches().Rename(ctx, "main", name, core.RefOptions{Stamp: repokit.By}), state.ErrInvalid)
		c.want("main", "")
		_, err := c.r.Snapshot(ctx, name)
		must.True(t, errors.As(err, new(*state.NotFoundError)), "%v", err)
	}
	p, err := long.r.PendingMerge(ctx, "")
	must.True(t, err == nil && p.Branch == "main", "%+v, %v", p, err)
	a.ok(a.r.Branches().Rename(ctx, "main", name[:100], core.RefOptions{Stamp: repokit.By}))
	p, err = long.r.PendingMerge(ctx, "")
	must.True(t, err == nil && p.Branch == name[:100], "%+v, %v", p, err)
}

// TestClientsFarBack checks that undo and redo search at most the allowed number of operations, no matter which
// client made them.
func TestClientsFarBack(t *testing.T) {
	t.Parallel()
	a, b, open := clients(t)
	ctx := t.Context()
	t.Cleanup(repokit.SearchOperations(4))
	a.commit("", "first", "one")
	_, err := a.r.Branches().Create(ctx, "side", "", core.RefOptions{Stamp: repokit.By})
	a.ok(err)
	a.commit("side", "of a", "one")
	of, err := history.Undo(ctx, a.r, "", repokit.By)
	a.ok(err)
	for _, key := range []string{"1", "2", "3"} {
		b.commit("", key, "x")
	}
	_, err = history.Redo(ctx, a.r, repokit.By) // the undo is the fourth
	a.ok(err)
	for _, key := range []string{"4", "5", "6", "7"} {
		b.commit("", key, "x")
	}
	far := func(err, also error) {
		t.Helper()
		must.True(t, errors.Is(err, history.ErrFarBack) && errors.Is(err, also), "%v", err)
	}
	_, err = history.Undo(ctx, a.r, "", repokit.By)
	far(err, history.ErrNothingToUndo)
	_, err = history.Redo(ctx, a.r, repokit.By)
	far(err, history.ErrNothingToRedo)
	stranger := repokit.By
	stranger.Author = "nobody here"
	_, err = history.UndoOwn(ctx, a.r, "", stranger)
	far(err, history.ErrNothingToUndo)
	_, err = history.Undo(ctx, open("carl").r, "", repokit.By)
	must.True(t, errors.Is(err, history.ErrNothingToUndo) && !errors.Is(err, history.ErrFarBack), "%v", err)
	undone, err := history.Undo(ctx, a.r, of.Of.CID.String(), repokit.By)
	must.True(t, err == nil && undone.Of.CID == of.Of.CID, "%+v, %v", undone, err)
}

func TestOnDatabase(t *testing.T) { repokit.OnDatabase(t, 3) }
