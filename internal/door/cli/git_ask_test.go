package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/settings"
)

// spiedGit puts a program in the place of git, which notes what it is asked and then is git, or what script says, and
// returns what was asked since the last call: the command of git, of each process.
func spiedGit(t *testing.T, script string) (asked func() string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes")
	script = "#!/bin/sh\necho \"$*\" >>'" + notes + "'\n" + strings.ReplaceAll(script, "GIT", "'"+git+"'") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	commands := []string{"branch", "log", "rev-parse", "symbolic-ref", "config", "merge-base", "cherry"}
	return func() string {
		data, err := os.ReadFile(notes)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		_ = os.Remove(notes) // there may be none
		var names []string
		for line := range strings.Lines(string(data)) {
			words := strings.Fields(line)
			i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(commands, w) })
			if i < 0 {
				t.Errorf("git %s", line)
				continue
			}
			names = append(names, words[i])
		}
		return strings.Join(names, " ")
	}
}

// TestFollowStartsGit counts the processes of git that commands start: none unless the memory follows git and HEAD's
// file and the memory's own branches do not tell where to read and write.
func TestFollowStartsGit(t *testing.T) {
	for _, c := range []struct {
		name        string
		steps       []string
		read, write string
		again       string // what reading asks after the write
	}{
		{"not followed", []string{"mnem git follow --remove", "git switch -q -c a"}, "", "", ""},
		{"not followed, detached", []string{"mnem git follow --remove", "git switch -q --detach"}, "", "", ""},
		{"a branch with memory", nil, "", "", ""},
		{"another one", []string{"git switch -q -c a", "note x"}, "", "", ""},
		{"a new branch", []string{"git switch -q -c a"}, "log log", "log log", ""},
		{"a new branch of one without memory", []string{"git switch -q -c a", "git switch -q -c b"}, "log log log", "log log log", ""},
		{"a rebase", append(slices.Clone(conflictingBranches), "git switch -q side", "fails git rebase main"),
			"branch", "branch", "branch"},
		{"a linked work tree", []string{"git worktree add -q -b side ../" + t.Name(), "cd ../" + t.Name(), "note x"}, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := followWorld(t)
			for _, s := range c.steps {
				w.step(s)
			}
			asked := spiedGit(t, `exec GIT "$@"`)
			w.run(0, "show", "base")
			if got := asked(); got != c.read {
				t.Errorf("reading asks git %q, want %q", got, c.read)
			}
			w.note("written")
			if got := asked(); got != c.write {
				t.Errorf("writing asks git %q, want %q", got, c.write)
			}
			w.run(0, "show", "written")
			if got := asked(); got != c.again {
				t.Errorf("then reading asks git %q, want %q", got, c.again)
			}
		})
	}
}

// TestFollowWithoutGit has git missing or failing: what needs it to tell the branch stops with the next step, and
// nothing is read of or written to another branch; the rest goes on.
func TestFollowWithoutGit(t *testing.T) {
	const owned = `echo "fatal: detected dubious ownership in repository at '/x'" >&2; exit 128`
	for name, c := range map[string]struct {
		steps  []string
		script string // "" if there is no git
		says   string
	}{
		"missing, new branch":      {[]string{"git switch -q -c a"}, "", "executable file not found"},
		"missing, detached":        {[]string{"git switch -q --detach"}, "", "executable file not found"},
		"failing, new branch":      {[]string{"git switch -q -c a"}, owned, "dubious ownership"},
		"failing, detached":        {[]string{"git switch -q --detach"}, owned, "dubious ownership"},
		"printing without an end":  {[]string{"git switch -q -c a"}, "exec yes", "prints more than"},
		"reftable, git is missing": {[]string{"file .git/HEAD ref: refs/heads/.invalid"}, "", "executable file not found"},
	} {
		t.Run(name, func(t *testing.T) {
			w := followWorld(t)
			w.run(0, "branch", "other-of-the-memory")
			w.env[settings.FollowVariable] = "false"
			before, _ := w.run(0, "branch", "--json")
			delete(w.env, settings.FollowVariable)
			for _, s := range c.steps {
				w.step(s)
			}
			path := os.Getenv("PATH")
			if c.script == "" {
				t.Setenv("PATH", t.TempDir())
			} else {
				spiedGit(t, c.script)
			}
			refused := func(args ...string) {
				t.Helper()
				w.Stdin = strings.NewReader(aliceLine)
				_, said := w.run(1, args...)
				if !strings.Contains(said, c.says) || !strings.Contains(said, "hint: install git") ||
					!strings.Contains(said, "mnem git follow --remove") || len(said) > 2500 {
					t.Errorf("mnem %q: %.3000s", args, said)
				}
			}
			refused("commit", "-m", "x", "-")
			refused("remember", "a fact")
			refused("show", "base")
			refused("git", "sync")
			w.note("named", "--branch", "other-of-the-memory")
			if _, said := w.run(0, "show", "base", "--at", "main"); !strings.Contains(said, "warning: ") {
				t.Errorf("nothing is said of git: %q", said)
			}
			w.env[settings.FollowVariable] = "false"
			w.run(0, "undo") // what was written by name
			if after, _ := w.run(0, "branch", "--json"); after != before {
				t.Errorf("branches were\n%sand are\n%s", before, after)
			}
			delete(w.env, settings.FollowVariable)
			w.run(0, "git", "follow", "--remove")
			w.run(0, "show", "base")
			if strings.Contains(name, "detached") {
				w.run(1, "git", "follow")
			}
			t.Setenv("PATH", path)
		})
	}
}

