package testkit

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestCrashFS makes every kind of change and checks that each was told before it happened.
func TestCrashFS(t *testing.T) {
	var got []Op
	fs := NewCrashFS(nil, func(op Op) error {
		got = append(got, op)
		return nil
	})
	must.OK(t, fs.MkdirAll("/d", 0o755))
	f, err := fs.Create("/d/a", vfs.WriteCategoryUnspecified)
	must.OK(t, err)
	must.Get(f.Write([]byte("synced")))(t)
	must.OK(t, f.Sync())
	root := must.Get(fs.OpenDir("/"))(t)
	must.OK(t, root.Sync())
	dir := must.Get(fs.OpenDir("/d"))(t)
	must.OK(t, dir.SyncData())
	rw, err := fs.OpenReadWrite("/d/a", vfs.WriteCategoryUnspecified)
	must.OK(t, err)
	must.Get(rw.WriteAt([]byte("S"), 0))(t)
	must.OK(t, fs.Link("/d/a", "/d/b"))
	must.OK(t, fs.Rename("/d/b", "/d/c"))
	must.Get(fs.ReuseForWrite("/d/c", "/d/e", vfs.WriteCategoryUnspecified))(t)
	must.OK(t, fs.Remove("/d/e"))
	must.OK(t, fs.RemoveAll("/d/e"))
	lock := must.Get(fs.Lock("/d/LOCK"))(t)
	must.OK(t, lock.Close())
	want := []Op{
		{1, "mkdirall", "/d"}, {2, "create", "/d/a"}, {3, "write", "/d/a"}, {4, "sync", "/d/a"},
		{5, "sync", "/"}, {6, "syncdata", "/d"}, {7, "openreadwrite", "/d/a"},
		{8, "writeat", "/d/a"}, {9, "link", "/d/b"}, {10, "rename", "/d/c"},
		{11, "reuseforwrite", "/d/e"}, {12, "remove", "/d/e"}, {13, "removeall", "/d/e"},
		{14, "lock", "/d/LOCK"},
	}
	diff := cmp.Diff(want, got)
	must.True(t, diff == "" && fs.Ops() == len(want), "%d changes (-want +got):\n%s", fs.Ops(), diff)
	for percent, want := range map[int]string{0: "synced", 100: "Synced"} {
		clone := fs.Clone(percent, rand.New(rand.NewPCG(1, 1)))
		f, err := clone.Open("/d/a")
		must.OK(t, err)
		b := make([]byte, 6)
		must.Get(f.Read(b))(t)
		must.True(t, string(b) == want, "clone with %d%% of what was not synced: %q, want %q", percent, b, want)
	}
}
