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
			one.Stdout, one.Stderr = io.Discard, io.Discard
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

// TestSettingsAtOnce writes each kind of file from many command lines at once: whatever was
// acknowledged is there.
func TestSettingsAtOnce(t *testing.T) {
	dir := newRepo(t)
	app := program.In(dir, io.Discard, io.Discard)
	app.Config = filepath.Join(dir, "user")
	for _, level := range [][]string{nil, {"--user"}} {
		var lines [][]string
		for key, value := range settings {
			lines = append(lines, append([]string{"config", "set", key, value}, level...))
		}
		for i, code := range atOnce(t, app, lines...) {
			must.Equal(t, code, 0, "mnem ", lines[i], ": exit code")
		}
		for key, want := range settings {
			if got := program.Ran(t, app, append([]string{"config", "get", key}, level...)...); got != want+"\n" {
				t.Errorf("%s %v is %q, want %q", key, level, got, want)
			}
		}
		var unset [][]string
		for key := range settings {
			if key != "author" {
				unset = append(unset, append([]string{"config", "unset", key}, level...))
			}
		}
		atOnce(t, app, unset...)
		for key := range settings {
			one := *app
			got := atOnce(t, &one, append([]string{"config", "get", key, "--user"}, level...))
			if level != nil && (got[0] == 0) != (key == "author") {
				t.Errorf("after unset, get %s ends with %d", key, got[0])
			}
		}
	}

	same := []string{"serve", "token", "new", "same"}
	made := 0
	for _, code := range atOnce(t, app, same, same, same, same, same, same) {
		if code == 0 {
			made++
		}
	}
	if list := program.Ran(t, app, "serve", "token", "list"); made != 1 || strings.Count(list, "\n") != 1 {
		t.Errorf("%d tokens of one name were made: %s", made, list)
	}

	var keys [][]string
	for i := range 8 {
		keys = append(keys, []string{"key", "new", fmt.Sprintf("k%d", i)})
	}
	for i, code := range atOnce(t, app, keys...) {
		must.Equal(t, code, 0, "mnem ", keys[i], ": exit code")
	}
	if list := program.Ran(t, app, "key", "list"); strings.Count(list, " trusted") != len(keys) {
		t.Errorf("not all keys are trusted:\n%s", list)
	}

	policy := []string{"config", "policy", "--write"}
	made = 0
	for _, code := range atOnce(t, app, policy, policy, policy, policy) {
		if code == 0 {
			made++
		}
	}
	must.Equal(t, made, 1, "policies were made")
}
