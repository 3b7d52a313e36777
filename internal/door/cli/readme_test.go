package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

var readme = filepath.Join("..", "..", "..", "README.md")

// TestReadmeCommands holds that the README shows how to try and test a clone as two commands in one block, and that
// the check of everything runs the same tests.
func TestReadmeCommands(t *testing.T) {
	const test = "go test ./..."
	for path, want := range map[string]string{
		readme: "\n```sh\ngo run ./cmd/mnem demo\n" + test + "\n```\n",
		filepath.Join("..", "..", "..", ".ci", "run"): " " + test + "\n",
	} {
		data, err := os.ReadFile(path)
		must.OK(t, err)
		if text := strings.ReplaceAll(string(data), "\r\n", "\n"); strings.Count(text, want) != 1 {
			t.Errorf("%s: not once: %q", path, want)
		}
	}
}
