package core_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/ramdir"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// ledger gathers promises. Safe for concurrent use: crashes happen on the store's goroutines.
type ledger struct {
	mu  sync.Mutex
	now repokit.Promises
}

func (l *ledger) note(fn func(*repokit.Promises)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn(&l.now)
}

func (l *ledger) read() repokit.Promises {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.now
	p.Commits, p.Receipts = slices.Clone(p.Commits), slices.Clone(p.Receipts)
	return p
}

// crashStep makes one change of the workload: two commits of three, a stage edit, a retrieval in a
// session; the node grows, so that commits replace blocks, and every sixth removes an earlier one.
func crashStep(r *core.Repo, l *ledger, i int) error {
	ctx := context.Background()
	stamp := repokit.By
	stamp.Time += graph.Time(i)
	text := fmt.Sprintf(`{"node":{"key":"n%d","type":"Note","summary":"note %d about harbour %d"}}
{"node":{"key":"hub","type":"Hub","props":{"count":%d}}}
{"edge":{"type":"of","src":"n%d","dst":"hub"}}
`, i, i, i%5, i, i)
	if i%6 == 5 {
		text += fmt.Sprintf(`{"remove":{"node":"n%d"}}`+"\n", i-3)
	}
	res, err := r.Commit(ctx, state.ReadChanges(strings.NewReader(text), "crash"),
		core.CommitOptions{Stamp: stamp, Message: "step"})
	if err != nil {
		return err
	}
	l.note(func(p *repokit.Promises) { p.Commits = append(p.Commits, res.Commit) })
	if i%3 == 0 {
		line := fmt.Sprintf(`{"node":{"key":"staged%d","type":"Note","summary":"later"}}`, i)
		_, err := r.Stages().Add(ctx, state.ReadChanges(strings.NewReader(line), "crash"),
			core.StageOptions{Stamp: stamp})
		if err != nil {
			return err
		}
		l.note(func(p *repokit.Promises) { p.Staged++ })
	}
	if i%2 == 1 {
		req := retrieve.Request{Text: fmt.Sprintf("harbour note %d", i)}
		_, c, err := session.RetrieveIn(ctx, r, session.DefaultSession, req, stamp)
		if err != nil {
			return err
		}
		l.note(func(p *repokit.Promises) { p.Receipts = append(p.Receipts, c) })
	}
	if i == 15 {
		res, err := r.Stages().Commit(ctx, "", core.CommitOptions{Stamp: stamp, Message: "staged"})
		if err != nil {
			return err
		}
		l.note(func(p *repokit.Promises) { p.Commits, p.Staged = append(p.Commits, res.Commit), 0 })
	}
	return nil
}

// crashWork makes a repository and the steps of the workload, reopening it now and then.
func crashWork(fsys vfs.FS, l *ledger, steps int) error {
	opt := core.Options{FS: fsys, Logf: repokit.Logf}
	r, err := care.Init(context.Background(), repokit.CrashDir, repokit.By, opt)
	if err != nil {
		return err
	}
	l.note(func(p *repokit.Promises) { p.Init = true })
	for i := range steps {
		if err := crashStep(r, l, i); err != nil {
			return errors.Join(fmt.Errorf("step %d: %w", i, err), r.Close())
		}
		if i%10 == 9 {
			if err := r.Close(); err != nil {
				return err
			}
			if r, err = care.Open(repokit.CrashDir, opt); err != nil {
				return err
			}
		}
	}
	return r.Close()
}

// checkCrashed opens what a power cut left and checks that it keeps what was promised, is clean,
// replays, and takes another commit.
func checkCrashed(fsys vfs.FS, p repokit.Promises) error {
	r, err := repokit.OpenCrashed(fsys, p)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	err = keeps(r, p)
	if err == nil {
		err = repokit.Clean(r)
	}
	if err == nil {
		err = goOn(r)
	}
	return errors.Join(err, r.Close())
}

