package sharing_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/exchange/remote/seal"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// identity makes an identity, which the team uses from then on, and returns its recipient.
func (w *team) identity(name string) (recipient string) {
	w.Helper()
	id := must.Get(age.GenerateX25519Identity())(w)
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

// objects calls fn with everything that a team's encrypted store keeps.
func (w *team) objects(fn func(name string, data []byte)) {
	w.Helper()
	switch code := filepath.Join(w.dir, codeDir); {
	case w.store != nil:
		for _, key := range w.store.Keys() {
			fn(key, w.store.Object(key))
		}
	case w.url == filepath.Join(w.dir, storeDir):
		kept(w.T, w.url, fn)
	default: // objects are compressed, and other files are of every git repository
		for id := range strings.FieldsSeq(git(w.T, code, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
			fn(id, []byte(git(w.T, code, "cat-file", "-p", id)))
		}
	}
}

// learned returns what a store must not learn of a machine's memory: texts, keys, types, names of refs, and the hashes of
// what is stored.
func (w *team) learned(machine string) (list [][]byte) {
	w.Helper()
	words := []string{"Zanzibar", "payroll", "ledger-of", "Bookkeeping", "quarterly", "refs/heads", "main\n", "age1", "AGE-SECRET"}
	var node struct{ ID string }
	w.json(&node, machine, "show", "ledger-of-zanzibar")
	for _, word := range append(words, node.ID) {
		list = append(list, []byte(word))
	}
	for ref := range w.targets("refs/") {
		c, err := ipld.ParseCID(w.at(machine, ref))
		if err != nil {
			continue // of another machine
		}
		digest := c.Digest()
		list = append(list, []byte(c.String()), digest[:], fmt.Appendf(nil, "%x", digest))
	}
	sum := sha256.Sum256([]byte("Zanzibar keeps the payroll"))
	return append(list, sum[:], fmt.Appendf(nil, "%x", sum))
}

// TestStoreLearnsNothing searches encrypted stores for all that a memory says, also after a reader was added and removed:
// nothing of it is there, nor a hash of it.
func TestStoreLearnsNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"encrypted", "encrypted-git", "encrypted-s3"} {
		t.Run(name, func(t *testing.T) {
			w := newTeam(t, over(t, name))
			w.add("hub", "one", "x")
			w.clones("a")
			w.ok("a", "branch", "quarterly-plan")
			w.run(0, "a", `{"node":{"key":"ledger-of-zanzibar","type":"Bookkeeping","summary":"Zanzibar keeps the payroll"}}`, "commit", "-m",
				"about Zanzibar", "-")
			w.ok("a", "push", "--all")
			other := w.identity("other")
			w.use("identity")
			w.ok("a", "remote", "readers", "origin", "--encrypt", other)
			w.ok("a", "remote", "readers", "origin", "--remove", other)
			secrets := w.learned("a")
			seen := 0
			w.objects(func(name string, data []byte) {
				seen++
				for _, secret := range secrets {
					if strings.Contains(name, string(secret)) || bytes.Contains(data, secret) {
						t.Errorf("%s has %q", name, secret)
					}
				}
			})
			must.True(t, len(secrets) >= 14 && seen >= 2, "%d secrets were looked for in %d objects", len(secrets), seen)
		})
	}
}

// storeKey returns the key of an encrypted store as a machine knows it.
func (w *team) storeKey(machine string) age.Identity {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, machine, ".mnem", "remotes", "origin.git.key"))
	var seen seal.Seen
	if err == nil {
		err = json.Unmarshal(data, &seen)
	}
	key, err2 := age.ParseX25519Identity(seen.Key)
	must.Require(w, err == nil && err2 == nil, "%v %v", err, err2)
	return key
}

// closed sees to it that a former key opens nothing that the store keeps.
func (w *team) closed(key age.Identity) {
	w.Helper()
	w.objects(func(name string, data []byte) {
		if _, data, ok := bytes.Cut(data, []byte("\n\n")); ok {
			if _, err := age.Decrypt(bytes.NewReader(data), key); err == nil {
				w.Errorf("a former key opens %s", name)
			}
		}
		if _, err := age.Decrypt(bytes.NewReader(data), key); err == nil {
			w.Errorf("a former key opens %s", name)
		}
	})
}

// opens clones the store with an identity, and has the clone checked. It returns whether the identity is a reader.
func (w *team) opens(identity, machine string) bool {
	w.Helper()
	w.use(identity)
	defer w.use("identity")
	var out bytes.Buffer
	if code := cli.Run(w.Context(), w.app(machine, "", &out, &out), []string{"clone", w.url, "."}); code != 0 {
		if !strings.Contains(out.String(), "none of your identities") {
			w.Errorf("clone by %s: exit code %d: %s", identity, code, &out)
		}
		return false
	}
	w.ok(machine, "fsck")
	return true
}

