package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/base/httpd"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

func TestHostAndOrigin(t *testing.T) {
	f := newFixture(t, func(c *Config) {
		c.Hosts = []string{"memory.example.org"}
		c.Origins = []string{"https://app.example.org"}
	})
	at := strings.TrimPrefix(f.url, "http://")
	for _, tt := range []struct {
		headers []string
		status  int
	}{
		{nil, 200},
		{[]string{"Host: localhost"}, 200}, {[]string{"Host: LOCALHOST:7117"}, 200},
		{[]string{"Host: [::1]:1"}, 200}, {[]string{"Host: 127.0.0.2"}, 200},
		{[]string{"Host: memory.example.org:80"}, 200},
		{[]string{"Host: evil.example.org"}, 403}, {[]string{"Host: evil.example.org:7117"}, 403},
		{[]string{"Host: 10.0.0.1"}, 403}, {[]string{"Host: 127.0.0.1.evil.example.org"}, 403},
		{[]string{"Host: localhost.evil.example.org"}, 403}, {[]string{"Host: 2130706433"}, 403},
		{[]string{"Origin: https://app.example.org"}, 200},
		{[]string{"Origin: http://" + at}, 200},
		{[]string{"Origin: https://evil.example.org"}, 403}, {[]string{"Origin: null"}, 403},
		{[]string{"Origin: https://app.example.org.evil.org"}, 403},
		{[]string{"Origin: http://localhost:3000"}, 403},
		{[]string{"Sec-Fetch-Site: cross-site"}, 403}, {[]string{"Sec-Fetch-Site: same-site"}, 403},
		{[]string{"Sec-Fetch-Site: none"}, 200}, {[]string{"Sec-Fetch-Site: same-origin"}, 200},
	} {
		for _, path := range []string{"/v1/get?node=a", "/openapi.json", "/metrics", "/healthz"} {
			r := f.ask("GET", path, "", tt.headers...)
			must.Equal(t, r.StatusCode, tt.status, path, " ", tt.headers, ": status")
			allowed := r.Header.Get("Access-Control-Allow-Origin")
			if want := tt.headers != nil && tt.headers[0] == "Origin: https://app.example.org"; want !=
				(allowed != "") {
				t.Errorf("%q: Access-Control-Allow-Origin %q", tt.headers, allowed)
			}
		}
	}
	r := f.ask("OPTIONS", "/v1/get", "", "Origin: https://app.example.org",
		"Access-Control-Request-Method: POST")
	if r.StatusCode != 204 || !strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), "If-Match") {
		t.Errorf("preflight: %d %v", r.StatusCode, r.Header)
	}
	r = f.ask("OPTIONS", "/v1/get", "", "Origin: https://evil.example.org")
	if r.StatusCode != 403 || r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("preflight: %d %v", r.StatusCode, r.Header)
	}
}

// keep makes tokens that a server knows.
type keep struct {
	mu   sync.Mutex
	rand io.Reader
	all  map[string]*Token
}

func (k *keep) get(id string) (*Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if id == "aaaaaaaa" {
		return nil, fmt.Errorf("broken")
	}
	return k.all[id], nil
}

func (k *keep) make(t *testing.T, name, scope string, change func(*Token)) (header string) {
	t.Helper()
	tok, text, err := NewToken(k.rand, name, scope, time.Now())
	must.OK(t, err)
	if change != nil {
		change(&tok)
	}
	must.True(t, !strings.Contains(tok.Hash, text) && len(tok.Hash) == 64, "hash %q", tok.Hash)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[tok.ID] = &tok
	return "Authorization: Bearer " + text
}

func withTokens(t *testing.T, change func(*Config)) (*fixture, *keep) {
	t.Helper()
	k := &keep{rand: mathrand.NewChaCha8([32]byte{7}), all: map[string]*Token{}}
	return newFixture(t, func(c *Config) {
		c.Token, c.NeedToken = k.get, true
		if change != nil {
			change(c)
		}
	}), k
}