// keeps returns an error that names the first promise that r broke.
func keeps(r *core.Repo, p repokit.Promises) error {
	ctx := context.Background()
	seen, err := repokit.History(r)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	for i, c := range p.Commits {
		if !seen[c] {
			return fmt.Errorf("commit %d of %d, %s, is lost", i, len(p.Commits), c)
		}
	}
	kept := make(map[ipld.CID]bool)
	for e, err := range session.SessionLog(ctx, r, session.DefaultSession) {
		if errors.Is(err, store.ErrNotFound) && len(p.Receipts) == 0 {
			break
		}
		if err != nil {
			return fmt.Errorf("session: %w", err)
		}
		kept[e.Record.Receipt] = true
	}
	for i, c := range p.Receipts {
		if !kept[c] {
			return fmt.Errorf("receipt %d of %d, %s, is lost", i, len(p.Receipts), c)
		}
	}
	st, err := r.Stages().Status(ctx, "")
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	if !st.Staged {
		if p.Staged > 0 && len(seen) <= len(p.Commits) {
			return fmt.Errorf("%d staged edits are lost", p.Staged)
		}
		return nil
	}
	nodes, _, err := st.Diff.Count(ctx)
	if err == nil && nodes.Added < p.Staged {
		err = fmt.Errorf("%d nodes are staged of %d", nodes.Added, p.Staged)
	}
	return err
}

// goOn replays the session, commits and asks for what was committed.
func goOn(r *core.Repo) error {
	ctx := context.Background()
	res, err := session.Replay(ctx, r, session.DefaultSession)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return fmt.Errorf("replay: %w", err)
	case !res.Identical:
		return fmt.Errorf("replay: %+v", res.First)
	}
	if _, err := repokit.TryLines(r, `{"node":{"key":"after","type":"Note","summary":"zebra"}}`); err != nil {
		return fmt.Errorf("going on: %w", err)
	}
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		return err
	}
	answer, err := rank.Retrieve(ctx, s, retrieve.Request{Text: "zebra"})
	if err != nil || len(answer.Items) != 1 {
		return fmt.Errorf("retrieve after going on: %v, %w", answer, err)
	}
	return nil
}

// TestCrash cuts power at the changes of a workload, once losing all that was not synced and once
// a random part of it, and checks that everything acknowledged is there and nothing is damaged.
func TestCrash(t *testing.T) {
	t.Parallel()
	stride, least := effort.Pick(17, 6, 1), 15
	if effort.Race {
		stride, least = 41, 8
	}
	rng := rand.New(rand.NewPCG(repokit.CrashSeed, 0))
	var l ledger
	var fsys *testkit.CrashFS
	points, kinds := 0, make(map[string]int)
	fsys = testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if op.N%stride != 0 {
			return nil
		}
		points++
		kinds[op.Kind]++
		p := l.read() // before the clone: what is acknowledged now must be in it
		for _, percent := range []int{0, 1 + rng.IntN(99)} {
			if err := checkCrashed(fsys.Clone(percent, rng), p); err != nil {
				t.Errorf("seed %d, change %d (%s %s), %d%% of what was not synced: %v",
					repokit.CrashSeed, op.N, op.Kind, op.Path, percent, err)
			}
		}
		return nil
	})
	must.OK(t, crashWork(fsys, &l, 25))
	t.Logf("%d changes, power cut at %d: %v", fsys.Ops(), points, kinds)
	if p := l.read(); points < least || len(p.Commits) != 26 || len(p.Receipts) != 12 {
		t.Errorf("%d points tested, %d commits, %d receipts", points, len(p.Commits), len(p.Receipts))
	}
	must.OK(t, checkCrashed(fsys.Clone(0, nil), l.read()), "at the end")
}

// TestCrashWithinRecovery cuts power again while what a power cut left is opened and written.
func TestCrashWithinRecovery(t *testing.T) {
	t.Parallel()
	stride := effort.Pick(73, 37, 5)
	rng := rand.New(rand.NewPCG(repokit.CrashSeed, 1))
	var l ledger
	var fsys *testkit.CrashFS
	points := 0
	fsys = testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if op.N%stride != 0 {
			return nil
		}
		p := l.read()
		var second *testkit.CrashFS
		second = testkit.NewCrashFS(fsys.Clone(50, rng), func(inner testkit.Op) error {
			if inner.N%13 != 0 {
				return nil
			}
			points++
			if err := checkCrashed(second.Clone(rng.IntN(100), rng), p); err != nil {
				t.Errorf("seed %d, change %d, then %d (%s %s): %v",
					repokit.CrashSeed, op.N, inner.N, inner.Kind, inner.Path, err)
			}
			return nil
		})
		err := checkCrashed(second, p)
		must.True(t, err == nil, "seed %d, change %d: %v", repokit.CrashSeed, op.N, err)
		return nil
	})
	must.OK(t, crashWork(fsys, &l, 12))
	must.True(t, points >= 8, "%d points tested", points)
}

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
