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
	if code != 0 {
		w.t.Fatalf("mnem %q: exit code %d: %s", args, code, side)
	}
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
	if len(list) != 1 {
		w.t.Fatalf("mnem %q: %d lines, want 1", args, len(list))
	}
	return list[0]
}

// keysOf returns the keys of the objects under a name in a result, nil for a name without objects.
func keysOf(list any) []string {
	var keys []string
	items, _ := list.([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			key, _ := m["key"].(string)
			keys = append(keys, key)
		}
	}
	return keys
}

// readErrors are command lines that fail, their words apart by |, in a repository that is full,
// empty or not there.
var readErrors = []struct {
	world string
	args  string
	code  string
	exit  int
	says  string
}{
	{"full", "show|nobody", "not_found", 3, `no node "nobody"`},
	{"full", "show|id:alice", "not_found", 3, "no node"},
	{"full", "show|key:b4a9", "not_found", 3, "no node"},
	{"full", "show|alice|--field|colour", "usage", 2, "no field"},
	{"full", "show|alice|--field|props.colour", "not_found", 3, "no field"},
	{"full", "show|alice|--field|context", "not_found", 3, "no field"},
	{"full", "show|alice|--at|nowhere", "not_found", 3, `no revision "nowhere"`},
	{"full", "blame", "usage", 2, "NODE is missing"},
	{"full", "show|nobody", "not_found", 3, `no node "nobody"`},
	{"full", "show|HEAD~1|--at|HEAD", "usage", 2, "is a revision"},
	{"full", "show|HEAD~7", "not_found", 3, "HEAD~7"},
	{"full", "log|nowhere", "not_found", 3, "no revision"},
	{"full", "log|HEAD|--at|HEAD", "usage", 2, "not both"},
	{"full", "log|-n|-1", "usage", 2, "below 0"},
	{"full", "diff|HEAD|nowhere", "not_found", 3, "no revision"},
	{"full", "diff|HEAD|--staged", "usage", 2, "--staged"},
	{"full", "diff|a|b|c", "usage", 2, "arg"},
	{"full", "ls|--where|team", "invalid_input", 1, "no operator"},
	{"full", "ls|--where|team = infra", "invalid_input", 1, "JSON"},
	{"full", "ls|--include|stale", "invalid_input", 1, "marks"},
	{"full", "ls|--sort|colour", "usage", 2, "no order"},
	{"full", "ls|--sort|props.", "usage", 2, "no order"},
	{"full", "ls|--edges|--sort|updated", "usage", 2, "edges"},
	{"full", "ls|--after|somewhere", "usage", 2, "cursor"},
	{"full", "ls|--after|b4a9765e-f642-c681-561b-de25662639d2@nowhere", "not_found", 3, "nowhere"},
	{"full", "ls|--sort|key|--after|00000000-0000-0000-0000-000000000001", "not_found", 3, "no node"},
	{"full", "ls|--limit|-1", "usage", 2, "below 0"},
	{"full", "explore|alice|--to|nobody", "not_found", 3, "no node"},
	{"full", "explore|alice|--in|--out", "usage", 2, "exclude"},
	{"full", "explore|alice|--limit|-1", "usage", 2, "outside"},
	{"full", "explore|nobody|--to|alice", "not_found", 3, "no node"},
	{"full", "explore|alice|--to|bruno|--depth|0", "usage", 2, "outside"},
	{"full", "retrieve|x|--where|due <", "invalid_input", 1, "where"},
	{"full", "retrieve|x|--set|valid-at=tomorrow", "invalid_input", 1, "valid-at"},
	{"full", "retrieve|x|--since|2026-02-30", "invalid_input", 1, "since"},
	{"full", "retrieve|x|--limit|1001", "invalid_input", 1, "limit"},
	{"full", "retrieve|x|--budget|-1", "invalid_input", 1, "budget"},
	{"full", "retrieve|x|--set|expand=5", "invalid_input", 1, "expand"},
	{"full", "retrieve|x|--set|direction=up", "invalid_input", 1, "direction"},
	{"full", "retrieve|x|--set|show=colour", "invalid_input", 1, "show"},
	{"full", "retrieve|x|--limit|many", "usage", 2, "limit"},
	{"full", "retrieve|x|--follow|--at|HEAD|--session|s", "usage", 2, "exclude"},
	{"full", "retrieve|x|--follow", "usage", 2, "--session"},
	{"full", "retrieve|x|--agent|a", "usage", 2, "--agent"},
	{"full", "retrieve|x|--batch|-", "usage", 2, "exclude"},
	{"full", "retrieve|--batch|", "usage", 2, "--batch"},
	{"full", "retrieve|--batch|nothing.jsonl", "failed", 1, "nothing.jsonl"},
	{"full", "retrieve|x|--session|nobody", "not_found", 3, "session start"},
	{"full", "retrieve|x|--session|over", "invalid_input", 1, "ended"},
	{"full", "retrieve|x|--session|a b", "invalid_input", 1, "session"},
	{"full", "session|start|s", "invalid_input", 1, "exists"},
	{"full", "session|start|t|--at|HEAD|--follow", "usage", 2, "exclude"},
	{"full", "session|advance|nobody", "not_found", 3, "nobody"},
	{"full", "session|advance|s|--to|nowhere", "not_found", 3, "nowhere"},
	{"full", "session|advance|f", "invalid_input", 1, "follows"},
	{"full", "session|end|over", "invalid_input", 1, "ended"},
	{"full", "session|log|nobody", "not_found", 3, "nobody"},
	{"full", "session|rm|nobody", "not_found", 3, "nobody"},
	{"full", "session|replay|nobody", "not_found", 3, "nobody"},
	{"full", "demo|--keep|.", "invalid_input", 1, "not empty"},
	{"empty", "log", "not_found", 3, "make the first"},
	{"empty", "show", "not_found", 3, "make the first"},
	{"empty", "diff", "not_found", 3, "make the first"},
	{"empty", "retrieve|x", "not_found", 3, "make the first"},
	{"empty", "session|start|s", "not_found", 3, "make the first"},
	{"empty", "show|alice", "not_found", 3, "no node"},
	{"outside", "log", "not_found", 3, "mnem init"},
	{"outside", "retrieve|x", "not_found", 3, "mnem init"},
	{"outside", "ls|--repo|elsewhere", "not_found", 3, "mnem init"},
}

