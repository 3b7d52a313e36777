package repo_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

const (
	crashDir  = "/memory" // of repositories on file systems in memory
	crashSeed = 7
)

// logf discards what the store tells beside its answers.
func logf(string, ...any) {}

// promises are what was acknowledged.
type promises struct {
	init     bool
	commits  []ipld.CID
	receipts []ipld.CID
	staged   int // edits of the stage so far
}

// ledger gathers promises. Safe for concurrent use: crashes happen on the store's goroutines.
type ledger struct {
	mu  sync.Mutex
	now promises
}

func (l *ledger) note(fn func(*promises)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn(&l.now)
}

func (l *ledger) read() promises {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.now
	p.commits, p.receipts = slices.Clone(p.commits), slices.Clone(p.receipts)
	return p
}

// crashStep makes one change of the workload: two commits of three, a stage edit, a retrieval in a
// session; the node grows, so that commits replace blocks, and every sixth removes an earlier one.
func crashStep(r *repo.Repo, l *ledger, i int) error {
	ctx := context.Background()
	stamp := by
	stamp.Time += graph.Time(i)
	text := fmt.Sprintf(`{"node":{"key":"n%d","type":"Note","summary":"note %d about harbour %d"}}
{"node":{"key":"hub","type":"Hub","props":{"count":%d}}}
{"edge":{"type":"of","src":"n%d","dst":"hub"}}
`, i, i, i%5, i, i)
	if i%6 == 5 {
		text += fmt.Sprintf(`{"remove":{"node":"n%d"}}`+"\n", i-3)
	}
	res, err := r.Commit(ctx, repo.ReadChanges(strings.NewReader(text), "crash"),
		repo.CommitOptions{Stamp: stamp, Message: "step"})
	if err != nil {
		return err
	}
	l.note(func(p *promises) { p.commits = append(p.commits, res.Commit) })
	if i%3 == 0 {
		line := fmt.Sprintf(`{"node":{"key":"staged%d","type":"Note","summary":"later"}}`, i)
		_, err := r.StageChanges(ctx, repo.ReadChanges(strings.NewReader(line), "crash"),
			repo.StageOptions{Stamp: stamp})
		if err != nil {
			return err
		}
		l.note(func(p *promises) { p.staged++ })
	}
	if i%2 == 1 {
		req := retrieve.Request{Text: fmt.Sprintf("harbour note %d", i)}
		_, c, err := r.RetrieveIn(ctx, repo.DefaultSession, req, stamp)
		if err != nil {
			return err
		}
		l.note(func(p *promises) { p.receipts = append(p.receipts, c) })
	}
	if i == 15 {
		res, err := r.CommitStaged(ctx, "", repo.CommitOptions{Stamp: stamp, Message: "staged"})
		if err != nil {
			return err
		}
		l.note(func(p *promises) { p.commits, p.staged = append(p.commits, res.Commit), 0 })
	}
	return nil
}

// crashWork makes a repository and the steps of the workload, opening it anew now and then.
func crashWork(fsys vfs.FS, l *ledger, steps int) error {
	opt := repo.Options{FS: fsys, Logf: logf}
	r, err := repo.Init(context.Background(), crashDir, by, opt)
	if err != nil {
		return err
	}
	l.note(func(p *promises) { p.init = true })
	for i := range steps {
		if err := crashStep(r, l, i); err != nil {
			return errors.Join(fmt.Errorf("step %d: %w", i, err), r.Close())
		}
		if i%10 == 9 {
			if err := r.Close(); err != nil {
				return err
			}
			if r, err = repo.Open(crashDir, opt); err != nil {
				return err
			}
		}
	}
	return r.Close()
}

// openCrashed opens what a power cut left. Where nothing was acknowledged there may be nothing.
func openCrashed(fsys vfs.FS, p promises) (*repo.Repo, error) {
	opt := repo.Options{FS: fsys, Logf: logf}
	if p.init {
		return repo.Open(crashDir, opt)
	}
	r, err := repo.Init(context.Background(), crashDir, by, opt)
	if errors.Is(err, fs.ErrExist) {
		return repo.Open(crashDir, opt)
	}
	return r, err
}

// checkCrashed opens what a power cut left and checks that it keeps what was promised, is clean,
// replays, and takes another commit.
func checkCrashed(fsys vfs.FS, p promises) error {
	r, err := openCrashed(fsys, p)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	err = keeps(r, p)
	if err == nil {
		err = clean(r)
	}
	if err == nil {
		err = goOn(r)
	}
	return errors.Join(err, r.Close())
}

