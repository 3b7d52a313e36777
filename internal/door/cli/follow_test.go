package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
)

// followWorld is a git work tree on main with one commit, whose memory has the node base and follows git.
func followWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.Home = filepath.Join(t.TempDir(), "home")
	w.Config, w.Data = filepath.Join(w.Home, "config"), filepath.Join(w.Home, "data")
	w.git("init -q -b main")
	w.init()
	w.write("a.txt", "one\n")
	w.git("add a.txt")
	w.git("commit -q -m first")
	w.run(0, "git", "follow")
	w.note("base")
	return w
}

// git runs git where the world is, and returns what it prints.
func (w *world) git(line string) string {
	w.t.Helper()
	out, err := w.tryGit(line)
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", line, err, out)
	}
	return strings.TrimSpace(out)
}

func (w *world) tryGit(line string) (string, error) {
	args, err := shellWords(line)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		w.t.Skip("no git")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = w.Dir
	cmd.Env = append(os.Environ(), "HOME="+w.Home, "XDG_CONFIG_HOME="+w.Home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A",
		"GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_EDITOR=true",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// note writes a node of a key into the memory.
func (w *world) note(key string, flags ...string) {
	w.t.Helper()
	w.Stdin = strings.NewReader(`{"node":{"key":"` + key + `","type":"Note"}}` + "\n")
	w.run(0, append([]string{"commit", "-m", key, "-"}, flags...)...)
}

// follows tells what is followed in the words of the table below: BRANCH, BRANCH<-FROM before its first write, and
// then what git is in the middle of, and ro if it cannot be written.
func (w *world) follows() string {
	w.t.Helper()
	out, _ := w.run(0, "status", "--json")
	var st struct {
		Following *struct {
			Branch, From, Doing string
			Exists              bool
			Why                 string `json:"read_only"`
		}
	}
	if err := json.Unmarshal([]byte(out), &st); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	f := st.Following
	if f == nil {
		return "none"
	}
	said := f.Branch
	if !f.Exists {
		said += "<-" + f.From
	}
	if f.Doing != "" {
		said += " " + f.Doing
	}
	if f.Why != "" {
		said += " ro"
	}
	return said
}

// written looks whether a write comes to what is followed, or is refused, in what follows tells.
func (w *world) written(want string) {
	w.t.Helper()
	branch, _, _ := strings.Cut(want, " ")
	branch, _, _ = strings.Cut(branch, "<-")
	if strings.HasSuffix(want, " ro") {
		w.Stdin = strings.NewReader(aliceLine)
		_, said := w.run(1, "commit", "-m", "refused", "-")
		if !strings.Contains(said, "on no git branch") || !strings.Contains(said, "hint: name a branch with --branch") {
			w.t.Errorf("a write was refused: %s", said)
		}
		if branch != "" {
			w.note("by-name", "-b", branch)
		}
		return
	}
	w.made++
	w.Stdin = strings.NewReader(fmt.Sprintf(`{"node":{"key":"k%d","type":"Note"}}`+"\n", w.made))
	out, _ := w.run(0, "commit", "-m", "written", "--json", "-")
	var res struct{ Branch string }
	if err := json.Unmarshal([]byte(out), &res); err != nil || res.Branch != branch {
		w.t.Errorf("written to %q, want %q: %v", res.Branch, branch, err)
	}
}

// step does one line of a case.
func (w *world) step(line string) {
	w.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "git":
		w.git(rest)
	case "fails":
		if out, err := w.tryGit(strings.TrimPrefix(rest, "git ")); err == nil {
			w.t.Fatalf("git %s: %s", rest, out)
		}
	case "mnem":
		args, err := shellWords(rest)
		if err != nil {
			w.t.Fatal(err)
		}
		w.run(0, args...)
	case "note":
		w.note(rest)
	case "has", "lacks":
		_, _ = w.run(map[string]int{"has": 0, "lacks": 3}[verb], "show", rest)
	case "cd":
		w.Dir = filepath.Join(w.Dir, rest)
	case "file":
		name, text, _ := strings.Cut(rest, " ")
		w.write(name, text+"\n")
	case "commit": // a file of git
		w.write(rest+".txt", rest+"\n")
		w.git("add " + rest + ".txt")
		w.git("commit -q -m " + rest)
	case "rm":
		if err := os.RemoveAll(filepath.Join(w.Dir, rest)); err != nil {
			w.t.Fatal(err)
		}
	case "=":
		if got := w.follows(); got != rest {
			w.t.Errorf("following %q, want %q", got, rest)
		}
	case "w": // as =, and it is written
		if got := w.follows(); got != rest {
			w.t.Errorf("following %q, want %q", got, rest)
		}
		w.written(rest)
	default:
		w.t.Fatalf("no step: %s", line)
	}
}

// conflicting makes two branches that change one file differently: side, and main.
var conflictingBranches = []string{
	"git switch -q -c side", "file a.txt side", "git commit -q -a -m side", "note onside",
	"git switch -q main", "file a.txt main", "git commit -q -a -m main",
}

// gitActions are actions of git, each with the branch of the memory that must be followed after it.
var gitActions = []struct {
	name  string
	steps []string
}{
	{"commit", []string{"commit b", "w main", "git commit -q --amend -m again", "w main"}},
	{"switch -c", []string{"git switch -q -c feature", "= feature<-main", "has base", "w feature<-main", "w feature",
		"git switch -q main", "w main", "git switch -q feature", "w feature"}},
	{"checkout -b", []string{"git checkout -q -b fix/a", "= fix/a<-main", "has base", "note x", "= fix/a",
		"git checkout -q main", "lacks x", "= main", "git checkout -q -", "has x", "= fix/a"}},
	{"the branch that was left, not the one written last", []string{"git switch -q -c a", "note x", "git switch -q main",
		"git switch -q -c b", "= b<-main", "lacks x", "w b<-main"}},
	{"a chain of branches without a write", []string{"git switch -q -c a", "git switch -q -c b", "git switch -q -c c",
		"= c<-main", "note x", "= c", "git switch -q a", "= a<-main", "lacks x", "note y", "git switch -q b", "= b<-a", "has y"}},
	{"branch, then switch from another", []string{"git switch -q -c a", "note x", "git branch late main",
		"git branch b", "git switch -q main", "git switch -q b", "= b<-a", "git switch -q late", "w late<-main"}},
	{"switch -c with a start", []string{"git switch -q -c a", "note x", "git switch -q -c b main", "= b<-main", "lacks x",
		"git switch -q -c c a", "= c<-a", "has x", "w c<-a"}},
	{"switch --orphan", []string{"git switch -q -c a", "note x", "git switch -q --orphan fresh", "w fresh<-a",
		"git commit -q --allow-empty -m start", "w fresh"}},
	{"checkout --orphan", []string{"git checkout -q --orphan fresh", "= fresh<-main", "has base", "w fresh<-main"}},
	{"merge", []string{"git switch -q -c a", "commit b", "git switch -q main", "git merge -q --no-ff -m m a", "w main"}},
	{"merge with conflicts", append(slices.Clone(conflictingBranches), "fails git merge side", "w main",
		"git merge --abort", "w main")},
	{"squash merge", []string{"git switch -q -c a", "commit b", "git switch -q main", "git merge -q --squash a",
		"w main", "git commit -q -m squashed", "w main"}},
	{"rebase", []string{"git switch -q -c a", "commit b", "git switch -q main", "commit c", "git switch -q a",
		"git rebase -q main", "w a<-main", "w a"}},
	{"rebase with conflicts", append(slices.Clone(conflictingBranches), "git switch -q side", "fails git rebase main",
		"w side rebase", "has onside", "file a.txt both", "git add a.txt", "git rebase --continue", "w side")},
	{"rebase --abort", append(slices.Clone(conflictingBranches), "git switch -q side", "fails git rebase main",
		"= side rebase", "git rebase --abort", "w side")},
	{"rebase --apply with conflicts", append(slices.Clone(conflictingBranches), "git switch -q side",
		"fails git rebase --apply main", "w side rebase", "git rebase --skip", "w side")},
	{"rebase of another branch", append(slices.Clone(conflictingBranches), "fails git rebase main side", "w side rebase",
		"git rebase --abort", "w side")}, // where git stays
	{"rebase of a detached HEAD", append(slices.Clone(conflictingBranches), "git checkout -q --detach side",
		"fails git rebase main", "w main ro", "git rebase --abort", "w main ro")},
	{"rebase --interactive, stopped", []string{"commit b", "git -c sequence.editor='sed -i s/^pick/edit/' rebase -q -i HEAD~1",
		"w main rebase", "git rebase --continue", "w main"}},
	{"cherry-pick", []string{"git switch -q -c a", "commit b", "git switch -q main", "git cherry-pick a", "w main"}},
	{"cherry-pick with conflicts", append(slices.Clone(conflictingBranches), "fails git cherry-pick side", "w main",
		"git cherry-pick --abort", "w main")},
	{"revert", []string{"commit b", "git revert --no-edit HEAD", "w main"}},
	{"reset --hard", []string{"commit b", "git reset -q --hard HEAD~1", "w main"}},
	{"stash", []string{"file a.txt changed", "git stash -q", "w main", "git stash pop -q", "w main"}},
	{"stash branch", []string{"file a.txt changed", "git stash -q", "git stash branch wip", "w wip<-main"}},
	{"bisect", []string{"commit b", "commit c", "commit d", "git bisect start HEAD HEAD~3", "w main bisect", "git bisect bad",
		"= main bisect", "git bisect reset", "w main"}},
	{"bisect from a branch without a write", []string{"git switch -q -c a", "commit b", "commit c", "commit d",
		"git bisect start HEAD HEAD~3", "w a<-main bisect", "git bisect reset", "w a"}},
	{"bisect from a commit", []string{"commit b", "commit c", "commit d", "git checkout -q --detach",
		"git bisect start HEAD HEAD~3", "w main ro"}},
	{"worktree add -b", []string{"git worktree add -q -b side ../wt1", "= main", "cd ../wt1", "= side<-main", "has base",
		"w side<-main", "w side", "cd ../wt0", "= main"}},
	{"worktree add -b on another branch", []string{"git switch -q -c dev", "note x", "git worktree add -q -b side ../wt2",
		"cd ../wt2", "= side<-dev", "has x"}},
	{"worktree add of a branch", []string{"git branch side", "git worktree add -q ../wt3 side", "cd ../wt3", "w side<-main",
		"git switch -q -c deep", "w deep<-side", "git checkout -q --detach", "w deep ro"}},
	{"worktree add inside", []string{"git worktree add -q -b side in/side", "cd in/side", "w side<-main"}},
	{"worktree add --detach", []string{"git worktree add -q --detach ../wt4", "cd ../wt4", "w <-main ro"}},
	{"worktree remove", []string{"git worktree add -q -b side ../wt5", "git worktree remove ../wt5", "w main",
		"git switch -q side", "w side<-main"}},
	{"branch -m of the current one", []string{"git switch -q -c old", "note x", "git branch -m new", "= new<-old", "has x",
		"w new<-old", "w new"}},
	{"branch -m of main", []string{"git branch -m trunk", "= trunk<-main", "has base", "w trunk<-main"}},
	{"branch -c", []string{"git switch -q -c a", "note x", "git branch -c a copy", "git switch -q main", "git switch -q copy",
		"w copy<-a"}},
	{"branch -d", []string{"git switch -q -c a", "note x", "git switch -q main", "git branch -q -d a", "w main",
		"git switch -q -c a", "has x", "w a"}},
	{"branch -f elsewhere", []string{"commit b", "git branch a HEAD~1", "git branch -f a HEAD", "git switch -q a", "w a<-main"}},
	{"checkout of a tag", []string{"git tag v1", "commit b", "git switch -q -c a", "note x", "git checkout -q v1", "w a ro",
		"git checkout -q main", "w main"}},
	{"checkout of a commit", []string{"commit b", "git checkout -q HEAD~1", "w main ro", "git checkout -q --detach main",
		"w main ro", "git switch -q -c from-there", "w from-there<-main"}},
	{"checkout of a tag, then another", []string{"git tag v1", "commit b", "git tag v2", "git checkout -q v1",
		"git checkout -q v2", "w main ro"}},
	{"a commit on a detached HEAD", []string{"git checkout -q --detach", "commit b", "w main ro",
		"git switch -q -c kept", "w kept<-main"}},
	{"switch -c from a tag", []string{"git tag v1", "git switch -q -c a", "note x", "git switch -q -c hot v1", "w hot<-a"}},
	{"checkout of a branch of a remote", []string{"git clone -q . ../clone0", "git -C ../clone0 switch -q -c theirs",
		"git remote add origin ../clone0", "git fetch -q", "git checkout -q theirs", "w theirs<-main"}},
	{"pull", []string{"git clone -q . ../clone1", "git -C ../clone1 -c user.name=x -c user.email=x commit -q --allow-empty -m new",
		"git pull -q --ff-only ../clone1 main", "w main"}},
	{"a file and a directory of branches", []string{"git switch -q -c a", "note x", "git switch -q main", "git branch -D a",
		"git switch -q -c a/b", "w a/b<-main"}},
	{"case differences", []string{"git switch -q -c Feature", "note x", "git switch -q main", "git switch -q -c feaTure",
		"lacks x", "w feaTure<-main"}},
	{"unusual characters", []string{"git switch -q -c 'größe/ü,(50%)#1;&$'", "w größe/ü,(50%25)#1;&$<-main",
		"git switch -q main", "git switch -q -c 'a./b'", "w a%2E/b<-main", "git switch -q -c '日本'", "w 日本<-a%2E/b"}},
	{"packed refs", []string{"git switch -q -c a", "note x", "git pack-refs --all --prune", "w a", "git switch -q main",
		"w main", "git switch -q -c b a", "git pack-refs --all --prune", "w b<-a"}},
	{"gc", []string{"git switch -q -c a", "git gc -q", "w a<-main"}},
	{"a ref of its own", []string{"git update-ref refs/heads/made HEAD", "git symbolic-ref HEAD refs/heads/made", "w made<-main"}},
	{"no reflog", []string{"git config core.logAllRefUpdates false", "git switch -q -c a", "w a<-main", "git checkout -q --detach",
		"w a ro"}},
	{"logs removed", []string{"git switch -q -c a", "rm .git/logs", "w a<-main", "git switch -q --detach", "rm .git/logs",
		"w <-main ro"}},
	{"a submodule", []string{"git clone -q . ../lib", "git submodule --quiet add ../lib sub", "cd sub", "git switch -q -c inner", "w main"}},
	{"a directory below", []string{"git switch -q -c a", "mnem status", "file x.txt x", "w a<-main"}},
}

// TestFollowGit does what people do with git, and looks after each action which branch of the memory is followed, and
// whether it can be written.
func TestFollowGit(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	actions := 0
	for _, c := range gitActions {
		for _, s := range c.steps {
			if strings.HasPrefix(s, "git ") || strings.HasPrefix(s, "fails ") || strings.HasPrefix(s, "commit ") {
				actions++
			}
		}
		t.Run(c.name, func(t *testing.T) {
			w := followWorld(t)
			root := w.Dir
			for _, s := range c.steps {
				if s == "cd ../wt0" {
					w.Dir = root
					continue
				}
				w.step(s)
			}
			w.Dir = root
		})
	}
	if len(gitActions) < 40 || actions < 100 {
		t.Errorf("%d cases of %d actions", len(gitActions), actions)
	}
}

// TestFollowEmpty follows git in a repository without commits.
func TestFollowEmpty(t *testing.T) {
	w := newWorld(t)
	w.Home = filepath.Join(t.TempDir(), "home")
	w.git("init -q -b trunk")
	w.init()
	if got := w.follows(); got != "none" {
		t.Errorf("following %q", got)
	}
	w.run(0, "git", "follow")
	for _, s := range []string{"= trunk<-main", "note x", "= trunk", "has x", "git checkout -q -b other", "= other<-main", "lacks x"} {
		w.step(s)
	}
	w.run(0, "git", "follow", "--remove")
	for _, s := range []string{"= none", "lacks x", "mnem --json show x --at trunk"} {
		w.step(s)
	}
}
