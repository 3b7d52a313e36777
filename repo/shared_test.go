package repo_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
	"github.com/mnem-project/mnem/store/postgres"
)

const (
	// databaseEnv makes the tests of a process that openMem keep their repositories in a database.
	databaseEnv = "MNEM_TEST_DATABASE"
	// writerEnv makes a process one that commits into the repository in a database and says so, writerName that
	// of its commits.
	writerEnv, writerName = "MNEM_TEST_WRITER", "MNEM_TEST_WRITER_NAME"

	sharedWriters, sharedCommits = 8, 25
)

var databases atomic.Int64

// anyStore returns an empty store in memory, or in the database that the environment names.
func anyStore(t testing.TB) store.Store {
	t.Helper()
	at := os.Getenv(databaseEnv)
	if at == "" {
		return mem.New()
	}
	st, err := postgres.Open(t.Context(), postgres.Options{
		URL: fmt.Sprintf("%s%d-%d", at, os.Getpid(), databases.Add(1)), Create: true, Wait: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestOnDatabase runs tests of this package on repositories in a database.
func TestOnDatabase(t *testing.T) {
	if os.Getenv(databaseEnv) != "" {
		t.Skip("runs other tests of this package")
	}
	t.Parallel() // in a process of its own
	server := pgserver.Start(t)
	counted := effort.Pick("^TestMerge(Laws|Work)$", "", "") // of work and of results, wherever the blocks are
	cmd := exec.Command(os.Args[0], "-test.v", "-test.skip", counted, "-test.run", "^("+strings.Join([]string{
		"TestModel", "TestHistories", "TestMerge.*", "TestUndo.*", "TestRevert.*", "TestStage.*", "TestSession.*",
		"TestResolve.*", "TestCommit.*", "TestBranch.*", "TestWatch.*", "TestDecide.*", "TestImport.*", "TestPurge.*", "TestRedact.*", "TestRecord.*",
	}, "|")+")$")
	cmd.Env = append(os.Environ(), databaseEnv+"="+server.URL("t"))
	out, err := cmd.CombinedOutput()
	passed := len(regexp.MustCompile(`(?m)^--- PASS`).FindAll(out, -1))
	if err != nil || passed < 20 {
		t.Errorf("%d passed: %v\n%s", passed, err, out)
	}
	t.Logf("%d tests passed on a database", passed)
}

// TestWriterProcess is no test but a process of TestManyProcesses.
func TestWriterProcess(t *testing.T) {
	at, name := os.Getenv(writerEnv), os.Getenv(writerName)
	if at == "" {
		t.Skip("a process of another test")
	}
	dir := t.TempDir()
	linkDatabase(t, dir, at)
	r, err := repo.Open(dir, repo.Options{Wait: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for n := range sharedCommits {
		key := fmt.Sprintf("%s-%d", name, n)
		line := fmt.Sprintf(`{"node":{"key":%q,"type":"fact","summary":%q}}`, key, "what "+key+" says")
		if _, err := tryLines(r, line+"\n"); err != nil {
			t.Fatalf("commit %s: %v", key, err)
		}
		fmt.Println("made", key)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func linkDatabase(t *testing.T, dir, at string) {
	t.Helper()
	if err := os.MkdirAll(dir+"/"+repo.DirName, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(repo.LinkFile(dir), []byte(at+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// disturb ends the server's processes of clients at random, and returns how many in the end.
func disturb(t *testing.T, ctx context.Context, at string) *int {
	t.Helper()
	config, _, err := postgres.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["application_name"] = "disturber"
	c, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ended := new(int)
	for ctx.Err() == nil {
		res, err := c.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "+
			"WHERE application_name = 'mnem' ORDER BY random() LIMIT 2").ReadAll()
		if err != nil {
			t.Error(err)
			break
		}
		*ended += len(res[0].Rows)
		time.Sleep(40 * time.Millisecond)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return ended
}

// TestManyProcesses has processes commit at the same time, while the server's processes for them are ended,
// connections are cut at random bytes, garbage is collected and a reader reads what it found in the beginning.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	server := pgserver.Start(t)
	ctx := t.Context()
	at := server.URL("many")
	dir := t.TempDir()
	linkDatabase(t, dir, at)
	var tick atomic.Int64
	clock := func() graph.Time { return by.Time + graph.Time(tick.Add(1_000_000)) }
	r, err := repo.Init(ctx, dir, by, repo.Options{Wait: 10 * time.Second, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	psql(t, at, "UPDATE mnem.repository SET lease = '1 second'")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err = repo.Open(dir, repo.Options{Wait: 10 * time.Second, Now: clock}); err != nil { // with that lease
		t.Fatal(err)
	}
	lines(t, r, `{"node":{"key":"first","type":"fact","summary":"what was there first"}}`+"\n")
	pinned := head(t, r)
	lines(t, r, `{"remove":{"node":"first"}}`+"\n")

	disturbing, calm := context.WithCancel(ctx)
	var beside sync.WaitGroup
	var ended *int
	beside.Go(func() { ended = disturb(t, disturbing, at) })
	removed := 0
	beside.Go(func() {
		for disturbing.Err() == nil {
			res, err := r.GC(ctx, repo.GCOptions{Stamp: by, KeepOps: 3})
			if err != nil {
				t.Errorf("gc: %v", err)
				return
			}
			removed += res.Blocks
			time.Sleep(300 * time.Millisecond)
		}
	})
	made := writers(t, server)
	calm()
	beside.Wait()

	if len(made) != sharedWriters*sharedCommits {
		t.Errorf("%d commits were acknowledged, want %d", len(made), sharedWriters*sharedCommits)
	}
	now := head(t, r)
	for key := range made {
		if _, err := now.Name(ctx, key); err != nil {
			t.Errorf("acknowledged and not there: %s: %v", key, err)
		}
	}
	commits := 0
	for c := now; c.CID().Defined(); commits++ {
		parents := c.Commit().Parents
		if len(parents) > 1 {
			t.Errorf("commit %s has %d parents", c.CID(), len(parents))
		}
		if len(parents) == 0 {
			break
		}
		if c, err = r.At(ctx, parents[0]); err != nil {
			t.Fatal(err)
		}
	}
	if want := sharedWriters*sharedCommits + 1; commits != want {
		t.Errorf("%d commits before the newest, want %d", commits, want)
	}
	if _, err := pinned.Name(ctx, "first"); err != nil {
		t.Errorf("a reader pinned before: %v", err)
	}
	checkClean(t, r)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if removed == 0 || *ended == 0 {
		t.Errorf("%d blocks were collected, %d connections ended", removed, *ended)
	}
	t.Logf("%d acknowledged, %d connections ended by the server, %d blocks collected", len(made), *ended, removed)
}

// writers runs the processes that write and returns what they say that they made.
func writers(t *testing.T, server *pgserver.Server) map[string]bool {
	t.Helper()
	made := make(map[string]bool)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for n := range sharedWriters {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestWriterProcess$")
		cmd.Env = append(os.Environ(), writerEnv+"="+server.Cut(t, "many", 60_000, uint64(n)), writerName+"="+fmt.Sprint("w", n))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				all.WriteString(lines.Text() + "\n")
				if key, ok := strings.CutPrefix(lines.Text(), "made "); ok {
					mu.Lock()
					made[key] = true
					mu.Unlock()
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("writer %d: %v\n%s", n, err, all.String())
			}
		})
	}
	wg.Wait()
	return made
}

func psql(t *testing.T, at, sql string) {
	t.Helper()
	config, _, err := postgres.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgconn.ConnectConfig(t.Context(), config)
	if err == nil {
		_, err = c.Exec(t.Context(), sql).ReadAll()
		err = errors.Join(err, c.Close(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestChangesAreAppliedAnew gives a commit changes that can be read once, and moves the head under it.
func TestChangesAreAppliedAnew(t *testing.T) {
	t.Parallel()
	server := pgserver.Start(t)
	dir := t.TempDir()
	linkDatabase(t, dir, server.URL("anew"))
	r, err := repo.Init(t.Context(), dir, by, repo.Options{Wait: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		checkClean(t, r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	read := 0
	changes := func(yield func(graph.Change, error) bool) {
		for c, err := range repo.ReadChanges(strings.NewReader(`{"node":{"key":"a","type":"fact","summary":"one"}}
{"node":{"key":"b","type":"fact","summary":"two"}}
`), "test.jsonl") {
			if read++; read == 2 { // another process, which the turn does not hold
				psql(t, server.URL("anew"), "UPDATE mnem.repository SET epoch = epoch + 1")
			}
			if !yield(c, err) {
				return
			}
		}
	}
	res, err := r.Commit(t.Context(), changes, repo.CommitOptions{Stamp: by, Message: "test"})
	if err != nil || read != 2 || res.Nodes.Added != 2 {
		t.Errorf("%+v, %v, %d changes read", res, err, read)
	}
	if (res.Commit == ipld.CID{}) {
		t.Error("no commit")
	}
}
