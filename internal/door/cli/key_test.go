package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// signing is a world with a repository and a key.
func signing(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.env["MNEM_KEYS"] = "keys"
	w.init()
	w.run(0, "key", "new", "work")
	w.write("alice.jsonl", aliceLine)
	return w
}

// TestVerifyForged tells a commit that somebody changed in the store.
func TestVerifyForged(t *testing.T) {
	w := signing(t)
	w.run(0, "commit", "-m", "honest", "--sign", "alice.jsonl")
	st := must.Get(pebble.Open(filepath.Join(w.Dir, core.DirName), pebble.Options{}))(t)
	forged, err := testkit.Forge(t.Context(), st, core.DefaultBranch, func(c *commit.Commit) {
		c.Message = commit.Message{Text: "forged"}
	})
	must.OK(t, err)
	must.OK(t, st.Close())
	w.run(0, "fsck")
	stdout, stderr := w.run(4, "key", "verify")
	if !strings.HasPrefix(stdout, "bad  ") || !strings.Contains(stdout, "it is not of this commit") ||
		stderr != "1 commit: 1 bad\n" {
		t.Errorf("verify prints %q, %q", stdout, stderr)
	}
	stdout, _ = w.run(4, "key", "verify", "--json")
	checkAnswer(t, "mnem key verify", stdout)
	want := `{"commit":"` + forged.String() + `","signature":"bad","key":null,"trust":null,` +
		`"name":null,"reason":"bad signature: it is not of this commit"}` + "\n"
	must.Equal(t, stdout, want, "verify --json prints")
	if stdout, _ = w.run(0, "log", "--signatures"); !strings.Contains(stdout,
		"sign   bad, (no key) (bad signature: it is not of this commit)\n") {
		t.Errorf("log prints %s", stdout)
	}
}

func TestKeysWithoutAPlace(t *testing.T) {
	w := newWorld(t)
	w.Config = ""
	_, stderr := w.run(3, "key", "new", "work")
	must.Contain(t, stderr, "MNEM_KEYS", "no directory")
	w.env["MNEM_KEYS"] = filepath.Join(w.Dir, "keys")
	w.Rand = nil
	_, stderr = w.run(1, "key", "new", "work")
	must.Contain(t, stderr, "no source of randomness", "no randomness")
	w.Rand = strings.NewReader("short")
	_, stderr = w.run(1, "key", "new", "work")
	must.Contain(t, stderr, "read randomness", "little randomness")
	if out, _ := w.run(0, "key", "list"); out != "" {
		t.Errorf("a key was made: %s", out)
	}
}
