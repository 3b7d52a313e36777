package sharing_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// identity makes an identity, which the team uses from then on, and returns its recipient.
func (w *team) identity(name string) (recipient string) {
	w.Helper()
	id, err := age.GenerateX25519Identity()
	must.OK(w, err)
	file := filepath.Join(w.dir, name)
	must.OK(w, os.WriteFile(file, []byte("# created by a test\n"+id.String()+"\n"), 0o600))
	w.env["MNEM_IDENTITY"] = file
	return id.Recipient().String()
}

// use has the team use an identity that was made.
func (w *team) use(name string) { w.env["MNEM_IDENTITY"] = filepath.Join(w.dir, name) }

// kept calls fn with each file of a directory.
func kept(t *testing.T, dir string, fn func(name string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		fn(path, data)
		return err
	})
	must.OK(t, err)
}

// copyStore copies what a directory has to another one, which it replaces.
func copyStore(t *testing.T, from, to string) {
	t.Helper()
	must.OK(t, os.RemoveAll(to))
	must.OK(t, os.CopyFS(to, os.DirFS(from)))
}

// TestStoreLearnsNothing searches an encrypted store for all that a memory says: nothing of it is there, nor a hash of
// it; and a push of 100 changes is at most 1.3 times as long as without encryption.
func TestStoreLearnsNothing(t *testing.T) {
	t.Parallel()
	sizes := make(map[string]int)
	for _, name := range []string{"encrypted", "encrypted-git", "git"} {
		t.Run(name, func(t *testing.T) {
			w := newTeam(t, over(t, name))
			w.add("hub", "one", "x")
			w.clones("a")
			w.ok("a", "branch", "quarterly-plan")
			w.run(0, "a", `{"node":{"key":"ledger-of-zanzibar","type":"Bookkeeping","summary":"Zanzibar keeps the payroll"}}`, "commit", "-m",
				"about Zanzibar", "-")
			w.ok("a", "push", "--all")
			stored := filepath.Join(w.dir, storeDir)
			if name != "encrypted" {
				stored = filepath.Join(w.dir, codeDir)
			}
			size := func() (n int) { kept(t, stored, func(_ string, data []byte) { n += len(data) }); return n }
			before := size()
			var changes strings.Builder
			for n := range 100 {
				fmt.Fprintf(&changes, `{"node":{"key":"many%d","type":"N","summary":"some text, number %d"}}`+"\n", n, n)
			}
			w.run(0, "a", changes.String(), "commit", "-m", "many", "-")
			w.ok("a", "push")
			sizes[name] = size() - before
			if name == "git" {
				return
			}
			hash := w.at("a", "refs/heads/main")
			words := []string{"Zanzibar", "payroll", "ledger-of", "Bookkeeping", "quarterly", "refs/heads", "main\n", "many7", hash}
			data := func(name string, data []byte) {
				for _, word := range words {
					if strings.Contains(name, word) || bytes.Contains(data, []byte(word)) {
						t.Errorf("%s has %q", name, word)
					}
				}
			}
			if name == "encrypted" {
				kept(t, stored, data)
			} else { // objects are compressed, and other files are of every git repository
				for id := range strings.FieldsSeq(git(t, stored, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
					data(id, []byte(git(t, stored, "cat-file", "-p", id)))
				}
			}
		})
	}
	if sizes["encrypted-git"]*10 > sizes["git"]*13 {
		t.Errorf("a push of 100 changes has %d bytes, and %d without encryption", sizes["encrypted-git"], sizes["git"])
	}
}

// TestReaders adds and removes readers: who was added reads all, who was removed nothing that comes later, others go
// on.
func TestReaders(t *testing.T) {
	t.Parallel()
	for _, name := range effort.Pick([]string{"encrypted"}, []string{"encrypted", "encrypted-git", "encrypted-s3"}, nil) {
		t.Run(name, func(t *testing.T) {
			w := newTeam(t, over(t, name))
			w.add("hub", "one", "x")
			w.clones("a")
			other := w.identity("other")
			w.refused(1, "none of your identities", "b", "clone", w.url, ".")
			w.use("identity")
			var got struct{ Readers, Added, Removed []string }
			w.json(&got, "a", "remote", "readers", "origin", "--encrypt", other)
			if len(got.Readers) != 2 || len(got.Added) != 1 {
				t.Fatalf("after adding one: %+v", got)
			}
			w.use("none") // which is no file: the key that was seen is enough
			w.ok("a", "fetch")
			w.use("other")
			w.clones("b")
			w.add("b", "two", "y")
			w.ok("b", "push")
			w.use("identity")
			w.ok("a", "pull")
			w.json(&got, "a", "remote", "readers", "origin", "--remove", other)
			if len(got.Readers) != 1 || len(got.Removed) != 1 {
				t.Fatalf("after removing one: %+v", got)
			}
			w.add("a", "three", "z")
			w.ok("a", "push")
			w.use("other")
			w.add("b", "four", "z")
			w.refused(1, "none of your identities", "b", "sync")
			w.refused(1, "none of your identities", "c", "clone", w.url, ".")
			w.use("identity")
			w.clones("d")
			if w.summary("d", "two") != "y" || w.summary("d", "three") != "z" {
				t.Error("a clone lacks what was written")
			}
			w.refused(1, "no recipient", "a", "remote", "readers", "origin", "--remove", "age1x")
			w.refused(1, "no reader would be left", "a", "remote", "readers", "origin", "--remove", got.Readers[0])
		})
	}
}

// TestStoreGoesBack replaces an encrypted store by an older state, by nothing, and by one that somebody else made: each
// is refused until it is accepted.
func TestStoreGoesBack(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "encrypted"))
	store, old := filepath.Join(w.dir, storeDir), filepath.Join(w.dir, "old")
	w.add("hub", "one", "x")
	w.clones("a")
	copyStore(t, store, old)
	w.add("a", "two", "y")
	w.ok("a", "push")
	now := filepath.Join(w.dir, "now")
	copyStore(t, store, now)

	copyStore(t, old, store)
	w.refused(1, "older state", "a", "fetch")
	w.refused(1, "older state", "a", "push")
	must.OK(t, os.RemoveAll(store))
	w.refused(1, "was not before", "a", "fetch")
	copyStore(t, now, store)
	w.ok("a", "fetch")

	copyStore(t, old, store)
	w.ok("a", "remote", "readers", "origin", "--accept")
	w.ok("a", "push")
	w.clones("b")
	if w.summary("b", "two") != "y" {
		t.Error("what was pushed again is not there")
	}

	// Somebody who has the recipient, which is no secret, makes a store.
	recipient := strings.TrimSpace(w.ok("a", "remote", "readers", "origin"))
	forged := newTeam(t, over(t, "encrypted"))
	forged.add("hub", "one", "x")
	forged.clones("m")
	forged.ok("m", "remote", "readers", "origin", "--encrypt", recipient)
	forged.add("m", "one", "not what it was")
	forged.ok("m", "push")
	copyStore(t, filepath.Join(forged.dir, storeDir), store)
	w.refused(1, "its key is another one", "a", "fetch")
	must.OK(t, os.WriteFile(filepath.Join(store, "memory"), []byte(`{"format":"mnem in s3 1"}`), 0o600))
	w.refused(1, "not encrypted", "a", "fetch")
}

