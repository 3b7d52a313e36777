package cli

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readme is the page whose screen TestReadme keeps: go test ./internal/door/cli -run Readme -rewrite
// writes it.
var readme = filepath.Join("..", "..", "..", "README.md")

// TestReadme runs the commands of the README's screen in a new repository and compares what they
// print.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	const open, shut = "```console\n", "```\n"
	before, rest, there := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), open)
	screen, after, shown := strings.Cut(rest, shut)
	if !there || !shown {
		t.Fatal("no screen")
	}
	w := newWorld(t)
	w.init()
	var b strings.Builder
	ran := 0
	for line := range strings.Lines(screen) {
		text, command := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !command {
			continue
		}
		commands, err := parseShell(text)
		if err != nil || len(commands) != 1 {
			t.Fatalf("%q: %d commands, %v", text, len(commands), err)
		}
		out, _ := w.run(0, commands[0].args...)
		b.WriteString("$ " + text + "\n" + out)
		ran++
	}
	if ran < 5 {
		t.Fatalf("only %d commands", ran)
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		err := os.WriteFile(readme, []byte(before+open+b.String()+shut+after), 0o644)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(b.String(), screen); diff != "" {
		t.Errorf("the screen is out of date: run this test with -rewrite (-want +have):\n%s", diff)
	}
}

// TestReadmeCommands holds that the README shows how to try and test a clone as two commands in one block, and that
// the check of everything runs the same tests.
func TestReadmeCommands(t *testing.T) {
	const test = "go test ./..."
	for path, want := range map[string]string{
		readme: "\n```sh\ngo run ./cmd/mnem demo\n" + test + "\n```\n",
		filepath.Join("..", "..", "..", ".ci", "run"): " " + test + "\n",
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.ReplaceAll(string(data), "\r\n", "\n"); strings.Count(text, want) != 1 {
			t.Errorf("%s: not once: %q", path, want)
		}
	}
}