func TestReadErrors(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	w := withDemo(t)
	w.ok("session", "start", "s")
	w.ok("session", "start", "f", "--follow")
	w.ok("session", "start", "over")
	w.ok("session", "end", "over")
	empty := newReader(t)
	outside := &reader{t: t, dir: t.TempDir()}
	worlds := map[string]*reader{"full": w, "empty": empty, "outside": outside}
	for _, tt := range readErrors {
		args := strings.Split(tt.args, "|")
		w := worlds[tt.world]
		code, out, side := w.run(args...)
		if code != tt.exit || !strings.Contains(side, tt.says) || out != "" {
			t.Errorf("mnem %q: exit code %d, want %d; stdout %q; stderr %q, want %q in it", args, code,
				tt.exit, out, side, tt.says)
		}
		code, out, side = w.run(append(args, "--json")...)
		var got struct {
			Error struct{ Code, Message string }
		}
		if err := json.Unmarshal([]byte(side), &got); err != nil {
			t.Errorf("mnem %q --json: %v in %q", args, err, side)
		}
		if code != tt.exit || got.Error.Code != tt.code || out != "" {
			t.Errorf("mnem %q --json: exit code %d, error %q, want %d, %q", args, code,
				got.Error.Code, tt.exit, tt.code)
		}
	}
}

func TestAmbiguousPrefix(t *testing.T) {
	w := newReader(t)
	w.commit(`{"node":{"id":"abcd0000-0000-0000-0000-000000000001","type":"T"}}
{"node":{"id":"abcd0000-0000-0000-0000-000000000002","type":"T"}}
{"node":{"key":"abcd","type":"T"}}
`)
	if code, _, side := w.run("show", "id:abcd"); code != 1 || !strings.Contains(side, "several") {
		t.Errorf("exit code %d, %s", code, side)
	}
	if got := w.one("show", "abcd")["key"]; got != "abcd" {
		t.Errorf("an exact key is not first: %v", got)
	}
	if got := w.one("show", "abcd0000-0000-0000-0000-000000000002")["key"]; got != nil {
		t.Errorf("key %v, want null", got)
	}
}