func TestTokens(t *testing.T) {
	f, k := withTokens(t, nil)
	over := time.Now().Add(-time.Second)
	read, write := k.make(t, "r", "read", nil), k.make(t, "w", "write", nil)
	admin := k.make(t, "a", "admin", nil)
	expired := k.make(t, "e", "admin", func(t *Token) { t.Expires = &over })
	strange := k.make(t, "s", "everything", nil)
	for _, tt := range []struct {
		header, method, path string
		status               int
	}{
		{read, "GET", "/v1/get?node=a", 200}, {read, "GET", "/metrics", 200},
		{read, "GET", "/openapi.json", 200}, {read, "POST", "/v1/commit?message=m", 403},
		{read, "POST", "/v1/purge", 403}, {read, "POST", "/v1/get?node=a&session=s", 403},
		{write, "POST", "/v1/commit?message=m", 200}, {write, "POST", "/v1/purge", 403},
		{write, "GET", "/v1/get?node=a", 200}, {admin, "POST", "/v1/purge", 200},
		{"X: y", "GET", "/v1/get?node=a", 401}, {"X: y", "GET", "/metrics", 401},
		{"X: y", "GET", "/openapi.json", 401}, {"X: y", "GET", "/v1/nothing", 401},
		{"X: y", "GET", "/healthz", 200}, {"X: y", "GET", "/readyz", 200},
		{expired, "GET", "/v1/get?node=a", 401}, {strange, "GET", "/v1/get?node=a", 401},
		{read[:len(read)-1] + "0", "GET", "/v1/get?node=a", 401}, {read + "a", "GET", "/v1/get?node=a", 401},
		{"Authorization: Basic eDp5", "GET", "/v1/get?node=a", 401},
		{"Authorization: Bearer", "GET", "/v1/get?node=a", 401},
		{"Authorization: Bearer mnem_../../x_y", "GET", "/v1/get?node=a", 401},
		{"Authorization: Bearer mnem_aaaaaaaa_y", "GET", "/v1/get?node=a", 500},
		{"Authorization: Bearer " + strings.Repeat("x", 4096), "GET", "/v1/get?node=a", 401},
	} {
		r := f.ask(tt.method, tt.path, "", tt.header)
		if r.StatusCode != tt.status {
			t.Errorf("%s %s %s: status %d, want %d: %s", tt.header, tt.method, tt.path, r.StatusCode,
				tt.status, r.text)
		}
		if tt.status == 401 && r.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no WWW-Authenticate", tt.path)
		}
	}
	k.mu.Lock()
	clear(k.all) // all are revoked
	k.mu.Unlock()
	f.want(f.ask("GET", "/v1/get?node=a", "", read), 401, codeUnauthorized)
	for _, secret := range []string{read, write, admin} {
		if strings.Contains(f.log.String(), strings.TrimPrefix(secret, "Authorization: Bearer ")) {
			t.Error("a token is in the log")
		}
	}
}

func TestTokensSayWhoAsks(t *testing.T) {
	f, k := withTokens(t, nil)
	plain := k.make(t, "notebook", "write", nil)
	bound := k.make(t, "bot", "write", func(t *Token) { t.Author, t.Agent = "Ada", "robot" })
	const path = "/v1/get?node=a"
	f.want(f.ask("GET", path, "", plain), 200, "")
	f.want(f.ask("GET", path, "", plain, "Mnem-Agent: other"), 200, "")
	f.want(f.ask("GET", path, "", bound), 200, "")
	f.want(f.ask("GET", path, "", bound, "Mnem-Agent: robot", "Mnem-Author: Ada"), 200, "")
	f.want(f.ask("GET", path, "", bound, "Mnem-Agent: other"), 403, "refused")
	f.want(f.ask("GET", path, "", bound, "Mnem-Author: Eve"), 403, "refused")
	want := []operation.Caller{
		{Agent: "notebook"}, {Agent: "other"}, {Author: "Ada", Agent: "robot"},
		{Author: "Ada", Agent: "robot"},
	}
	for i, c := range f.as {
		must.Equal(t, c, want[i], i)
	}
}

