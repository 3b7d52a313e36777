package sharing_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repofiles"
	"github.com/mnem-project/mnem/internal/testkit/s3test"
)

// A key of no account, in parts so that no scanner takes it for a real one.
const (
	leak      = "Quill" + "-Feather-" + "7391-Vermilion"
	leakWords = "quill feather 7391 vermilion"
)

// leaked reports whether a text has the key, in any case and with any signs between its words.
func leaked(text string) bool {
	return strings.Contains(strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), " "), leakWords)
}

// leaks returns where below the .mnem of a machine the key is: places of a store by what they are, files by name.
func (w *team) leaks(machine string) (places []string) {
	w.Helper()
	seen := make(map[string]bool)
	dir := filepath.Join(w.dir, machine, ".mnem")
	err := repofiles.Texts(dir, func(where, text string) {
		if !seen[where] && leaked(text) {
			seen[where] = true
			places = append(places, strings.TrimPrefix(where, dir))
		}
	})
	must.OK(w, err)
	return places
}

// file writes a file below the .mnem of a machine.
func (w *team) file(machine, name string, data []byte) {
	w.Helper()
	path := filepath.Join(w.dir, machine, ".mnem", filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	must.OK(w, err)
}

// leaksInStore writes the key wherever commands of a machine put a text into its store.
func (w *team) leaksInStore(machine string) {
	w.Helper()
	const chunk = 262_144
	long := strings.Repeat("x ", chunk/2-6) + leak + strings.Repeat(" y", 40_000)
	commit := func(message string, lines ...string) {
		w.Helper()
		w.run(0, machine, strings.Join(lines, "\n"), "commit", "-m", message, "-")
	}
	commit("the first is "+leak,
		`{"node":{"key":"a","type":"T","summary":"a"}}`,
		fmt.Sprintf(`{"node":{"key":"key/%s","type":"T","summary":"by its key"}}`, strings.ToLower(leak)),
		fmt.Sprintf(`{"node":{"key":"summary","type":"T","summary":"use %s"}}`, leak),
		fmt.Sprintf(`{"node":{"key":"upper","type":"T","summary":"use %s"}}`, strings.ToUpper(leak)),
		fmt.Sprintf(`{"node":{"key":"spaced","type":"T","summary":"use %s"}}`, strings.ReplaceAll(leak, "-", " ")),
		fmt.Sprintf(`{"node":{"key":"context","type":"T","context":"in %s"}}`, leak),
		fmt.Sprintf(`{"node":{"key":"short","type":"T","content":"in %s"}}`, leak),
		fmt.Sprintf(`{"node":{"key":"long","type":"T","content":%q}}`, long),
		fmt.Sprintf(`{"node":{"key":"prop","type":"T","props":{"x":%q}}}`, leak),
		fmt.Sprintf(`{"node":{"key":"list","type":"T","props":{"x":[{"y":[%q]}]}}}`, leak),
		fmt.Sprintf(`{"node":{"key":"name","type":"T","props":{"x":{%q:1}}}}`, leak),
		fmt.Sprintf(`{"node":{"key":"cue","type":"T","summary":"c","cues":[%q]}}`, "about "+leak),
		fmt.Sprintf(`{"node":{"key":"source","type":"T","sources":[%q]}}`, "https://x.test/"+leak),
		`{"embedding":{"node":"summary","model":"m","vector":[1,2,3]}}`,
		fmt.Sprintf(`{"edge":{"type":"e","src":"a","dst":"prop","key":%q}}`, leak),
		fmt.Sprintf(`{"edge":{"type":"f","src":"a","dst":"prop","props":{"with":%q}}}`, leak),
		fmt.Sprintf(`{"edge":{"type":"g","src":"a","dst":"prop","props":{%q:true}}}`, leak),
		fmt.Sprintf(`{"edge":{"type":"h","src":"a","dst":"a","sources":[%q]}}`, "https://x.test/"+leak))
	commit("marks",
		fmt.Sprintf(`{"mark":{"node":"a","state":"stale","reason":"%s leaked"}}`, leak),
		fmt.Sprintf(`{"mark":{"edge":{"type":"h","src":"a","dst":"a"},"state":"stale","reason":%q}}`, leak))
	w.ok(machine, "remember", "The account of billing is reached with "+leak, "--tag", "key "+leak, "--about", "billing",
		"--entity", leak)
	w.ok(machine, "tag", "v1", "-m", "before "+leak+" changed")
	w.ok(machine, "branch", "side")
	w.run(0, machine, fmt.Sprintf(`{"node":{"key":"aside","type":"T","summary":"aside %s"}}`, leak),
		"commit", "-b", "side", "-m", "aside with "+leak, "-")
	w.ok(machine, "branch", "gone")
	w.run(0, machine, fmt.Sprintf(`{"node":{"key":"gone","type":"T","summary":"gone %s"}}`, leak),
		"commit", "-b", "gone", "-m", "gone", "-")
	w.ok(machine, "branch", "-d", "gone", "--force")
	commit("an older version has it", `{"node":{"key":"prop","props":{"x":1}}}`)
	w.ok(machine, "rm", "list")
	w.ok(machine, "commit", "-m", "removed "+leak)
	w.run(0, machine, fmt.Sprintf(`{"node":{"key":"staged","type":"T","summary":"staged %s"}}`, leak), "add", "-")
	w.run(0, machine, fmt.Sprintf(`{"node":{"key":"staged2","type":"T","summary":"staged %s"}}`, leak), "add",
		"--stage", "other", "-")
	w.ok(machine, "session", "start", "talk")
	w.ok(machine, "retrieve", "--session", "talk", "what is "+leak+"?")
	w.ok(machine, "retrieve", "--session", "talk", "which key?", "--also", "where is "+leak)
	w.ok(machine, "map", "--rebuild")
	w.ok(machine, "explore", "--communities")
}

// leaksInFiles writes the key wherever commands of a machine, killed ones too, leave a text outside its store.
func (w *team) leaksInFiles(machine string) {
	w.Helper()
	notes := filepath.Join(w.dir, machine, "notes")
	must.OK(w, os.MkdirAll(notes, 0o755))
	for _, name := range []string{leak + ".md", "other.md"} {
		must.OK(w, os.WriteFile(filepath.Join(notes, name), []byte("# Heron\n\nHerons fish.\n"), 0o600))
	}
	w.ok(machine, "ingest", "notes")
	pack, _ := w.run(0, machine, "", "export", "--all", "-o", "-")
	text := []byte("what is " + leak + "?")
	told := fmt.Sprintf(`{"v":1,"host":"codex","session":"s","event":"x","why":%q,"draft":{"record":%q}}`, leak,
		base64.StdEncoding.EncodeToString(text))
	clean := `{"v":1,"host":"codex","session":"s","event":"x"}`
	for name, data := range map[string][]byte{
		"remotes/origin/push-1": []byte(pack), "remotes/origin.git/pack-2": []byte(pack),
		"uploads/0123456789abcdef": []byte(pack), "import-3": text,
		"spool/codex-00.told":    []byte(told + "\n" + clean + "\n"),
		"spool/codex-00.given":   []byte(clean + "\n" + told + "\n"),
		"spool/opencode-01.talk": text,
		"spool/codex-02.json":    fmt.Appendf(nil, `{"v":1,"dir":%q}`, leak),
		"spool/codex-03.wait":    fmt.Appendf(nil, `{"v":1,"dir":%q}`, leak),
		"spool/codex-04.place":   fmt.Appendf(nil, `{"v":1,"at":%q}`, leak),
		"spool/codex-05.place":   []byte(`{"v":1}`),
		"spool/.codex-06.mnem-7": text,
		".ingest.json.mnem-0":    fmt.Appendf(nil, `{"V":2,"Dirs":{"p":%q}}`, leak),
		".config.json.mnem-new":  text,
		"remotes.json.mnem-lock": nil,
		"spool/retire.state":     []byte(`{"v":1}`),
		"spool/codex-08.private": nil,
		"spool/codex-09.shown":   []byte("00000000-0000-0000-0000-000000000000\n"),
	} {
		w.file(machine, name, data)
	}
}

// mirrored shares the memory of a machine by a git repository and by a bucket, whose mirrors have the key then.
func (w *team) mirrored(machine string) {
	w.Helper()
	s := s3test.New(w.T, 1)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": s.URL, "AWS_ACCESS_KEY_ID": s3test.AccessKey, "AWS_SECRET_ACCESS_KEY": s3test.SecretKey,
	} {
		w.env[name] = value
	}
	w.ok(machine, "remote", "add", "origin", w.url)
	w.ok(machine, "remote", "add", "bucket", "s3://"+s3test.Bucket+"/team")
	for _, remote := range []string{"origin", "bucket"} {
		w.ok(machine, "push", remote, "--all", "--tags", "--sessions")
		w.ok(machine, "fetch", remote)
	}
}

