package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// asWriter makes the test binary be a process that lives long: it commits what the lines of its
// standard input name, and prints each name when the commit was acknowledged.
const asWriter = "TEST_AS_WRITER"

// writer runs in such a process.
func writer() error {
	app := line.System()
	var failed error
	err := cli.Live(app, func(h *peers.Holder) {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() && failed == nil {
			one := *app
			one.Holder, one.Stdin = h, strings.NewReader(nodeLine(in.Text()))
			one.Stdout = io.Discard
			args := []string{"commit", "-m", "x", "-"}
			if signs(in.Text()) {
				args = append(args, "--sign")
			}
			switch code := cli.Run(context.Background(), &one, args); code {
			case 0:
				fmt.Println(in.Text())
			case 6: // the owner ended, and it is unknown whether it was made
				fmt.Println("?")
			default:
				failed = fmt.Errorf("exit code %d", code)
			}
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

func nodeLine(key string) string { return fmt.Sprintf(`{"node":{"key":%q,"type":"N"}}`, key) }

// signs reports whether the commit of a node is signed: of about every other writer.
func signs(key string) bool { return len(key) > 1 && key[1]%2 == 1 }

// withKey makes the key that processes of a directory sign with, and returns what finds it.
func withKey(t *testing.T, dir string) *line.App {
	t.Helper()
	app := program.In(dir, io.Discard, io.Discard)
	app.Getenv = func(name string) string {
		if name == "MNEM_KEYS" {
			return filepath.Join(dir, "xdg", "mnem", "keys") // see program.Child
		}
		return ""
	}
	program.Ran(t, app, "key", "new", "work")
	return app
}

// checkSigned looks that commits with signatures that hold are there, as many as keys are of signers.
func checkSigned(t *testing.T, app *line.App, keys []string) {
	t.Helper()
	want := 0
	for _, key := range keys {
		if signs(key) {
			want++
		}
	}
	log := program.Ran(t, app, "log", "--json", "--signatures", "-n", "100000")
	if got := strings.Count(log, `"signature":"signed"`); got < want || want == 0 {
		t.Errorf("%d signed commits, %d were acknowledged", got, want)
	}
}

func newRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program.Ran(t, program.In(dir, io.Discard, io.Discard), "init")
	return dir
}

// TestTakeOver has one process wait for another that has the repository, in each way that one ends.
func TestTakeOver(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals between processes")
	}
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := newRepo(t)
			first, out := program.Hold(t, dir)
			must.Require(t, program.Owns(t, out), "the first is not the owner")
			second, out := program.Hold(t, dir)
			must.Require(t, !program.Owns(t, out), "both are the owner")
			must.OK(t, first.Process.Signal(signal))
			begin := time.Now()
			must.Require(t, program.Owns(t, out), "the second does not take over")
			t.Logf("took over after %v", time.Since(begin))
			must.OK(t, second.Process.Signal(os.Interrupt))
			must.OK(t, second.Wait())
			for _, name := range []string{"socket", "owner"} {
				if _, err := os.Lstat(filepath.Join(dir, ".mnem", name)); err == nil {
					t.Errorf(".mnem/%s is left behind", name)
				}
			}
		})
	}
}

