package cli_test

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// withoutRepo are the verbs that need no repository.
var withoutRepo = []string{
	"init", "config_get", "config_list", "config_secrets", "integrate", "demo", "version", "doctor", "mcp", "clone", "key_new",
	"key_list", "key_show", "key_export", "key_import", "key_rm", "key_trust", "key_revoke",
}

// TestWithoutRepository calls every verb if there is no repository: each says so, whatever else is missing, and none makes
// one.
func TestWithoutRepository(t *testing.T) {
	dir := t.TempDir()
	calls := allFree()
	maps.Copy(calls, governed)
	maps.DeleteFunc(calls, func(name string, _ minimal) bool {
		verb, _, _ := strings.Cut(name, " ")
		return slices.Contains(withoutRepo, verb)
	})
	must.Require(t, len(calls) >= 60, "only %d calls", len(calls))
	for _, env := range []map[string]string{{}, {"MNEM_AUTHOR": "Ada"}, {"MNEM_REPO": dir}} {
		for _, call := range calls {
			app := program.In(dir, io.Discard, io.Discard)
			app.Stdin, app.Getenv = strings.NewReader(newNode), func(name string) string { return env[name] }
			exit, _, errs := code(t, app, strings.Fields(strings.ReplaceAll(call.words, "REMOTE", "origin"))...)
			if exit != 3 || !strings.Contains(errs, "no repository") || !strings.Contains(errs, "hint: ") {
				t.Errorf("mnem %s with %v: exit code %d: %s", call.words, env, exit, errs)
			}
		}
	}
}