func TestRates(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	f, k := withTokens(t, func(c *Config) { c.Limits.Rate = 2 })
	f.srv.rates.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	one, two := k.make(t, "one", "read", nil), k.make(t, "two", "read", nil)
	for range 4 {
		f.want(f.ask("GET", "/v1/get?node=a", "", one), 200, "")
	}
	r := f.ask("GET", "/v1/get?node=a", "", one)
	f.want(r, 429, codeTooMany)
	must.Equal(t, r.Header.Get("Retry-After"), "1", "Retry-After")
	f.want(f.ask("GET", "/v1/get?node=a", "", two), 200, "")
	mu.Lock()
	now = now.Add(500 * time.Millisecond)
	mu.Unlock()
	f.want(f.ask("GET", "/v1/get?node=a", "", one), 200, "")
	f.want(f.ask("GET", "/v1/get?node=a", "", one), 429, codeTooMany)
	for range 50 {
		f.want(f.ask("GET", "/v1/get?node=a", "", "Authorization: Bearer x"), 401, codeUnauthorized)
	}
	f.want(f.ask("GET", "/v1/get?node=a", "", two), 200, "")
	must.Equal(t, len(f.srv.rates.buckets), 2, "buckets, want one of each token")
}

// TestSlowRate lets one request through where less than one a second may come.
func TestSlowRate(t *testing.T) {
	now := time.Unix(0, 0)
	r := newRates(0.25, func() time.Time { return now })
	must.Equal(t, r.take("a"), 0, "the first waits")
	must.Equal(t, r.take("a"), 4*time.Second, "the second waits, want 4 s")
	now = now.Add(4 * time.Second)
	must.Equal(t, r.take("a"), 0, "after 4 s it waits")
}

func TestBodiesAreBounded(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Limits.Body = 1000 })
	lines := "Content-Type: " + operation.MediaNDJSON
	f.want(f.ask("POST", "/v1/commit", strings.Repeat("x", 1000), lines), 200, "")
	f.want(f.ask("POST", "/v1/commit", strings.Repeat("x", 1001), lines), 413, codeTooLarge)
	// A body of unknown length is truncated if it is too long.
	req, err := http.NewRequest("POST", f.url+"/v1/commit", io.MultiReader(
		strings.NewReader(strings.Repeat("x", 1001))))
	must.OK(t, err)
	req.Header.Set("Content-Type", operation.MediaNDJSON)
	res := must.Get(http.DefaultClient.Do(req))(t)
	defer func() { _ = res.Body.Close() }()
	must.Equal(t, res.StatusCode, 413, "status")
}

func TestOperationsAreBounded(t *testing.T) {
	f := newFixture(t, func(c *Config) {
		c.Limits.Running, c.Limits.Waiting, c.Limits.Time = 1, 1, 300*time.Millisecond
	})
	var running, most int
	var mu sync.Mutex
	f.run = func(ctx context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		defer func() { mu.Lock(); running--; mu.Unlock() }()
		<-ctx.Done()
		return operation.Interrupted, &operation.Error{Outcome: operation.Interrupted, Message: "interrupted"}
	}
	var wg sync.WaitGroup
	details := make(chan string, 8)
	for range 8 {
		wg.Go(func() {
			res, err := http.Get(f.url + "/v1/get?node=a")
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = res.Body.Close() }()
			data, _ := io.ReadAll(res.Body) // short ones are seen below
			must.Equal(t, res.StatusCode, 503, "status")
			details <- string(data)
		})
	}
	wg.Wait()
	close(details)
	all := ""
	for d := range details {
		all += d
	}
	for _, want := range []string{"wait already", "too"} {
		must.Contain(t, all, want, "no client was told")
	}
	must.Equal(t, most, 1, "at once")
}

