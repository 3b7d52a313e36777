package sharing_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestNothingNew pulls and syncs if nothing is new: the branch is said where it is. A sync that fails before it did
// anything says nothing but its error.
func TestNothingNew(t *testing.T) {
	w := newTeam(t, over(t, "path"))
	w.ok("a", "init")
	w.ok("a", "remote", "add", "team", "../hub")
	w.add("a", "one", "x")
	w.ok("a", "sync")
	at := w.at("a", "refs/heads/main")
	if out := w.ok("a", "sync"); !strings.Contains(out, "] no change\n") || strings.Contains(out, "no commit") {
		w.Errorf("sync prints %q", out)
	}
	if out := w.ok("a", "sync", "--json"); !strings.Contains(out, `"commit":"`+at+`"`) {
		w.Errorf("sync prints %s, and the branch is at %s", out, at)
	}
	w.ok("a", "remote", "add", "dead", "http://127.0.0.1:1/")
	for _, args := range [][]string{{"sync", "dead"}, {"fetch", "dead"}, {"push", "dead"}, {"sync", "dead", "--json"}} {
		if out, errs := w.run(1, "a", "", args...); out != "" || !strings.Contains(errs, "127.0.0.1:1") {
			w.Errorf("%q prints %q, and says %q", args, out, errs)
		}
	}
}

