package cli_test

import (
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/pgserver"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// TestClient has clients with a made up name, one from the environment and one without any use a repository in a
// database.
func TestClient(t *testing.T) {
	t.Parallel()
	server := pgserver.Start(t)
	at := server.URL("main")
	client := func(name string, env map[string]string) func(code int, args ...string) (out, errs string) {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		random := mathrand.NewChaCha8([32]byte{1: name[0]})
		return func(code int, args ...string) (string, string) {
			t.Helper()
			var out, errs strings.Builder
			app := program.In(dir, &out, &errs)
			app.Rand = random
			app.Data, app.Config = filepath.Join(dir, "data"), filepath.Join(dir, "config")
			if env["home"] == "none" {
				app.Config = ""
			}
			app.Getenv = func(v string) string { return env[v] }
			if got := cli.Run(t.Context(), app, append([]string{"-R", at}, args...)); got != code {
				t.Fatalf("mnem %q: exit code %d, want %d: %s%s", args, got, code, &out, &errs)
			}
			return out.String(), errs.String()
		}
	}
	ada := client("ada", nil)
	bob := client("bob", map[string]string{"MNEM_CLIENT": "bob", "MNEM_AUTHOR": "Bob"})
	ada(0, "init")
	ada(0, "remember", "Ada likes tea")
	ada(0, "switch", "-c", "draft")
	ada(0, "add", "--set", "staged", "--type", "T")
	mine, _ := ada(0, "status")
	if !strings.Contains(mine, "on branch draft") || !strings.Contains(mine, "as client client-") {
		t.Error(mine)
	}
	if again, _ := ada(0, "status"); again != mine {
		t.Errorf("%s\nis not\n%s", again, mine)
	}
	name, _ := ada(0, "config", "get", "client")
	if !strings.Contains(mine, "staged in "+strings.TrimSpace(name)) {
		t.Errorf("%q is not in %s", name, mine)
	}
	for _, who := range []func(int, ...string) (string, string){bob, client("carl", map[string]string{"home": "none", "MNEM_AUTHOR": "Carl"})} {
		st, _ := who(0, "status")
		if !strings.Contains(st, "on branch main") || !strings.Contains(st, "nothing staged") {
			t.Error(st)
		}
		if _, errs := who(1, "undo"); !strings.Contains(errs, "nothing to undo") {
			t.Error(errs)
		}
	}
	emil := client("emil", map[string]string{"XDG_CONFIG_HOME": noDir(t), "MNEM_AUTHOR": "Emil"})
	if st, errs := emil(0, "status"); !strings.Contains(errs, "no name for this client") || strings.Contains(st, "as client") {
		t.Errorf("no remark that no name is kept: %s%s", st, errs)
	}
	for _, args := range [][]string{{"main"}, {"-f", "main"}} { // where those are who went nowhere
		_, errs := ada(1, append([]string{"branch", "-d"}, args...)...)
		if !strings.Contains(errs, "the repository's own HEAD is on it") || strings.Contains(errs, "mnem switch") {
			t.Error(errs)
		}
	}
	if _, errs := ada(1, "branch", "-d", "draft"); !strings.Contains(errs, ": HEAD is on it") {
		t.Error(errs)
	}
	ada(0, "reset")
	bob(0, "remember", "Bob likes coffee")
	ada(0, "undo") // of the reset, which is not the newest operation of all
	if st, _ := ada(0, "status"); !strings.Contains(st, "staged in ") {
		t.Error(st)
	}
	if list, _ := bob(0, "ls"); !strings.Contains(list, "coffee") {
		t.Error(list)
	}
	for _, bad := range []string{"a/b", "a b", strings.Repeat("x", 65), ".x"} {
		if _, errs := client("dora", map[string]string{"MNEM_CLIENT": bad})(1, "status"); !strings.Contains(errs, "client") {
			t.Errorf("%q: %s", bad, errs)
		}
		if _, errs := ada(1, "config", "set", "client", bad); errs == "" {
			t.Error("a bad name is kept")
		}
	}
	if _, errs := ada(0, "serve", "token", "new", "bot", "--scope", "write"); !strings.Contains(errs, "MNEM_AUTHOR") {
		t.Error(errs)
	}
	for _, args := range [][]string{{"--scope", "write", "--author", "Bot"}, {"--scope", "read"}} {
		if _, errs := ada(0, append([]string{"serve", "token", "new", "bot" + args[1]}, args...)...); strings.Contains(errs, "MNEM_AUTHOR") {
			t.Error(errs)
		}
	}
	endMerge(t, ada, client)
	dir := t.TempDir()
	program.Ran(t, program.In(dir, io.Discard, io.Discard), "init")
	if st := program.Ran(t, program.In(dir, io.Discard, io.Discard), "status"); strings.Contains(st, "client") {
		t.Errorf("a repository on disk knows clients: %s", st)
	}
}

// noDir returns the path of a directory that no user can make.
func noDir(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join("none", "there"), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// endMerge has a client purge what a merge of another one has, which is gone.
func endMerge(
	t *testing.T, ada func(int, ...string) (string, string),
	client func(string, map[string]string) func(int, ...string) (string, string),
) {
	t.Helper()
	eve := client("eve", map[string]string{"MNEM_CLIENT": "eve", "MNEM_AUTHOR": "Eve"})
	write := func(branch, summary string) {
		eve(0, "add", "--set", "odd", "--type", "T", "summary="+summary, "--branch", branch)
		eve(0, "commit", "-m", summary)
	}
	eve(0, "switch", "-c", "odd")
	write("odd", "one")
	eve(0, "branch", "other")
	write("odd", "two")
	write("other", "three")
	eve(5, "merge", "other")
	if _, errs := ada(1, "branch", "-d", "odd"); !strings.Contains(errs, "a merge of client eve is in progress on it") {
		t.Error(errs)
	}
	for _, args := range [][]string{{"--dry-run"}, {"--yes"}} {
		_, errs := ada(5, append([]string{"purge", "odd"}, args...)...)
		if !strings.Contains(errs, "a merge of client eve is in progress on branch odd") ||
			!strings.Contains(errs, "'MNEM_CLIENT=eve mnem merge --abort --branch odd'") {
			t.Error(errs)
		}
	}
	if _, errs := eve(5, "purge", "odd", "--yes"); strings.Contains(errs, "eve") {
		t.Error(errs)
	}
	eve(0, "switch", "main")
	eve = client("eve again", map[string]string{"MNEM_CLIENT": "eve", "MNEM_AUTHOR": "Eve"})
	eve(0, "merge", "--abort", "--branch", "odd")
	ada(0, "purge", "odd", "--yes")
}