// TestDamagedStore changes bytes of an encrypted store: each change is refused.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "encrypted"))
	w.add("hub", "one", "x")
	w.clones("a")
	store, whole := filepath.Join(w.dir, storeDir), filepath.Join(w.dir, "whole")
	copyStore(t, store, whole)
	var files []string
	kept(t, whole, func(name string, _ []byte) { files = append(files, strings.TrimPrefix(name, whole)) })
	for _, file := range files {
		if strings.HasSuffix(file, "lock") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(whole, file))
		must.OK(t, err)
		step := max(1, len(data)/effort.Pick(6, 60, 600))
		for at := len("mnem encrypted 1\n"); at < len(data); at += step {
			damaged := bytes.Clone(data)
			damaged[at] ^= 1
			must.OK(t, os.WriteFile(filepath.Join(store, file), damaged, 0o600))
			m := fmt.Sprintf("m%d", at)
			w.refused(1, "", m, "clone", w.url, ".")
			if _, err := os.Stat(filepath.Join(w.dir, m, ".mnem")); err == nil {
				t.Errorf("byte %d of %s: something was kept", at, file)
			}
		}
		must.OK(t, os.WriteFile(filepath.Join(store, file), data, 0o600))
	}
	w.clones("b")
}

// TestEncryptedBackup backs a repository up with a passphrase, twice, and restores it by that alone.
func TestEncryptedBackup(t *testing.T) {
	t.Parallel()
	w := newTeam(t, carrier{name: "path", url: func(_ *team, dir string) string { return dir }})
	w.env["MNEM_PASSPHRASE"] = "correct horse"
	url := fileURL(filepath.Join(w.dir, "backup"))
	w.add("hub", "one", "x")
	w.ok("hub", "remote", "add", "safe", url, "--encrypt", "passphrase")
	w.ok("hub", "push", "safe", "--all")
	w.add("hub", "two", "y")
	w.ok("hub", "push", "safe", "--all")
	w.env["MNEM_PASSPHRASE"] = "another one"
	w.refused(1, "another one", "a", "clone", url, ".")
	delete(w.env, "MNEM_PASSPHRASE")
	w.refused(2, "there is no terminal to ask", "a", "clone", url, ".")
	w.env["MNEM_PASSPHRASE"] = "correct horse"
	w.ok("a", "clone", url, ".")
	if w.summary("a", "one") != "x" || w.summary("a", "two") != "y" {
		t.Error("the restored memory lacks something")
	}
	w.refused(1, "a server reads", "hub", "remote", "add", "s", "http://127.0.0.1:1", "--encrypt", "passphrase")
}