// TestReadersInterrupted cuts the connection at each write while a reader is removed, before or after the write is done:
// each time those who stay read everything, and a second run ends the removal, so that the former key opens nothing.
func TestReadersInterrupted(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "encrypted-s3"))
	w.add("hub", "one", "x")
	w.clones("a")
	w.add("a", "two", "y")
	w.ok("a", "push")
	other := w.identity("other")
	w.use("identity")
	var left atomic.Int64 // how many writes get through; all do if it is negative
	left.Store(-1)
	done := false
	w.store.SetGate(func(request string) bool {
		n := left.Load()
		for n > 0 && !strings.HasPrefix(request, "GET ") && !left.CompareAndSwap(n, n-1) {
			n = left.Load()
		}
		return n != 0
	})
	for n := 0; !done; n++ {
		w.ok("a", "remote", "readers", "origin", "--encrypt", other)
		former := w.storeKey("a")
		w.hurry = true
		left.Store(int64(n))
		var out bytes.Buffer
		code := cli.Run(t.Context(), w.app("a", "", &out, &out), []string{"remote", "readers", "origin", "--remove", other})
		done = code == 0 && left.Load() > 0 // no write was cut
		w.hurry = false
		left.Store(-1)
		if !w.opens("identity", fmt.Sprint("stays", n)) {
			t.Fatalf("after %d writes no reader reads it: %s", n, &out)
		}
		reads := w.opens("other", fmt.Sprint("goes", n))
		if code == 0 && reads {
			t.Errorf("after %d writes the removed reader reads: %s", n, &out)
		}
		if n == 2 { // another machine ends it with its next push
			w.clones("b")
			w.add("b", "three", "z")
			w.ok("b", "push")
		} else if code != 0 {
			w.ok("a", "remote", "readers", "origin", "--remove", other)
		}
		if !done && n > 20 {
			t.Fatal("it never ends")
		}
		if n != 2 || !reads {
			w.closed(former)
		}
		if reads && n == 2 {
			w.ok("a", "remote", "readers", "origin", "--remove", other)
		}
		if w.opens("other", fmt.Sprint("gone", n)) {
			t.Errorf("after %d writes and a second run the removed reader reads", n)
		}
		t.Logf("after %d writes: exit code %d, the reader to remove reads: %t", n, code, reads)
	}
	must.Equal(t, w.summary("stays0", "two"), "y", "something is lost")
}

// TestReadersAtOnce pushes while a reader is removed, in both orders: nothing is lost, and the former key opens nothing.
func TestReadersAtOnce(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "encrypted-s3"))
	w.add("hub", "one", "x")
	w.clones("a", "b")
	other := w.identity("other")
	w.use("identity")
	var first atomic.Bool
	before := func(fn func()) { // the next write of the one object that is replaced
		first.Store(true)
		w.store.SetGate(func(request string) bool {
			if request == "PUT "+bucketObject && first.CompareAndSwap(true, false) {
				fn()
			}
			return true
		})
	}
	w.ok("a", "remote", "readers", "origin", "--encrypt", other)
	former := w.storeKey("a")
	w.add("b", "two", "pushed first")
	before(func() { w.ok("b", "push") })
	w.ok("a", "remote", "readers", "origin", "--remove", other)
	must.True(t, !first.Load(), "nothing was pushed in between")
	w.closed(former)

	w.ok("a", "remote", "readers", "origin", "--encrypt", other)
	former = w.storeKey("a")
	w.ok("b", "fetch")
	w.add("b", "three", "pushed later")
	before(func() { w.ok("a", "remote", "readers", "origin", "--remove", other) })
	w.refused(5, "mnem sync", "b", "push")
	w.closed(former)
	w.ok("b", "sync")
	w.closed(former)
	w.clones("c")
	if w.summary("c", "two") != "pushed first" || w.summary("c", "three") != "pushed later" {
		t.Error("a push is lost")
	}
}

// TestAutoSyncAsksNothing turns automatic syncs on with keys that need no passphrase, and refuses those that need one.
func TestAutoSyncAsksNothing(t *testing.T) {
	t.Parallel()
	w := newTeam(t, carrier{name: "path", url: func(_ *team, dir string) string { return dir }})
	public, private, err := ed25519.GenerateKey(nil)
	must.OK(t, err)
	open := must.Get(ssh.MarshalPrivateKey(private, ""))(t)
	locked := must.Get(ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("pass")))(t)
	pub, err := ssh.NewPublicKey(public)
	must.OK(t, err)
	own := filepath.Join(w.dir, "hub", ".ssh")
	err = os.Mkdir(own, 0o700)
	for path, data := range map[string][]byte{
		filepath.Join(own, "id_ed25519"): pem.EncodeToMemory(open), filepath.Join(w.dir, "locked"): pem.EncodeToMemory(locked),
		filepath.Join(w.dir, "key.pub"): ssh.MarshalAuthorizedKey(pub),
	} {
		err = errors.Join(err, os.WriteFile(path, data, 0o600))
	}
	must.OK(t, err)
	w.env["MNEM_PASSPHRASE"] = "pass"
	w.ok("hub", "remote", "add", "words", filepath.Join(w.dir, "one"), "--encrypt", "passphrase")
	w.ok("hub", "remote", "add", "named", filepath.Join(w.dir, "two"), "--encrypt", "../key.pub", "--identity", "../locked")
	w.ok("hub", "remote", "add", "own", filepath.Join(w.dir, "three"), "--encrypt", "../key.pub")
	w.refused(1, "in the background cannot ask", "hub", "sync", "words", "--auto", "on")
	w.refused(1, "the identity has a passphrase", "hub", "sync", "named", "--auto", "on")
	w.ok("hub", "sync", "own", "--auto", "on")
	w.add("hub", "one", "x")
	w.ok("hub", "sync", "--auto", "run")
	must.Contain(t, w.ok("hub", "status"), "own: synced ")
}