// history returns the commits that HEAD reaches, none in a repository without commits.
func history(r *repo.Repo) (map[ipld.CID]bool, error) {
	seen := make(map[ipld.CID]bool)
	_, newest, err := r.Branch(context.Background())
	if err != nil || !newest.Defined() {
		return seen, err
	}
	for e, err := range r.Log(context.Background(), "HEAD") {
		if err != nil {
			return seen, err
		}
		seen[e.CID] = true
	}
	return seen, nil
}

// keeps returns an error that names the first promise that r broke.
func keeps(r *repo.Repo, p promises) error {
	ctx := context.Background()
	seen, err := history(r)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	for i, c := range p.commits {
		if !seen[c] {
			return fmt.Errorf("commit %d of %d, %s, is lost", i, len(p.commits), c)
		}
	}
	kept := make(map[ipld.CID]bool)
	for e, err := range r.SessionLog(ctx, repo.DefaultSession) {
		if errors.Is(err, store.ErrNotFound) && len(p.receipts) == 0 {
			break
		}
		if err != nil {
			return fmt.Errorf("session: %w", err)
		}
		kept[e.Record.Receipt] = true
	}
	for i, c := range p.receipts {
		if !kept[c] {
			return fmt.Errorf("receipt %d of %d, %s, is lost", i, len(p.receipts), c)
		}
	}
	st, err := r.Status(ctx, "")
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	if !st.Staged {
		if p.staged > 0 && len(seen) <= len(p.commits) {
			return fmt.Errorf("%d staged edits are lost", p.staged)
		}
		return nil
	}
	nodes, _, err := st.Diff.Count(ctx)
	if err == nil && nodes.Added < p.staged {
		err = fmt.Errorf("%d nodes are staged of %d", nodes.Added, p.staged)
	}
	return err
}

// clean returns an error that tells what fsck finds.
func clean(r *repo.Repo) error {
	report, err := r.Fsck(context.Background(), repo.FsckOptions{Full: true})
	if err != nil {
		return fmt.Errorf("fsck: %w", err)
	}
	for _, e := range report.Errors {
		err = errors.Join(err, fmt.Errorf("fsck: %s %s: %s", e.Kind, e.CID, e.Message))
	}
	return err
}

// goOn replays the session, commits and asks for what was committed.
func goOn(r *repo.Repo) error {
	ctx := context.Background()
	res, err := r.Replay(ctx, repo.DefaultSession)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return fmt.Errorf("replay: %w", err)
	case !res.Identical:
		return fmt.Errorf("replay: %+v", res.First)
	}
	if _, err := tryLines(r, `{"node":{"key":"after","type":"Note","summary":"zebra"}}`); err != nil {
		return fmt.Errorf("going on: %w", err)
	}
	s, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		return err
	}
	answer, err := s.Retrieve(ctx, retrieve.Request{Text: "zebra"})
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
	rng := rand.New(rand.NewPCG(crashSeed, 0))
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
					crashSeed, op.N, op.Kind, op.Path, percent, err)
			}
		}
		return nil
	})
	if err := crashWork(fsys, &l, 25); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d changes, power cut at %d: %v", fsys.Ops(), points, kinds)
	if p := l.read(); points < least || len(p.commits) != 26 || len(p.receipts) != 12 {
		t.Errorf("%d points tested, %d commits, %d receipts", points, len(p.commits), len(p.receipts))
	}
	if err := checkCrashed(fsys.Clone(0, nil), l.read()); err != nil {
		t.Errorf("at the end: %v", err)
	}
}

// TestCrashWithinRecovery cuts power again while what a power cut left is opened and written.
func TestCrashWithinRecovery(t *testing.T) {
	t.Parallel()
	stride := effort.Pick(73, 37, 5)
	rng := rand.New(rand.NewPCG(crashSeed, 1))
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
					crashSeed, op.N, inner.N, inner.Kind, inner.Path, err)
			}
			return nil
		})
		if err := checkCrashed(second, p); err != nil {
			t.Errorf("seed %d, change %d: %v", crashSeed, op.N, err)
		}
		return nil
	})
	if err := crashWork(fsys, &l, 12); err != nil {
		t.Fatal(err)
	}
	if points < 8 {
		t.Errorf("%d points tested", points)
	}
}