// purgedJSON is the answer of a purge.
type purgedJSON struct {
	Redacted []struct{ What string }
	Hits     []struct{ What, Name string }
	Files    []purgedFile

	Elsewhere []string
}

type purgedFile struct{ Path, Done string }

// purgeLeak purges the key.
func (w *team) purgeLeak(code int, machine string) (out purgedJSON) {
	w.Helper()
	stdout, _ := w.run(code, machine, leak, "purge", "-", "--yes", "--json", "--reason", "leaked")
	if code == 0 {
		must.OK(w, json.Unmarshal([]byte(stdout), &out))
	}
	return out
}

// TestPurgeReachesEveryFile purges a text that is in every place where a repository keeps one, in its store and outside
// it. No file has it afterwards, in no form, and every file is one that the table of package layout names.
func TestPurgeReachesEveryFile(t *testing.T) {
	w := newTeam(t, over(t, "git"))
	w.ok("a", "init")
	w.leaksInStore("a")
	w.mirrored("a")
	w.leaksInFiles("a")
	before := w.leaks("a")
	if len(before) < 45 {
		t.Fatalf("the key is in %d places alone:\n%s", len(before), strings.Join(before, "\n"))
	}
	t.Logf("%d places", len(before))
	out := w.purgeLeak(0, "a")
	for _, what := range []string{"node", "content", "message", "edge", "mark", "query"} {
		if !slices.ContainsFunc(out.Redacted, func(r struct{ What string }) bool { return r.What == what }) {
			t.Errorf("no %s was erased", what)
		}
	}
	if after := w.leaks("a"); len(after) > 0 {
		t.Errorf("left in %d places:\n%s", len(after), strings.Join(after, "\n"))
	}
	if unknown, err := repofiles.Unknown(filepath.Join(w.dir, "a", ".mnem")); err != nil || len(unknown) > 0 {
		t.Errorf("not in the table: %q, %v", unknown, err)
	}
	must.Same(t, out.Elsewhere, []string{"bucket", "origin"}, "it may still be at")
	for _, name := range []string{"spool/codex-05.place", "spool/codex-09.shown", "spool/codex-08.private"} {
		must.OK(t, must.Err(os.Stat(filepath.Join(w.dir, "a", ".mnem", name))), "without the key")
	}
	data, err := os.ReadFile(filepath.Join(w.dir, "a", ".mnem", "ingest.json"))
	must.True(t, err == nil && bytes.Contains(data, []byte("other.md")), "ingest.json: %s, %v", data, err)
	w.purgeLeak(3, "a")
	w.ok("a", "fsck", "--full")

	// What the remotes have comes back into the mirrors alone, and is found there.
	for _, remote := range []string{"origin", "bucket"} {
		w.ok("a", "fetch", remote)
		must.True(t, len(w.leaks("a")) > 0, "nothing of %s came", remote)
		out = w.purgeLeak(0, "a")
		if !slices.ContainsFunc(out.Files, func(f purgedFile) bool {
			return f.Path == "remotes/"+remote+".git" && f.Done == "removed"
		}) {
			t.Errorf("files %+v", out.Files)
		}
		if after := w.leaks("a"); len(after) > 0 {
			t.Errorf("left in %d places:\n%s", len(after), strings.Join(after, "\n"))
		}
		w.ok("a", "push", remote, "--redactions")
		w.ok("a", "fetch", remote)
		if after := w.leaks("a"); len(after) > 0 {
			t.Errorf("left of %s in %d places:\n%s", remote, len(after), strings.Join(after, "\n"))
		}
		w.purgeLeak(3, "a")
	}
}

