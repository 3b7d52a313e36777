package core_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/ramdir"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// childEnv names what a child process of these tests does, childCommits or childHolds, and
	// the directory of the repository, after a colon.
	childEnv = "MNEM_TEST_REPO_CHILD"
	// childCommits commits without end and prints the CID of each commit that was acknowledged.
	childCommits = "commits"
	// childHolds opens the repository, says "ready", and lets go when its standard input ends.
	childHolds = "holds"

	childSince = "2026-01-02T03:04:05Z"
	childWait  = 20 * time.Second
)

func TestMain(m *testing.M) {
	if what, dir, ok := strings.Cut(os.Getenv(childEnv), ":"); ok {
		if err := child(what, dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	debug.SetGCPercent(400) // many small memories: time goes further than space
	os.Exit(ramdir.Run(m))
}

func child(what, dir string) error {
	r, err := care.Open(dir, core.Options{Wait: childWait, PID: os.Getpid(), Since: childSince})
	if err != nil {
		return err
	}
	if what == childHolds {
		fmt.Println("ready")
		_, err = io.Copy(io.Discard, os.Stdin)
		return errors.Join(err, r.Close())
	}
	// Each child makes nodes of its own, so that no commit is empty.
	for i := 0; ; i++ {
		res, err := repokit.TryLines(r, fmt.Sprintf(
			`{"node":{"key":"p%d/n%d","type":"Note","summary":"note %d"}}
{"node":{"key":"hub","type":"Hub","props":{"last":"p%d/n%d"}}}
{"edge":{"type":"of","src":"p%d/n%d","dst":"hub"}}
`, os.Getpid(), i, i, os.Getpid(), i, os.Getpid(), i))
		if err != nil {
			return err
		}
		fmt.Println(res.Commit)
	}
}

type process struct {
	*exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
}

// start starts a child without waiting for it.
func start(t *testing.T, what, dir string) *process {
	t.Helper()
	exe, err := os.Executable()
	must.OK(t, err)
	p := &process{Cmd: exec.Command(exe)}
	p.Env = append(os.Environ(), childEnv+"="+what+":"+dir)
	p.Stderr = os.Stderr
	if p.stdin, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	must.OK(t, err)
	p.out = bufio.NewReader(out)
	must.OK(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// TestKill kills processes that commit at random moments, one after another on one repository:
// every commit whose success was printed stays in the history, and nothing is damaged.
func TestKill(t *testing.T) {
	t.Parallel()
	total := effort.Pick(60, 200, 1000)
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	dir := repokit.InitEmpty(t)
	var printed []ipld.CID
	rounds := 0
	for len(printed) < total || rounds < 4 {
		rounds++
		p := start(t, childCommits, dir)
		printed = append(printed, p.killAfter(t, rng)...)
		r, err := care.Open(dir, core.Options{Wait: childWait})
		if err != nil {
			t.Fatalf("round %d, after %d commits: %v", rounds, len(printed), err)
		}
		if err := keeps(r, repokit.Promises{Init: true, Commits: printed}); err != nil {
			t.Errorf("round %d: %v", rounds, err)
		}
		if err := repokit.QuickClean(r); err != nil {
			t.Errorf("round %d: %v", rounds, err)
		}
		must.OK(t, r.Close())
	}
	t.Logf("%d commits in %d rounds", len(printed), rounds)
	r, err := care.Open(dir, core.Options{})
	must.OK(t, err)
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
}

// killAfter kills the child after a random number of commits and a random time, and returns the
// commits that it printed.
func (p *process) killAfter(t *testing.T, rng *rand.Rand) []ipld.CID {
	t.Helper()
	var printed []ipld.CID
	line := func() bool {
		text, err := p.out.ReadString('\n')
		if err != nil { // a line without its end was not printed
			return false
		}
		c, err := ipld.ParseCID(strings.TrimSpace(text))
		if err != nil {
			t.Fatalf("child said %q: %v", text, err)
		}
		printed = append(printed, c)
		return true
	}
	for range rng.IntN(40) {
		if !line() {
			t.Fatal("the child ended by itself")
		}
	}
	time.Sleep(time.Duration(rng.IntN(4000)) * time.Microsecond)
	must.OK(t, p.Process.Kill())
	for line() {
	}
	_ = p.Wait() // it was killed
	return printed
}

// TestTaken opens a repository that another process holds.
func TestTaken(t *testing.T) {
	dir := repokit.InitEmpty(t)
	p := start(t, childHolds, dir)
	if line, err := p.out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	for _, opt := range []core.Options{{}, {ReadOnly: true}, {Wait: 60 * time.Millisecond}} {
		began := time.Now()
		_, err := care.Open(dir, opt)
		var busy *pebble.BusyError
		if !errors.As(err, &busy) || !errors.Is(err, store.ErrBusy) {
			t.Fatalf("%+v: error %v, want busy", opt, err)
		}
		if busy.PID != p.Process.Pid || busy.Since != childSince {
			t.Errorf("the error names process %d since %q, want %d", busy.PID, busy.Since,
				p.Process.Pid)
		}
		if waited := time.Since(began); waited < opt.Wait {
			t.Errorf("gave up after %v of %v", waited, opt.Wait)
		}
	}
	_, err := care.Init(t.Context(), dir, repokit.By, core.Options{})
	must.Fail(t, err, store.ErrBusy)
	time.AfterFunc(50*time.Millisecond, func() { _ = p.stdin.Close() })
	r, err := care.Open(dir, core.Options{Wait: childWait})
	if err != nil {
		t.Fatalf("after the other let go: %v", err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("child: %v", err)
	}
	repokit.Lines(t, r, repokit.TwoPeople)
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
}

// TestWritersTakeTurns lets several processes commit to one repository at a time, each waiting
// for the others: no commit is lost.
func TestWritersTakeTurns(t *testing.T) {
	dir := repokit.InitEmpty(t)
	const writers, each = 4, 5
	done := make(chan error, writers)
	for w := range writers {
		go func() {
			for i := range each {
				// A repository opened twice in one process is taken, too.
				r, err := care.Open(dir, core.Options{Wait: childWait})
				if err != nil {
					done <- err
					return
				}
				_, err = repokit.TryLines(r, fmt.Sprintf(`{"node":{"key":"w%d/%d","type":"T"}}`, w, i))
				if err := errors.Join(err, r.Close()); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	r, err := care.Open(dir, core.Options{})
	must.OK(t, err)
	seen, err := repokit.History(r)
	if got := repokit.Sizes(repokit.Head(t, r))[0]; err != nil || got != writers*each || len(seen) != writers*each {
		t.Errorf("%d nodes in %d commits, %v, want %d", got, len(seen), err, writers*each)
	}
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
}
