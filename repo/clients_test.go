package repo_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/repo"
)

// clientOf is one client of a repository in a database.
type clientOf struct {
	t *testing.T
	r *repo.Repo
}

func (c clientOf) ok(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c clientOf) commit(branch, key, summary string) {
	c.t.Helper()
	line := `{"node":{"key":"` + key + `","type":"fact","summary":"` + summary + `"}}`
	_, err := c.r.Commit(c.t.Context(), repo.ReadChanges(strings.NewReader(line), "x"),
		repo.CommitOptions{Stamp: by, Branch: branch, Message: key})
	c.ok(err)
}

// on returns the branch that HEAD is on, and the branch that something is staged for, "" for none.
func (c clientOf) on() [2]string {
	c.t.Helper()
	branch, _, err := c.r.Branch(c.t.Context())
	c.ok(err)
	st, err := c.r.Status(c.t.Context(), "")
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
	_, err := head(c.t, c.r).Name(c.t.Context(), key)
	var missing *repo.NotFoundError
	if want && err != nil || !want && !errors.As(err, &missing) {
		c.t.Errorf("%s: %v, want there %v", key, err, want)
	}
}

// clients returns two clients of one new repository, and what opens another one.
func clients(t *testing.T) (a, b clientOf, open func(name string) clientOf) {
	server := pgserver.Start(t)
	dir := t.TempDir()
	linkDatabase(t, dir, server.URL("two"))
	opt := repo.Options{Wait: 10 * time.Second, Client: "ada"}
	r, err := repo.Init(t.Context(), dir, by, opt)
	if err != nil {
		t.Fatal(err)
	}
	closing := func(r *repo.Repo) clientOf {
		t.Cleanup(func() {
			checkClean(t, r)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
		return clientOf{t, r}
	}
	open = func(name string) clientOf {
		opt.Client = name
		r, err := repo.Open(dir, opt)
		if err != nil {
			t.Fatal(err)
		}
		return closing(r)
	}
	a = closing(r)
	return a, open("bob"), open
}

// TestClients has two clients switch, stage, merge and undo beside one another.
func TestClients(t *testing.T) {
	t.Parallel()
	a, b, open := clients(t)
	ctx := t.Context()
	a.commit("", "first", "one")

	// HEAD
	a.ok(a.r.Switch(ctx, "draft", repo.SwitchOptions{Stamp: by, Create: true}))
	a.want("draft", "")
	b.want("main", "")
	a.commit("", "of a", "drafted")
	b.commit("", "of b", "said")
	a.has("of b", false)
	b.has("of a", false)
	open("ada").want("draft", "")
	open("").want("main", "")

	// what is staged
	stage := func(c clientOf, key string) {
		_, err := c.r.StageChanges(ctx, repo.ReadChanges(strings.NewReader(`{"node":{"key":"`+key+`","type":"fact"}}`), "x"),
			repo.StageOptions{Stamp: by})
		c.ok(err)
	}
	stage(a, "staged by a")
	b.want("main", "")
	stage(b, "staged by b")
	a.want("draft", "draft")
	b.want("main", "main")
	_, err := b.r.CommitStaged(ctx, "", repo.CommitOptions{Stamp: by, Message: "staged"})
	b.ok(err)
	b.has("staged by b", true)
	b.has("staged by a", false)
	a.want("draft", "draft")

	// what is taken back: the newest of b's, which is not the newest of all
	a.commit("", "second of a", "drafted")
	undone, err := b.r.Undo(ctx, "", by)
	b.ok(err)
	if undone.Of.Operation.Actor != by.Author {
		t.Errorf("%+v", undone.Of)
	}
	b.has("staged by b", false)
	a.has("second of a", true)
	if _, err := open("carl").r.Undo(ctx, "", by); !errors.Is(err, repo.ErrNothingToUndo) {
		t.Errorf("a client that did nothing takes something back: %v", err)
	}
	if _, err := a.r.Redo(ctx, by); !errors.Is(err, repo.ErrNothingToRedo) {
		t.Errorf("a client takes back what another one has undone: %v", err)
	}
	_, err = b.r.Redo(ctx, by)
	b.ok(err)
	b.has("staged by b", true)

	// HEAD at a commit, which a collection leaves alone
	a.ok(a.r.Switch(ctx, "aside", repo.SwitchOptions{Stamp: by, Create: true}))
	a.commit("", "aside", "soon on no branch")
	at, err := a.r.Detach(ctx, "HEAD", by)
	a.ok(err)
	_, err = b.r.RemoveBranch(ctx, "aside", repo.RefOptions{Stamp: by, Force: true})
	b.ok(err)
	_, err = b.r.GC(ctx, repo.GCOptions{Stamp: by, KeepOps: 1})
	b.ok(err)
	if branch, now, err := a.r.Branch(ctx); err != nil || branch != "" || now != at {
		t.Errorf("HEAD is on %q at %s: %v", branch, now, err)
	}
	a.has("aside", true)
	if _, err := tryLines(a.r, `{"node":{"key":"x","type":"T"}}`); !errors.As(err, new(*repo.DetachedError)) {
		t.Error(err)
	}
	a.ok(a.r.Switch(ctx, "draft", repo.SwitchOptions{Stamp: by}))

	// names of branches
	a.ok(a.r.RenameBranch(ctx, "", "sketch", repo.RefOptions{Stamp: by}))
	a.want("sketch", "sketch")
	b.want("main", "")
	if _, err := a.r.RemoveBranch(ctx, "sketch", repo.RefOptions{Stamp: by}); !errors.As(err, new(*repo.InUseError)) {
		t.Error(err)
	}
	a.ok(a.r.Switch(ctx, "main", repo.SwitchOptions{Stamp: by}))
	a.want("main", "sketch")
	b.ok(b.r.RenameBranch(ctx, "main", "trunk", repo.RefOptions{Stamp: by}))
	a.want("trunk", "sketch") // a client without a place of its own is where the repository's HEAD is
}

// diverge makes the branches left and right, which conflict with main and with each other.
func (c clientOf) diverge() {
	c.t.Helper()
	c.commit("", "k", "one")
	for _, name := range []string{"left", "right"} {
		_, err := c.r.CreateBranch(c.t.Context(), name, "", repo.RefOptions{Stamp: by})
		c.ok(err)
		c.commit(name, "k", name)
	}
	c.commit("", "k", "here")
}

// conflict begins a merge that conflicts.
func (c clientOf) conflict(rev string) {
	c.t.Helper()
	var stopped *repo.MergeError
	_, err := c.r.Merge(c.t.Context(), rev, repo.MergeOptions{CommitOptions: repo.CommitOptions{Stamp: by}})
	if !errors.As(err, &stopped) {
		c.t.Fatal(err)
	}
}

// TestClientsMerge has two clients with a merge in progress on one branch each end their own.
func TestClientsMerge(t *testing.T) {
	t.Parallel()
	a, b, _ := clients(t)
	ctx := t.Context()
	a.diverge()
	a.conflict("left")
	if _, err := b.r.PendingMerge(ctx, ""); !errors.As(err, new(*repo.NotFoundError)) {
		t.Errorf("another client's merge: %v", err)
	}
	b.conflict("right")
	for c, theirs := range map[clientOf]string{a: "left", b: "right"} {
		p, err := c.r.PendingMerge(ctx, "")
		c.ok(err)
		tip, err := c.r.Snapshot(ctx, theirs)
		c.ok(err)
		if p.Branch != "main" || p.Theirs != tip.CID() || p.Open() != 1 {
			t.Errorf("%+v", p)
		}
	}
	if _, err := a.r.RemoveBranch(ctx, "main", repo.RefOptions{Stamp: by}); !errors.As(err, new(*repo.InUseError)) {
		t.Error(err)
	}
	a.ok(a.r.RenameBranch(ctx, "main", "trunk", repo.RefOptions{Stamp: by}))
	if branch, err := a.r.AbortMerge(ctx, repo.CommitOptions{Stamp: by}); err != nil || branch != "trunk" {
		t.Errorf("%q, %v", branch, err)
	}
	opt := repo.CommitOptions{Stamp: by}
	_, err := b.r.ResolveConflict(ctx, "k", repo.Choice{Take: graph.TakeTheirs}, opt)
	b.ok(err)
	_, err = b.r.ContinueMerge(ctx, repo.MergeOptions{CommitOptions: opt})
	b.ok(err)
	if n := nodeByKey(t, head(t, a.r), "k"); n.Summary != "right" {
		t.Errorf("the summary is %q", n.Summary)
	}
}

// TestClientsOldMerge has clients end merges that were begun by none, as before there were clients.
func TestClientsOldMerge(t *testing.T) {
	t.Parallel()
	a, b, open := clients(t)
	none, ctx := open(""), t.Context()
	a.diverge()
	opt := repo.CommitOptions{Stamp: by}
	begin := func(rev string) {
		t.Helper()
		none.conflict(rev)
		for _, c := range []clientOf{a, b} {
			_, err := c.r.PendingMerge(ctx, "")
			c.ok(err)
			if _, err = c.r.Merge(ctx, "right", repo.MergeOptions{CommitOptions: opt}); !errors.As(err, new(*repo.InProgressError)) {
				t.Errorf("merged beside a merge in progress: %v", err)
			}
		}
	}
	gone := func(cs ...clientOf) {
		t.Helper()
		for _, c := range cs {
			if p, err := c.r.PendingMerge(ctx, ""); !errors.As(err, new(*repo.NotFoundError)) {
				t.Errorf("%+v, %v", p, err)
			}
		}
	}
	begin("left")
	_, err := a.r.AbortMerge(ctx, opt)
	a.ok(err)
	gone(a, b, none)

	begin("left")
	_, err = a.r.ResolveConflict(ctx, "k", repo.Choice{Take: graph.TakeTheirs}, opt)
	a.ok(err)
	b.commit("", "k", "moved on") // what was resolved conflicts with it, in a merge that is then a's own
	if _, err = a.r.ContinueMerge(ctx, repo.MergeOptions{CommitOptions: opt}); !errors.As(err, new(*repo.MergeError)) {
		t.Error(err)
	}
	gone(b, none)
	_, err = a.r.ResolveConflict(ctx, "k", repo.Choice{Take: graph.TakeTheirs}, opt)
	a.ok(err)
	_, err = a.r.ContinueMerge(ctx, repo.MergeOptions{CommitOptions: opt})
	a.ok(err)
	gone(a, b, none)
	if n := nodeByKey(t, head(t, a.r), "k"); n.Summary != "left" {
		t.Errorf("the summary is %q", n.Summary)
	}
}

// TestClientsLongNames holds that no branch gets a name with which what waits on it would have one too long.
func TestClientsLongNames(t *testing.T) {
	t.Parallel()
	a, _, open := clients(t)
	long, ctx := open(strings.Repeat("c", 64)), t.Context()
	a.diverge()
	long.conflict("left")
	name := strings.Repeat("b", 250)
	for _, c := range []clientOf{a, long} {
		if err := c.r.RenameBranch(ctx, "main", name, repo.RefOptions{Stamp: by}); !errors.Is(err, repo.ErrInvalid) {
			t.Errorf("renamed: %v", err)
		}
		c.want("main", "")
		if _, err := c.r.Snapshot(ctx, name); !errors.As(err, new(*repo.NotFoundError)) {
			t.Error(err)
		}
	}
	if p, err := long.r.PendingMerge(ctx, ""); err != nil || p.Branch != "main" {
		t.Errorf("%+v, %v", p, err)
	}
	a.ok(a.r.RenameBranch(ctx, "main", name[:100], repo.RefOptions{Stamp: by}))
	if p, err := long.r.PendingMerge(ctx, ""); err != nil || p.Branch != name[:100] {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestClientsFarBack holds that undo and redo search no more operations than they may, whoever made these.
func TestClientsFarBack(t *testing.T) {
	t.Parallel()
	a, b, open := clients(t)
	ctx := t.Context()
	t.Cleanup(repo.SearchOperations(4))
	a.commit("", "first", "one")
	_, err := a.r.CreateBranch(ctx, "side", "", repo.RefOptions{Stamp: by})
	a.ok(err)
	a.commit("side", "of a", "one")
	of, err := a.r.Undo(ctx, "", by)
	a.ok(err)
	for _, key := range []string{"1", "2", "3"} {
		b.commit("", key, "x")
	}
	_, err = a.r.Redo(ctx, by) // the undo is the fourth
	a.ok(err)
	for _, key := range []string{"4", "5", "6", "7"} {
		b.commit("", key, "x")
	}
	far := func(err, also error) {
		t.Helper()
		if !errors.Is(err, repo.ErrFarBack) || !errors.Is(err, also) {
			t.Errorf("%v", err)
		}
	}
	_, err = a.r.Undo(ctx, "", by)
	far(err, repo.ErrNothingToUndo)
	_, err = a.r.Redo(ctx, by)
	far(err, repo.ErrNothingToRedo)
	stranger := by
	stranger.Author = "nobody here"
	_, err = a.r.UndoOwn(ctx, "", stranger)
	far(err, repo.ErrNothingToUndo)
	if _, err = open("carl").r.Undo(ctx, "", by); !errors.Is(err, repo.ErrNothingToUndo) || errors.Is(err, repo.ErrFarBack) {
		t.Error(err)
	}
	if undone, err := a.r.Undo(ctx, of.Of.CID.String(), by); err != nil || undone.Of.CID != of.Of.CID {
		t.Errorf("%+v, %v", undone, err)
	}
}
