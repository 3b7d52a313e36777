package sharing_test

import (
	"bytes"
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

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// spoiler stands in front of a server and spoils what it answers.
type spoiler struct {
	*httptest.Server
	// answer, if it is given, answers in the place of the server.
	answer atomic.Pointer[http.HandlerFunc]
	// cut is after how many bytes of an answer the connection breaks, less than 0 for never.
	cut  atomic.Int64
	flip atomic.Int64 // which byte of a pack has a bit changed, likewise
}

func spoils(t *testing.T, to string) *spoiler {
	t.Helper()
	target := must.Get(url.Parse(to))(t)
	s := &spoiler{}
	s.cut.Store(-1)
	s.flip.Store(-1)
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Header.Del("Accept-Encoding") },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		if h := s.answer.Load(); h != nil {
			(*h)(to, r)
			return
		}
		// Else a server closes the body of a request when the answer begins, which the proxy may still be reading.
		_ = http.NewResponseController(to).EnableFullDuplex()
		flip := s.flip.Load()
		if !strings.HasSuffix(r.URL.Path, "/pack_send") {
			flip = -1
		}
		proxy.ServeHTTP(&spoilt{ResponseWriter: to, cut: s.cut.Load(), flip: flip}, r)
	}))
	t.Cleanup(s.Close)
	return s
}

type spoilt struct {
	http.ResponseWriter
	n, cut, flip int64
}

