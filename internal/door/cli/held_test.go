package cli_test

import (
	"bufio"
	"context"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
)

// someScripts run in a plain run while the repository is held: of every way in which a
// command line reads, writes, waits, streams and fails.
var someScripts = []string{"branch", "commit", "config", "embed", "exchange", "session", "stage", "undo", "watch"}

// TestScriptsHeld runs scripts, all of them in a long run, while somebody else holds the repository:
// each command line goes through the socket and must print the same bytes.
func TestScriptsHeld(t *testing.T) {
	if *rewrite {
		t.Skip("TestScripts writes what this compares with")
	}
	var by holding
	all := []string{"*"}
	t.Run("all", func(t *testing.T) { runScripts(t, &by, effort.Pick(someScripts, all, all)...) })
	t.Logf("%d commands", by.held.Load())
	some := strings.Contains(flag.Lookup("test.run").Value.String(), "/")
	if n := by.held.Load(); n < 100 && !some {
		t.Errorf("only %d commands were run while the repository was held", n)
	}
}

// holding has somebody hold the repositories of scripts.
type holding struct{ held atomic.Int64 }

// hold holds every repository of a script until release is called.
func (by *holding) hold(ts *testscript.TestScript, like *line.App) (release func()) {
	var stop []func()
	err := filepath.WalkDir(ts.Getenv("WORK"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != core.DirName {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, "db")); err == nil {
			stop = append(stop, by.holdOne(filepath.Dir(path), like))
		}
		return fs.SkipDir
	})
	ts.Check(err)
	return func() {
		for _, f := range stop {
			f()
		}
	}
}

func (by *holding) holdOne(dir string, like *line.App) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	app := *like
	app.Stdin, app.Stdout, app.Stderr = strings.NewReader(""), w, io.Discard
	app.Getenv = func(name string) string {
		if strings.HasPrefix(name, "MNEM_") {
			return "" // it is another process, with an environment of its own
		}
		return like.Getenv(name)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cli.Run(ctx, &app, []string{"hold", "--json", "-R", dir})
		_ = w.Close() // a pipe in memory
	}()
	if line, err := bufio.NewReader(r).ReadString('\n'); err == nil {
		if strings.Contains(line, `"socket":"`) {
			by.held.Add(1)
		}
		go func() { _, _ = io.Copy(io.Discard, r) }() // it says no more
	}
	return func() { cancel(); <-done }
}

// TestDatabaseScripts runs testdata/database: the repository is one of a database, and there are also
//
//	as NAME        goes on as another user of another machine, whose role in the database has that name
//	database NAME  goes on with another repository
//	sql FILE       runs statements as the role that owns the tables
func TestDatabaseScripts(t *testing.T) {
	t.Parallel()
	server := pgserver.Start(t)
	repo := func(ts *testscript.TestScript, name, role string) {
		if name == "" {
			name = "main"
		}
		if role == "" || strings.HasPrefix(ts.Name(), "clients") {
			role = "mnem"
		}
		ts.Setenv("DATABASE", name)
		ts.Setenv("MNEM_REPO", strings.Replace(server.URL(name), "mnem@", role+"@", 1))
	}
	runWorlds(t, "database", map[string]func(*testscript.TestScript, bool, []string){
		"as": func(ts *testscript.TestScript, _ bool, args []string) {
			dir := filepath.Join(ts.Getenv("WORK"), args[0])
			ts.Check(os.MkdirAll(dir, 0o700))
			ts.Check(ts.Chdir(dir))
			ts.Setenv("USER", args[0])
			ts.Setenv("MNEM_AUTHOR", args[0])
			ts.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
			ts.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
			repo(ts, ts.Getenv("DATABASE"), args[0])
		},
		"database": func(ts *testscript.TestScript, _ bool, args []string) { repo(ts, args[0], ts.Getenv("USER")) },
		"sql": func(ts *testscript.TestScript, _ bool, args []string) {
			host, _, _ := strings.Cut(strings.TrimPrefix(server.URL("x"), "postgres://mnem@/postgres?host="), "&")
			config, err := pgconn.ParseConfig("postgres://mnem@/postgres?host=" + host)
			ts.Check(err)
			c, err := pgconn.ConnectConfig(t.Context(), config)
			ts.Check(err)
			defer func() { _ = c.Close(t.Context()) }() // it did what it should
			_, err = c.Exec(t.Context(), ts.ReadFile(args[0])).ReadAll()
			ts.Check(err)
		},
	})
}
