package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/program"
)

// gitAction is a git command and the branch of the memory after it.
type gitAction struct {
	args   string // of git, in the work tree; "write FILE" writes one, "in DIR" goes on in another work tree
	branch string // of the memory; "" for none
	ro     bool   // whether it can be read alone
	memory string // the memories that are read there, by their keys; "" if it is not looked at
	note   string // a memory that is then written
	fails  bool   // whether git is to end with an error, as where it stops for a conflict
}

// gitActions are done one after the other.
var gitActions = []gitAction{
	{args: "commit --quiet --allow-empty -m first", branch: "main", note: "m1", memory: "m1"},
	{args: "checkout --quiet -b feature", branch: "feature", memory: "m1", note: "f1"},
	{args: "switch --quiet main", branch: "main", memory: "m1"},
	{args: "switch --quiet -", branch: "feature", memory: "f1 m1"},
	{args: "write a one"}, {args: "add a", branch: "feature"},
	{args: "stash --quiet", branch: "feature", memory: "f1 m1"},
	{args: "stash pop --quiet", branch: "feature"},
	{args: "commit --quiet -m a", branch: "feature", note: "f2"},
	{args: "commit --quiet --amend -m a2", branch: "feature", memory: "f1 f2 m1"},
	{args: "tag v1", branch: "feature"},
	{args: "checkout --quiet v1", branch: "feature", ro: true, memory: "f1 f2 m1"},
	{args: "checkout --quiet HEAD~1", branch: "feature", ro: true},
	{args: "switch --quiet main", branch: "main", note: "m2"},
	{args: "write b two"}, {args: "add b", branch: "main"},
	{args: "commit --quiet -m b", branch: "main", memory: "m1 m2"},
	{args: "rebase --quiet main feature", branch: "feature", memory: "f1 f2 m1"},
	{args: "switch --quiet main", branch: "main"},
	{args: "merge --quiet --ff-only feature", branch: "main", memory: "m1 m2"},
	{args: "sync", branch: "main", memory: "f1 f2 m1 m2"},
	{args: "branch --quiet -d feature", branch: "main", memory: "f1 f2 m1 m2"},
	{args: "switch --quiet -c squashed", branch: "squashed", note: "s1"},
	{args: "write c three"}, {args: "add c", branch: "squashed"},
	{args: "commit --quiet -m c", branch: "squashed", memory: "f1 f2 m1 m2 s1"},
	{args: "write d four"}, {args: "add d", branch: "squashed"},
	{args: "commit --quiet -m d", branch: "squashed"},
	{args: "switch --quiet main", branch: "main", memory: "f1 f2 m1 m2"},
	{args: "merge --quiet --squash squashed", branch: "main"},
	{args: "commit --quiet -m squash", branch: "main", memory: "f1 f2 m1 m2"},
	{args: "sync", branch: "main", memory: "f1 f2 m1 m2 s1"},
	{args: "switch --quiet -c left", branch: "left", note: "l1"},
	{args: "write a left"}, {args: "commit --quiet -a -m left", branch: "left"},
	{args: "switch --quiet main", branch: "main"},
	{args: "write a right"}, {args: "commit --quiet -a -m right", branch: "main", note: "m3"},
	{args: "rebase --quiet main left", fails: true, branch: "left", memory: "f1 f2 l1 m1 m2 s1", note: "l2"},
	{args: "rebase --abort", branch: "left", memory: "f1 f2 l1 l2 m1 m2 s1"},
	{args: "switch --quiet main", branch: "main"},
	{args: "merge --quiet left", fails: true, branch: "main", memory: "f1 f2 m1 m2 m3 s1"},
	{args: "merge --abort", branch: "main"},
	{args: "cherry-pick left", fails: true, branch: "main"},
	{args: "cherry-pick --abort", branch: "main"},
	{args: "branch --quiet -m left renamed", branch: "main"},
	{args: "switch --quiet renamed", branch: "renamed", memory: "f1 f2 l1 l2 m1 m2 s1"},
	{args: "bisect start HEAD HEAD~3", branch: "renamed"},
	{args: "bisect good", branch: "renamed"},
	{args: "bisect reset", branch: "renamed"},
	{args: "switch --quiet main", branch: "main"},
	{args: "revert --no-edit HEAD", branch: "main", memory: "f1 f2 m1 m2 m3 s1"},
	{args: "reset --quiet --hard HEAD~1", branch: "main"},
	{args: "worktree add --quiet ../linked -b inlinked", branch: "main"},
	{args: "in ../linked", branch: "inlinked", memory: "f1 f2 m1 m2 m3 s1", note: "w1"},
	{args: "in ../work", branch: "main", memory: "f1 f2 m1 m2 m3 s1"},
	{args: "worktree remove --force ../linked", branch: "main"},
	{args: "switch --quiet inlinked", branch: "inlinked", memory: "f1 f2 m1 m2 m3 s1 w1"},
	{args: "switch --quiet --orphan empty", branch: "empty", memory: "f1 f2 m1 m2 m3 s1 w1"},
	{args: "switch --quiet --force main", branch: "main"},
	{args: "switch --quiet --detach", branch: "main", ro: true},
	{args: "switch --quiet -c fromdetached", branch: "fromdetached", memory: "f1 f2 m1 m2 m3 s1"},
	{args: "gc --quiet", branch: "fromdetached"},
	{args: "pack-refs --all", branch: "fromdetached", note: "p1", memory: "f1 f2 m1 m2 m3 p1 s1"},
	{args: "update-ref refs/heads/other HEAD", branch: "fromdetached"},
	{args: "symbolic-ref HEAD refs/heads/other", branch: "other"},
}