// TestPurgeNamesWhatStays names the files that hold a text and are the user's.
func TestPurgeNamesWhatStays(t *testing.T) {
	effort.Alone(t)
	w := newTeam(t, over(t, "git"))
	w.ok("a", "init")
	w.add("a", "one", "the key is "+leak)
	w.ok("a", "remote", "add", "origin", "https://"+leak+".test/x")
	w.file("a", "remotes/origin/redactions.json", fmt.Appendf(nil, `{"entries":[{"record":%q}]}`,
		base64.StdEncoding.EncodeToString([]byte(leak))))
	w.file("a", "mine.txt", []byte("the key is "+leak))
	got := make(map[string]string)
	for _, f := range w.purgeLeak(0, "a").Files {
		got[f.Path] = f.Done
	}
	want := map[string]string{"mine.txt": "left", "remotes.json": "left", "remotes/origin/redactions.json": "left"}
	must.Equal(t, fmt.Sprint(got), fmt.Sprint(want), got, ", want ", want)
	for _, place := range w.leaks("a") {
		file, _, _ := strings.Cut(strings.TrimPrefix(place, "/"), ",")
		must.True(t, want[file] != "", "left: %s", place)
	}
	if again := w.purgeLeak(0, "a").Files; len(again) != len(want) {
		t.Errorf("not found again: %+v", again)
	}
	if err := os.Remove(filepath.Join(w.dir, "a", ".mnem", "mine.txt")); err != nil { // else the table is to name it
		t.Fatal(err)
	}
}

// TestAcceptedPurgeReachesFiles accepts what another machine purged: the mirror here loses it too.
func TestAcceptedPurgeReachesFiles(t *testing.T) {
	effort.Alone(t)
	w := newTeam(t, over(t, "git"))
	w.ok("a", "clone", w.url, ".")
	w.add("a", "one", "the key is "+leak)
	w.ok("a", "sync")
	w.clones("b")
	w.ok("b", "sync")
	w.file("b", "remotes/origin/push-1", []byte(leak))
	if len(w.leaks("b")) < 3 {
		t.Fatalf("the key is not where it is to be removed from: %q", w.leaks("b"))
	}
	w.purgeLeak(0, "a")
	w.ok("a", "push", "--redactions")
	w.ok("b", "fetch")
	w.ok("b", "remote", "redactions", "--accept")
	if left := w.leaks("b"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	w.add("b", "two", "x")
	w.ok("b", "sync")
	w.ok("a", "sync")
	w.same("main", "a", "b")
}
