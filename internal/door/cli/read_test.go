package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/testdata/demo"
)

// reader is a repository in a directory of its own, and the command lines run in it.
type reader struct {
	t   *testing.T
	dir string
	env map[string]string
	in  string
	tty bool
}

func newReader(t *testing.T) *reader {
	t.Helper()
	w := &reader{t: t, dir: t.TempDir(), env: map[string]string{"SOURCE_DATE_EPOCH": "1792000000"}}
	w.ok("init")
	return w
}

// withDemo has the bundled memory as HEAD~1 and its change as HEAD.
func withDemo(t *testing.T) *reader {
	t.Helper()
	w := newReader(t)
	w.commit(demo.Memory)
	w.commit(demo.Change)
	return w
}

func (w *reader) commit(lines string) {
	w.t.Helper()
	w.in = lines
	w.ok("commit", "-m", "change", "-")
	w.in = ""
}

// run runs one command line.
func (w *reader) run(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	var out, side bytes.Buffer
	app := &line.App{
		Stdin: strings.NewReader(w.in), Stdout: &out, Stderr: &side, Dir: w.dir, User: "Ada",
		Getenv: func(name string) string { return w.env[name] }, OutTTY: w.tty,
		Now: func() time.Time { return time.Unix(1_792_000_000, 0) },
	}
	code = Run(context.Background(), app, args)
	return code, out.String(), side.String()
}

// ok runs a command line that must succeed, and returns its results.
func (w *reader) ok(args ...string) string {
	w.t.Helper()
	code, out, side := w.run(args...)
	must.Require(w.t, code == 0, "mnem %q: exit code %d: %s", args, code, side)
	return out
}

// json runs a command line with --json and returns each line of its results, decoded.
func (w *reader) json(args ...string) []map[string]any {
	w.t.Helper()
	var list []map[string]any
	for l := range strings.Lines(w.ok(append(args, "--json")...)) {
		var v map[string]any
		if err := json.Unmarshal([]byte(l), &v); err != nil {
			w.t.Fatalf("mnem %q: %v in %q", args, err, l)
		}
		list = append(list, v)
	}
	return list
}

// one is json for a command that prints one line.
func (w *reader) one(args ...string) map[string]any {
	w.t.Helper()
	list := w.json(args...)
	must.Require(w.t, len(list) == 1, "mnem %q: %d lines, want 1", args, len(list))
	return list[0]
}

func TestDemo(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	const golden = "testdata/demo.golden"
	outside := &reader{t: t, dir: t.TempDir()}
	got := outside.ok("demo")
	must.Equal(t, outside.ok("demo"), got, "two runs differ")
	if os.Getenv("MNEM_REWRITE") != "" {
		must.OK(t, os.WriteFile(golden, []byte(got), 0o666))
	}
	want := must.Get(os.ReadFile(golden))(t)
	if diff := cmp.Diff(string(want), got); diff != "" || len(want) == 0 {
		t.Errorf("the demo changed; see it with MNEM_REWRITE=1 (-want +got):\n%s", diff)
	}
	if steps := outside.json("demo"); len(steps) != len(demoSteps()) {
		t.Errorf("%d steps as JSON, want %d", len(steps), len(demoSteps()))
	}
	outside.ok("demo", "--keep", "kept")
	if out := outside.ok("session", "replay", "review", "-R", "kept"); !strings.Contains(out, "identical") {
		t.Errorf("the repository that was kept: %q", out)
	}
	left, err := os.ReadDir(outside.dir)
	must.True(t, err == nil && len(left) == 1, "left behind: %v, %v", left, err)
}

// TestReadsChangeNothing compares the files before and after reading.
func TestReadsChangeNothing(t *testing.T) {
	w := withDemo(t)
	before := fileSums(t, w.dir)
	for _, args := range [][]string{
		{"log"}, {"show"}, {"show", "alice"}, {"ls"}, {"explore", "alice"}, {"diff"},
		{"explore", "alice", "--to", "bruno"}, {"retrieve", "billing"}, {"retrieve", "billing", "--at", "HEAD~1"},
		{"session", "list"},
	} {
		w.ok(args...)
	}
	must.Same(t, fileSums(t, w.dir), before, "reading changed files (-before +after)")
}

// fileSums returns the names and contents of the store's files, without locks and owner.
func fileSums(t *testing.T, dir string) map[string]int {
	t.Helper()
	sums := make(map[string]int)
	err := filepath.WalkDir(filepath.Join(dir, core.DirName), func(
		path string, d os.DirEntry, err error,
	) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		sum := len(data)
		for _, b := range data {
			sum = sum*31 + int(b)
		}
		sums[path] = sum
		return err
	})
	must.OK(t, err)
	return sums
}

// TestListPagesFitTogether reads lists page by page and compares them with the whole list, in
// which whatever must come first comes first.
func TestListPagesFitTogether(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	w := withDemo(t)
	for _, args := range [][]string{
		{"ls"}, {"ls", "--sort", "-id"}, {"ls", "--sort", "key"}, {"ls", "--sort", "-key"},
		{"ls", "--sort", "created"}, {"ls", "--sort", "-updated"}, {"ls", "--sort", "props.status"},
		{"ls", "--sort", "-props.minutes", "--type", "Meeting", "--type", "Incident"},
		{"ls", "--edges"}, {"ls", "--edges", "--sort", "-created", "--type", "owns"},
		{"ls", "--edges", "--sort", "props.role"},
	} {
		list := "nodes"
		if slices.Contains(args, "--edges") {
			list = "edges"
		}
		whole := w.one(append(args, "--limit", "0")...)
		must.True(t, whole["next"] == nil, "%q: the whole list has a cursor", args)
		want := idsOf(whole[list])
		var got []string
		after := ""
		for {
			page := append(slices.Clone(args), "--limit", "37")
			if after != "" {
				page = append(page, "--after", after)
			}
			v := w.one(page...)
			got = append(got, idsOf(v[list])...)
			next, more := v["next"].(string)
			if !more {
				break
			}
			after = next
		}
		if len(want) < 5 || !slices.Equal(want, got) {
			t.Errorf("%q: %d rows in pages, %d in the whole list, or another order", args, len(got),
				len(want))
		}
		if unique := slices.Compact(slices.Sorted(slices.Values(got))); len(unique) != len(got) {
			t.Errorf("%q: %d rows more than once", args, len(got)-len(unique))
		}
	}
}

func idsOf(list any) []string {
	var ids []string
	items, _ := list.([]any)
	for _, item := range items {
		ids = append(ids, item.(map[string]any)["id"].(string))
	}
	return ids
}
