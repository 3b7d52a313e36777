package sharing_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/s3test"
)

const bucketObject = "team/memory"

// inBucket returns machines that share a memory by a bucket.
func inBucket(t *testing.T) (*team, *s3test.Server) {
	t.Helper()
	w := newTeam(t, over(t, "s3"))
	return w, w.store
}

// asked counts the requests of a command line, but for those that try the store.
func asked(s *s3test.Server, fn func()) (n int, all []string) {
	s.Requests()
	fn()
	all = slices.DeleteFunc(s.Requests(), func(r string) bool { return strings.Contains(r, "/probe/") })
	return len(all), all
}

// TestBucketAsksLittle counts requests: an unchanged memory costs one small request a look, a push of many changes two
// writes more.
func TestBucketAsksLittle(t *testing.T) {
	t.Parallel()
	w, s := inBucket(t)
	w.clones("a")
	w.add("a", "one", "x")
	w.ok("a", "push")
	w.clones("c")
	w.ok("c", "sync") // what a clone read is not kept
	if n, all := asked(s, func() { w.ok("c", "sync") }); n > 2 {
		t.Errorf("sync with nothing new: %d requests: %q", n, all)
	}
	var changes strings.Builder
	for n := range 100 {
		fmt.Fprintf(&changes, `{"node":{"key":"many%d","type":"N","summary":"text %d"}}`+"\n", n, n)
	}
	w.run(0, "c", changes.String(), "commit", "-m", "many", "-")
	if n, all := asked(s, func() { w.ok("c", "push") }); n > 6 {
		t.Errorf("push of 100 changes: %d requests: %q", n, all)
	}
}

// TestBucketRepacks pushes often: few packs stay, others catch up without reading again what they have, and what is
// not named any more goes after its time.
func TestBucketRepacks(t *testing.T) {
	t.Parallel()
	w, s := inBucket(t)
	w.ok("a", "clone", w.url, ".")
	w.add("a", "n0", strings.Repeat("first ", 2000))
	w.ok("a", "push")
	w.clones("b", "late")
	orphan := "team/packs/" + strings.Repeat("0", 64) + "-" + strings.Repeat("1", 32)
	fresh := "team/packs/" + strings.Repeat("2", 64) + "-" + strings.Repeat("3", 32)
	s.Set(orphan, []byte("x"), time.Now().Add(-25*time.Hour))
	s.Set(fresh, []byte("x"), time.Now().Add(-23*time.Hour))
	pushes := effort.Pick(8, 20, 60)
	for n := range pushes {
		w.add("a", fmt.Sprint("n", n+1), "x")
		w.ok("a", "push")
		if n, all := asked(s, func() { w.ok("b", "fetch") }); n > 3 {
			t.Errorf("fetch after each push: %d requests: %q", n, all)
		}
	}
	named := strings.Count(string(s.Object(bucketObject)), `"size"`)
	must.True(t, named <= 7, "%d packs after %d pushes", named, pushes+1)
	if keys := s.Keys(); slices.Contains(keys, orphan) || !slices.Contains(keys, fresh) {
		t.Errorf("what is named by no memory: %q", keys)
	}
	for _, m := range []string{"late", "b"} {
		w.ok(m, "sync")
	}
	w.clones("c")
	w.same("main", "a", "b", "c", "late")
	w.holds("c", pushes+1)
}

