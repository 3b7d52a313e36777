package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// withoutRepo are the commands that need no repository.
var withoutRepo = []string{
	"mnem init", "mnem config get", "mnem config list", "mnem integrate",
	"mnem demo", "mnem version", "mnem completion", "mnem doctor", "mnem help", "mnem mcp",
	"mnem config secrets", "mnem hook", "mnem clone",
}

// someArgs let commands that need arguments reach their repository.
var someArgs = map[string]string{
	"mnem remote readers": "disk",
	"mnem config set":     "wait 9s", "mnem config unset": "wait", "mnem remember": "Alice",
	"mnem commit": "-m x -", "mnem add": "-", "mnem rm": "n",
	"mnem merge": "side", "mnem revert": "HEAD",
	"mnem cherry-pick": "HEAD", "mnem restore": "n", "mnem forget": "n", "mnem mark": "stale n",
	"mnem config half-life": "Note=30", "mnem retrieve": "x", "mnem recall": "x",
	"mnem show": "n", "mnem explore": "x", "mnem blame": "n", "mnem branch": "b",
	"mnem switch": "-c b", "mnem tag": "v1", "mnem op show": "1", "mnem op restore": "1",
	"mnem session start": "s", "mnem session advance": "s", "mnem session end": "s",
	"mnem session log": "s", "mnem session show": "s", "mnem session replay": "s", "mnem export": "-o x.car",
	"mnem import": "-", "mnem serve token new": "t", "mnem serve token revoke": "t", "mnem purge": "n --yes",
	"mnem session rm": "s",
	"mnem pack send":  "--ref refs/heads/main -o x", "mnem pack take": "--set refs/heads/x=any..none",
	"mnem pack redact": "--yes --redactions bafyreih4h5fr4tuwmsbbgqy5gf2cxlo7bnbuoqqbtmtlmmqlmpivlxdr4e=pWF2AWRraW5kaXJlZGFjdGlvbmR0aW1lGwAGCiQYHkAAZHdoYXRkbm9kZWVhY3RvcmNBZGE=",
	"mnem remote add":  "origin hub", "mnem remote rm": "origin",
	"mnem ingest": ".", "mnem pin": "n",
}

// TestWithoutRepository runs every command if there is no repository: each says so, whatever else
// is missing, and none makes one.
func TestWithoutRepository(t *testing.T) {
	w := newWorld(t)
	c := &line.Line{App: w.App}
	var leaves []*cobra.Command
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Runnable() && !cmd.HasSubCommands() && !strings.HasPrefix(cmd.CommandPath(), "mnem key") &&
			!slices.Contains(withoutRepo, cmd.CommandPath()) {
			leaves = append(leaves, cmd)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root(c))
	must.Require(t, len(leaves) >= 60, "only %d commands", len(leaves))
	for _, how := range []struct{ author, dir string }{{"", ""}, {"Ada", ""}, {"", w.Dir}} {
		author := how.author
		w.env["MNEM_AUTHOR"], w.env["MNEM_REPO"] = author, how.dir
		for _, cmd := range leaves {
			path := cmd.CommandPath()
			args := append(strings.Fields(path)[1:], strings.Fields(someArgs[path])...)
			w.Stdin = strings.NewReader(aliceLine)
			w.out.Reset()
			w.err.Reset()
			code := Run(w.ctx, w.App, args)
			if said := w.err.String(); code != 3 ||
				!strings.Contains(said, "no repository") || !strings.Contains(said, "hint: ") {
				t.Errorf("mnem %s, author %q: exit code %d: %s", strings.Join(args, " "), author, code, said)
			}
		}
	}
}