// TestCommandsLeaveNothing looks that a process that runs many command lines does not grow.
func TestCommandsLeaveNothing(t *testing.T) {
	dir := newRepo(t)
	app := program.In(dir, io.Discard, io.Discard)
	err := cli.Live(app, func(h *peers.Holder) {
		app.Holder = h
		inUse := func() uint64 {
			runtime.GC()
			runtime.GC() // what finalizers held
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		work := func() {
			for range 200 {
				program.Ran(t, app, "status")
				program.Ran(t, app, "__complete", "switch", "")
			}
		}
		work()
		before := inUse()
		work()
		if after := inUse(); after > before+2<<20 {
			t.Errorf("400 commands left %d bytes", after-before)
		}
	})
	must.OK(t, err)
}

// TestWaitingForInput has a command wait for its standard input while others write.
func TestWaitingForInput(t *testing.T) {
	dir := newRepo(t)
	app := program.In(dir, io.Discard, io.Discard)
	err := cli.Live(app, func(h *peers.Holder) {
		app.Holder = h
		slow := *app
		r, w := io.Pipe()
		slow.Stdin = r
		done := make(chan int)
		go func() { done <- cli.Run(t.Context(), &slow, []string{"commit", "-m", "slow", "-"}) }()
		if _, err := io.WriteString(w, nodeLine("slow")+"\n"); err != nil {
			t.Error(err)
		}
		quick := *app
		quick.Stdin = strings.NewReader(nodeLine("quick"))
		program.Ran(t, &quick, "commit", "-m", "quick", "-")
		// More than is kept in memory.
		for i := range 20_000 {
			if _, err := fmt.Fprintf(w, "%s\n", nodeLine(fmt.Sprintf("%0100d", i))); err != nil {
				t.Error(err)
				break
			}
		}
		_ = w.Close() // a pipe in memory
		must.Equal(t, <-done, 0, "exit code")
		must.Contain(t, program.Ran(t, app, "stats", "--json"), `"nodes":{"total":20002`)
	})
	must.OK(t, err)
	left, err := filepath.Glob(filepath.Join(dir, ".mnem", "import-*"))
	must.True(t, err == nil && len(left) == 0, "left behind: %v, %v", left, err)
}

// TestEightProcesses has processes that live long write side by side, while command lines do, and
// the one that has the repository is killed again and again: what was acknowledged is there.
func TestEightProcesses(t *testing.T) {
	t.Parallel()
	for _, kills := range []int{0, effort.Pick(6, 20, 20)} {
		t.Run(fmt.Sprintf("%d kills", kills), func(t *testing.T) { manyProcesses(t, kills) })
	}
}

func manyProcesses(t *testing.T, kills int) {
	const processes = 8
	writes := effort.Pick(10, 25, 25)
	if kills > 0 && runtime.GOOS == "windows" {
		t.Skip("the processes are killed in the middle of what they do")
	}
	dir := newRepo(t)
	app := withKey(t, dir)
	acked := newAcks(t, dir)
	n := writes
	if kills > 0 {
		n = 1 << 30 // until it is enough
	}
	var writers, loop sync.WaitGroup
	for w := range processes {
		writers.Go(func() { acked.write(fmt.Sprintf("w%d", w), n) })
	}
	done := make(chan struct{})
	loop.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				acked.commit(fmt.Sprintf("loop/%d", i))
			}
		}
	})
	for range kills {
		time.Sleep(time.Duration(20+rand.IntN(150)) * time.Millisecond)
		acked.kill()
	}
	acked.enough.Store(kills > 0)
	writers.Wait()
	close(done)
	loop.Wait()
	there := program.Ran(t, app, "ls", "--json", "--limit", "100000")
	for _, key := range acked.keys {
		must.Contain(t, there, fmt.Sprintf(`"key":%q`, key), key, " was acknowledged and is gone")
	}
	program.Ran(t, app, "fsck", "--full")
	checkSigned(t, app, acked.keys)
	t.Logf("%d acknowledged, %d unknown, %d kills, of these %d of the owner; the longest write %v",
		len(acked.keys), acked.unknown, acked.kills, acked.owners, acked.longest)
	if kills == 0 && (acked.unknown > 0 || len(acked.keys) < processes*writes) {
		t.Errorf("%d of %d acknowledged", len(acked.keys), processes*writes)
	}
	if kills > 0 && acked.owners < kills/4 {
		t.Errorf("only %d owners were killed", acked.owners)
	}
}