// TestGitActions does what people do with git, by git itself, and looks after each what the memory is on.
func TestGitActions(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	root := t.TempDir()
	work := filepath.Join(root, "work")
	inGit := func(dir string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=ada",
			"GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=a@b", "GIT_EDITOR=true")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := inGit(root, "init", "--quiet", "-b", "main", work); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir := work
	run := func(code int, stdin string, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		app := program.In(dir, &out, &errs)
		app.Stdin = strings.NewReader(stdin)
		if got := cli.Run(t.Context(), app, args); got != code {
			t.Fatalf("mnem %q: exit code %d, want %d: %s%s", args, got, code, &out, &errs)
		}
		return out.String()
	}
	run(0, "", "init")
	if err := os.WriteFile(filepath.Join(work, ".gitignore"), []byte(".mnem\n.gitignore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(0, "", "git", "follow")
	done := 0
	for i, a := range gitActions {
		words := strings.Fields(a.args)
		switch words[0] {
		case "write":
			if err := os.WriteFile(filepath.Join(dir, words[1]), []byte(words[2]+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		case "in":
			dir = filepath.Join(dir, words[1])
		case "sync":
			run(0, "", "git", "sync")
		default:
			done++
			if out, err := inGit(dir, words...); (err != nil) != a.fails {
				t.Fatalf("%d: git %s: %v: %s", i, a.args, err, out)
			}
		}
		var status struct {
			Following struct {
				Branch   string
				ReadOnly *string `json:"read_only"`
			}
		}
		text := run(0, "", "status", "--json")
		if err := json.Unmarshal([]byte(text), &status); err != nil {
			t.Fatal(err)
		}
		if f := status.Following; f.Branch != a.branch || (f.ReadOnly != nil) != a.ro {
			t.Fatalf("%d: after git %s the memory is on %s", i, a.args, text)
		}
		if a.note != "" {
			run(0, fmt.Sprintf(`{"node":{"key":%q,"type":"N"}}`, a.note), "commit", "-m", a.note, "-")
		}
		if a.ro {
			run(1, `{"node":{"key":"no","type":"N"}}`, "commit", "-m", "x", "-")
		}
		want := a.memory
		if want != "" && a.note != "" && !strings.Contains(want, a.note) {
			want = "" // what is read before the note is looked at below
		}
		if want != "" {
			var keys []string
			for _, part := range strings.Split(run(0, "", "ls", "--json"), `"key":"`)[1:] {
				key, _, _ := strings.Cut(part, `"`)
				keys = append(keys, key)
			}
			slices.Sort(keys)
			if got := strings.Join(keys, " "); got != want {
				t.Fatalf("%d: after git %s the memory has %q, want %q", i, a.args, got, want)
			}
		}
	}
	if done < 40 {
		t.Errorf("%d actions of git", done)
	}
	run(0, "", "fsck")
	seesGitNames(t, run, func(args ...string) (string, error) { return inGit(dir, args...) })
	dir = t.TempDir()
	app := program.In(dir, io.Discard, io.Discard)
	if code := cli.Run(t.Context(), app, []string{"init"}); code != 0 {
		t.Fatal(code)
	}
	run(0, `{"node":{"key":"x","type":"N"}}`, "commit", "-m", "x", "-")
	run(2, "", "log", "--git")
}

// seesGitNames looks at what log and blame say that git was at when memories were made.
func seesGitNames(
	t *testing.T, run func(code int, stdin string, args ...string) string, inGit func(args ...string) (string, error),
) {
	t.Helper()
	head, err := inGit("rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	// After the last action of git, whose log counts in seconds.
	run(0, `{"node":{"key":"last","type":"N"}}`, "commit", "-m", "last", "-")
	if out := run(0, "", "log", "--git", "-n", "1"); !strings.Contains(out, "git    "+strings.TrimSpace(head)+"\n") {
		t.Errorf("log --git: %s; HEAD is at %s", out, head)
	}
	if out := run(0, "", "log", "--git", "--json", "-n", "1"); !strings.Contains(out, `"git":"`+strings.TrimSpace(head)+`"`) {
		t.Error(out)
	}
	if out := run(0, "", "blame", "last", "--git"); !strings.Contains(out, head[:12]) {
		t.Errorf("blame --git: %s; HEAD is at %s", out, head)
	}
}
