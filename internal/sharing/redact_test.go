package sharing_test

import (
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
			for i, s := range scripts(t, "redactions") {
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