// TestSignersAmongWriters has 24 callers of one owner make 6 commits each, every other one signed: none is refused since
// others write too, and none is signed more often than others are first.
func TestSignersAmongWriters(t *testing.T) {
	const writers, writes = 24, 6
	dir := newRepo(t)
	app := withKey(t, dir)
	defer held(t, dir)()
	var all sync.WaitGroup
	var mu sync.Mutex
	var keys []string
	most := 0
	for w := range writers {
		all.Go(func() {
			for i := range writes {
				one, records := *app, 0
				key := fmt.Sprintf("w%d/%d", w, i)
				args := []string{"commit", "-m", "x", "-"}
				if signs(key) {
					args = append(args, "--sign")
				}
				one.Stdin = strings.NewReader(nodeLine(key))
				one.Signer = func(by commit.SignFunc) commit.SignFunc {
					return func(record []byte) ([]byte, error) { records++; return by(record) }
				}
				program.Ran(t, &one, args...)
				mu.Lock()
				keys, most = append(keys, key), max(most, records)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	log := program.Ran(t, app, "log", "--json", "-n", "1000")
	must.Equal(t, strings.Count(log, `"commit":"`), writers*writes, "commits")
	checkSigned(t, app, keys)
	t.Logf("at most %d records were signed for one commit", most)
}

// acks are the writes that were acknowledged.
type acks struct {
	t       *testing.T
	dir     string
	mu      sync.Mutex
	keys    []string
	unknown int
	kills   int
	owners  int
	longest time.Duration
	running map[int]*exec.Cmd
	enough  atomic.Bool // whether no process is to write on
}

func newAcks(t *testing.T, dir string) *acks {
	return &acks{t: t, dir: dir, running: make(map[int]*exec.Cmd)}
}

func (a *acks) ack(key string, since time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys = append(a.keys, key)
	a.longest = max(a.longest, time.Since(since))
}

// write has a process write n times, and begins another one if that is killed.
func (a *acks) write(name string, n int) {
	for i := 0; i < n && !a.enough.Load(); {
		i = a.process(name, i, n)
	}
}

// process has one process write from i on, and returns what comes next.
func (a *acks) process(name string, i, n int) int {
	cmd := program.Child(a.t, a.dir, asWriter)
	said := &tail{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		a.t.Error(err)
		return n
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		a.t.Error(err)
		return n
	}
	a.mu.Lock()
	a.running[cmd.Process.Pid] = cmd
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		killed := a.running[cmd.Process.Pid] == nil
		delete(a.running, cmd.Process.Pid)
		a.mu.Unlock()
		_ = in.Close()
		if err := cmd.Wait(); err != nil && !killed {
			a.t.Errorf("a writer ended: %v, its last words:\n%s", err, said)
		}
	}()
	lines := bufio.NewScanner(out)
	for ; i < n && !a.enough.Load(); i++ {
		key := fmt.Sprintf("%s/%d", name, i)
		begin := time.Now()
		_, err := fmt.Fprintln(in, key)
		if err != nil || !lines.Scan() {
			a.mu.Lock()
			a.unknown++
			a.mu.Unlock()
			return i + 1 // it was killed
		}
		if lines.Text() == key {
			a.ack(key, begin)
		} else {
			a.mu.Lock()
			a.unknown++
			a.mu.Unlock()
		}
	}
	return i
}

// commit writes by a process of its own.
func (a *acks) commit(key string) {
	args := []string{"commit", "-m", "x", "-"}
	if signs(key) {
		args = append(args, "--sign")
	}
	cmd := program.Child(a.t, a.dir, program.AsProgram, args...)
	said := &tail{}
	cmd.Stdin, cmd.Stderr = strings.NewReader(nodeLine(key)), said
	begin := time.Now()
	err := cmd.Run()
	switch code := cmd.ProcessState.ExitCode(); {
	case err == nil:
		a.ack(key, begin)
	case code == 6:
		a.mu.Lock()
		a.unknown++
		a.mu.Unlock()
	default:
		a.t.Errorf("commit %s: %v, its last words:\n%s", key, err, said)
	}
}

// tail keeps the end of what a process says, which is a lot where owners end.
type tail struct{ last []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	t.last = t.last[max(0, len(t.last)-8<<10):]
	return len(p), nil
}

func (t *tail) String() string { return string(t.last) }

// kill kills a process that writes, the owner if that is one of them.
func (a *acks) kill() {
	a.mu.Lock()
	defer a.mu.Unlock()
	data, _ := os.ReadFile(filepath.Join(a.dir, ".mnem", "owner")) // it may be written just now
	var who struct{ PID int }
	_ = json.Unmarshal(data, &who)
	cmd := a.running[who.PID]
	if cmd != nil {
		a.owners++
	}
	for _, any := range a.running {
		if cmd == nil {
			cmd = any
		}
	}
	if cmd != nil {
		a.kills++
		delete(a.running, cmd.Process.Pid)
		_ = cmd.Process.Kill()
	}
}
