package core_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/ramdir"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// childEnv names the directory of the repository that a child process of these tests commits to without end. It
	// prints the CID of each commit that was acknowledged.
	childEnv  = "MNEM_TEST_REPO_CHILD"
	childWait = 20 * time.Second
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	debug.SetGCPercent(400) // many small memories: time goes further than space
	os.Exit(ramdir.Run(m))
}

func child(dir string) error {
	r, err := care.Open(dir, core.Options{Wait: childWait})
	if err != nil {
		return err
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
	out *bufio.Reader
}

// start starts a child without waiting for it.
func start(t *testing.T, dir string) *process {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	p := &process{Cmd: exec.Command(exe)}
	p.Env = append(os.Environ(), childEnv+"="+dir)
	p.Stderr = os.Stderr
	out := must.Get(p.StdoutPipe())(t)
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
		p := start(t, dir)
		printed = append(printed, p.killAfter(t, rng)...)
		r, err := care.Open(dir, core.Options{Wait: childWait})
		must.OK(t, err, "round ", rounds, ", after ", len(printed), " commits")
		must.OK(t, keeps(r, repokit.Promises{Init: true, Commits: printed}), "round ", rounds)
		must.OK(t, repokit.QuickClean(r), "round ", rounds)
		must.OK(t, r.Close())
	}
	t.Logf("%d commits in %d rounds", len(printed), rounds)
	r := must.Get(care.Open(dir, core.Options{}))(t)
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
		c := must.Get(ipld.ParseCID(strings.TrimSpace(text)))(t, "child said ", text)
		printed = append(printed, c)
		return true
	}
	for range rng.IntN(40) {
		must.Require(t, line(), "the child ended by itself")
	}
	time.Sleep(time.Duration(rng.IntN(4000)) * time.Microsecond)
	must.OK(t, p.Process.Kill())
	for line() {
	}
	_ = p.Wait() // it was killed
	return printed
}
