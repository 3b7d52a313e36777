package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mnem-project/mnem/internal/testkit/pgserver"
)

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
