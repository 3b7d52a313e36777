package layout_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/layout"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestOf(t *testing.T) {
	for name, want := range map[string]layout.Erasure{
		"db/000001.log": layout.InStore, "db/LOCK": layout.NoText, "db/a/b": layout.InStore, "head": layout.NoText,
		"scratch-12": layout.InStore, "import-1": layout.Removed, "uploads/x": layout.Removed,
		"remotes/a/mirror/.mnem/db/LOCK": layout.Mirrored, "remotes/a.git/objects/ab/cd": layout.Mirrored,
		"remotes/a/push-1": layout.Removed, "remotes/a/fetch.mnem-lock": layout.NoText, "tokens/x.json": layout.Kept,
		".config.json.mnem-12": layout.Searched, "spool/.a.told.mnem-new": layout.Searched, "spool/a.told": layout.Edited,
	} {
		k, known := layout.Of(name)
		must.True(t, known && k.Erasure == want && k.What != "", "%s: %+v, %v", name, k, known)
	}
	for _, name := range []string{
		"db", "x", "heads", "spool", "spool/x", "spool/a/b.told", "remotes/push-1", "remotes/a/b/push-1", "uploads/x/y",
		".mnem-new", ".x.mnem-", ".x.mnem-1a", "x.mnem-1", "remotes/a/mirror", "..", "",
	} {
		k, known := layout.Of(name)
		must.True(t, !known && k.Erasure == layout.Kept, "%q is known: %+v", name, k)
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		must.OK(t, err)
	}
}

func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	must.OK(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	}))
	return names
}

const secret = "heron-77"

func holds(text string) bool { return strings.Contains(text, secret) }

// TestErase erases from damaged, long and empty files, too; a dry run says the same and does nothing; without a text
// only what goes with every purge does.
func TestErase(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), ".mnem")
	long := strings.Repeat("x", 4<<20-3) + secret + strings.Repeat("y", 5<<20)
	write(t, dir, map[string]string{
		"db/000001.log": secret, "head": secret, "config.json": `{"a":["b",{"heron-\u0037\u0037":1}]}`, "ingest.json": secret + "{",
		"spool/a.told": "one\n" + secret + "\ntwo", "spool/b.given": secret, "spool/c.place": "", "spool/d.talk": long,
		"remotes/a/push-1": "", "remotes/a/objects/ab/c": "x", "remotes/a/refs/mnem/seen": "x", "remotes/a/HEAD": "x",
		"remotes/b/mirror/.mnem/db/1": "x", "remotes/c/packs": "x", "remotes/d/probed": "", "other": "x",
	})
	must.OK(t, os.MkdirAll(filepath.Join(dir, "remotes/e/objects/pack"), 0o700))
	before := left(t, dir)
	plan := must.Get(layout.Erase(ctx, dir, layout.EraseOptions{Holds: holds, DryRun: true}))(t, "a dry run")
	must.Same(t, left(t, dir), before, "a dry run")
	got := must.Get(layout.Erase(ctx, dir, layout.EraseOptions{Holds: holds}))(t, "done")
	must.Same(t, got, plan, "done")
	done := make(map[string]layout.Done)
	for _, f := range got {
		done[f.Path] = f.Done
	}
	want := map[string]layout.Done{
		"config.json": layout.Left, "ingest.json": layout.Changed, "spool/a.told": layout.Changed, "spool/b.given": layout.Changed,
		"spool/d.talk": layout.Gone, "remotes/a": layout.Gone, "remotes/a/push-1": layout.Gone, "remotes/b": layout.Gone,
		"remotes/c": layout.Gone,
	}
	for path, d := range want {
		must.Equal(t, done[path], d, path)
	}
	must.Equal(t, len(done), len(want))
	rest := []string{
		"config.json", "db/000001.log", "head", "other", "remotes/a/HEAD", "remotes/d/probed", "spool/a.told", "spool/b.given",
		"spool/c.place",
	}
	must.Same(t, left(t, dir), rest, "left")
	must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, "spool/a.told")))(t)), "one\ntwo")

	write(t, dir, map[string]string{"spool/a.told": secret, "remotes/c/packs": "x", "import-1": "x"})
	got, err := layout.Erase(ctx, dir, layout.EraseOptions{})
	must.True(t, err == nil && len(got) == 2 && got[0].Path == "import-1" && got[1].Path == "remotes/c",
		"without a text: %+v, %v", got, err)
}

// TestEraseWaits waits for who uses a mirror, and ends with the context.
func TestEraseWaits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"remotes/a/packs": "x"})
	unlock := must.Get(filestate.Lock(t.Context(), filepath.Join(dir, "remotes/a/mnem")))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := layout.Erase(ctx, dir, layout.EraseOptions{})
		ended <- err
	}()
	stop()
	must.Fail(t, <-ended, context.Canceled)
	must.OK(t, unlock())
	must.Equal(t, len(must.Get(layout.Erase(t.Context(), dir, layout.EraseOptions{}))(t)), 1, "after it")
	_, err := layout.Erase(t.Context(), filepath.Join(dir, "none"), layout.EraseOptions{})
	must.Fail(t, err, os.ErrNotExist)
}