// TestNoRepositoryThere says what to do where a path has no repository, by what was asked and what is there.
func TestNoRepositoryThere(t *testing.T) {
	w := newTeam(t, over(t, "path"))
	w.ok("a", "init")
	_, errs := w.run(3, "a", "", "clone", "nosuch", "x")
	if strings.Contains(errs, "remote add") || !strings.Contains(errs, "correct the path") {
		w.Errorf("a clone says %q", errs)
	}
	bare := filepath.Join(w.dir, "bare repo")
	for _, dir := range []string{"objects", "refs"} {
		must.OK(t, os.MkdirAll(filepath.Join(bare, dir), 0o700))
	}
	must.OK(t, os.WriteFile(filepath.Join(bare, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	url := "git+" + strings.ReplaceAll(fileURL(bare), " ", "%20")
	w.ok("a", "remote", "add", "git", bare)
	for _, args := range [][]string{{"sync", "git"}, {"fetch", "git"}, {"clone", bare, "y"}} {
		_, errs := w.run(3, "a", "", args...)
		if !strings.Contains(errs, url) || strings.Contains(errs, "init") {
			w.Errorf("%q says %q, want %s", args, errs, url)
		}
		if strings.Contains(errs, "remote add --force git "+url) == (args[0] == "clone") {
			w.Errorf("%q says %q", args, errs)
		}
	}
}

// TestRemotes names, changes and forgets other repositories, and refuses what is none.
func TestRemotes(t *testing.T) {
	w := newTeam(t, over(t, "path"))
	w.ok("a", "init")
	w.refused(3, "mnem remote add", "a", "sync")
	w.ok("a", "remote", "add", "team", "../hub")
	w.refused(1, "already exists", "a", "remote", "add", "team", "../hub")
	if out := w.ok("a", "remote", "list"); out != "team  "+filepath.Join(w.dir, "hub")+"\n" {
		w.Errorf("%q", out)
	}
	w.add("a", "one", "x")
	w.ok("a", "sync") // the only one there is
	w.ok("a", "remote", "add", "other", "nowhere")
	w.refused(2, "name one of other, team", "a", "sync")
	w.refused(3, "mnem init", "a", "sync", "other")
	w.refused(3, `no remote "nobody"`, "a", "fetch", "nobody")
	w.ok("a", "remote", "add", "--force", "other", fileURL(filepath.Join(w.dir, "hub")))
	w.ok("a", "fetch", "other")
	w.refused(3, `no remote "nobody"`, "a", "remote", "add", "--force", "nobody", "x")
	w.ok("a", "remote", "rm", "other")
	if w.at("a", "refs/remotes/other/heads/main") != "" || w.at("a", "refs/remotes/team/heads/main") == "" {
		w.Error("the wrong refs were forgotten")
	}
	w.refused(3, `no remote "other"`, "a", "remote", "rm", "other")
	for url, says := range map[string]string{
		"": "empty", "a\x00b": "control", strings.Repeat("x", 5000): "4096", "ftp://x/y": "none of",
		"https://ada:hunter2@example.org/m": "names a user", "file://elsewhere/x": "file:///PATH",
		"file:///x?y": "file:///PATH", "http://%zz": "cannot be read",
	} {
		_, errs := w.run(1, "a", "", "remote", "add", "bad", url)
		if !strings.Contains(errs, says) || strings.Contains(errs, "hunter2") {
			w.Errorf("%q: %s", url, errs)
		}
	}
	w.refused(1, "name", "a", "remote", "add", "../x", "hub")
	file := filepath.Join(w.dir, "a", ".mnem", "remotes.json")
	for text, says := range map[string]string{
		`{`: "remotes.json", `{"remotes":[{"name":"a","url":"x"},{"name":"a","url":"x"}]}`: "twice", `{} {}`: "more than one",
		`{"other":1}`: "unknown", `{"remotes":[{"name":"..","url":"x"}]}`: "remotes.json", strings.Repeat(" ", 70000): "",
	} {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		if _, errs := w.run(1, "a", "", "remote", "list"); !strings.Contains(errs, says) {
			w.Errorf("%q: %s", text, errs)
		}
	}
}

// TestCloneRefused leaves nothing behind where a clone cannot be made.
func TestCloneRefused(t *testing.T) {
	w := newTeam(t, over(t, "path"))
	w.add("hub", "one", "x")
	w.ok("a", "init")
	w.refused(1, "already exists", "a", "clone", w.url, ".")
	w.refused(3, "no repository", "b", "clone", "../nowhere")
	w.refused(2, "--repo", "b", "clone", w.url, "-R", "x")
	w.refused(2, "name the directory", "b", "clone", "/")
	bad := filepath.Join(w.dir, "b", "damaged")
	must.OK(t, os.CopyFS(bad, os.DirFS(filepath.Join(w.dir, "hub"))))
	damageStore(t, bad)
	var errs bytes.Buffer
	if code := cli.Run(t.Context(), w.app("b", "", io.Discard, &errs), []string{"clone", "damaged", "new"}); code == 0 {
		t.Error("a damaged repository was cloned")
	}
	must.OK(t, os.RemoveAll(bad))
	if list, err := os.ReadDir(filepath.Join(w.dir, "b")); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
	w.ok("b", "clone", "../hub/.mnem/")
	w.ok("b", "show", "one", "-R", "hub")
}

// damageStore changes bytes in the middle of every file of a store.
func damageStore(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, ".mnem"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "config.json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && len(data) > 8 {
			for i := len(data) / 3; i < len(data); i += 7 {
				data[i] ^= 0x55
			}
			err = os.WriteFile(path, data, 0o600)
		}
		return err
	})
	must.OK(t, err)
}

