package core_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
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
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
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
	want := repokit.SharedWriters*repokit.SharedCommits + 1
	must.True(t, commits == want, "%d commits before the newest, want %d", commits, want)
	must.Get(pinned.Name(ctx, "first"))(t, "a reader pinned before")
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
	must.True(t, removed != 0 && *ended != 0, "%d blocks were collected, %d connections ended", removed, *ended)
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
			err := cmd.Wait()
			must.True(t, err == nil, "writer %d: %v\n%s", n, err, all.String())
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
	must.True(t, err == nil && read == 2 && res.Nodes.Added == 2, "%+v, %v, %d changes read", res, err, read)
	must.True(t, res.Commit != ipld.CID{}, "no commit")
}

func TestOnDatabase(t *testing.T) { repokit.OnDatabase(t, 4) }

// bulkNodes are as many nodes as the bulk commit into a database is measured with.
const bulkNodes = 100_000

// BenchmarkDatabase makes a repository of many nodes in a database and on disk, and then small commits and retrievals. It
// writes the rows of the first to a table like its own by COPY, which is the least that they can cost.
func BenchmarkDatabase(b *testing.B) {
	server := pgserver.Start(b, "fsync=on")
	var text strings.Builder
	for n := range bulkNodes {
		fmt.Fprintf(&text, `{"node":{"key":"n%d","type":"fact","summary":"node %d of team %d likes %d and hates %d"}}`+"\n",
			n, n, n%97, n*7919%1000, n*104729%5003)
	}
	for n := 0; b.Loop(); n++ {
		at := server.URL(fmt.Sprint("bulk", n))
		dir := b.TempDir()
		must.OK(b, os.MkdirAll(dir+"/"+core.DirName, 0o700))
		must.OK(b, os.WriteFile(core.LinkFile(dir), []byte(at+"\n"), 0o600))
		database := used(b, dir, text.String(), "db")
		used(b, b.TempDir(), text.String(), "disk")
		took, size := copied(b, at)
		b.ReportMetric(took.Seconds(), "copy-s")
		b.ReportMetric(float64(size), "copy-B")
		b.ReportMetric(database.Seconds()/took.Seconds(), "bulk/copy")
	}
}

// used makes a repository in a directory, reports what its use takes, and returns what the first commit did.
func used(b *testing.B, dir, lines, where string) time.Duration {
	r := must.Get(care.Init(b.Context(), dir, repokit.By, core.Options{Wait: 10 * time.Second}))(b)
	timed := func(fn func() error) time.Duration {
		began := time.Now()
		must.OK(b, fn())
		return time.Since(began)
	}
	commit := func(text string) time.Duration {
		return timed(func() error {
			return must.Err(r.Commit(b.Context(), state.ReadChanges(strings.NewReader(text), "x"),
				core.CommitOptions{Stamp: repokit.By, Message: "bench"}))
		})
	}
	retrieve := func(n int) time.Duration {
		return timed(func() error {
			s, err := r.Snapshot(b.Context(), "HEAD")
			if err == nil {
				_, err = rank.Retrieve(b.Context(), s, retrieve.Request{Text: fmt.Sprintf("who of team %d likes %d", n%97, n*31%1000)})
			}
			return err
		})
	}
	bulk := commit(lines)
	var ones, warm []time.Duration
	for n := range 60 {
		ones = append(ones, commit(fmt.Sprintf(`{"node":{"key":"one%d","type":"fact","summary":"one more, %d"}}`, n, n)))
	}
	must.OK(b, r.Close())
	r = must.Get(care.Open(dir, core.Options{Wait: 10 * time.Second}))(b)
	first := retrieve(0)
	for n := range 60 {
		warm = append(warm, retrieve(n))
	}
	must.OK(b, r.Close())
	slices.Sort(ones)
	slices.Sort(warm)
	b.ReportMetric(bulk.Seconds(), where+"-bulk-s")
	for name, d := range map[string]time.Duration{"one": ones[30], "first": first, "warm": warm[30]} {
		b.ReportMetric(float64(d.Microseconds())/1000, where+"-"+name+"-ms")
	}
	return bulk
}

// copied writes the rows of a repository into another table by COPY.
func copied(b *testing.B, at string) (time.Duration, int) {
	config, name, err := postgres.Parse(at)
	must.OK(b, err)
	c := must.Get(pgconn.ConnectConfig(b.Context(), config))(b)
	defer func() { _ = c.Close(b.Context()) }() // it was used
	res := c.ExecParams(b.Context(), "SELECT b.repo, b.cid, b.data FROM mnem.repository r JOIN "+
		"(SELECT repo, cid, data FROM mnem.fact UNION ALL SELECT repo, cid, data FROM mnem.derived) b ON b.repo = r.id "+
		"WHERE r.name = $1", [][]byte{[]byte(name)}, nil, nil, []int16{1}).Read()
	must.OK(b, res.Err)
	var rows bytes.Buffer
	rows.WriteString("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	be := binary.BigEndian
	for _, r := range res.Rows {
		_ = binary.Write(&rows, be, int16(len(r)))
		for _, col := range r {
			_ = binary.Write(&rows, be, int32(len(col)))
			rows.Write(col)
		}
	}
	_ = binary.Write(&rows, be, int16(-1))
	_, err = c.Exec(b.Context(), "DROP TABLE IF EXISTS copied; CREATE TABLE copied (repo integer NOT NULL, cid bytea NOT NULL, "+
		"data bytea NOT NULL, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (repo, cid)); "+
		"ALTER TABLE copied ALTER COLUMN data SET STORAGE EXTERNAL").ReadAll()
	must.Require(b, err == nil, "%v", err)
	size := rows.Len()
	began := time.Now()
	must.Get(c.CopyFrom(b.Context(), &rows, "COPY copied (repo, cid, data) FROM STDIN (FORMAT binary)"))(b)
	return time.Since(began), size
}