// TestBucketRefuses has stores and objects that are not taken.
func TestBucketRefuses(t *testing.T) {
	t.Parallel()
	w, s := inBucket(t)
	w.ok("a", "init")
	s.Careless = true
	w.refused(1, "does not keep writers apart", "a", "remote", "add", "origin", w.url)
	s.Careless = false
	w.ok("a", "remote", "add", "origin", w.url)
	if keys := s.Keys(); len(keys) > 0 {
		t.Errorf("left in the bucket: %q", keys)
	}
	hash := strings.Repeat("a", 64) + "-" + strings.Repeat("b", 32)
	for _, text := range []string{
		"memory",
		`{"format":"mnem in s3 2"}`,
		`{"format":"mnem in s3 1","x":1}`,
		`{"format":"mnem in s3 1","refs":"refs/heads/main x\n"}`,
		`{"format":"mnem in s3 1","packs":[{"parts":[],"size":1,"refs":""}]}`,
		`{"format":"mnem in s3 1","packs":[{"parts":["../x"],"size":1,"refs":""}]}`,
		`{"format":"mnem in s3 1","refs":"refs/heads/main bafyreie3lw7oincmktzd7h26jbdrj3a6v2bqrgcqp7t7cttup2fcbplkre\n"}`,
	} {
		s.Set(bucketObject, []byte(text), time.Now())
		w.run(1, "a", "", "fetch")
	}
	s.Set(bucketObject, []byte(`{"format":"mnem in s3 1","packs":[{"parts":["`+hash+`"],"size":1,"refs":""}]}`), time.Now())
	w.refused(1, "no such object", "a", "fetch")
	s.Set(bucketObject, []byte(`{"format":"mnem in s3 1","packs":[{"parts":["`+hash+`"],"size":1,"refs":""}]}`), time.Now())
	s.Set("team/packs/"+hash, []byte("x"), time.Now())
	w.refused(1, "not what its name says", "a", "fetch")
	w.env["AWS_SECRET_ACCESS_KEY"] = "another"
	w.refused(1, "denied", "a", "fetch")
	w.env["MNEM_BUCKET_PATH_STYLE"] = "perhaps"
	w.refused(1, "MNEM_BUCKET_PATH_STYLE", "a", "fetch")
}

// TestBucketHostile has memories that no writer makes, which would keep a reader busy or take its memory: each is
// refused for what it is, after one request for it and at most one for a part.
func TestBucketHostile(t *testing.T) {
	t.Parallel()
	w, s := inBucket(t)
	w.ok("a", "init")
	w.ok("a", "remote", "add", "origin", w.url)
	name := func(n int) string { return fmt.Sprintf("%064x-%032x", n, n) }
	quoted := func(n int, of func(int) string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%s"`, of(i))
		}
		return b.String()[1:]
	}
	same := func(int) string { return name(1) }
	pack := func(parts string, size int64, more string) string {
		return fmt.Sprintf(`{"parts":[%s],"size":%d,"refs":""%s}`, parts, size, more)
	}
	const part = 40 << 20
	one := `"` + name(1) + `"`
	for says, packs := range map[string]string{
		"is there twice":                   pack(quoted(50_000, same), 50_000*part, ""),
		"another size than its parts":      pack(quoted(60_000, name), 1, ""),
		"a list is too long":               pack(strings.Repeat("null,", 1<<20)+"null", 1, ""),
		"is too long":                      pack(one, 1<<62, ""),
		"without parts":                    pack(one, -1, ""),
		"there twice":                      pack(one, 1, "") + "," + pack(one, 1, ""),
		"name of a pack is there twice":    pack(one, 1, `,"covers":[`+one+`]`),
		"bucket is no memory: a list is t": strings.Repeat("{},", 1<<20) + "{}",
		"list is too long":                 pack(one, 1, `,"covers":[`+quoted(257, func(n int) string { return name(n + 2) })+`]`),
		"has 1 bytes, want 2":              pack(`"`+hashed("x")+`"`, 2, ""),
		"too large":                        pack(`"`+hashed("long")+`"`, 3, ""),
		"has 4 bytes, want 41943040":       pack(`"`+hashed("long")+`",`+one, part+1, ""),
	} {
		s.Set("team/packs/"+hashed("x"), []byte("x"), time.Now())
		s.Set("team/packs/"+hashed("long"), []byte("long"), time.Now())
		s.Set("team/packs/"+name(1), []byte("x"), time.Now())
		s.Set(bucketObject, []byte(`{"format":"mnem in s3 1","refs":"","head":"","attempt":"","packs":[`+packs+`]}`), time.Now())
		n, all := asked(s, func() { w.refused(1, says, "a", "fetch") })
		must.True(t, n <= 2, "%s: %d requests: %.300q", says, n, all)
	}
	const at = `refs/heads/main bafyreie3lw7oincmktzd7h26jbdrj3a6v2bqrgcqp7t7cttup2fcbplkre\n`
	for says, text := range map[string]string{
		"refs/heads/main is there twice": `{"format":"mnem in s3 1","refs":"` + at + at + `"}`,
		"something follows it":           `{"format":"mnem in s3 1"}{}`,
		"a list is too long":             `{"format":"mnem in s3 1","redactions":[` + strings.Repeat("null,", 1<<20) + `null]}`,
	} {
		s.Set(bucketObject, []byte(text), time.Now())
		w.refused(1, says, "a", "fetch")
	}
}

