package remote_test

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/repo"
)

// TestManySessionsCostTheirChange counts the blocks that one more record costs where there are more sessions than one
// question asks about, the session being the last by name: to push and to fetch.
func TestManySessionsCostTheirChange(t *testing.T) {
	hub, a, b := open(t), newMachine(t), newMachine(t)
	add(t, a.Repo, "one", "the first memory")
	for i := range 300 {
		opt := repo.SessionOptions{Stamp: by, Follow: true}
		if _, err := a.StartSession(t.Context(), fmt.Sprintf("s%03d", i), opt); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		ask(t, a.Repo, "zzz", fmt.Sprint("question ", i))
	}
	a.pushTo(hub)
	b.fetchFrom(hub)
	for i := range 3 {
		ask(t, a.Repo, "zzz", fmt.Sprint("one more ", i))
		to := &counting{Side: here(hub)}
		if _, err := remote.Push(t.Context(), here(a.Repo), to, remote.PushOptions{Options: a.opt}); err != nil {
			t.Fatal(err)
		}
		if to.blocks > 6 || to.calls > 2 { // a record, its receipt, its text, the manifest and its tree
			t.Errorf("one more record sent %d blocks in %d round trips", to.blocks, to.calls)
		}
		from := &counting{Side: here(hub)}
		out, err := remote.Fetch(t.Context(), here(b.Repo), from, remote.FetchOptions{Options: b.opt})
		if err != nil {
			t.Fatal(err)
		}
		if out.Bytes > 3000 || from.calls > 3 {
			t.Errorf("one more record came in %d bytes, in %d round trips", out.Bytes, from.calls)
		}
	}
	if got := chains(t, b.Repo); len(got) != 301 || got["zzz"] != chains(t, a.Repo)["zzz"] {
		t.Errorf("b has %d sessions, zzz at %s", len(got), got["zzz"])
	}
}
