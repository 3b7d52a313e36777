package filestate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

const limit = 1 << 20

var ctx = context.Background()

// childEnv makes a process of this test one that edits a file: its value is the path.
const childEnv = "MNEM_TEST_FILESTATE"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(child(path, os.Args[1]))
	}
	os.Exit(m.Run())
}

// child adds lines to a file, telling of each after it was added, until standard input ends or its
// process is killed.
func child(path, name string) int {
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	for n := 0; ; n++ {
		line := fmt.Sprintf("%s-%d\n", name, n)
		if err := addLine(path, line); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Print(line)
		select {
		case <-stop:
			return 0
		default:
		}
	}
}

func addLine(path, line string) error {
	return Edit(ctx, path, EditOptions{Limit: limit}, func(old []byte) ([]byte, error) {
		return append(bytes.Clone(old), line...), nil
	})
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	must.OK(t, os.Chmod(path, mode))
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func wantText(t *testing.T, path, text string) {
	t.Helper()
	must.Equal(t, string(must.Get(Read(path, limit))(t)), text, path)
}

func wantMode(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	if runtime.GOOS != "windows" && info.Mode().Perm() != mode {
		t.Errorf("%s has mode %#o, want %#o", path, info.Mode().Perm(), mode)
	}
}

// TestProcessesAndKills has processes append to one file and kills half of them in the middle: each reported line
// is there once, in order, and the next edit does not wait.
func TestProcessesAndKills(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	const procs, lines = 8, 20
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		told = map[string]int{} // by process
	)
	for p := range procs {
		wg.Go(func() {
			name := fmt.Sprint(p)
			cmd := exec.Command(os.Args[0], name)
			cmd.Env = append(os.Environ(), childEnv+"="+path)
			var messages bytes.Buffer
			cmd.Stderr = &messages
			in, inErr := cmd.StdinPipe()
			out, outErr := cmd.StdoutPipe()
			if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
				t.Error(err)
				return
			}
			killed := p%2 == 0
			n := 0
			for s := bufio.NewScanner(out); s.Scan(); n++ {
				must.Equal(t, s.Text(), fmt.Sprintf("%s-%d", name, n), "reported")
				if n == lines {
					if killed {
						_ = cmd.Process.Kill()
					}
					_ = in.Close()
				}
			}
			if err := cmd.Wait(); err != nil && !killed {
				t.Errorf("process %s: %v: %s", name, err, messages.String())
			}
			mu.Lock()
			defer mu.Unlock()
			told[name] = n
		})
	}
	wg.Wait()
	must.OK(t, addLine(path, "last-0\n"))
	data := must.Get(Read(path, limit))(t)
	next := map[string]int{}
	for l := range strings.Lines(string(data)) {
		name, n, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "-")
		must.Equal(t, n, fmt.Sprint(next[name]), "line ", l, " where ", next[name], " of ", name, " are before it")
		next[name]++
	}
	for name, n := range told {
		// A killed process may have added one line more than it reported.
		if n <= lines || next[name] < n || next[name] > n+1 {
			t.Errorf("%d lines of %s, which reported %d", next[name], name, n)
		}
	}
	must.Equal(t, len(names(t, filepath.Dir(path))), 1, "left behind")
}

// TestLeftovers edits after a crash left the lock's file and a part of a new file.
func TestLeftovers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	write(t, path+lockSuffix, "", 0o600)
	write(t, filepath.Join(filepath.Dir(path), ".state"+newSuffix), "par", 0o600)
	must.OK(t, addLine(path, "a\n"))
	wantText(t, path, "a\n")
	must.Equal(t, len(names(t, filepath.Dir(path))), 1, "left behind")
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	unlock := must.Get(Lock(ctx, path))(t)
	if _, err := lockWithin(ctx, path, 2); !errors.Is(err, ErrLocked) ||
		!strings.Contains(err.Error(), path+lockSuffix) {
		t.Errorf("a lock that is taken: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err := Lock(gone, path)
	must.Fail(t, err, context.Canceled)
	must.OK(t, unlock())
	unlock = must.Get(lockWithin(ctx, path, 0))(t)
	must.OK(t, unlock())
	must.Equal(t, len(names(t, filepath.Dir(path))), 0, "left behind")
}

func TestEdit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "state")
	set := func(next []byte) func([]byte) ([]byte, error) {
		return func([]byte) ([]byte, error) { return next, nil }
	}
	opt := EditOptions{Limit: 9}
	must.OK(t, Edit(ctx, path, opt, set(nil)), "no file to no file")
	must.Equal(t, len(names(t, dir)), 0, "no file to no file")
	must.OK(t, Edit(ctx, path, opt, set([]byte("one"))))
	wantText(t, path, "one")
	wantMode(t, path, 0o600)
	wantMode(t, filepath.Dir(path), 0o700)
	broken := errors.New("broken")
	err := Edit(ctx, path, opt, func(old []byte) ([]byte, error) { return []byte("x"), broken })
	must.Fail(t, err, broken)
	wantText(t, path, "one")
	before := must.Get(os.Stat(path))(t)
	must.OK(t, Edit(ctx, path, opt, set([]byte("one"))))
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("what did not change was written again: %v", err)
	}
	must.OK(t, Edit(ctx, path, opt, set([]byte{})))
	wantText(t, path, "")
	must.OK(t, Edit(ctx, path, opt, set(nil)))
	if data, err := Read(path, 9); data != nil || err != nil {
		t.Errorf("a file that was removed: %q, %v", data, err)
	}
	must.Equal(t, len(names(t, filepath.Dir(path))), 0, "left behind")
	write(t, path, "more than 9", 0o600)
	must.Fail(t, Edit(ctx, path, opt, set(nil)), ErrUnfit)
	must.Fail(t, Edit(ctx, dir, opt, set(nil)), ErrUnfit)
}

