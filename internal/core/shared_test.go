package core_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/postgres"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// TestWriterProcess is no test but a process of TestManyProcesses.
func TestWriterProcess(t *testing.T) {
	at, name := os.Getenv(repokit.WriterEnv), os.Getenv(repokit.WriterName)
	if at == "" {
		t.Skip("a process of another test")
	}
	dir := t.TempDir()
	repokit.LinkDatabase(t, dir, at)
	r := must.Get(care.Open(dir, core.Options{Wait: 20 * time.Second}))(t)
	for n := range repokit.SharedCommits {
		key := fmt.Sprintf("%s-%d", name, n)
		line := fmt.Sprintf(`{"node":{"key":%q,"type":"fact","summary":%q}}`, key, "what "+key+" says")
		must.Get(repokit.TryLines(r, line+"\n"))(t, "commit ", key)
		fmt.Println("made", key)
	}
	must.OK(t, r.Close())
}

// disturb ends the server's processes of clients at random, and returns how many in the end.
func disturb(t *testing.T, ctx context.Context, at string) *int {
	t.Helper()
	config, _, err := postgres.Parse(at)
	must.OK(t, err)
	config.RuntimeParams["application_name"] = "disturber"
	c := must.Get(pgconn.ConnectConfig(t.Context(), config))(t)
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
	must.OK(t, c.Close(t.Context()))
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
	repokit.LinkDatabase(t, dir, at)
	var tick atomic.Int64
	clock := func() graph.Time { return repokit.By.Time + graph.Time(tick.Add(1_000_000)) }
	r, err := care.Init(ctx, dir, repokit.By, core.Options{Wait: 10 * time.Second, Now: clock})
	must.OK(t, err)
	psql(t, at, "UPDATE mnem.repository SET lease = '1 second'")
	must.OK(t, r.Close())
	if r, err = care.Open(dir, core.Options{Wait: 10 * time.Second, Now: clock}); err != nil { // with that lease
		t.Fatal(err)
	}
	repokit.Lines(t, r, `{"node":{"key":"first","type":"fact","summary":"what was there first"}}`+"\n")
	pinned := repokit.Head(t, r)
	repokit.Lines(t, r, `{"remove":{"node":"first"}}`+"\n")

	disturbing, calm := context.WithCancel(ctx)
	var beside sync.WaitGroup
	var ended *int
	beside.Go(func() { ended = disturb(t, disturbing, at) })
	removed := 0
	beside.Go(func() {
		for disturbing.Err() == nil {
			res, err := care.GC(ctx, r, care.GCOptions{Stamp: repokit.By, KeepOps: 3})
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

	must.Equal(t, len(made), repokit.SharedWriters*repokit.SharedCommits, "commits were acknowledged")
	now := repokit.Head(t, r)
	for key := range made {
		must.Get(now.Name(ctx, key))(t, "acknowledged and not there: ", key)
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
		c = must.Get(r.At(ctx, parents[0]))(t)
	}
	if want := repokit.SharedWriters*repokit.SharedCommits + 1; commits != want {
		t.Errorf("%d commits before the newest, want %d", commits, want)
	}
	must.Get(pinned.Name(ctx, "first"))(t, "a reader pinned before")
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
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
	for n := range repokit.SharedWriters {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestWriterProcess$")
		cmd.Env = append(os.Environ(), repokit.WriterEnv+"="+server.Cut(t, "many", 60_000, uint64(n)), repokit.WriterName+"="+fmt.Sprint("w", n))
		out := must.Get(cmd.StdoutPipe())(t)
		var all strings.Builder
		must.OK(t, cmd.Start())
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
	must.OK(t, err)
	c, err := pgconn.ConnectConfig(t.Context(), config)
	if err == nil {
		_, err = c.Exec(t.Context(), sql).ReadAll()
		err = errors.Join(err, c.Close(t.Context()))
	}
	must.OK(t, err)
}

// TestChangesAreAppliedAgain gives a commit changes that can be read once, and moves the head under it.
func TestChangesAreAppliedAgain(t *testing.T) {
	t.Parallel()
	server := pgserver.Start(t)
	dir := t.TempDir()
	repokit.LinkDatabase(t, dir, server.URL("anew"))
	r := must.Get(care.Init(t.Context(), dir, repokit.By, core.Options{Wait: 10 * time.Second}))(t)
	t.Cleanup(func() {
		repokit.CheckClean(t, r)
		must.OK(t, r.Close())
	})
	read := 0
	changes := func(yield func(graph.Change, error) bool) {
		for c, err := range state.ReadChanges(strings.NewReader(`{"node":{"key":"a","type":"fact","summary":"one"}}
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
	res, err := r.Commit(t.Context(), changes, core.CommitOptions{Stamp: repokit.By, Message: "test"})
	must.Check(t, err == nil && read == 2 && res.Nodes.Added == 2, "%+v, %v, %d changes read", res, err, read)
	must.Check(t, res.Commit != ipld.CID{}, "no commit")
}
