//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// unmasked runs a command line in dir in a process whose umask is 0.
func unmasked(t *testing.T, dir, stdin string, args ...string) {
	t.Helper()
	shell := []string{"-c", `umask 0; exec "$0" "$@"`, os.Args[0]}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append(shell, args...)...)
	cmd.Env = append(os.Environ(), program.AsProgram+"=1", "XDG_CONFIG_HOME="+filepath.Join(dir, "xdg"))
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("mnem %q: %v: %s", args, err, out)
	}
}

// TestModes: whatever the umask is, only their user reads what a repository has, and an export.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	unmasked(t, dir, "", "init")
	unmasked(t, dir, nodeLine("tea"), "commit", "-m", "x", "-")
	unmasked(t, dir, "", "session", "start", "s")
	unmasked(t, dir, "", "retrieve", "tea", "--session", "s")
	unmasked(t, dir, "", "purge", "tea", "--yes")
	unmasked(t, dir, "", "export", "-o", "out.car")
	files := 0
	err := filepath.WalkDir(filepath.Join(dir, ".mnem"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		must.Equal(t, info.Mode().Perm(), want, path, " has mode")
		return nil
	})
	must.True(t, err == nil && files >= 10, "%d files, %v", files, err)
	mode := func() fs.FileMode {
		info := must.Get(os.Stat(filepath.Join(dir, "out.car")))(t)
		return info.Mode().Perm()
	}
	must.Equal(t, mode(), 0o600, "an export has mode")
	must.OK(t, os.Chmod(filepath.Join(dir, "out.car"), 0o644))
	unmasked(t, dir, "", "export", "-o", "out.car")
	must.Equal(t, mode(), 0o644, "an export that replaces another has mode")
}

// reads runs the commands that read in a repository that cannot be written, as another process would,
// and two of them side by side.
func reads(t *testing.T, dir string) {
	t.Helper()
	before := treeOf(t, dir)
	for _, args := range [][]string{
		{"status"}, {"show", "tea"}, {"ls"}, {"log"}, {"retrieve", "tea"}, {"op", "log"},
		{"show"}, {"fsck"}, {"fsck", "--full"}, {"stats"}, {"diff", "HEAD~1", "HEAD"},
	} {
		cmd := program.Child(t, dir, program.AsProgram, append(args, "--repo", dir)...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if out, err := cmd.Output(); err != nil || len(out) == 0 {
			t.Errorf("mnem %q: %v, %d bytes: %s", args, err, len(out), &errs)
		}
	}
	cmd := program.Child(t, dir, program.AsProgram, "commit", "-m", "x", "-", "--repo", dir)
	cmd.Stdin, cmd.Stderr = strings.NewReader(nodeLine("new")), io.Discard
	if err := cmd.Run(); err == nil {
		t.Error("a commit says that it was made")
	}
	if after := treeOf(t, dir); after != before {
		t.Errorf("the repository has changed: %s became %s", before, after)
	}
}

// treeOf returns names, sizes and times of the files of a repository.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(filepath.Join(dir, ".mnem"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			_, _ = io.WriteString(&out, path+info.ModTime().String()+string(rune(info.Size()))+"\n")
		}
		return err
	})
	must.OK(t, err)
	return out.String()
}

// written makes a repository whose last commits are in its log alone, as after a kill, or in tables.
func written(t *testing.T, killed bool) string {
	t.Helper()
	dir := newRepo(t)
	commit := func(key string) {
		app := program.In(dir, io.Discard, io.Discard)
		app.Stdin = strings.NewReader(nodeLine(key))
		program.Ran(t, app, "commit", "-m", "x", "-")
	}
	commit("coffee")
	commit("tea")
	if killed {
		owner, out := program.Hold(t, dir)
		must.Require(t, program.Owns(t, out), "it is not the owner")
		commit("tea")
		must.OK(t, owner.Process.Kill())
		_ = owner.Wait()
	}
	return dir
}

// TestReadOnlyMount reads a repository on a disk that is mounted for reading only.
func TestReadOnlyMount(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	if _, err := exec.LookPath("mount"); err != nil || os.Geteuid() != 0 {
		t.Skip("only who administers the machine can mount")
	}
	for _, killed := range []bool{false, true} {
		dir := written(t, killed)
		at := t.TempDir()
		for _, args := range [][]string{{"--bind", dir, at}, {"-o", "remount,ro,bind", at}} {
			if out, err := exec.CommandContext(t.Context(), "mount", args...).CombinedOutput(); err != nil {
				t.Skipf("mount %q: %v: %s", args, err, out)
			}
			if args[0] == "--bind" {
				t.Cleanup(func() {
					if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "umount", at).
						CombinedOutput(); err != nil {
						t.Errorf("umount: %v: %s", err, out)
					}
				})
			}
		}
		hook := func(dir, event string) string {
			cmd := program.Child(t, dir, program.AsProgram, "hook", "claude-code", event)
			cmd.Env = append(cmd.Env, "MNEM_PRIVATE=1")
			cmd.Stdin = strings.NewReader(`{"session_id":"s","cwd":"` + dir + `","prompt":"tea"}`)
			return string(must.Get(cmd.Output())(t))
		}
		must.Contain(t, hook(dir, "session-start"), "remember") // from now on the session is private
		for _, event := range []string{"session-start", "prompt", "stop", "compact", "session-end"} {
			must.Equal(t, hook(at, event), "", "where nothing can be written an agent is told at ", event)
		}
		reads(t, at)
		// If the same directory can be written, a process may have it open.
		owner, out := program.Hold(t, dir)
		must.Require(t, program.Owns(t, out), "it is not the owner")
		program.Ran(t, program.In(at, io.Discard, io.Discard), "show", "tea")
		must.OK(t, owner.Process.Signal(os.Interrupt))
		_ = owner.Wait()
	}
}