// TestFollowNested asks git about the work tree alone, and not about one around it where git takes it for none.
func TestFollowNested(t *testing.T) {
	w := followWorld(t)
	w.Dir = filepath.Join(w.Dir, "inner")
	if err := os.MkdirAll(filepath.Join(w.Dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.init()
	w.write(".git/HEAD", "ref: refs/heads/new\n")
	w.run(1, "git", "follow")
	if out, _ := w.run(0, "config", "get", "git.follow"); out != "false\n" {
		t.Errorf("it is refused, and the setting is %q", out)
	}
	w.run(0, "config", "set", "git.follow", "true")
	for _, head := range []string{"ref: refs/heads/new\n", strings.Repeat("a", 40) + "\n"} {
		w.write(".git/HEAD", head)
		w.Stdin = strings.NewReader(aliceLine)
		if _, said := w.run(1, "commit", "-m", "x", "-"); !strings.Contains(said, "not a git repository") {
			t.Errorf("%q: %s", head, said)
		}
	}
	w.run(0, "git", "follow", "--remove")
}

// TestFollowReftable follows a repository whose HEAD is in no file.
func TestFollowReftable(t *testing.T) {
	w := followWorld(t)
	w.note("of-main")
	w.step("file .git/HEAD ref: refs/heads/.invalid")
	asked := spiedGit(t, `case "$*" in *symbolic-ref*) echo refs/heads/main;; *log*) exit 0;; esac`)
	for _, s := range []string{"= main", "has of-main", "note more", "has more"} {
		w.step(s)
	}
	if got := asked(); !strings.HasPrefix(got, "branch symbolic-ref") || strings.Contains(got, "log") {
		t.Errorf("git was asked %q", got)
	}
	commit := strings.Repeat("a", 40)
	spiedGit(t, `case "$*" in *branch*) echo "(HEAD detached at aaaaaaa)";; *rev-parse*) echo `+commit+`;;
*log*) echo "`+commit+` HEAD@{1} checkout: moving from main to `+commit+`";; esac`)
	w.step("w main ro")
	for _, said := range []string{"refs/heads/a..b", "junk", ""} {
		spiedGit(t, `case "$*" in *symbolic-ref*) echo `+said+`;; esac`)
		if _, err := w.run(1, "show", "of-main"); !strings.Contains(err, "is no ") {
			t.Errorf("%s: %s", said, err)
		}
	}
}

// TestFollowHeldOrigin has the process that has the repository open ask git where a new branch came from.
func TestFollowHeldOrigin(t *testing.T) {
	w := followWorld(t)
	for _, s := range []string{"git switch -q -c a", "note x", "git switch -q main", "note y", "git switch -q a", "git switch -q -c b"} {
		w.step(s)
	}
	stop := w.held()
	defer stop()
	asked := spiedGit(t, `exec GIT "$@"`)
	for _, s := range []string{"has x", "lacks y", "w b<-a"} {
		w.step(s)
	}
	if got := asked(); !strings.HasPrefix(got, "log log") {
		t.Errorf("git was asked %q", got)
	}
	w.step("git switch -q -c c")
	t.Setenv("PATH", t.TempDir())
	w.Stdin = strings.NewReader(aliceLine)
	if _, said := w.run(1, "commit", "-m", "x", "-"); !strings.Contains(said, "hint: install git") {
		t.Error(said)
	}
}

// held has another process, as it were, hold the repository until stop is called.
func (w *world) held() (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, out := io.Pipe()
	app := *w.App
	app.Stdin, app.Stdout, app.Stderr = strings.NewReader(""), out, io.Discard
	app.Getenv = func(string) string { return "" }
	done := make(chan struct{})
	go func() {
		defer close(done)
		Run(ctx, &app, []string{"hold", "--json", "-R", app.Dir})
		_ = out.Close() // a pipe in memory
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil || !strings.Contains(line, `"socket":"`) {
		w.t.Errorf("no process holds it: %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }() // it says no more
	return func() { cancel(); <-done }
}
