package sharing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
	"github.com/mnem-project/mnem/internal/testkit/repofiles"
	"github.com/mnem-project/mnem/internal/testkit/s3test"
)

// served runs 'mnem serve' for the repository in a directory until the test ends, and returns its URL.
func served(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return program.Serve(t, program.In(dir, nil, io.Discard), args...)
}

func fileURL(dir string) string {
	path := filepath.ToSlash(dir)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // of a drive
	}
	return "file://" + path
}

// team is a repository that others share, hub, and machines with repositories of their own.
type team struct {
	*testing.T
	dir, url string
	env      map[string]string
	apart    func(w *team) string // as of its carrier
	encrypt  []string             // flags of clone and remote add that encrypt
	store    *s3test.Server       // if that is an object store
	made     atomic.Int64         // apps, each with random numbers of its own
	hurry    bool                 // whether nothing is tried a second time
}

func newTeam(t *testing.T, by carrier) *team {
	w := &team{T: t, dir: t.TempDir(), env: map[string]string{"MNEM_SSH": os.Args[0] + " " + program.AsShell}}
	w.ok("hub", "init")
	w.Cleanup(func() {
		entries, err := os.ReadDir(w.dir)
		for _, e := range entries {
			if _, statErr := os.Stat(filepath.Join(w.dir, e.Name(), ".mnem")); statErr == nil {
				var out bytes.Buffer
				app := w.app(e.Name(), "", &out, &out)
				if code := cli.Run(context.Background(), app, []string{"fsck", "--full"}); code != 0 {
					t.Errorf("fsck of %s: exit code %d: %s", e.Name(), code, &out)
				}
				unknown, err := repofiles.Unknown(filepath.Join(w.dir, e.Name(), ".mnem"))
				if err != nil || len(unknown) > 0 {
					t.Errorf("package layout does not name files of %s: %q, %v", e.Name(), unknown, err)
				}
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
	w.url = by.url(w, filepath.Join(w.dir, "hub"))
	if by.apart != nil {
		add := []string{"remote", "add", "origin", w.url}
		if by.encrypted {
			w.encrypt = []string{"--encrypt", w.identity("identity")}
		}
		w.ok("hub", append(add, w.encrypt...)...)
		w.apart = by.apart
	}
	return w
}

func (w *team) app(machine, stdin string, out, errs io.Writer) *line.App {
	dir := filepath.Join(w.dir, machine)
	must.OK(w, os.MkdirAll(dir, 0o755))
	app := program.In(dir, out, errs)
	app.Stdin = strings.NewReader(stdin)
	app.Rand = rand.NewChaCha8([32]byte{byte(w.made.Add(1))})
	app.Getenv = func(name string) string { return w.env[name] }
	app.User, app.Config, app.Home = machine, filepath.Join(w.dir, "config-of", machine), dir
	if w.hurry {
		app.Sleep = func(context.Context, time.Duration) error { return context.Canceled }
	}
	return app
}

// run runs a command line on a machine, which must end with an exit code.
func (w *team) run(code int, machine, stdin string, args ...string) (stdout, stderr string) {
	w.Helper()
	if w.apart != nil && machine == "hub" {
		return w.asHub(code, stdin, args...)
	}
	return w.raw(code, machine, stdin, args...)
}

func (w *team) raw(code int, machine, stdin string, args ...string) (stdout, stderr string) {
	w.Helper()
	var out, errs bytes.Buffer
	if got := cli.Run(w.Context(), w.app(machine, stdin, &out, &errs), args); got != code {
		w.Fatalf("%s: mnem %q: exit code %d, want %d\n%s%s", machine, args, got, code, &out, &errs)
	}
	return out.String(), errs.String()
}

func (w *team) ok(machine string, args ...string) string {
	w.Helper()
	out, _ := w.run(0, machine, "", args...)
	return out
}

// refused runs a command line that must fail with an exit code and say something.
func (w *team) refused(code int, says, machine string, args ...string) {
	w.Helper()
	if _, errs := w.run(code, machine, "", args...); !strings.Contains(errs, says) {
		w.Errorf("%s: mnem %q says %q, want %q", machine, args, errs, says)
	}
}

// noise is text that hardly packs and is quick to index: one word. It packs to 5 bits a byte.
func noise(rnd *rand.Rand, bytes int) string {
	text := make([]byte, bytes)
	for i := range text {
		text[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[rnd.IntN(36)]
	}
	return string(text)
}

// add commits a node.
func (w *team) add(machine, key, summary string, args ...string) {
	w.Helper()
	line := fmt.Sprintf(`{"node":{"key":%q,"type":"N","summary":%q}}`, key, summary)
	w.run(0, machine, line, append([]string{"commit", "-m", key, "-"}, args...)...)
}

// clones makes a repository of the hub's on each machine.
func (w *team) clones(machines ...string) {
	w.Helper()
	for _, m := range machines {
		w.ok(m, append([]string{"clone", w.url, "."}, w.encrypt...)...)
	}
}

// at returns what a ref is at on a machine, "" for nothing.
func (w *team) at(machine, ref string) string {
	w.Helper()
	if w.apart != nil && machine == "hub" {
		return w.hubAt(ref)
	}
	var answer struct {
		Refs []struct{ Ref, Target string }
	}
	w.json(&answer, machine, "pack", "refs", "--tracking", "--sessions")
	for _, r := range answer.Refs {
		if r.Ref == ref {
			return r.Target
		}
	}
	return ""
}

func (w *team) json(to any, machine string, args ...string) {
	w.Helper()
	must.OK(w, json.Unmarshal([]byte(w.ok(machine, append(args, "--json")...)), to))
}

// same sees to it that a branch is at one commit on machines, and returns it.
func (w *team) same(branch string, machines ...string) string {
	w.Helper()
	want := w.at(machines[0], "refs/heads/"+branch)
	for _, m := range machines {
		if got := w.at(m, "refs/heads/"+branch); got != want || got == "" {
			w.Errorf("%s of %s is at %q, of %s at %q", branch, m, got, machines[0], want)
		}
	}
	return want
}

// summary returns the summary of a node on a machine.
func (w *team) summary(machine, key string, args ...string) string {
	w.Helper()
	var node struct{ Summary string }
	w.json(&node, machine, append([]string{"show", key}, args...)...)
	return node.Summary
}

// operations returns how many operations a repository has seen.
func (w *team) operations(machine string) int {
	w.Helper()
	if w.apart != nil && machine == "hub" {
		return int(crc32.ChecksumIEEE([]byte(w.apart(w))))
	}
	return strings.Count(w.ok(machine, "op", "log", "--json"), "\n")
}

type syncAnswer struct {
	Rounds   int
	Branches []struct {
		Branch, Commit  string
		Merged          int
		Forward, Pushed bool
		Conflicts       []struct{ Item, Label, Resolution string }
	}
}

// scenario is a series of events between machines.
type scenario struct {
	name string
	do   func(w *team)
}

// scenarios are played between machines, over each carrier.
var scenarios = []scenario{
	{"empty", func(w *team) {
		if out := w.ok("a", append([]string{"clone", w.url, "."}, w.encrypt...)...); !strings.Contains(out, "nothing is there yet") {
			w.Error(out)
		}
		w.ok("a", "fetch")
		w.ok("a", "sync")
		w.ok("a", "push")
		w.add("a", "one", "x")
		w.ok("a", "sync")
		w.same("main", "a", "hub")
	}},
	{"ahead", func(w *team) {
		w.clones("a")
		w.add("a", "one", "x")
		w.ok("a", "push")
		w.add("a", "two", "x")
		if out := w.ok("a", "push"); !strings.Contains(out, "refs/heads/main") {
			w.Error(out)
		}
		if out := w.ok("a", "push"); !strings.Contains(out, "nothing to push") {
			w.Error(out)
		}
		if at := w.same("main", "a", "hub"); w.at("a", "refs/remotes/origin/heads/main") != at {
			w.Error("where the remote is was not kept")
		}
	}},
	{"behind", func(w *team) {
		w.add("hub", "one", "x")
		w.clones("a", "b")
		w.add("a", "two", "x")
		w.ok("a", "push")
		w.ok("b", "fetch")
		if w.at("b", "refs/heads/main") == w.at("hub", "refs/heads/main") {
			w.Error("a fetch moved a branch")
		}
		w.ok("b", "sync")
		w.same("main", "a", "b", "hub")
	}},
	{"diverged", func(w *team) {
		w.add("hub", "one", "x")
		w.clones("a", "b")
		w.add("a", "two", "of a")
		w.ok("a", "push")
		w.add("b", "three", "of b")
		w.refused(5, "mnem sync", "b", "push")
		w.ok("b", "fetch")
		w.refused(5, "mnem sync", "b", "push")
		if out := w.ok("b", "branch"); !strings.Contains(out, "[origin: ahead 1, behind 1]") {
			w.Error(out)
		}
		var res syncAnswer
		w.json(&res, "b", "sync")
		if out := w.ok("b", "branch"); !strings.Contains(out, "[origin: the same]") {
			w.Error(out)
		}
		if b := res.Branches[0]; b.Merged != 1 || !b.Pushed || b.Commit != w.at("hub", "refs/heads/main") {
			w.Errorf("%+v", res)
		}
		w.ok("a", "sync")
		w.same("main", "a", "b", "hub")
		if w.summary("a", "three") != "of b" || w.summary("b", "two") != "of a" {
			w.Error("a change is lost")
		}
	}},
	{"conflict stops", func(w *team) {
		w.conflict()
		before := w.at("hub", "refs/heads/main")
		w.refused(5, "mnem merge", "b", "sync")
		w.refused(5, "in progress", "b", "sync")
		if w.at("hub", "refs/heads/main") != before {
			w.Error("half a merge was pushed")
		}
		w.ok("b", "merge", "--resolve", "n", "--take", "theirs")
		w.ok("b", "merge", "--continue")
		w.ok("b", "sync")
		w.ok("a", "sync")
		w.same("main", "a", "b", "hub")
		if got := w.summary("b", "n"); got != "of a" {
			w.Error(got)
		}
	}},
	{"conflict by rule", func(w *team) {
		for rule, want := range map[string]string{"ours": "of b", "theirs": "of a", "newest": "of b"} {
			w.Run(rule, func(t *testing.T) {
				w := newTeam(t, over(t, "path"))
				w.conflict()
				var res syncAnswer
				w.json(&res, "b", "sync", "--conflicts", rule)
				took := "ours"
				if rule == "theirs" {
					took = rule
				}
				c := res.Branches[0].Conflicts
				if len(c) != 1 || c[0].Resolution != took || c[0].Label != "n" || w.summary("hub", "n") != want {
					t.Errorf("%+v: %s", res, w.summary("hub", "n"))
				}
			})
		}
		w.refused(2, "not one of", "hub", "sync", "--conflicts", "mine")
	}},
	{"newest is not whoever comes last", func(w *team) {
		w.env["SOURCE_DATE_EPOCH"] = "1700000000"
		w.add("hub", "n", "first")
		w.clones("a", "b")
		w.env["SOURCE_DATE_EPOCH"] = "1700000200"
		w.add("a", "n", "of a")
		w.env["SOURCE_DATE_EPOCH"] = "1700000100"
		w.add("b", "n", "of b")
		w.env["SOURCE_DATE_EPOCH"] = "1700000300"
		w.add("b", "other", "later than all")
		w.ok("a", "push")
		w.ok("b", "sync", "--conflicts", "newest")
		if got := w.summary("b", "n"); got != "of a" {
			w.Errorf("%q was taken", got)
		}
	}},
	{"deleted branch", func(w *team) {
		w.add("hub", "one", "x")
		w.clones("a", "b")
		w.ok("a", "branch", "side")
		w.ok("a", "push", "origin", "side")
		w.ok("b", "fetch")
		w.ok("a", "push", "origin", "side", "--delete")
		if w.at("hub", "refs/heads/side") != "" || w.at("a", "refs/remotes/origin/heads/side") != "" {
			w.Error("it is still there")
		}
		w.ok("b", "fetch")
		if w.at("b", "refs/remotes/origin/heads/side") == "" {
			w.Error("a fetch forgot a branch unasked")
		}
		w.ok("b", "fetch", "--prune")
		if w.at("b", "refs/remotes/origin/heads/side") != "" {
			w.Error("it was not pruned")
		}
		w.refused(3, "side", "a", "push", "origin", "side", "--delete")
		w.ok("a", "branch", "other")
		w.ok("a", "tag", "old")
		w.ok("a", "push", "--all", "--tags")
		w.ok("b", "fetch")
		w.ok("a", "push", "origin", "other", "old", "--delete")
		w.add("hub", "two", "y")
		w.ok("b", "fetch", "--prune", "--dry-run")
		if w.at("b", "refs/remotes/origin/heads/other") == "" {
			w.Error("a dry run forgot a branch")
		}
		w.ok("b", "fetch", "--prune")
		w.ok("b", "fetch", "--prune")
		if w.at("b", "refs/remotes/origin/heads/other") != "" || w.at("b", "refs/remotes/origin/tags/old") != "" {
			w.Error("it was not pruned")
		}
		if w.at("b", "refs/tags/old") == "" || w.at("b", "refs/remotes/origin/heads/main") == "" {
			w.Error("something else changed")
		}
		w.refused(3, "nowhere", "b", "fetch", "--prune", "nowhere")
		w.refused(1, "HEAD is on it", "a", "push", "origin", "main", "--delete")
	}},
	{"clock ahead", func(w *team) {
		w.add("hub", "one", "x")
		w.clones("a", "b")
		ahead := time.Now().Add(3 * time.Hour).UTC().Format(time.RFC3339)
		w.add("a", "two", "y", "--time", ahead)
		w.ok("a", "push")
		_, errs := w.run(0, "b", "", "fetch")
		if !strings.Contains(errs, "refs/remotes/origin/heads/main is of "+ahead[:16]) || !strings.Contains(errs, "ahead of the clock here") {
			w.Errorf("nothing is said of a clock that is ahead: %s", errs)
		}
		if _, errs := w.run(0, "b", "", "fetch"); errs != "" {
			w.Errorf("it is said again: %s", errs)
		}
		w.add("a", "three", "z", "--time", time.Now().Add(30*time.Second).UTC().Format(time.RFC3339))
		w.ok("a", "push")
		if out := w.ok("b", "sync", "--json"); !strings.Contains(out, `"clock_ahead":[]`) {
			w.Errorf("half a minute is reported: %s", out)
		}
	}},
	{"tags", func(w *team) {
		w.add("hub", "one", "x")
		w.clones("a", "b")
		w.ok("a", "tag", "v1", "-m", "the first")
		w.ok("a", "tag", "plain")
		w.ok("a", "sync")
		if w.at("hub", "refs/tags/v1") != "" {
			w.Error("a tag was pushed unasked")
		}
		w.ok("a", "sync", "--tags")
		w.ok("b", "fetch")
		if w.at("b", "refs/tags/v1") != w.at("a", "refs/tags/v1") || w.at("b", "refs/tags/plain") == "" {
			w.Error("a tag did not come")
		}
		w.add("b", "two", "x")
		w.ok("b", "tag", "plain", "--force")
		w.refused(5, "refs/tags/plain", "b", "push", "origin", "plain")
		w.ok("b", "push", "origin", "plain", "--force")
		if _, errs := w.run(0, "a", "", "fetch"); !strings.Contains(errs, "refs/tags/plain is elsewhere here") {
			w.Error(errs)
		}
		if w.at("a", "refs/tags/plain") == w.at("b", "refs/tags/plain") ||
			w.at("a", "refs/remotes/origin/tags/plain") != w.at("b", "refs/tags/plain") {
			w.Error("a tag here was moved by a fetch, or where it is there was not kept")
		}
	}},
	{"force with lease", func(w *team) {
		w.add("hub", "one", "x")
		w.clones("a", "b")
		w.add("b", "two", "x")
		w.ok("b", "push")
		w.run(0, "a", `{"node":{"key":"one","type":"N","summary":"amended"}}`, "commit", "--amend", "-m", "x", "-")
		w.refused(5, "refs/heads/main", "a", "push", "--force")
		w.ok("a", "fetch")
		w.ok("a", "push", "--force")
		w.same("main", "a", "hub")
	}},
	{"all branches", func(w *team) {
		w.add("hub", "one", "x")
		w.clones("a", "b")
		for _, m := range []string{"a", "b"} {
			w.ok(m, "branch", "side")
			w.add(m, "of-"+m, "x", "--branch", "side")
			w.add(m, "main-"+m, "x")
			w.ok(m, "sync", "--all")
		}
		w.ok("a", "sync", "--all")
		w.same("main", "a", "b", "hub")
		w.same("side", "a", "b", "hub")
		w.refused(2, "exclude", "a", "sync", "--all", "--branch", "side")
		w.ok("a", "branch", "more")
		w.ok("a", "push", "--all")
		w.same("more", "a", "hub")
		w.ok("a", "sync", "--branch", "side")
	}},
	{"unrelated", func(w *team) {
		w.add("hub", "one", "x")
		w.ok("a", "init")
		w.add("a", "two", "x")
		w.ok("a", "remote", "add", "origin", w.url)
		w.refused(5, "mnem sync", "a", "push")
		w.ok("a", "sync")
		w.same("main", "a", "hub")
		w.ok("a", "show", "one")
	}},
	{"other first branch", func(w *team) {
		if w.apart != nil {
			return // it has no HEAD that could move
		}
		w.add("hub", "one", "x")
		w.ok("hub", "branch", "-m", "main", "trunk")
		w.clones("a")
		w.same("trunk", "a", "hub")
		w.add("a", "two", "x")
		w.ok("a", "sync")
		w.same("trunk", "a", "hub")
		w.ok("a", "switch", "--detach")
		w.refused(2, "no branch", "a", "sync")
		w.refused(2, "no branch", "a", "push")
	}},
	{"dry run", func(w *team) {
		w.add("hub", "one", "x")
		w.clones("a")
		w.add("hub", "two", "x")
		w.add("a", "three", "x")
		before, there := w.operations("a"), w.operations("hub")
		if out := w.ok("a", "fetch", "--dry-run"); !strings.Contains(out, "would fetch 1 ref") {
			w.Error(out)
		}
		w.refused(5, "mnem sync", "a", "push", "--dry-run")
		w.ok("a", "branch", "side")
		if out := w.ok("a", "push", "origin", "side", "--dry-run"); !strings.Contains(out, "would push 1 ref") {
			w.Error(out)
		}
		if w.operations("a") != before+1 || w.operations("hub") != there { // of branch
			w.Error("something was written")
		}
	}},
	{"unsigned", func(w *team) {
		w.add("hub", "one", "x")
		w.ok("a", "init")
		w.ok("a", "remote", "add", "origin", w.url)
		w.refused(7, "sign", "a", "fetch", "--require-signed")
		w.refused(7, "sign", "b", "clone", w.url, ".", "--require-signed")
		if w.at("a", "refs/remotes/origin/heads/main") != "" {
			w.Error("a ref is at what is not signed")
		}
		if _, err := os.Stat(filepath.Join(w.dir, "b", ".mnem")); !os.IsNotExist(err) {
			w.Errorf("the refused clone left something: %v", err)
		}
	}},
	{"purged", func(w *team) {
		w.add("hub", "one", "x")
		w.add("hub", "secret", "the word is heron")
		w.ok("hub", "purge", "secret", "--yes")
		w.ok("b", "init")
		w.ok("b", "remote", "add", "origin", w.url)
		if _, errs := w.run(0, "b", "", "fetch"); !strings.Contains(errs, "gaps here") {
			w.Error(errs)
		}
		w.clones("a")
		w.add("a", "two", "x")
		w.ok("a", "sync")
		w.same("main", "a", "hub")
	}},
	{"purged here", func(w *team) {
		w.clones("a", "b")
		w.add("a", "secret", "the word is heron")
		w.ok("a", "sync")
		w.ok("b", "sync")
		w.ok("a", "purge", "secret", "--yes")
		w.add("a", "two", "x")
		w.ok("a", "sync", "--conflicts", "newest")
		w.ok("b", "sync", "--conflicts", "newest")
		w.same("main", "a", "b", "hub")
	}},
}

// conflict makes two machines change one thing differently, after a has pushed.
func (w *team) conflict() {
	w.Helper()
	w.env["SOURCE_DATE_EPOCH"] = "1700000000"
	w.add("hub", "n", "first")
	w.clones("a", "b")
	w.env["SOURCE_DATE_EPOCH"] = "1700000100"
	w.add("a", "n", "of a")
	w.env["SOURCE_DATE_EPOCH"] = "1700000200"
	w.add("b", "n", "of b")
	w.ok("a", "push")
}

// partOf says of how many scenarios one is run over a carrier. A plain run tries each over a path, every third over HTTP,
// and some over those by which the same process answers in another way, or that start other programs for each call; a
// long run tries all, over git each by a path or by HTTP, and a part over those that start a login for each call.
func partOf(by carrier) int {
	plain, long := 12, 1
	switch by.name {
	case "path":
		plain = 1
	case "http":
		plain = 3
	case "git", "git-http":
		plain, long = few, 2
	case "sshd", "git-ssh", "gateway":
		plain, long = few, 8
	}
	part := effort.Pick(plain, long, 1)
	if effort.Race { // a few of each carrier have all its goroutines
		part = max(part, few)
	}
	return part
}

// few is the part of scenarios that leaves three of them.
const few = 24

// TestSharing runs scenarios over every carrier, each its share.
func TestSharing(t *testing.T) {
	all := append(scenarios[:len(scenarios):len(scenarios)], matrix()...)
	if len(all) < 60 {
		t.Fatalf("%d scenarios", len(all))
	}
	for n, by := range carriers(t) {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel() // the last scenario of one carrier waits for no other's first
			part := partOf(by)
			for i, s := range all {
				if i%part != n%part {
					continue
				}
				t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
					t.Parallel()
					s.do(newTeam(t, by))
				})
			}
		})
	}
}
