package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// TestDatabaseRoles: a role that lacks rights in a database is told which, and not that there is no room; and init says
// the same of a free name and of one that is taken by others.
func TestDatabaseRoles(t *testing.T) {
	t.Parallel()
	server := pgserver.Start(t)
	run := func(role, name string, code int, args ...string) (out, errs string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), role)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr strings.Builder
		app := program.In(dir, &stdout, &stderr)
		app.Data, app.Config = filepath.Join(dir, "data"), filepath.Join(dir, "config")
		at := strings.Replace(server.URL(name), "mnem@", role+"@", 1)
		app.Getenv = func(v string) string { return map[string]string{"MNEM_AUTHOR": role, "MNEM_CLIENT": role}[v] }
		if got := cli.Run(t.Context(), app, append([]string{"-R", at}, args...)); got != code {
			t.Errorf("%s: mnem %q: exit code %d, want %d: %s%s", role, args, got, code, &stdout, &stderr)
		}
		if role != "mnem" {
			for _, wrong := range []string{"no room", "already exists", "mnem status"} {
				if strings.Contains(stdout.String()+stderr.String(), wrong) && code == 7 {
					t.Errorf("%s: mnem %q says %q: %s%s", role, args, wrong, &stdout, &stderr)
				}
			}
		}
		return stdout.String(), stderr.String()
	}
	says := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in %s", w, text)
			}
		}
	}
	run("mnem", "team", 0, "init")
	run("mnem", "team", 0, "remember", "The secret is tangerine")
	sql(t, server.URL("team"), `CREATE ROLE agents; CREATE ROLE bob LOGIN IN ROLE agents; CREATE ROLE eve LOGIN;
		CREATE ROLE reader LOGIN IN ROLE agents; CREATE ROLE stranger LOGIN; CREATE ROLE viewer LOGIN;
		GRANT USAGE ON SCHEMA mnem TO agents, eve, viewer;
		GRANT SELECT ON ALL TABLES IN SCHEMA mnem TO agents, eve, viewer;
		GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mnem TO bob, eve;
		UPDATE mnem.repository SET owner = 'agents'`)

	// One that may read alone.
	says(first(run("reader", "team", 0, "ls")), "tangerine")
	_, errs := run("reader", "team", 7, "remember", "The build takes four minutes")
	says(errs, `role "reader"`, "permission denied for table", "42501", "docs/servers.md")
	_, errs = run("reader", "team", 7, "remember", "The build takes four minutes", "--json")
	says(errs, `"refused"`)

	// One that sees the repository is told that it exists, and may link a directory to it, whatever it may create.
	_, errs = run("reader", "team", 1, "init")
	says(errs, "already exists")
	run("reader", "team", 0, "init", "notes")

	// Others are told the same of a free name and of one that is taken.
	for role, reason := range map[string]string{
		"viewer": "permission denied for table repository", "stranger": "permission denied for schema mnem",
	} {
		for _, dir := range [][]string{nil, {"notes"}} {
			_, taken := run(role, "team", 7, append([]string{"init"}, dir...)...)
			_, free := run(role, "tear", 7, append([]string{"init"}, dir...)...)
			says(taken, `role "`+role+`"`, reason)
			_, taken, _ = strings.Cut(taken, "role ") // before it are paths
			_, free, _ = strings.Cut(free, "role ")
			if taken == "" || strings.ReplaceAll(taken, "team", "tear") != free {
				t.Errorf("%s: a name that is taken: %s\na free one: %s", role, taken, free)
			}
		}
	}
	for _, args := range [][]string{{"init"}, {"init", "notes"}} {
		_, errs = run("eve", "team", 7, args...)
		says(errs, `role "eve"`, `may neither use repository "team" nor create it`)
	}
	run("eve", "own", 0, "init")
	run("eve", "own", 1, "init")
	run("viewer", "team", 3, "status")

	// One that does not own the tables erases, but for the bytes in the tables.
	id, _, _ := strings.Cut(first(run("bob", "team", 0, "ls")), " ")
	out, _ := run("bob", "team", 0, "purge", id, "--yes")
	says(out, "redacted", "erasure pending: role \"bob\"", `"fact"`, "the role that owns the tables")
	out, _ = run("bob", "team", 0, "ls")
	if strings.Contains(out, "tangerine") {
		t.Error(out)
	}
	run("bob", "team", 0, "gc")
	run("bob", "team", 0, "remember", "It goes on")
	const pending = "EXISTS (SELECT FROM mnem.repository WHERE note IS NOT NULL)"
	sql(t, server.URL("team"), "DO $$ BEGIN ASSERT "+pending+"; END $$")
	run("mnem", "team", 0, "gc")
	sql(t, server.URL("team"), "DO $$ BEGIN ASSERT NOT "+pending+"; END $$")
}

func first(out, _ string) string { return out }

// sql runs statements as the role of a URL.
func sql(t *testing.T, at, statements string) {
	t.Helper()
	host, _, _ := strings.Cut(strings.TrimPrefix(at, "postgres://mnem@/postgres?host="), "&")
	config, err := pgconn.ParseConfig("postgres://mnem@/postgres?host=" + host)
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }() // it did what it should
	if _, err := c.Exec(t.Context(), statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
}