// TestModes makes files with 0600 whatever they had, unless they are another program's.
func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	write(t, path, "a\n", 0o664)
	keep := EditOptions{Limit: limit, KeepMode: true}
	more := func(old []byte) ([]byte, error) { return append(bytes.Clone(old), "b\n"...), nil }
	must.OK(t, Edit(ctx, path, keep, more))
	wantMode(t, path, 0o664)
	must.OK(t, addLine(path, "c\n"))
	wantMode(t, path, 0o600)
	wantText(t, path, "a\nb\nc\n")
}

// TestOthersChange lets a program that knows no lock write between the reading and the replacing.
func TestOthersChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	calls := 0
	must.OK(t, Edit(ctx, path, EditOptions{Limit: limit}, func(old []byte) ([]byte, error) {
		if calls++; calls < 3 {
			write(t, path, fmt.Sprintf("theirs %d\n", calls), 0o600)
		}
		return append(bytes.Clone(old), "ours\n"...), nil
	}), "calls")
	must.Equal(t, calls, 3, "calls")
	wantText(t, path, "theirs 2\nours\n")
	err := Edit(ctx, path, EditOptions{Limit: limit}, func(old []byte) ([]byte, error) {
		calls++
		write(t, path, fmt.Sprint(calls), 0o600)
		return []byte("ours"), nil
	})
	must.Fail(t, err, ErrMoved)
	wantText(t, path, fmt.Sprint(calls))
	must.Equal(t, len(names(t, filepath.Dir(path))), 1, "left behind")
}

func TestBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	write(t, path, "old", 0o640)
	broken := errors.New("broken")
	var got string
	opt := EditOptions{Limit: limit, KeepMode: true, Before: func(p string, old []byte, mode fs.FileMode) error {
		got = fmt.Sprintf("%s %s %o", filepath.Base(p), old, mode)
		return broken
	}}
	err := Edit(ctx, path, opt, func([]byte) ([]byte, error) { return []byte("new"), nil })
	must.Fail(t, err, broken)
	must.True(t, runtime.GOOS == "windows" || got == "state old 640", "called with %q", got)
	wantText(t, path, "old")
}

// TestLinksStay writes the targets of links, existing or not.
func TestLinksStay(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o700))
	for link, to := range map[string]string{
		"state": "next", "next": filepath.FromSlash("d/../file"), "d": filepath.Join("real", "sub"),
		"loop": "loop",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	path := filepath.Join(dir, "state")
	must.OK(t, addLine(path, "a\n"))
	must.OK(t, addLine(path, "b\n"))
	wantText(t, path, "a\nb\n")
	must.OK(t, Replace(path, 0o600, func(w io.Writer) error { return must.Err(io.WriteString(w, "whole")) }))
	wantText(t, path, "whole")
	for _, link := range []string{"state", "next", "d"} {
		info := must.Get(os.Lstat(filepath.Join(dir, link)))(t)
		must.True(t, info.Mode()&fs.ModeSymlink != 0, "the link %s is gone", link)
	}
	must.Fail(t, addLine(filepath.Join(dir, "loop"), "a"), ErrUnfit)
	must.Fail(t, Create(path, nil), fs.ErrExist)
}

func TestCreate(t *testing.T) {
	for name, link := range map[string]func(string, string) error{
		"links": os.Link, "no links": func(string, string) error { return errors.ErrUnsupported },
	} {
		path := filepath.Join(t.TempDir(), "new")
		must.OK(t, create(path, []byte("one"), link), name)
		wantMode(t, path, 0o600)
		must.Fail(t, create(path, []byte("two"), link), fs.ErrExist, name)
		wantText(t, path, "one")
		must.Equal(t, len(names(t, filepath.Dir(path))), 1, name, ": left behind")
		must.OK(t, Remove(path))
		must.Fail(t, Remove(path), fs.ErrNotExist)
	}
}

// TestReplace keeps the old file if writing fails, and otherwise its mode; concurrent calls do not mix.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	write(t, path, "old", 0o640)
	broken := errors.New("broken")
	err := Replace(path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, broken)
	})
	must.Fail(t, err, broken)
	wantText(t, path, "old")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			err := Replace(path, 0o600, func(w io.Writer) error {
				return must.Err(io.WriteString(w, strings.Repeat(fmt.Sprint(i), 1000)))
			})
			must.True(t, err == nil, "%v", err)
		})
	}
	wg.Wait()
	wantMode(t, path, 0o640)
	got, err := Read(path, limit)
	must.True(t, err == nil && len(got) == 1000 && strings.Trim(string(got), string(got[:1])) == "",
		"mixed: %d bytes, %v", len(got), err)
	must.Equal(t, len(names(t, filepath.Dir(path))), 1, "left behind")
}
