package cli_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// atOnce runs command lines at the same time and returns their exit codes.
func atOnce(t *testing.T, app *line.App, lines ...[]string) []int {
	t.Helper()
	codes := make([]int, len(lines))
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i, line := range lines {
		wg.Go(func() {
			one := *app
			one.Stdin, one.Stdout, one.Stderr = strings.NewReader(""), io.Discard, io.Discard
			one.Rand = rand.NewChaCha8([32]byte{byte(i)})
			<-start
			codes[i] = cli.Run(t.Context(), &one, line)
		})
	}
	close(start)
	wg.Wait()
	return codes
}

// settings are a value for each of some keys, security ones among them.
var settings = map[string]string{
	"author": "Ada", "wait": "9s", "sign": "false", "key": "work", "require-signed": "import",
	"gc.keepOps": "77", "gc.grace": "400h",
}

// allAtOnce runs command lines at the same time, which must all succeed.
func allAtOnce(t *testing.T, app *line.App, lines ...[]string) {
	t.Helper()
	for i, code := range atOnce(t, app, lines...) {
		must.Equal(t, code, 0, "mnem ", lines[i], ": exit code")
	}
}

// TestSettingsAtOnce writes each kind of file from many command lines at once: whatever was
// acknowledged is there.
func TestSettingsAtOnce(t *testing.T) {
	dir := newRepo(t)
	app := program.In(dir, io.Discard, io.Discard)
	app.Config = filepath.Join(dir, "user")
	for _, level := range [][]string{nil, {"--user"}} {
		var set, unset [][]string
		for key, value := range settings {
			set = append(set, append([]string{"config", "set", key, value}, level...))
			unset = append(unset, append([]string{"config", "unset", key}, level...))
		}
		allAtOnce(t, app, set...)
		for key, want := range settings {
			got := program.Ran(t, app, append([]string{"config", "get", key}, level...)...)
			must.Equal(t, got, want+"\n", key, " ", level)
		}
		allAtOnce(t, app, unset...)
	}
	list := program.Ran(t, app, "config", "list", "--json")
	must.True(t, !strings.Contains(list, `"from":"repository"`) && !strings.Contains(list, `"from":"user"`), "not unset: %s", list)

	once := func(args ...string) {
		t.Helper()
		made := 0
		for _, code := range atOnce(t, app, args, args, args, args, args, args) {
			if code == 0 {
				made++
			}
		}
		must.Equal(t, made, 1, "mnem ", args, " succeeds")
	}
	once("serve", "token", "new", "same")
	must.Equal(t, strings.Count(program.Ran(t, app, "serve", "token", "list"), "\n"), 1, "tokens")
	once("config", "policy", "--write")
	var keys [][]string
	for i := range 8 {
		keys = append(keys, []string{"key", "new", fmt.Sprintf("k%d", i)})
	}
	allAtOnce(t, app, keys...)
	must.Equal(t, strings.Count(program.Ran(t, app, "key", "list"), " trusted"), len(keys), "trusted keys")
}

// TestReviewsAtOnce has several people decide at once, through the process that has the repository open: what each kept
// is kept.
func TestReviewsAtOnce(t *testing.T) {
	dir := newRepo(t)
	app := program.In(dir, io.Discard, io.Discard)
	var nodes strings.Builder
	var lines [][]string
	for i := range 24 {
		fmt.Fprintf(&nodes, `{"node":{"key":"n%d","type":"Fact","summary":"Note %d."}}`+"\n", i, i)
		lines = append(lines, []string{"review", "--keep", fmt.Sprintf("n%d", i)})
	}
	app.Stdin = strings.NewReader(nodes.String())
	program.Ran(t, app, "commit", "-m", "notes", "-")
	must.Contain(t, program.Ran(t, app, "review", "--json", "--dry-run"), `"left":24`)
	defer held(t, dir)()
	allAtOnce(t, app, lines...)
	must.Contain(t, program.Ran(t, app, "review", "--json"), `"left":0`)
}
