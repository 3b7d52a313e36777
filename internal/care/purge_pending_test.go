package care_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// TestErasurePending purges while the disk has no space to rewrite tables: the purge is recorded and reports
// remaining bytes, and the next opening, purge or collection continues.
func TestErasurePending(t *testing.T) {
	ctx := t.Context()
	mem := vfs.NewMem()
	opt := core.Options{FS: mem}
	r := must.Get(care.Init(ctx, "/r", repokit.By, opt))(t)
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		repokit.Lines(t, r, repokit.NodeLine(key, `,"summary":"about `+key+`"`))
	}
	full, room := vfs.DiskUsage{AvailBytes: 300 << 10}, vfs.DiskUsage{AvailBytes: 1 << 30}
	purge := func(key string) bool {
		t.Helper()
		res := must.Get(care.Purge(ctx, r, key, care.PurgeOptions{Stamp: repokit.By}))(t)
		return res.Pending
	}
	pending := func(want bool) {
		t.Helper()
		if got, err := care.ErasurePending(ctx, r); err != nil || got != want {
			t.Errorf("pending %v, %v, want %v", got, err, want)
		}
	}
	reopen := func() {
		t.Helper()
		must.OK(t, r.Close())
		r = must.Get(care.Open("/r", opt))(t)
	}
	pending(false)
	mem.TestingSetDiskUsage(full)
	must.Check(t, purge("a"), "it claims that bytes are gone")
	pending(true)
	reopen() // which finds no room either, and opens
	pending(true)
	must.Check(t, must.Err(care.Purge(ctx, r, "none", care.PurgeOptions{Stamp: repokit.By})) != nil,
		"purged what is not there")
	pending(true)
	var lacks *store.NoRoomError
	_, err := care.Purge(ctx, r, "b", care.PurgeOptions{Stamp: repokit.By}) // opening for writing takes more
	must.Check(t, errors.As(err, &lacks) && lacks.MustFree() != 0 && lacks.Erasing,
		"a purge without room: %v", err)
	pending(true)
	mem.TestingSetDiskUsage(room)
	reopen()
	pending(false)
	mem.TestingSetDiskUsage(full)
	must.Check(t, purge("c"), "it claims that bytes are gone")
	mem.TestingSetDiskUsage(room)
	must.Get(care.GC(ctx, r, care.GCOptions{Stamp: repokit.By}))(t)
	pending(false)
	mem.TestingSetDiskUsage(full)
	must.Check(t, purge("d"), "it claims that bytes are gone")
	mem.TestingSetDiskUsage(room)
	must.Check(t, !purge("e"), "with room it is pending")
	pending(false)
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
}
