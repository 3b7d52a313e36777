package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit"
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
	st, err := pebble.Open(filepath.Join(w.Dir, core.DirName), pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	forged, err := testkit.Forge(t.Context(), st, core.DefaultBranch, func(c *commit.Commit) {
		c.Message = commit.Message{Text: "forged"}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
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
	if stdout != want {
		t.Errorf("verify --json prints %s, want %s", stdout, want)
	}
	if stdout, _ = w.run(0, "log", "--signatures"); !strings.Contains(stdout,
		"sign   bad, (no key) (bad signature: it is not of this commit)\n") {
		t.Errorf("log prints %s", stdout)
	}
}

// TestKeyNamesAreUnique refuses a name that two keys have, and takes either by its text form.
func TestKeyNamesAreUnique(t *testing.T) {
	w := signing(t)
	out, _ := w.run(0, "key", "export", "work")
	own := strings.TrimSpace(out)
	w.env["MNEM_KEYS"] = "other"
	w.run(0, "key", "new", "work")
	out, _ = w.run(0, "key", "export", "work")
	other := strings.TrimSpace(out)
	w.env["MNEM_KEYS"] = "keys"
	w.run(0, "key", "trust", other, "--name", "work")
	_, stderr := w.run(1, "key", "revoke", "work")
	if !strings.Contains(stderr, `2 keys are named "work"`) {
		t.Errorf("a name of two keys: %s", stderr)
	}
	w.run(0, "key", "revoke", other)
	w.write("bob.jsonl", `{"node":{"key":"bob","type":"Person"}}`)
	w.run(0, "commit", "-m", "own", "--sign", "bob.jsonl")
	w.run(0, "key", "verify", "--strict")
	w.run(0, "key", "revoke", own)
	w.run(4, "key", "verify")
}

// TestKeysPrintNoSecret runs every command of keys but the one that is for that.
func TestKeysPrintNoSecret(t *testing.T) {
	w := signing(t)
	file, _ := w.run(0, "key", "export", "--secret", "work")
	secret := file[strings.Index(file, commit.SecretPrefix)+len(commit.SecretPrefix):]
	secret = strings.TrimSpace(secret)
	w.write("work.key", file)
	w.write("cut.key", file[:len(file)-2])
	for _, args := range [][]string{
		{"key", "list"}, {"key", "list", "--json"}, {"key", "show", "work"}, {"key", "export", "work"},
		{"key", "show", "work", "--json"}, {"key", "import", "work.key", "--name", "again"},
		{"key", "trust", "work", "-m", "mine"}, {"commit", "-m", "x", "--key", "work", "alice.jsonl"},
		{"key", "revoke", "work"}, {"key", "trust", "work", "--remove"}, {"key", "rm", "work", "--yes"},
	} {
		stdout, stderr := w.run(0, args...)
		if strings.Contains(stdout+stderr, secret[:20]) {
			t.Errorf("%q prints the secret: %s%s", args, stdout, stderr)
		}
	}
	for _, args := range [][]string{
		{"key", "import", "cut.key"}, {"key", "trust", commit.SecretPrefix + secret},
		{"key", "import", "work.key", "--name", "again"},
	} {
		stdout, stderr := w.run(1, args...)
		if strings.Contains(stdout+stderr, secret[:20]) {
			t.Errorf("%q prints the secret: %s%s", args[:2], stdout, stderr)
		}
	}
}

func TestKeysWithoutAPlace(t *testing.T) {
	w := newWorld(t)
	w.Config = ""
	_, stderr := w.run(3, "key", "new", "work")
	if !strings.Contains(stderr, "MNEM_KEYS") {
		t.Errorf("no directory: %s", stderr)
	}
	w.env["MNEM_KEYS"] = filepath.Join(w.Dir, "keys")
	w.Rand = nil
	_, stderr = w.run(1, "key", "new", "work")
	if !strings.Contains(stderr, "no source of randomness") {
		t.Errorf("no randomness: %s", stderr)
	}
	w.Rand = strings.NewReader("short")
	_, stderr = w.run(1, "key", "new", "work")
	if !strings.Contains(stderr, "read randomness") {
		t.Errorf("little randomness: %s", stderr)
	}
	if out, _ := w.run(0, "key", "list"); out != "" {
		t.Errorf("a key was made: %s", out)
	}
}

// TestKeysNextToConfiguration holds where keys are by default.
func TestKeysNextToConfiguration(t *testing.T) {
	w := newWorld(t)
	w.env["XDG_CONFIG_HOME"] = filepath.Join(w.Dir, "xdg")
	w.run(0, "key", "new", "work")
	w.env["XDG_CONFIG_HOME"] = ""
	w.Config = filepath.Join(w.Dir, "xdg")
	again, _ := w.run(0, "key", "list")
	w.env["MNEM_KEYS"] = filepath.Join(w.Dir, "xdg", "mnem", "keys")
	out, _ := w.run(0, "key", "list")
	if out != again || !strings.HasPrefix(out, "work  ") {
		t.Errorf("keys there: %q, by default: %q", out, again)
	}
}

func TestKeysComplete(t *testing.T) {
	w := signing(t)
	w.run(0, "key", "new", "home")
	for _, args := range [][]string{
		{"key", "show", ""}, {"key", "export", ""}, {"key", "rm", ""}, {"commit", "--key", ""},
	} {
		out, _ := w.run(0, append([]string{"__complete"}, args...)...)
		if !strings.HasPrefix(out, "home\nwork\n") {
			t.Errorf("%q completes to %q", args, out)
		}
	}
}
