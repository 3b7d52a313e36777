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
	if err := os.CopyFS(filepath.Join(dir, "foreign"), os.DirFS(filepath.Join(dir, "a"))); err != nil {
		t.Fatal(err)
	}
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

// TestAutoSyncRefuses gives what makes no sense.
func TestAutoSyncRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program.Ran(t, program.In(dir, nil, nil), "init", "hub")
	program.Ran(t, program.In(dir, nil, nil), "clone", "hub", "a")
	list := filepath.Join(dir, "a", ".mnem", "autosync.json")
	for _, c := range []struct {
		args []string
		file string // autosync.json
		says string
	}{
		{[]string{"sync", "--auto", "maybe"}, "", "maybe"},
		{[]string{"sync", "--auto", "1ms"}, "", "from 1s to 24h"},
		{[]string{"sync", "--auto", "48h"}, "", "from 1s to 24h"},
		{[]string{"sync", "--auto", "on", "--dry-run"}, "", "dry-run"},
		{[]string{"sync", "nowhere", "--auto", "on"}, "", "nowhere"},
		{[]string{"sync", "--auto", "on", "--conflicts", "both"}, "", "both"},
		{[]string{"status"}, `{"remote":"origin"}`, "autosync.json"},
		{[]string{"status"}, `[{"remote":"origin","every":"1m"}] []`, "more than one"},
		{[]string{"status"}, `[{"remote":"../x","every":"1m"}]`, "autosync.json"},
		{[]string{"status"}, `[{"remote":"origin","every":"0s"}]`, "every"},
		{[]string{"status"}, `[{"remote":"origin","every":"1m","conflicts":"both"}]`, "both"},
		{[]string{"status"}, `[{"remote":"origin","every":"1m","run":"rm"}]`, "run"},
	} {
		var out bytes.Buffer
		app := program.In(filepath.Join(dir, "a"), &out, &out)
		app.Config = filepath.Join(dir, "config")
		if c.file != "" {
			if err := os.WriteFile(list, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code := cli.Run(t.Context(), app, c.args)
		if code == 0 || !strings.Contains(out.String(), c.says) {
			t.Errorf("mnem %q with %q: exit code %d, want an error with %q\n%s", c.args, c.file, code, c.says, &out)
		}
		if _, err := os.Stat(list); c.file == "" && !os.IsNotExist(err) {
			t.Errorf("mnem %q wrote the list: %v", c.args, err)
		}
	}
}
