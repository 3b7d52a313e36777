package pebble

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// childEnv names the directory that a child process of these tests opens. The child commits an operation, prints
// "ready", waits for its standard input to end, and closes the store.
const childEnv = "MNEM_TEST_STORE_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func owner() Owner { return Owner{PID: os.Getpid(), Since: "2026-01-02T03:04:05Z", Protocol: 1} }

func child(dir string) error {
	s, err := Open(dir, Options{Create: true, Wait: 20 * time.Second, Owner: owner()})
	if err != nil {
		return err
	}
	head, err := s.Head(context.Background())
	if err != nil {
		return err
	}
	if err := commitOp(s, head.Seq+1); err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return s.Close()
}

type process struct {
	*exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
}

// start starts a child without waiting for it.
func start(t *testing.T, dir string) *process {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	p := &process{Cmd: exec.Command(exe)}
	p.Env = append(os.Environ(), childEnv+"="+dir)
	p.Stderr = os.Stderr
	p.stdin = must.Get(p.StdinPipe())(t)
	out := must.Get(p.StdoutPipe())(t)
	p.out = bufio.NewReader(out)
	must.OK(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// ready waits until the child has committed and holds the store.
func (p *process) ready(t *testing.T) {
	t.Helper()
	must.Equal(t, must.Get(p.out.ReadString('\n'))(t), "ready\n", "child said")
}

// finish makes the child close the store and end.
func (p *process) finish(t *testing.T) {
	t.Helper()
	_ = p.stdin.Close()
	must.OK(t, p.Wait(), "child")
}

func TestBusy(t *testing.T) {
	dir := t.TempDir() + "/.mnem"
	p := start(t, dir)
	p.ready(t)
	for _, opts := range []Options{{}, {ReadOnly: true}, {Wait: 50 * time.Millisecond}} {
		_, err := Open(dir, opts)
		var busy *BusyError
		must.Require(t, errors.As(err, &busy) && errors.Is(err, store.ErrBusy),
			"%+v: error %v, want busy", opts, err)
		must.Equal(t, busy.PID, p.Process.Pid, "busy error names process")
		must.Equal(t, busy.Since, owner().Since, "busy error names process")
	}
	got, err := ReadOwner(dir, nil)
	must.True(t, err == nil && got.PID == p.Process.Pid && got.Protocol == 1, "owner %+v, %v", got, err)
	info, err := os.Stat(dir + "/owner")
	must.True(t, err == nil && (runtime.GOOS == "windows" || info.Mode().Perm() == 0o600),
		"owner file: %v, %v", info, err)
	p.finish(t)
	must.Equal(t, must.Get(ReadOwner(dir, nil))(t), (Owner{}), "owner after closing")
	s := openDisk(t, dir, Options{})
	must.Get(checkStore(s, 1))(t)
	must.OK(t, s.Close())
}

// TestKilledOwner kills an owner: its lock must be released and its stale owner file ignored.
func TestKilledOwner(t *testing.T) {
	dir := t.TempDir() + "/.mnem"
	for seq := uint64(1); seq <= 3; seq++ {
		p := start(t, dir)
		p.ready(t)
		must.OK(t, p.Process.Kill())
		_ = p.Wait()
		must.Equal(t, must.Get(ReadOwner(dir, nil))(t).PID, p.Process.Pid, "owner left behind")
		s := openDisk(t, dir, Options{ReadOnly: seq%2 == 0, Owner: owner()})
		must.Equal(t, must.Get(checkStore(s, seq))(t, "head"), opHead(seq), "head")
		must.Equal(t, must.Get(ReadOwner(dir, nil))(t).PID, os.Getpid(), "owner after taking over")
		must.OK(t, s.Close())
	}
}

// TestQueue runs processes that each commit and wait for each other.
func TestQueue(t *testing.T) {
	const n = 8
	dir := t.TempDir() + "/.mnem"
	var ps []*process
	for range n {
		p := start(t, dir)
		_ = p.stdin.Close()
		ps = append(ps, p)
	}
	for i, p := range ps {
		p.ready(t)
		must.OK(t, p.Wait(), "process ", i)
	}
	s := openDisk(t, dir, Options{ReadOnly: true})
	defer s.Close()
	must.Equal(t, must.Get(checkStore(s, n))(t), opHead(n), "head")
}

// TestBusyInProcess opens a store twice, by two spellings of its path.
func TestBusyInProcess(t *testing.T) {
	root := t.TempDir()
	must.OK(t, os.Mkdir(root+"/real", 0o700))
	paths := []string{root + "/real/repo", root + "/real/./repo/../repo"}
	first := paths[0]
	if err := os.Symlink(root+"/real", root+"/link"); err == nil {
		first = root + "/link/repo"
		paths = append(paths, first)
	}
	s := openDisk(t, first, Options{Create: true})
	for _, dir := range paths {
		must.Fail(t, must.Err(Open(dir, Options{})), store.ErrBusy, dir)
	}
	must.OK(t, s.Close())
}

func TestOwnerFile(t *testing.T) {
	fs := vfs.NewMem()
	s := openFS(t, fs, Options{Create: true, Owner: owner()})
	serving := owner()
	serving.Socket = "/run/mnem.sock"
	must.OK(t, s.SetOwner(serving))
	var busy *BusyError
	if _, err := Open(repo, Options{FS: fs}); !errors.As(err, &busy) || busy.Socket != serving.Socket {
		t.Errorf("busy error %v, want socket %s", err, serving.Socket)
	}
	// A malformed owner file is ignored.
	writeFile(t, fs, repo+"/owner", []byte("{\"pid\":"))
	_, err := Open(repo, Options{FS: fs})
	must.True(t, errors.As(err, &busy) && busy.PID == 0, "busy error %v, want an unknown process", err)
	must.OK(t, s.Close())
	must.Fail(t, s.SetOwner(serving), store.ErrClosed)
}