func (w *spoilt) Write(p []byte) (int, error) {
	p = bytes.Clone(p)
	if at := w.flip - w.n; w.flip >= 0 && at >= 0 && at < int64(len(p)) {
		p[at] ^= 1
	}
	if w.cut >= 0 && w.n+int64(len(p)) > w.cut {
		_, _ = w.ResponseWriter.Write(p[:w.cut-w.n])
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	w.n += int64(len(p))
	return w.ResponseWriter.Write(p)
}

func (w *spoilt) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestCutTransfers breaks connections after some bytes, and changes bits: no ref is ever at what is not there,
// and in the end both sides have the same.
func TestCutTransfers(t *testing.T) {
	t.Parallel()
	w := newTeam(t, over(t, "path"))
	for i := range 10 {
		w.add("hub", fmt.Sprint("n", i), strings.Repeat("text ", 300+i))
	}
	s := spoils(t, served(t, filepath.Join(w.dir, "hub")))
	rnd := rand.New(rand.NewPCG(3, 9))
	rounds := effort.Pick(15, 60, 200)
	if effort.Race { // each starts the same goroutines
		rounds = 4
	}
	try := func(m, verb string) { // it may be all there
		var errs bytes.Buffer
		code := cli.Run(t.Context(), w.app(m, "", io.Discard, &errs), []string{verb})
		named := strings.Contains(errs.String(), s.Listener.Addr().String()) || strings.Contains(errs.String(), "what arrives")
		if code == 1 && !named {
			t.Errorf("%s: %s over a bad connection does not say so: %q", m, verb, &errs)
		}
	}
	for i := range rounds {
		m := fmt.Sprint("m", i)
		w.ok(m, "init")
		w.ok(m, "remote", "add", "origin", s.URL)
		for range 3 {
			s.cut.Store(rnd.Int64N(30_000))
			try(m, "fetch")
			w.ok(m, "fsck")
		}
		s.cut.Store(-1)
		if w.at(m, "refs/remotes/origin/heads/main") == "" {
			s.flip.Store(rnd.Int64N(20_000))
			try(m, "fetch")
			s.flip.Store(-1)
		}
		w.add(m, m, "x")
		s.cut.Store(rnd.Int64N(600))
		try(m, "sync")
		s.cut.Store(-1)
		w.ok(m, "sync")
		w.same("main", m, "hub")
	}
}

// TestHostileServers fetches from servers that answer with what no repository would.
func TestHostileServers(t *testing.T) {
	w := newTeam(t, over(t, "path"))
	w.add("hub", "one", "x")
	at := w.at("hub", "refs/heads/main")
	s := spoils(t, served(t, filepath.Join(w.dir, "hub")))
	w.ok("a", "init")
	w.ok("a", "remote", "add", "origin", s.URL)
	says := func(status int, media, text string) http.HandlerFunc {
		return func(to http.ResponseWriter, _ *http.Request) {
			to.Header().Set("Content-Type", media)
			to.WriteHeader(status)
			_, _ = io.WriteString(to, text)
		}
	}
	refs := func(pack http.HandlerFunc, list ...string) http.HandlerFunc {
		return func(to http.ResponseWriter, r *http.Request) {
			if pack != nil && strings.HasSuffix(r.URL.Path, "/pack_send") {
				pack(to, r)
				return
			}
			text, _ := json.Marshal(map[string]any{"head": "refs/heads/main", "known": []string{}})
			says(200, "application/json", strings.TrimSuffix(string(text), "}")+`,"refs":[`+
				strings.Join(list, ",")+"]}")(to, r)
		}
	}
	main := fmt.Sprintf(`{"ref":"refs/heads/main","target":%q}`, at)
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"no server of ours": {says(200, "text/html", "<html>"), "the answer of the server"},
		"an error page":     {says(502, "text/html", "<html>"), "status 502"},
		"a problem with control characters": {says(403, "application/problem+json",
			`{"code":"refused","detail":"\u001b[2Jgone"}`), "gone"},
		"a redirection": {func(to http.ResponseWriter, r *http.Request) {
			http.Redirect(to, r, other.URL, http.StatusTemporaryRedirect)
		}, "status 307"},
		"a ref of its own kind": {refs(nil, `{"ref":"refs/stage/main","target":"`+at+`"}`), "refs/stage/main"},
		"a name that is none":   {refs(nil, `{"ref":"refs/heads/../x","target":"`+at+`"}`), "refs/heads/../x"},
		"a head that is none":   {refs(says(200, "application/vnd.ipld.car", ""), main), ""},
		"no pack":               {refs(says(200, "application/vnd.ipld.car", "no pack at all"), main), "what arrives"},
		"a bomb": {refs(func(to http.ResponseWriter, _ *http.Request) {
			to.Header().Set("Content-Encoding", "zstd")
			_, _ = to.Write([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa4, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
		}, main), ""},
		"an endless answer": {func(to http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(to, `{"head":"`)
			piece := bytes.Repeat([]byte("x"), 1<<20)
			for range 80 {
				if _, err := to.Write(piece); err != nil {
					return
				}
			}
		}, "more than is taken in"},
	} {
		s.answer.Store(&tt.answer)
		var errs bytes.Buffer
		code := cli.Run(t.Context(), w.app("a", "", io.Discard, &errs), []string{"fetch"})
		if code == 0 || !strings.Contains(errs.String(), tt.says) || strings.Contains(errs.String(), "\x1b") {
			t.Errorf("%s: exit code %d: %q", name, code, errs.String())
		}
		must.Equal(t, w.at("a", "refs/remotes/origin/heads/main"), "", name, ": a ref moved")
	}
	must.True(t, elsewhere.Load() == 0, "a redirection was followed")
	s.answer.Store(nil)
	w.ok("a", "fetch")
	s.Close()
	w.refused(1, "is 'mnem serve' running there?", "a", "fetch")
}

// TestHostileClients sends a server packs and refs that it must not take.
func TestHostileClients(t *testing.T) {
	w := newTeam(t, over(t, "path"))
	w.add("hub", "one", "x")
	url := served(t, filepath.Join(w.dir, "hub"), "--limit", "body=1MiB")
	at := w.at("hub", "refs/heads/main")
	post := func(query, encoding, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/pack_take?"+query, strings.NewReader(body))
		must.OK(t, err)
		req.Header.Set("Content-Type", "application/vnd.ipld.car")
		req.Header.Set("Mnem-Author", "Mallory")
		if encoding != "" {
			req.Header.Set("Content-Encoding", encoding)
		}
		res := must.Get(http.DefaultClient.Do(req))(t)
		text, err := io.ReadAll(res.Body)
		if err == nil {
			err = res.Body.Close()
		}
		must.OK(t, err)
		return res.StatusCode, string(text)
	}
	for _, tt := range []struct {
		query, encoding, body string
		status                int
		says                  string
	}{
		{"", "", "", 400, "move, set or session"},
		{"move=refs/heads/x", "", "", 400, "REF=FROM..TO"},
		{"move=refs/heads/x=none..none&tracking=origin", "", "", 400, "tracking"},
		{"move=refs/heads/x=none.." + at, "", "", 422, "not in the pack"},
		{"set=refs/stage/main=any..none", "", "", 422, "no branch, tag or session"},
		{"set=refs/remotes/origin/heads/x=any..none", "", "", 422, "no branch, tag or session"},
		{"set=refs/heads/main=any..none", "", "", 422, "HEAD is on it"},
		{"set=refs/heads/main=none.." + at, "", "junk", 422, ""},
		{"set=refs/heads/main=none.." + at, "zstd", "junk", 422, "the body"},
		{"set=refs/heads/main=none.." + at, "gzip", "junk", 415, "zstd"},
		{"set=refs/heads/main=none.." + at, "", strings.Repeat("x", 2<<20), 413, "more than"},
	} {
		if status, text := post(tt.query, tt.encoding, tt.body); status != tt.status || !strings.Contains(text, tt.says) {
			t.Errorf("%s (%s): status %d, want %d: %s", tt.query, tt.encoding, status, tt.status, text)
		}
	}
	must.Equal(t, w.at("hub", "refs/heads/main"), at, "a ref moved")
	list, err := os.ReadDir(filepath.Join(w.dir, "hub", ".mnem"))
	for _, e := range list {
		if strings.HasPrefix(e.Name(), "import-") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
	must.OK(t, err)
}