// TestBackup makes a repository of a file that has everything: it has the same branches, tags, sessions and answers.
func TestBackup(t *testing.T) {
	w := newTeam(t, over(t, "held")) // others have it open
	w.add("hub", "one", "the lamp is lit")
	w.ok("hub", "branch", "side")
	w.add("hub", "two", "x", "--branch", "side")
	w.ok("hub", "tag", "v1", "-m", "the first")
	w.ok("hub", "session", "start", "s")
	w.ok("hub", "retrieve", "lamp", "--session", "s")
	w.ok("hub", "switch", "side")
	file := filepath.Join(w.dir, "memory.mnem")
	w.ok("hub", "export", "--all", "-o", file)
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	w.ok("a", "clone", file)
	a := filepath.Join("a", "memory")
	for _, ref := range []string{"refs/heads/main", "refs/heads/side", "refs/tags/v1"} {
		if got, want := w.at(a, ref), w.at("hub", ref); got != want || got == "" {
			t.Errorf("%s is at %q, want %q", ref, got, want)
		}
	}
	if out := w.ok(a, "status"); !strings.Contains(out, "side") {
		t.Error(out)
	}
	if out := w.ok(a, "session", "replay", "s"); !strings.Contains(out, "identical") {
		t.Error(out)
	}
	w.ok(a, "fsck", "--full")
	data, err := os.ReadFile(file)
	must.OK(t, err)
	data[len(data)/2] ^= 1
	must.OK(t, os.WriteFile(file, data, 0o600))
	w.refused(1, "memory.mnem", "b", "clone", file)
	if list, err := os.ReadDir(filepath.Join(w.dir, "b")); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// TestAgentsShareByPolicy refuses what brings the memory elsewhere to an agent that may only write.
func TestAgentsShareByPolicy(t *testing.T) {
	w := newTeam(t, over(t, "path"))
	w.clones("a")
	w.ok("a", "config", "policy", "--write", "--agent", "bot", "commit", "merge")
	w.env["MNEM_AGENT"] = "bot"
	w.add("a", "one", "x")
	for _, args := range [][]string{
		{"push"}, {"fetch"}, {"sync"}, {"remote", "add", "mine", "../elsewhere"}, {"remote", "rm", "origin"},
		{"remote", "add", "--force", "origin", "../elsewhere"}, {"remote", "redactions", "--accept"}, {"remote", "redactions", "--auto", "on"},
	} {
		w.refused(7, "not allowed", "a", args...)
	}
	w.ok("a", "remote", "list")
}

// TestPackRefused asks for packs, and gives some, in ways that make no sense.
func TestPackRefused(t *testing.T) {
	w := newTeam(t, over(t, "path"))
	w.add("hub", "one", "x")
	at := w.at("hub", "refs/heads/main")
	many := []string{"pack", "refs"}
	for range 257 {
		many = append(many, "--have", at)
	}
	for _, tt := range []struct {
		code int
		says string
		args []string
	}{
		{2, "limit 256", many},
		{2, "--have \"x\"", []string{"pack", "refs", "--have", "x"}},
		{2, "--ref", []string{"pack", "send", "-o", "x"}},
		{2, "-o FILE", []string{"pack", "send", "--ref", "refs/heads/main"}},
		{2, "less than 0", []string{"pack", "send", "--ref", "refs/heads/main", "-o", "x", "--from", "-1"}},
		{2, "REF=CID", []string{"pack", "send", "--ref", "refs/heads/main=x", "-o", "x"}},
		{3, "refs/heads/nobody", []string{"pack", "send", "--ref", "refs/heads/nobody", "-o", "x"}},
		{3, "refs/stage/main", []string{"pack", "send", "--ref", "refs/stage/main", "-o", "x"}},
		{5, "refs/heads/side", []string{"pack", "send", "--ref", "refs/heads/side=" + at, "-o", "x"}},
		{2, "--move", []string{"pack", "take"}},
		{2, "REF=FROM..TO", []string{"pack", "take", "--move", "refs/heads/x"}},
		{2, "--set", []string{"pack", "take", "--set", "refs/heads/x=any..x"}},
		{2, "tracking", []string{"pack", "take", "--set", "refs/remotes/a/x=any..none", "--tracking", "../a"}},
		{1, "neither under", []string{"pack", "take", "--set", "refs/heads/x=any..none", "--tracking", "a"}},
		{1, "not in the pack", []string{"pack", "take", "--set", "refs/heads/x=any.." + at}},
		{1, "nowhere", []string{"pack", "take", "nowhere", "--set", "refs/heads/x=any.." + at}},
	} {
		_, errs := w.run(tt.code, "hub", "", tt.args...)
		if !strings.Contains(errs, tt.says) {
			t.Errorf("mnem %q: %s", tt.args, errs)
		}
	}
	w.ok("hub", "pack", "send", "--ref", "refs/heads/main", "-o", "main.pack")
	w.ok("a", "init")
	pack := filepath.Join(w.dir, "hub", "main.pack")
	out := w.ok("a", "pack", "take", pack, "--move", "refs/heads/main=none.."+at, "--dry-run")
	if !strings.Contains(out, "dry_run     yes") {
		t.Error(out)
	}
	if w.at("a", "refs/heads/main") != "" {
		t.Error("a dry run moved a ref")
	}
	w.ok("a", "pack", "take", pack, "--move", "refs/heads/main=none.."+at)
	w.same("main", "a", "hub")
}
