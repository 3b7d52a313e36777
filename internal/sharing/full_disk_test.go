//go:build linux

package sharing_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// smallDisk makes the directory of a machine a disk of 40 MiB.
func (w *team) smallDisk(machine string) string {
	w.Helper()
	if os.Geteuid() != 0 {
		w.Skip("only who administers the machine can mount a small disk")
	}
	dir := filepath.Join(w.dir, machine)
	must.OK(w, os.MkdirAll(dir, 0o755))
	args := []string{"-t", "tmpfs", "-o", "size=40m", "tmpfs", dir}
	if out, err := exec.CommandContext(w.Context(), "mount", args...).CombinedOutput(); err != nil {
		w.Skipf("mount: %v: %s", err, out)
	}
	w.Cleanup(func() {
		ctx := context.WithoutCancel(w.Context())
		if out, err := exec.CommandContext(ctx, "umount", "-l", dir).CombinedOutput(); err != nil {
			w.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// TestSharingOnAFullDisk fetches to a disk that something else filled, and pushes to one: no ref moves, both sides are
// sound, and the next attempt has all. A plain run does so by a path and over HTTP.
func TestSharingOnAFullDisk(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(6, 6))
	line := fmt.Sprintf(`{"node":{"key":"large","type":"N","content":%q}}`, noise(rnd, 7<<19))
	fails := func(w *team, machine string, args ...string) {
		var out bytes.Buffer
		if code := cli.Run(t.Context(), w.app(machine, "", &out, &out), args); code == 0 {
			w.Errorf("%s: mnem %q on a full disk: %s", machine, args, &out)
		}
	}
	names := []string{"path", "http", "ssh", "git", "s3"}
	for _, by := range carriers(t, names[:effort.Pick(2, len(names), len(names))]...) {
		t.Run("fetch/"+by.name, func(t *testing.T) {
			w := newTeam(t, by)
			dir := w.smallDisk("small")
			w.ok("small", "init")
			w.ok("small", "remote", "add", "origin", w.url)
			w.run(0, "hub", line, "commit", "-m", "large", "-")
			free := program.Occupy(t, dir, "other")
			fails(w, "small", "fetch")
			free()
			must.Equal(t, w.at("small", "refs/remotes/origin/heads/main"), "", "a ref is at what did not come")
			w.ok("small", "fsck")
			w.ok("small", "sync")
			w.same("main", "small", "hub")
		})
		if by.apart != nil {
			continue // the disk belongs to git or to the store
		}
		t.Run("push/"+by.name, func(t *testing.T) {
			w := newTeam(t, over(t, "path"))
			dir := w.smallDisk("small")
			w.ok("small", "init")
			url := by.url(w, dir)
			w.ok("a", "init")
			w.ok("a", "remote", "add", "origin", url)
			w.run(0, "a", line, "commit", "-m", "large", "-")
			free := program.Occupy(t, dir, "other")
			fails(w, "a", "push")
			free()
			must.Equal(t, w.at("small", "refs/heads/main"), "", "a ref is at what did not come")
			w.ok("small", "fsck")
			w.ok("a", "push")
			w.same("main", "a", "small")
		})
	}
}

// TestLargeHistory shares a memory of 10^5 nodes over a server, and one of 10^4 over every other carrier, which take the
// same packs.
func TestLargeHistory(t *testing.T) {
	effort.Long(t)
	for _, by := range carriers(t, "path", "http", "ssh", "git", "git-http", "sshd", "git-ssh", "s3") {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			nodes := effort.Pick(0, 10_000, 100_000)
			if by.name == "http" {
				nodes = 100_000
			}
			var lines strings.Builder
			for i := range nodes {
				fmt.Fprintf(&lines, `{"node":{"key":"k%d","type":"N","summary":"memory %d of many, with some words"}}`+"\n", i, i)
			}
			w := newTeam(t, by)
			w.clones("a")
			w.run(0, "a", lines.String(), "commit", "-m", "many", "-")
			begin := time.Now()
			w.ok("a", "push")
			pushed := time.Now()
			w.clones("b")
			t.Logf("push %v, clone %v", pushed.Sub(begin).Round(time.Millisecond), time.Since(pushed).Round(time.Millisecond))
			w.add("b", "one more", "x")
			w.ok("b", "sync")
			w.ok("a", "sync")
			w.same("main", "a", "b", "hub")
		})
	}
}