// TestRawRequests sends what no HTTP client does.
func TestRawRequests(t *testing.T) {
	f := newFixture(t, nil)
	at := strings.TrimPrefix(f.url, "http://")
	for _, tt := range []struct {
		text   string
		status string
	}{
		{"GET /v1/get?node=a HTTP/1.1\r\n\r\n", " 400 "}, // no Host
		{"GET /v1/get?node=a HTTP/1.0\r\n\r\n", " 403 "}, // likewise
		{"GET http://evil.example.org/v1/get?node=a HTTP/1.1\r\nHost: localhost\r\n\r\n", " 403 "},
		{"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", " 30"},
		{"GET /v1/get?node=a HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", " 400 "},
		{"POST /v1/commit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n" +
			"Content-Length: 99999999999999\r\n\r\n", " 413 "},
		{"\x16\x03\x01\x00\x01", " 400 "},
		{"GET /v1/get?node=" + strings.Repeat("x", httpd.MaxHeader) + " HTTP/1.1\r\nHost: localhost\r\n" +
			strings.Repeat("X-A: b\r\n", 800), " 431 "},
		{"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + strings.Repeat("x", httpd.MaxHeader+4096), " 431 "},
	} {
		c := must.Get(net.Dial("tcp", at))(t)
		_, _ = io.WriteString(c, tt.text) // the server may have seen enough
		_ = c.(*net.TCPConn).CloseWrite() // likewise
		line, _ := bufio.NewReader(c).ReadString('\n')
		must.Contain(t, line, tt.status, tt.text)
		_ = c.Close() // it was read
	}
	must.Equal(t, len(f.calls), 0, "calls ", f.calls)
}

// TestManyConnections opens more connections than allowed: the excess ones get an answer, memory stays bounded, and the
// server answers again when some are closed.
func TestManyConnections(t *testing.T) {
	const conns, tried = 100, 600
	f := newFixture(t, func(c *Config) { c.Limits.Conns = conns })
	at := strings.TrimPrefix(f.url, "http://")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	open := make([]net.Conn, 0, tried)
	for range tried {
		c := must.Get(net.Dial("tcp", at))(t)
		open = append(open, c)
		if _, err := io.WriteString(c, "GET /v1/ge"); err != nil { // and no more
			continue // turned away already
		}
	}
	told := 0
	for _, c := range open[conns:] {
		_ = c.SetReadDeadline(time.Now().Add(time.Second)) // a bound for the test
		data, _ := io.ReadAll(c)
		if bytes.Contains(data, []byte("too many connections")) {
			told++
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	must.True(t, told > 0, "no client was told that there are too many")
	t.Logf("%d of %d were told; heap %d KiB more", told, tried-conns,
		(int64(after.HeapAlloc)-int64(before.HeapAlloc))>>10)
	if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 32<<20 {
		t.Errorf("heap grew by %d bytes", more)
	}
	for _, c := range open {
		_ = c.Close() // they are no longer needed
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		res, err := http.Get(f.url + "/v1/get?node=a")
		if err == nil {
			_ = res.Body.Close() // its status says all
			if res.StatusCode == 200 {
				return
			}
		}
		must.Require(t, !time.Now().After(deadline), "no answer after the others have gone: %v", err)
		time.Sleep(10 * time.Millisecond)
	}
}

// TestSlowClients sees to it that a client which sends its headers slowly is cut off.
func TestSlowClients(t *testing.T) {
	t.Parallel() // it waits for as long as headers may take
	f := newFixture(t, nil)
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(t)
	defer func() { _ = c.Close() }()
	start := time.Now()
	must.OK(t, must.Err(io.WriteString(c, "GET /v1/get?node=a HTTP/1.1\r\nHost: localhost\r\n")))
	must.OK(t, c.SetReadDeadline(start.Add(4*headerTime)))
	_, _ = io.ReadAll(c) // until the server ends it
	if took := time.Since(start); took < headerTime/2 || took > 2*headerTime {
		t.Errorf("cut off after %v", took)
	}
	f.want(f.ask("GET", "/healthz", ""), 200, "")
}

// TestSlowBodiesAndLongCalls sees to it that the bound on bodies is none on operations.
func TestSlowBodiesAndLongCalls(t *testing.T) {
	const bound = 100 * time.Millisecond
	f := newFixture(t, func(c *Config) { c.Limits.Read = bound })
	f.run = func(ctx context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
		select {
		case <-ctx.Done():
			return operation.Interrupted, &operation.Error{Outcome: operation.Interrupted, Message: "cut"}
		case <-time.After(3 * bound):
		}
		_, err := io.WriteString(out, "{}")
		return operation.OK, err
	}
	f.want(f.ask("GET", "/v1/get?node=a", ""), 200, "")
	f.want(f.ask("POST", "/v1/commit", `{"message":"m"}`, asJSONType), 200, "")
	in, out := io.Pipe()
	defer func() { _ = out.Close() }()
	req := must.Get(http.NewRequestWithContext(t.Context(), "POST", f.url+"/v1/commit", in))(t)
	req.Header.Set("Content-Type", operation.MediaNDJSON)
	go func() { _, _ = io.WriteString(out, "{") }() // and no more
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return // the connection was ended
	}
	defer func() { _ = res.Body.Close() }()
	must.Equal(t, res.StatusCode, http.StatusRequestTimeout, "status")
}
