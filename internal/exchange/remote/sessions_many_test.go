package remote_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestManySessionsCostTheirChange counts the blocks transferred for one more record, to push and to fetch, if there
// are more sessions than one question holds and the session is the last by name.
func TestManySessionsCostTheirChange(t *testing.T) {
	hub, a, b := open(t), newMachine(t), newMachine(t)
	add(t, a.Repo, "one", "the first memory")
	for i := range 300 {
		opt := session.SessionOptions{Stamp: by, Follow: true}
		must.OK(t, must.Err(session.StartSession(t.Context(), a.Repo, fmt.Sprintf("s%03d", i), opt)))
	}
	for i := range 20 {
		ask(t, a.Repo, "zzz", fmt.Sprint("question ", i))
	}
	a.pushTo(hub)
	b.fetchFrom(hub)
	for i := range 3 {
		ask(t, a.Repo, "zzz", fmt.Sprint("one more ", i))
		to := &counting{Side: here(hub)}
		must.OK(t, must.Err(remote.Push(t.Context(), here(a.Repo), to, remote.PushOptions{TransferOptions: a.opt})))
		if to.blocks > 6 || to.calls > 2 { // a record, its receipt, its text, the manifest and its tree
			t.Errorf("one more record sent %d blocks in %d round trips", to.blocks, to.calls)
		}
		from := &counting{Side: here(hub)}
		out := must.Get(remote.Fetch(t.Context(), here(b.Repo), from, remote.FetchOptions{TransferOptions: b.opt}))(t)
		must.True(t, out.Bytes <= 3000 && from.calls <= 3,
			"one more record came in %d bytes, in %d round trips", out.Bytes, from.calls)
	}
	if got := chains(t, b.Repo); len(got) != 301 || got["zzz"] != chains(t, a.Repo)["zzz"] {
		t.Errorf("b has %d sessions, zzz at %s", len(got), got["zzz"])
	}
}

// TestLongNamesAreTracked transfers a session and a branch whose names are too long for their tracking refs, along
// with others, and continues both.
func TestLongNamesAreTracked(t *testing.T) {
	hub, a, b := open(t), newMachine(t), newMachine(t)
	long := strings.Repeat("x", 225)
	b.opt.Name = "a-remote-of-twenty-seven-ch"
	branches := []graph.RefName{main, graph.BranchRef(long)}
	add(t, a.Repo, "one", "the first memory")
	must.OK(t, must.Err(a.Branches().Create(t.Context(), long, "", core.RefOptions{Stamp: by})))
	other := long[1:] + "y" // with the same beginning
	ask(t, a.Repo, other, "memory")
	for i := range 2 {
		ask(t, a.Repo, long, fmt.Sprint("memory ", i))
		opt := remote.PushOptions{TransferOptions: a.opt, Refs: branches}
		must.OK(t, must.Err(remote.Push(t.Context(), here(a.Repo), here(hub), opt)))
		b.fetchFrom(hub)
		has(t, "b", b.Repo, chains(t, a.Repo))
		must.True(t, at(t, b.Repo, remote.Tracking(b.opt.Name, branches[0])).Defined(), "the branch main did not come")
	}
	out := b.fetchFrom(hub)
	must.True(t, len(out.Refs) == 0 && out.Bytes == 0, "a fetch with nothing new: %+v", out)
	for _, ref := range append(branches, graph.RefName(graph.Sessions+long), graph.RefName(graph.Sessions+other)) {
		kept := remote.Tracking(b.opt.Name, ref)
		if err := graph.ValidateRef(kept); err != nil || at(t, b.Repo, kept) != at(t, hub, ref) {
			t.Errorf("%s is kept as %s, at %s: %v", ref, kept, at(t, b.Repo, kept), err)
		}
	}
	opt := remote.FetchOptions{TransferOptions: b.opt, Prune: true}
	out, err := remote.Fetch(t.Context(), here(b.Repo), here(hub), opt)
	must.True(t, err == nil && len(out.Refs) == 0, "a fetch forgets %+v, %v", out, err)
	add(t, b.Repo, "two", "a memory of b")
	ask(t, b.Repo, long, "of b")
	if out := b.pushTo(hub); len(out.Refs) != 1 {
		t.Errorf("push: %+v", out)
	}
	has(t, "the hub", hub, chains(t, b.Repo))
}

// TestSessionsRemovedThere does not restore a session that was removed at the remote, unless it has grown or all
// are requested.
func TestSessionsRemovedThere(t *testing.T) {
	hub, a := open(t), newMachine(t)
	add(t, a.Repo, "one", "the first memory")
	ask(t, a.Repo, "work", "memory")
	ask(t, a.Repo, "grows", "memory")
	a.pushTo(hub)
	for _, name := range []string{"work", "grows"} {
		must.OK(t, session.RemoveSession(t.Context(), hub, name, by))
	}
	ask(t, a.Repo, "grows", "memory again")
	ask(t, a.Repo, "other", "memory")
	want := chains(t, a.Repo)
	delete(want, "work")
	opt := remote.PushOptions{TransferOptions: a.opt, GrownSessions: true}
	must.OK(t, must.Err(remote.Push(t.Context(), here(a.Repo), here(hub), opt)))
	has(t, "the hub", hub, want)
	a.pushTo(hub)
	has(t, "the hub", hub, chains(t, a.Repo))
}