func TestEmptyAnswersSucceed(t *testing.T) {
	w := newReader(t)
	if got := w.one("ls"); got["commit"] != nil || len(got["nodes"].([]any)) != 0 {
		t.Errorf("ls in an empty repository: %v", got)
	}
	w.commit(`{"node":{"key":"a","type":"T","summary":"lighthouse"}}
{"node":{"key":"b","type":"T"}}
`)
	for _, args := range [][]string{
		{"retrieve", "--type", "Other"}, {"ls", "--type", "Other"},
		{"ls", "--edges"}, {"explore", "a"}, {"explore", "a", "--to", "b"}, {"session", "list"},
		{"diff", "HEAD", "HEAD"}, {"diff", "--staged"},
	} {
		if out := w.ok(args...); out != "" {
			t.Errorf("mnem %q: %q, want nothing", args, out)
		}
	}
	if got := w.one("retrieve", "lighthouse", "--type", "Other")["warnings"]; len(got.([]any)) != 2 {
		t.Errorf("warnings: %v", got)
	}
}

// TestJSONShapes pins the members of every answer and their order.
func TestJSONShapes(t *testing.T) {
	effort.Alone(t)
	w := withDemo(t)
	w.ok("session", "start", "s")
	w.ok("retrieve", "billing", "--session", "s")
	for _, tt := range []struct{ args, members string }{
		{"log", "commit parents graph author agent task time title message nodes edges"},
		{"show", "commit parents graph author agent task time message nodes edges diff"},
		{"show|alice", "id key type summary context props content created updated validFrom validTo " +
			"sources mark cid media commit out in more_out more_in"},
		{"ls", "commit nodes next others"},
		{"ls|--edges", "commit edges next"},
		{"explore|alice", "commit node nodes more cut"},
		{"explore|--tags|alice leads billing", "commit node nodes more cut tags"},
		{"explore|--communities", "commit node nodes more cut communities"},
		{"diff", "from to nodes edges counts title"},
		{"diff|--staged", "from to stage nodes edges counts"},
		{"diff|--stat", "from to node_types edge_types counts"},
		{"retrieve|billing", "commit receipt query verdict because covered items tokens_used tokens_budget dropped " +
			"dropped_by candidates_seen warnings"},
		{"retrieve|billing|--explain", "commit receipt query verdict because covered items tokens_used tokens_budget dropped " +
			"dropped_by candidates_seen warnings dropped_items trace dates"},
		{"session|list", "session of commit follow agent task actor time records ended"},
		{"session|log|s", "record event time actor commit receipt query items tokens title"},
		{"session|replay|s", "session receipts identical first_difference"},
	} {
		args := append(strings.Split(tt.args, "|"), "--json")
		first, _, _ := strings.Cut(w.ok(args...), "\n")
		if diff := cmp.Diff(strings.Fields(tt.members), memberNames(t, first)); diff != "" {
			t.Errorf("mnem %q: members (-want +got)\n%s", args, diff)
		}
	}
	item := w.one("retrieve", "billing", "--limit", "1")["items"].([]any)[0].(map[string]any)
	want := []string{"band", "id", "key", "lanes", "rank", "rendered", "score", "tokens", "type"}
	if got := slices.Sorted(mapKeys(item)); !slices.Equal(got, want) {
		t.Errorf("members of an item: %v", got)
	}
	item = w.one("retrieve", "billing", "--limit", "1", "--explain")["items"].([]any)[0].(map[string]any)
	want = []string{"band", "hops", "id", "key", "lanes", "path", "rank", "rendered", "score", "seed", "terms",
		"tier", "tokens", "type", "why"}
	if got := slices.Sorted(mapKeys(item)); !slices.Equal(got, want) {
		t.Errorf("members of an explained item: %v", got)
	}
}

func mapKeys(m map[string]any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// memberNames returns the names of the members of a JSON object in their order.
func memberNames(t *testing.T, text string) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func TestDemo(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	const golden = "testdata/demo.golden"
	outside := &reader{t: t, dir: t.TempDir()}
	got := outside.ok("demo")
	if again := outside.ok("demo"); again != got {
		t.Error("two runs differ")
	}
	if os.Getenv("MNEM_REWRITE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
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
	if diff := cmp.Diff(before, fileSums(t, w.dir)); diff != "" {
		t.Errorf("reading changed files (-before +after):\n%s", diff)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	return sums
}
