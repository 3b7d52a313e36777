package sharing_test

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// inGit returns machines that share a memory by a git repository.
func inGit(t *testing.T) (w *team, dir string) {
	t.Helper()
	w = newTeam(t, over(t, "git"))
	return w, filepath.Join(w.dir, codeDir)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"--git-dir", dir}, args...)...).CombinedOutput()
	must.OK(t, err, "git ", args, ": ", out)
	return string(out)
}

// TestGit keeps a memory as one ref, and makes again what is kept of it here. Of a remote that is forgotten nothing stays.
func TestGit(t *testing.T) {
	t.Parallel()
	w, dir := inGit(t)
	w.clones("a")
	for _, key := range []string{"one", "two"} {
		w.add("a", key, "x")
		w.ok("a", "push")
		must.Equal(t, git(t, dir, "for-each-ref", "--format=%(refname) %(parent)"), "refs/mnem/data \n")
	}
	w.clones("c")
	must.OK(t, os.RemoveAll(filepath.Join(w.dir, "c", ".mnem", "remotes")))
	w.add("a", "three", "x")
	w.ok("a", "push")
	w.ok("c", "sync")
	w.same("main", "a", "c")
	w.ok("c", "remote", "rm", "origin")
	if list, err := os.ReadDir(filepath.Join(w.dir, "c", ".mnem", "remotes")); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// TestGitAsksOnce fetches what is here already: the git repository is asked where its ref is, and nothing more.
func TestGitAsksOnce(t *testing.T) {
	t.Parallel()
	w, dir := inGit(t)
	backend := gitBackend()
	if backend == "" {
		t.Skip("git http-backend is not installed")
	}
	target := must.Get(url.Parse(strings.TrimPrefix(gitOverHTTP(t, backend, dir), "git+")))(t)
	var asked atomic.Int64
	s := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		asked.Add(1)
		r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
	}})
	t.Cleanup(s.Close)
	w.url = "git+" + s.URL + target.Path
	w.clones("a")
	w.add("a", "one", "x")
	w.ok("a", "push")
	w.clones("b")
	w.ok("b", "fetch") // what a clone read is not kept
	for _, m := range []string{"a", "b"} {
		asked.Store(0)
		w.ok(m, "fetch")
		if n := asked.Load(); n < 1 || n > 2 { // what the server can do, and the ref
			t.Errorf("%s sent %d requests for nothing new", m, n)
		}
	}
	w.add("a", "two", "x")
	w.ok("a", "push")
	w.ok("b", "sync")
	w.same("main", "a", "b")
}

// TestGitRepacks pushes more packs than are kept: they become one, which others take in.
func TestGitRepacks(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	w, dir := inGit(t)
	w.ok("a", "clone", w.url, ".")
	for i := range 70 {
		w.add("a", fmt.Sprint("n", i), "x")
		w.ok("a", "push")
		if i == 40 {
			w.clones("b")
		}
	}
	packs := strings.Count(git(t, dir, "ls-tree", "-r", "refs/mnem/data"), ".refs")
	must.True(t, packs <= 10, "%d packs", packs)
	w.ok("b", "sync")
	w.same("main", "a", "b")
	w.add("b", "last", "x")
	w.ok("b", "sync")
	w.ok("a", "sync")
	w.same("main", "a", "b")
}

// TestGitHostile has lists of packs that no writer makes: each is refused before a pack is read.
func TestGitHostile(t *testing.T) {
	t.Parallel()
	w, dir := inGit(t)
	w.ok("a", "init")
	w.ok("a", "remote", "add", "origin", w.url)
	blob := func(text string) string {
		name := filepath.Join(t.TempDir(), "blob")
		must.OK(t, os.WriteFile(name, []byte(text), 0o600))
		return strings.TrimSpace(git(t, dir, "hash-object", "-w", name))
	}
	const at = "refs/heads/main bafyreie3lw7oincmktzd7h26jbdrj3a6v2bqrgcqp7t7cttup2fcbplkre\n"
	x, none := blob("x"), blob("")
	many := map[string]string{}
	for n := range 129 {
		name := fmt.Sprintf("packs/%06d", n+1)
		many[name], many[name+".refs"] = x, none
	}
	for says, files := range map[string]map[string]string{
		"a part of packs/000001 has 1 bytes": {"packs/000001": x, "packs/000001.refs": none, "packs/000001.01": x},
		"packs/000001 has no refs":           {"packs/000001": x},
		"more than 128 packs":                many,
		"refs/heads/main is there twice":     {"refs": blob(at + at)},
		"its format is another one":          {"format": x},
		"a ref in the git repository":        {"refs": x},
		"is not in its packs":                {"refs": blob(at)},
	} {
		index := append(os.Environ(), "GIT_INDEX_FILE="+filepath.Join(t.TempDir(), "index"))
		run := func(args ...string) string {
			cmd := exec.Command("git", append([]string{"--git-dir", dir, "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
			cmd.Env = index
			out, err := cmd.CombinedOutput()
			must.OK(t, err, "git ", args, ": ", out)
			return strings.TrimSpace(string(out))
		}
		all := map[string]string{"format": blob("mnem in git 1\n"), "head": blob("refs/heads/main\n"), "refs": none}
		for name, id := range files {
			all[name] = id
		}
		for name, id := range all {
			run("update-index", "--add", "--cacheinfo", "100644,"+id+","+name)
		}
		git(t, dir, "update-ref", "refs/mnem/data", run("commit-tree", "-m", "x", run("write-tree")))
		w.refused(1, says, "a", "fetch")
	}
}
