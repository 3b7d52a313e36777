package repo_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// TestErasurePending purges where the disk has no room to write tables anew: the purge is recorded, says
// that bytes are left, and what opens the repository next, another purge or a collection goes on.
func TestErasurePending(t *testing.T) {
	ctx := t.Context()
	mem := vfs.NewMem()
	opt := repo.Options{FS: mem}
	r, err := repo.Init(ctx, "/r", by, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		lines(t, r, nodeLine(key, `,"summary":"about `+key+`"`))
	}
	full, room := vfs.DiskUsage{AvailBytes: 300 << 10}, vfs.DiskUsage{AvailBytes: 1 << 30}
	purge := func(key string) bool {
		t.Helper()
		res, err := r.Purge(ctx, key, repo.PurgeOptions{Stamp: by})
		if err != nil {
			t.Fatal(err)
		}
		return res.Pending
	}
	pending := func(want bool) {
		t.Helper()
		if got, err := r.ErasurePending(ctx); err != nil || got != want {
			t.Errorf("pending %v, %v, want %v", got, err, want)
		}
	}
	reopen := func() {
		t.Helper()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if r, err = repo.Open("/r", opt); err != nil {
			t.Fatal(err)
		}
	}
	pending(false)
	mem.TestingSetDiskUsage(full)
	if !purge("a") {
		t.Error("it claims that bytes are gone")
	}
	pending(true)
	reopen() // which finds no room either, and opens
	pending(true)
	if _, err := r.Purge(ctx, "none", repo.PurgeOptions{Stamp: by}); err == nil {
		t.Error("purged what is not there")
	}
	pending(true)
	var lacks *store.NoRoomError
	_, err = r.Purge(ctx, "b", repo.PurgeOptions{Stamp: by}) // opening for writing takes more
	if !errors.As(err, &lacks) || lacks.MustFree() == 0 || !lacks.Erasing {
		t.Errorf("a purge without room: %v", err)
	}
	pending(true)
	mem.TestingSetDiskUsage(room)
	reopen()
	pending(false)
	mem.TestingSetDiskUsage(full)
	if !purge("c") {
		t.Error("it claims that bytes are gone")
	}
	mem.TestingSetDiskUsage(room)
	if _, err := r.GC(ctx, repo.GCOptions{Stamp: by}); err != nil {
		t.Fatal(err)
	}
	pending(false)
	mem.TestingSetDiskUsage(full)
	if !purge("d") {
		t.Error("it claims that bytes are gone")
	}
	mem.TestingSetDiskUsage(room)
	if purge("e") {
		t.Error("with room it is pending")
	}
	pending(false)
	checkClean(t, r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
