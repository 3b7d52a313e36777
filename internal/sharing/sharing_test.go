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
	getenv   func(name string) string // of env, and of a script
	apart    func(w *team) string     // as of its carrier
	encrypt  []string                 // flags of clone and remote add that encrypt
	store    *s3test.Server           // if that is an object store
	made     atomic.Int64             // apps, each with random numbers of its own
	hurry    bool                     // whether nothing is tried a second time
}

func newTeam(t *testing.T, by carrier) *team {
	w := &team{T: t, dir: t.TempDir(), env: map[string]string{"MNEM_SSH": os.Args[0] + " " + program.AsShell}}
	w.getenv = func(name string) string { return w.env[name] }
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
		must.Fail(t, err, nil)
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
	app.Getenv = func(name string) string { return w.getenv(name) }
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

// scenario is a series of events between machines.
type scenario struct {
	name string
	do   func(w *team)
}

// scenarios returns those that are played over each carrier: scripts, and a few that scripts cannot say.
func scenarios(t *testing.T) []scenario {
	list := append(scripts(t, "scenarios"), scenario{"clock ahead", func(w *team) {
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
		must.Contain(w, w.ok("b", "sync", "--json"), `"clock_ahead":[]`, "half a minute is reported")
	}}, scenario{"other first branch", func(w *team) {
		if w.apart == nil { // else it has no HEAD that could move
			w.play("testdata/other_first_branch.txtar")
		}
	}})
	return append(list, matrix()...)
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
	all := scenarios(t)
	must.Require(t, len(all) >= 60, "%d scenarios", len(all))
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
