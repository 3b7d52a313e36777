package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// TestNothingNamesRemovedCommands searches docs, hints, scripts, clients and comments for calls of removed commands.
func TestNothingNamesRemovedCommands(t *testing.T) {
	var names []string
	for _, r := range operation.Renames() {
		names = append(names, regexp.QuoteMeta(r.Name))
	}
	call := regexp.MustCompile(`\bmnem (?:-\S+ )*(?:` + strings.Join(names, "|") + `)(?:[^\w-]|$)`)
	must.Require(t, call.MatchString("'mnem -q check'") && !call.MatchString("mnem check-all"),
		"the pattern does not tell calls apart")
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped[d.Name()] {
				return filepath.SkipDir
			}
			return nil
		}
		if !texts[filepath.Ext(path)] || strings.HasSuffix(path, "CHANGELOG.md") {
			return nil
		}
		seen++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(text), "\n") {
			if m := call.FindString(line); m != "" && !strings.HasPrefix(line, "exit 2 ") && !strings.HasSuffix(path, "removed_test.go") {
				t.Errorf("%s:%d names a removed command: %s", strings.TrimPrefix(path, root+"/"), n+1, m)
			}
		}
		return nil
	})
	must.OK(t, err)
	must.True(t, seen >= 500, "only %d files", seen)
}

var (
	skipped = map[string]bool{".git": true, "dist": true, "node_modules": true, "ranking": true}
	texts   = map[string]bool{
		".md": true, ".go": true, ".txtar": true, ".py": true, ".ts": true, ".tsx": true, ".sh": true, ".txt": true, ".golden": true,
		".yml": true, ".toml": true, ".service": true, "": true,
	}
)
