//go:build unix

package cli_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// copied copies a repository as cp -r does, owner file and all, but for the socket.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(path, dir))
		switch {
		case d.IsDir():
			return os.MkdirAll(at, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // old options, removed in the background
		}
		if err != nil {
			return err
		}
		return os.WriteFile(at, data, 0o600)
	})
	must.OK(t, err)
	return to
}

// TestCopyOfHeld copies a repository that another process has open and uses the copy: it is one of
// its own, whatever that process does, and also if yet another one has the copy open.
func TestCopyOfHeld(t *testing.T) {
	dir := newRepo(t)
	write := func(dir, key string) {
		t.Helper()
		app := program.In(dir, io.Discard, io.Discard)
		app.Stdin = strings.NewReader(nodeLine(key))
		program.Ran(t, app, "commit", "-m", "x", "-", "--wait", "20s")
	}
	write(dir, "first")
	original, out := program.Hold(t, dir)
	must.Require(t, program.Owns(t, out), "it is not the owner")
	to := copied(t, dir)
	must.OK(t, must.Err(os.Stat(filepath.Join(to, ".mnem", "owner"))))
	// The original's process is stopped: no command may need it for the copy.
	must.OK(t, original.Process.Signal(syscall.SIGSTOP))
	write(to, "second")
	program.Ran(t, program.In(to, io.Discard, io.Discard), "show", "second", "--json")
	must.OK(t, original.Process.Signal(syscall.SIGCONT))
	// A process that has the copy open, with the owner file of the original in its place.
	another := copied(t, dir)
	words := must.Get(os.ReadFile(filepath.Join(dir, ".mnem", "owner")))(t)
	held, heldOut := program.Hold(t, another)
	must.Require(t, program.Owns(t, heldOut), "it is not the owner of the copy")
	write(another, "third")
	name := filepath.Join(another, ".mnem", "owner")
	must.OK(t, os.WriteFile(name, words, 0o600))
	code, _, errs := code(t, program.In(another, io.Discard, io.Discard), "show", "third", "--wait", "100ms")
	must.Equal(t, code, 6, "the owner of the original is taken for that of the copy: exit code: ", errs)
	must.OK(t, held.Process.Signal(os.Interrupt))
	must.OK(t, held.Wait())
	program.Ran(t, program.In(another, io.Discard, io.Discard), "show", "third")
	for at, keys := range map[string]string{dir: "first", to: "first second", another: "first third"} {
		log := program.Ran(t, program.In(at, io.Discard, io.Discard), "ls", "--json")
		for _, key := range []string{"first", "second", "third"} {
			if strings.Contains(log, `"`+key+`"`) != strings.Contains(keys, key) {
				t.Errorf("%s has not only %s: %s", at, keys, log)
			}
		}
	}
}