// hashed is the name of a pack.
func hashed(data string) string {
	return fmt.Sprintf("%x-%032x", sha256.Sum256([]byte(data)), 0)
}

// TestRemoteGoesBack restores what remotes of each kind keep to an older state: who saw the newer one fetches as before,
// is told that branches went back, and brings what is missing with the next push.
func TestRemoteGoesBack(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"bucket", "git", "path"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w, save, restore := savedTeam(t, kind)
			w.ok("a", "clone", w.url, ".")
			w.add("a", "one", "x")
			w.ok("a", "push")
			w.clones("b")
			w.ok("a", "branch", "kept")
			w.ok("a", "push", "origin", "kept")
			old := w.at("a", "refs/heads/main")
			save()
			w.ok("a", "push", "origin", "kept", "--delete")
			w.add("a", "two", "y")
			w.ok("a", "switch", "-c", "side")
			w.add("a", "three", "z")
			w.ok("a", "push", "--all")
			w.ok("b", "fetch", "--prune")
			newer, side := w.at("a", "refs/heads/main"), w.at("a", "refs/heads/side")
			must.Equal(t, w.at("b", "refs/remotes/origin/heads/main"), newer, "b")
			restore()
			out, errs := w.run(0, "b", "", "fetch", "--prune")
			t.Log(out, errs)
			must.Contain(t, out+errs, "went back", "nothing says that the remote went back: ", out, " ", errs)
			for ref, want := range map[string]string{"main": old, "kept": old, "side": ""} {
				if got := w.at("b", "refs/remotes/origin/heads/"+ref); got != want {
					t.Errorf("after the restore b has %s at %q, want %q", ref, got, want)
				}
			}
			w.ok("a", "push", "--all") // all that is missing goes there again
			w.ok("b", "fetch")
			w.clones("c")
			for _, m := range []string{"b", "c"} {
				for ref, want := range map[string]string{"main": newer, "side": side} {
					must.Equal(t, w.at(m, "refs/remotes/origin/heads/"+ref), want, m, " has ", ref, " at")
				}
			}
			must.Equal(t, w.summary("c", "three", "--at", side), "z", "c")
		})
	}
}

// savedTeam returns machines that share a memory by a kind of remote, and what saves and restores what that keeps.
func savedTeam(t *testing.T, kind string) (w *team, save, restore func()) {
	switch kind {
	case "bucket":
		w, s := inBucket(t)
		saved := make(map[string][]byte)
		return w, func() {
				for _, key := range s.Keys() {
					saved[key] = s.Object(key)
				}
			}, func() {
				for key, data := range saved {
					s.Set(key, data, time.Now())
				}
			}
	case "git":
		w, dir := inGit(t)
		at := ""
		return w, func() { at = strings.TrimSpace(git(t, dir, "rev-parse", "refs/mnem/data")) },
			func() { git(t, dir, "update-ref", "refs/mnem/data", at) }
	}
	w = newTeam(t, over(t, "path"))
	at, saved := filepath.Join(w.dir, "hub", ".mnem"), filepath.Join(t.TempDir(), "saved")
	return w, func() {
			must.OK(t, os.CopyFS(saved, os.DirFS(at)))
		}, func() {
			must.OK(t, errors.Join(os.RemoveAll(at), os.CopyFS(at, os.DirFS(saved))))
		}
}

// TestBucketPurge erases what is in a bucket: its packs go at once.
func TestBucketPurge(t *testing.T) {
	t.Parallel()
	w, s := inBucket(t)
	at := w.purged()
	w.reads("a", at, gone)
	for _, key := range s.Keys() {
		must.True(t, !strings.Contains(string(s.Object(key)), secretText), "%s has what was erased", key)
	}
}
