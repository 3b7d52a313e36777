package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/line"
)

// StdinLines are command lines that read standard input to its end or answer what it asks, by their commands.
// INPUT is a hyphen or another name of it.
var StdinLines = map[string][]string{
	"remember":       {"remember -", "remember --batch -", "remember x --vector m=@-"},
	"ingest":         {"ingest - --name a.md", "ingest --from codex -"},
	"commit":         {"commit -m x -", "commit -m x /dev/stdin", "commit -m x /dev/fd/0"},
	"add":            {"add -"},
	"merge":          {"merge --resolve x --take -"},
	"retrieve":       {"retrieve -", "retrieve --batch -", "retrieve x --vector m=@-"},
	"recall":         {"recall -", "recall --batch -"},
	"purge":          {"purge - --yes"},
	"pack take":      {"pack take - --set refs/heads/x=" + someCID + ".." + someCID},
	"import":         {"import -", "import - --dry-run"},
	"config secrets": {"config secrets -"},
	"key import":     {"key import - --name k"},
}

const someCID = "bafyreie3lw7oincmktzd7h26jbdrj3a6v2bqrgcqp7t7cttup2fcbplkre"

// TestStdinLinesAreAll finds the commands that say that they read standard input.
func TestStdinLinesAreAll(t *testing.T) {
	hyphen := regexp.MustCompile(`(^|[ \[])[A-Z]+…?\|-`)
	for _, v := range all((&line.Line{})) {
		switch v.Spec.Command {
		case "mcp": // a server, which a client speaks to
			continue
		case "merge": // whose FILE may be a hyphen, as all files of change lines
			continue
		}
		reads := hyphen.MatchString(strings.ReplaceAll(v.Spec.Usage, "-o FILE|-", ""))
		for _, f := range v.Spec.Fields() {
			reads = reads || !f.RemoteOnly && strings.Contains(f.Doc, "standard input") && f.Name != "output" && f.Name != "stdio"
		}
		if reads != (StdinLines[v.Spec.Command] != nil) {
			t.Errorf("%s (%s): reads standard input: %v", v.Spec.Command, v.Spec.Usage, reads)
		}
	}
}
