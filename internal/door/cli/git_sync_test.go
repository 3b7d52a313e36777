package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/settings"
)

// gitSynced runs 'mnem git sync' and returns which git branches' memory was merged, and why.
func (w *world) gitSynced(args ...string) (merged []string) {
	w.t.Helper()
	out, _ := w.run(0, append([]string{"git", "sync", "--json"}, args...)...)
	var res struct{ Merged []struct{ Git, By string } }
	if err := json.Unmarshal([]byte(out), &res); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	for _, m := range res.Merged {
		merged = append(merged, m.Git+" "+m.By)
	}
	return merged
}

// TestGitSync merges the memory of git branches that were merged, in each of the ways to merge, and no other.
func TestGitSync(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		steps []string
		want  string // what is merged
	}{
		{"merge", []string{"git merge -q --no-ff a"}, "a merge"},
		{"fast forward", []string{"git merge -q a"}, "a merge"},
		{"squash", []string{"git switch -q a", "commit a3.txt", "git switch -q main", "git merge -q --squash a",
			"git commit -q -m squashed"}, "a squash"},
		{"rebase", []string{"commit b.txt", "git switch -q a", "git rebase -q main", "git switch -q main", "git merge -q a"}, "a merge"},
		{"cherry-picks", []string{"commit b.txt", "git cherry-pick a"}, "a rebase"},
		{"removed since", []string{"git merge -q --no-ff a", "git branch -q -d a"}, "a merge"},
		{"not merged", []string{"commit b.txt"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := followWorld(t)
			for _, s := range []string{"git switch -q -c a", "note of-a", "commit a2.txt", "git switch -q main", "lacks of-a"} {
				w.step(s)
			}
			for _, s := range c.steps {
				w.step(s)
			}
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			if got := w.gitSynced("--dry-run"); !slices.Equal(got, want) {
				t.Errorf("would merge %q, want %q", got, want)
			}
			w.step("lacks of-a")
			if got := w.gitSynced(); !slices.Equal(got, want) {
				t.Errorf("merged %q, want %q", got, want)
			}
			if c.want == "" {
				w.step("lacks of-a")
				if got := w.gitSynced("a"); !slices.Equal(got, []string{"a named"}) {
					t.Errorf("asked for: %q", got)
				}
			}
			w.step("has of-a")
			if got := w.gitSynced(); got != nil {
				t.Errorf("merged again: %q", got)
			}
		})
	}
}

// TestGitSyncRefused names what is not there, and leaves conflicts to be decided.
func TestGitSyncRefused(t *testing.T) {
	w := followWorld(t)
	if _, said := w.run(3, "git", "sync", "nothing"); !strings.Contains(said, "see 'mnem branch'") {
		t.Error(said)
	}
	write := func(text string) {
		w.Stdin = strings.NewReader(`{"node":{"key":"k","type":"Note","summary":"` + text + `"}}` + "\n")
		w.run(0, "commit", "-m", "k", "-")
	}
	write("old")
	w.step("git switch -q -c a")
	write("of a")
	for _, s := range []string{"commit a2.txt", "git switch -q main"} {
		w.step(s)
	}
	write("of main")
	w.step("git merge -q a")
	if _, said := w.run(5, "git", "sync"); !strings.Contains(said, "mnem merge --resolve") {
		t.Error(said)
	}
	w.run(0, "merge", "--abort")
	w.run(0, "git", "sync", "--conflicts", "theirs")
	if out, _ := w.run(0, "show", "k"); !strings.Contains(out, "of a") {
		t.Error(out)
	}
	w.step("git switch -q --detach")
	if _, said := w.run(1, "git", "sync"); !strings.Contains(said, "no git branch") {
		t.Error(said)
	}
	w.run(0, "git", "follow", "--remove")
	if _, said := w.run(1, "git", "sync"); !strings.Contains(said, "mnem git follow") {
		t.Error(said)
	}
}

