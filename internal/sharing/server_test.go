package sharing_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestAnswersOfAStranger prints what a server that is none of ours answers, without what a terminal obeys.
func TestAnswersOfAStranger(t *testing.T) {
	w := newTeam(t, over(t, "path"))
	hostile := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(to, "\x1b[2Jgone\xff\u009b1m ä\n")
	}))
	t.Cleanup(hostile.Close)
	must.Equal(t, w.ok("a", "ls", "-R", hostile.URL), "?[2Jgone??1m ä\n")
}

// TestManyRepositories serves the repositories under a directory, each with its own tokens and quota.
func TestManyRepositories(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "path"))
	w.ok("root/x", "init")
	w.ok("root/team/y", "init")
	_ = w.app("root/none", "", io.Discard, io.Discard) // makes a directory without a repository
	var made struct{ Token string }
	w.json(&made, "root/x", "serve", "token", "new", "ada", "--scope", "write")
	base := served(t, filepath.Join(w.dir, "root"), "--root", ".", "--need-token", "--limit", "size=2MiB")
	w.env["MNEM_CREDENTIALS"] = base + "/x " + made.Token
	w.ok("a", "init")
	w.ok("a", "remote", "add", "x", base+"/x")
	w.ok("a", "remote", "add", "y", base+"/team/y")
	w.ok("a", "remote", "add", "no", base+"/none")
	w.add("a", "one", "x")
	w.ok("a", "push", "x")
	w.same("main", "a", "root/x")
	for _, name := range []string{"y", "no"} { // no token: whether there is one is not told
		w.refused(7, "a token is needed", "a", "fetch", name)
	}
	w.env["MNEM_CREDENTIALS"] = base + " " + made.Token
	for _, name := range []string{"y", "no"} {
		w.refused(7, "unknown, revoked or expired", "a", "fetch", name)
	}
	for path, status := range map[string]int{
		"/x/v1/pack_refs": 200, "/x/openapi.json": 200, "/x/v1/nothing": 404, "/team/y/v1/pack_refs": 401, "/../x/v1/pack_refs": 401,
		"/x/.mnem/v1/pack_refs": 401, "/%2e%2e/x/v1/pack_refs": 401, "/.hidden/v1/ls": 401, "//x/v1/ls": 401, "/v1/ls": 404,
		"/healthz": 200, "/x/healthz": 401,
	} {
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil))(t)
		req.Header.Set("Authorization", "Bearer "+made.Token)
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res := must.Get(client.Do(req))(t)
		_ = res.Body.Close()
		if got := res.StatusCode; got != status && (got < 300 || status == 200) {
			t.Errorf("%s: status %d, want %d", path, got, status)
		}
	}
	rnd := rand.New(rand.NewPCG(4, 4))
	for i := range 8 { // what does not compress, until it is full
		w.run(0, "a", fmt.Sprintf(`{"node":{"key":"big%d","type":"N","content":%q}}`, i, noise(rnd, 400<<10)), "commit", "-m", "x", "-")
	}
	w.refused(7, "as many bytes as it may have", "a", "push", "x")
	w.ok("a", "fetch", "x")
	var admin struct{ Token string }
	w.json(&admin, "root/x", "serve", "token", "new", "root", "--scope", "admin")
	w.env["MNEM_CREDENTIALS"] = base + " " + admin.Token
	w.ok("a", "-R", base+"/x", "gc")
}

// uploadsOf stands in front of a server and breaks uploads after some bytes.
type uploadsOf struct {
	*httptest.Server
	cut   atomic.Int64 // of the body of the next upload, less than 0 for never
	parts atomic.Int64
	bytes atomic.Int64 // of bodies that came
	asked atomic.Int64
}

func cutsUploads(t *testing.T, to string) *uploadsOf {
	t.Helper()
	target := must.Get(url.Parse(to))(t)
	u := &uploadsOf{}
	u.cut.Store(-1)
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	u.Server = httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		u.asked.Add(1)
		u.bytes.Add(max(r.ContentLength, 0))
		if strings.Contains(r.URL.Path, "/uploads/") && r.Method == http.MethodPost {
			u.parts.Add(1)
			if n := u.cut.Swap(-1); n >= 0 {
				_, _ = io.CopyN(io.Discard, r.Body, n)
				panic(http.ErrAbortHandler)
			}
		}
		proxy.ServeHTTP(to, r)
	}))
	t.Cleanup(u.Close)
	return u
}

// TestUploadsGoOn pushes a large pack whose parts break once each: what came is not sent again.
func TestUploadsGoOn(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "path"))
	u := cutsUploads(t, served(t, filepath.Join(w.dir, "hub")))
	w.ok("a", "init")
	w.ok("a", "remote", "add", "origin", u.URL)
	rnd := rand.New(rand.NewPCG(3, 3))
	for i := range 3 {
		w.run(0, "a", fmt.Sprintf(`{"node":{"key":"k%d","type":"N","content":%q}}`, i, noise(rnd, 7<<19)), "commit", "-m", "x", "-")
	}
	u.cut.Store(1 << 20)
	w.ok("a", "push")
	w.same("main", "a", "hub")
	if n := u.parts.Load(); n < 3 || n > 5 {
		t.Errorf("%d parts", n)
	}
	if list, err := os.ReadDir(filepath.Join(w.dir, "hub", ".mnem", "uploads")); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
	// A process that is killed: the next one goes on with what the server has.
	kills := effort.Pick(1, 4, 20)
	if effort.Race { // it starts the same goroutines again
		kills = 0
	}
	for i := range kills {
		lines := new(strings.Builder)
		for part := range 3 {
			fmt.Fprintf(lines, `{"node":{"key":"k%d-%d","type":"N","content":%q}}`+"\n", i, part, noise(rnd, 7<<19))
		}
		w.run(0, "a", lines.String(), "commit", "-m", "x", "-")
		killed(t, w.process("a", "", "push"), rnd, 600*time.Millisecond)
		w.ok("hub", "fsck")
		w.ok("a", "push")
		w.same("main", "a", "hub")
	}
}

// TestServerKilled kills a server at random moments of a sync: the next one ends with the same on both sides.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "path"))
	w.add("hub", "first", "x")
	w.clones("a")
	rnd := rand.New(rand.NewPCG(8, 1))
	for i := range effort.Pick(3, 50, 50) {
		server := w.process("hub", "", "serve", "--addr", "127.0.0.1:0", "--json", "--log", "none")
		out, err := server.StdoutPipe()
		if err == nil {
			err = server.Start()
		}
		must.OK(t, err)
		var said struct{ URL string }
		must.OK(t, json.NewDecoder(out).Decode(&said))
		w.ok("a", "remote", "add", "--force", "origin", said.URL)
		w.add("a", fmt.Sprint("a", i), strings.Repeat("of a ", 5000))
		sync := w.process("a", "", "sync")
		must.OK(t, sync.Start())
		time.Sleep(time.Duration(rnd.Int64N(int64(250 * time.Millisecond))))
		_, _, _ = server.Process.Kill(), server.Wait(), sync.Wait() // whether it came through is seen below
		for _, m := range []string{"a", "hub"} {
			w.ok(m, "fsck")
		}
		w.ok("a", "remote", "add", "--force", "origin", filepath.Join(w.dir, "hub"))
		w.ok("a", "sync")
		w.same("main", "a", "hub")
	}
}
