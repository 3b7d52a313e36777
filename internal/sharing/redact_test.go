package sharing_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
)

// admin has all that are sent to a server go with a token of scope admin.
func (w *team) admin() {
	w.Helper()
	if !strings.HasPrefix(w.url, "http:") {
		return
	}
	var made struct{ Token string }
	w.json(&made, "hub", "serve", "token", "new", "root", "--scope", "admin")
	w.env["MNEM_CREDENTIALS"] = w.url + " " + made.Token
}

const (
	secretText = "the word is heron"
	gone       = "redacted: asked for"
)

// fetched is the part of the answer of a fetch about redactions.
type fetched struct{ Gaps, Learned, Waiting, Erased int }

func (w *team) fetch(machine, from string) (f fetched) {
	w.Helper()
	w.json(&f, machine, "fetch", from)
	return f
}

// reads sees to it that the secret of a commit is shown as a text on a machine, gone for none.
func (w *team) reads(machine, at, want string) {
	w.Helper()
	if want == gone {
		w.refused(4, gone, machine, "show", "secret", "--at", at)
	} else if got := w.summary(machine, "secret", "--at", at); got != want {
		w.Errorf("%s shows %q, want %q", machine, got, want)
	}
}

// purged has a purge what b has too, and erase it at the remote. It returns the commit that had it.
func (w *team) purged() (at string) {
	w.Helper()
	w.admin()
	w.clones("a")
	w.add("a", "one", "x")
	w.add("a", "secret", secretText)
	w.ok("a", "sync")
	w.clones("b")
	at = w.at("a", "refs/heads/main")
	w.ok("a", "purge", "secret", "--reason", "asked for", "--yes")
	if out := w.ok("a", "push", "--redactions"); !strings.Contains(out, "erased at origin") {
		w.Error(out)
	}
	return at
}

// redactionScenarios happen between machines after a purge.
var redactionScenarios = []struct {
	name string
	do   func(w *team)
}{
	{"accepted", func(w *team) {
		at := w.purged()
		if f := w.fetch("b", "origin"); f.Learned != 1 || f.Waiting != 1 || f.Gaps+f.Erased != 0 {
			w.Errorf("%+v", f)
		}
		w.reads("b", at, secretText)
		if f := w.fetch("b", "origin"); f.Learned != 0 || f.Waiting != 1 {
			w.Errorf("asked again: %+v", f)
		}
		if out := w.ok("b", "remote", "redactions"); !strings.Contains(out, "waiting") || !strings.Contains(out, "asked for") {
			w.Error(out)
		}
		if out := w.ok("b", "remote", "redactions", "--accept"); !strings.Contains(out, "erased 1 block") {
			w.Error(out)
		}
		w.reads("b", at, gone)
		w.add("b", "two", "x")
		w.ok("b", "sync")
		w.ok("a", "sync")
		w.clones("c")
		for _, m := range []string{"a", "b", "c"} {
			w.reads(m, at, gone)
		}
		if f := w.fetch("b", "origin"); f.Learned+f.Waiting != 0 {
			w.Errorf("asked again: %+v", f)
		}
		w.same("main", "a", "b", "c")
	}},
	{"rejected", func(w *team) {
		at := w.purged()
		w.fetch("b", "origin")
		var list struct{ Redactions []struct{ CID string } }
		w.json(&list, "b", "remote", "redactions", "origin")
		r := list.Redactions[0]
		w.ok("b", "remote", "redactions", "origin", r.CID, "--reject")
		w.add("b", "two", "x")
		w.ok("b", "sync")
		if f := w.fetch("b", "origin"); f.Learned+f.Waiting != 0 {
			w.Errorf("asked again: %+v", f)
		}
		w.reads("b", at, secretText)
		w.ok("a", "sync")
		w.reads("a", at, gone) // it does not come back
		w.clones("c")
		w.reads("c", at, gone)
		w.ok("b", "remote", "redactions", "origin", r.CID, "--accept") // on second thoughts
		w.reads("b", at, gone)
	}},
	{"always", func(w *team) {
		at := w.purged()
		w.ok("b", "remote", "redactions", "--auto", "on")
		if f := w.fetch("b", "origin"); f.Erased != 1 || f.Waiting != 0 {
			w.Errorf("%+v", f)
		}
		w.reads("b", at, gone)
		w.ok("b", "remote", "add", "--force", "origin", w.url)
		data, err := os.ReadFile(filepath.Join(w.dir, "b", ".mnem", "remotes.json"))
		if err != nil || strings.Contains(string(data), "accept_purge") {
			w.Errorf("another URL is trusted as the one before was: %s, %v", data, err)
		}
	}},
	{"of another", func(w *team) {
		// A remote that purged what another one has: it keeps nothing away, and erases nothing but what it has.
		at := w.purged()
		w.ok("good", "clone", filepath.Join(w.dir, "b"), ".")
		w.add("good", "own", "of good alone")
		w.ok("user", "init")
		w.ok("user", "remote", "add", "bad", w.url)
		if f := w.fetch("user", "bad"); f.Gaps != 1 || f.Learned != 1 {
			w.Errorf("%+v", f)
		}
		w.reads("user", at, gone)
		w.ok("user", "remote", "add", "good", filepath.Join(w.dir, "good"))
		if f := w.fetch("user", "good"); f.Gaps != 0 {
			w.Errorf("%+v", f)
		}
		w.reads("user", at, secretText)
		w.ok("user", "remote", "redactions", "bad", "--reject")
		w.ok("user", "merge", "refs/remotes/good/heads/main")
		w.ok("user", "sync", "bad", "--conflicts", "ours")
		w.reads("user", at, secretText)
		w.ok("user", "remote", "rm", "bad")
		w.refused(3, "no remote", "user", "remote", "redactions", "bad")
		w.reads("user", at, secretText)
	}},
	{"refused", func(w *team) {
		w.purged()
		w.fetch("b", "origin")
		w.refused(2, "no CID", "b", "remote", "redactions", "origin", "x", "--accept")
		w.refused(2, "--accept or --reject", "b", "remote", "redactions", "origin", w.at("b", "refs/heads/main"))
		w.refused(3, "redaction", "b", "remote", "redactions", "origin", w.at("b", "refs/heads/main"), "--accept")
		file := filepath.Join(w.dir, "b", ".mnem", "remotes", "origin", "redactions.json")
		if err := os.WriteFile(file, []byte(`{"entries":[{"cid":null}]}`), 0o600); err != nil {
			w.Fatal(err)
		}
		w.refused(1, "redactions.json", "b", "fetch")
	}},
}

// TestRedactionsTravel runs every scenario of redactions over every carrier; a plain run leaves out those by which
// the same process answers in another way, and tries every second over those that only store packs.
func TestRedactionsTravel(t *testing.T) {
	list := carriers(t, effort.Pick([]string{"path", "http", "git", "s3"}, nil, nil)...)
	part := 1
	if effort.Race { // a few of each carrier have all its goroutines
		part = 2
	}
	for n, by := range list {
		part := part
		if by.apart != nil {
			part = max(part, effort.Pick(2, 1, 1))
		}
		t.Run(by.name, func(t *testing.T) {
			for i, s := range redactionScenarios {
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
