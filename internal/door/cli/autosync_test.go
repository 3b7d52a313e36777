package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// TestAutoSyncStarts checks which commands start a background process: those that write to a repository whose user
// turned it on.
func TestAutoSyncStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var started [][]string
	app := func(in string) *line.App {
		a := program.In(filepath.Join(dir, in), nil, nil)
		a.Config = filepath.Join(dir, "config")
		a.Detach = func(args ...string) error { started = append(started, args); return nil }
		return a
	}
	starts := func(want int, in string, args ...string) {
		t.Helper()
		started = nil
		if program.Ran(t, app(in), args...); len(started) != want {
			t.Errorf("mnem %q started %q, want %d processes", args, started, want)
		}
	}
	starts(0, "", "init", "hub")
	starts(0, "", "clone", "hub", "a")
	starts(0, "a", "remember", "before")
	starts(1, "a", "sync", "--auto", "1m", "--conflicts", "newest")
	starts(1, "a", "remember", "Alice leads infra")
	if want := []string{"sync", "--auto", "run", "--quiet", "--repo", filepath.Join(dir, "a")}; !slices.Equal(started[0], want) {
		t.Errorf("started %q, want %q", started[0], want)
	}
	for _, args := range [][]string{{"recall", "infra"}, {"log"}, {"status"}, {"remember", "--dry-run", "x"}, {"sync"}} {
		starts(0, "a", args...)
	}

	// A copy that came from elsewhere syncs nothing by itself, whatever its files say.
	must.OK(t, os.CopyFS(filepath.Join(dir, "foreign"), os.DirFS(filepath.Join(dir, "a"))))
	starts(0, "foreign", "remember", "A secret of this machine")
	var errs bytes.Buffer
	foreign := app("foreign")
	foreign.Stdout, foreign.Stderr = &errs, &errs
	if code := cli.Run(t.Context(), foreign, []string{"sync", "--auto", "run"}); code == 0 || !strings.Contains(errs.String(), "--auto on") {
		t.Errorf("exit code %d: %s", code, &errs)
	}

	starts(0, "a", "remote", "rm", "origin")
	starts(0, "a", "remember", "after")
	if _, err := os.Stat(filepath.Join(dir, "a", ".mnem", "autosync.json")); !os.IsNotExist(err) {
		t.Errorf("the list of a repository without remotes: %v", err)
	}
	if left, err := os.ReadFile(filepath.Join(dir, "config", "mnem", "autosync")); !os.IsNotExist(err) {
		t.Errorf("the user still agrees to sync %s", left)
	}
}