// TestGitPrune removes the memory of branches that are gone, unless nothing else has it.
func TestGitPrune(t *testing.T) {
	w := followWorld(t)
	for _, s := range []string{
		"git switch -q -c merged", "note of-merged", "commit a2.txt", "git switch -q main", "git merge -q merged",
		"mnem git sync", "git switch -q -c lost", "note of-lost", "git switch -q main", "git branch -q -D merged lost",
		"git switch -q -c stays", "note of-stays", "git switch -q main",
	} {
		w.step(s)
	}
	w.run(0, "branch", "own-of-the-memory")
	var res struct {
		Removed []struct{ Removed string }
		Kept    []struct{ Git string }
	}
	out, _ := w.run(0, "git", "prune", "--json")
	if err := json.Unmarshal([]byte(out), &res); err != nil {
		t.Fatal(err)
	}
	if len(res.Removed) != 1 || !strings.HasSuffix(res.Removed[0].Removed, "merged") || len(res.Kept) != 1 || res.Kept[0].Git != "lost" {
		t.Fatal(out)
	}
	if _, said := w.run(1, "git", "prune", "stays"); !strings.Contains(said, "git branch -d") {
		t.Error(said)
	}
	w.run(3, "git", "prune", "nothing")
	w.run(0, "git", "prune", "--force")
	if out, _ := w.run(0, "branch"); strings.Contains(out, "lost") || !strings.Contains(out, "stays") ||
		!strings.Contains(out, "own-of-the-memory") {
		t.Error(out)
	}
	w.run(0, "undo")
	if out, _ := w.run(0, "branch"); !strings.Contains(out, "lost") {
		t.Error(out)
	}
}

// TestGitHook has git sync after merges, keeps the hook that was there, and puts it back.
func TestGitHook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the hook that was there is a shell script")
	}
	w := followWorld(t)
	path := filepath.Join(w.Dir, ".git", "hooks", "post-merge")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	const own = "#!/bin/sh\necho ran > ran.txt\n"
	if err := os.WriteFile(path, []byte(own), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, path+".before-mnem"); err != nil { // a run was ended here
		t.Fatal(err)
	}
	for range 2 {
		if out, _ := w.run(0, "git", "hook"); !strings.Contains(out, "the hook that was there") {
			t.Error(out)
		}
	}
	if out, _ := w.run(0, "git", "follow"); !strings.Contains(out, "after each merge") {
		t.Error(out)
	}
	for _, s := range []string{"git switch -q -c a", "commit a2.txt", "git switch -q main", "git merge -q a"} {
		w.step(s)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "ran.txt")); err != nil {
		t.Errorf("the hook that was there: %v", err)
	}
	w.run(0, "git", "hook", "--remove")
	data, err := os.ReadFile(path)
	if err != nil || string(data) != own {
		t.Errorf("%q, %v", data, err)
	}
	if list, err := filepath.Glob(path + "*"); err != nil || len(list) != 1 {
		t.Errorf("left: %q, %v", list, err)
	}
	if out, _ := w.run(0, "git", "hook", "--remove"); !strings.Contains(out, "no hook of mnem") {
		t.Error(out)
	}
	if err := os.WriteFile(path+".before-mnem", []byte("of another"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, said := w.run(1, "git", "hook"); !strings.Contains(said, "move it away") {
		t.Error(said)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != own {
		t.Errorf("refused, and the hook is %q, %v", data, err)
	}
	target := filepath.Join(w.Dir, "hooks-of-mine.sh")
	if err := errors.Join(os.Remove(path+".before-mnem"), os.Rename(path, target), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
	w.run(0, "git", "hook")
	w.run(0, "git", "hook", "--remove")
	if to, err := os.Readlink(path); err != nil || to != target {
		t.Errorf("a link became %q, %v", to, err)
	}
	if data, err := os.ReadFile(target); err != nil || string(data) != own {
		t.Errorf("what it leads to is %q, %v", data, err)
	}
	w.git("config core.hooksPath elsewhere")
	if _, said := w.run(1, "git", "hook"); !strings.Contains(said, "core.hooksPath") {
		t.Error(said)
	}
}

// TestFollowHostile refuses what is no git directory, whole and with the place.
func TestFollowHostile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"huge":      {"HEAD", "ref: refs/heads/" + strings.Repeat("a/", 1<<20), "HEAD"},
		"no ref":    {"HEAD", "ref: junk\n", "junk"},
		"no branch": {"HEAD", "ref: refs/heads/../../x\n", "x"},
		"binary":    {"HEAD", "\x00\x01", "HEAD"},
		"empty":     {"HEAD", "", "HEAD"},
		"packed":    {"packed-refs", strings.Repeat("x", 1<<20), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := followWorld(t)
			if err := os.WriteFile(filepath.Join(w.Dir, ".git", c.file), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.want == "" { // it is not needed
				w.note("x")
				return
			}
			w.Stdin = strings.NewReader(aliceLine)
			_, said := w.run(1, "commit", "-m", "x", "-")
			if !strings.Contains(said, c.want) || !strings.Contains(said, "mnem git follow --remove") || len(said) > 2000 {
				t.Errorf("%.500s", said)
			}
			w.env[settings.FollowVariable] = "false"
			w.note("x")
		})
	}
}
