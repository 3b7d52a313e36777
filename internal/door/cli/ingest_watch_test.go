package cli_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// TestIngestWatch has files and directories come, change and go while they are watched and another command
// writes: each is one commit, and to be interrupted is exit code 0.
func TestIngestWatch(t *testing.T) {
	dir := newRepo(t)
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	put("notes/a.md", "# A")
	put("notes/bad.txt", "caf\xe9")
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	out, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, program.In(dir, w, io.Discard), []string{"ingest", "notes", "--watch"})
		_ = w.Close() // the reader is told
	}()
	lines := bufio.NewScanner(out)
	left := 0 // how often it was said what cannot be read
	want := func(prefix string) {
		t.Helper()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "failed  notes/bad.txt") {
				left++
			}
			if strings.HasPrefix(lines.Text(), prefix) {
				return
			}
		}
		t.Fatalf("no line %q", prefix)
	}
	want("added  notes/a.md")
	want("[main ")
	put("notes/new/deep/b.md", "# B")
	want("added  notes/new/deep/b.md")
	want("[main ")
	put("notes/new/deep/b.md", "# B\n\nmore")
	program.Ran(t, program.In(dir, io.Discard, io.Discard), "remember", "The barrels stand in the cellar of the old mill.")
	want("changed  notes/new/deep/b.md")
	want("[main ")
	must.OK(t, os.RemoveAll(filepath.Join(dir, "notes/new")))
	want("removed  notes/new/deep/b.md")
	want("[main ")
	must.True(t, left == 1, "it was said %d times what cannot be read, want once", left)
	stop()
	must.Equal(t, <-code, 0, "exit code")
	if log := program.Ran(t, program.In(dir, io.Discard, io.Discard), "log", "--oneline"); strings.Count(log, "ingest notes/") != 4 {
		t.Errorf("commits:\n%s", log)
	}
}

// TestIngestWatchErrors gives what cannot be watched.
func TestIngestWatchErrors(t *testing.T) {
	dir := newRepo(t)
	for _, test := range []struct {
		args string
		code int
	}{
		{"ingest absent --watch", 1}, {"ingest --watch", 2}, {"ingest - --name x.md --watch", 2},
		{"ingest . --watch --dry-run", 2}, {"ingest x --from mem0 --watch", 2},
	} {
		if code := cli.Run(t.Context(), program.In(dir, io.Discard, io.Discard), strings.Fields(test.args)); code != test.code {
			t.Errorf("%s: exit code %d, want %d", test.args, code, test.code)
		}
	}
}
