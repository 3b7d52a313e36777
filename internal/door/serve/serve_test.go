package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/base/pipe"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

const (
	cidA = "bafyreiaiqodalpqx642lqww7rlos7bmtpf6tnux7ypcihvga5hokocen6y"
	cidB = "bafyreifvcuhe6tt7goqcmw5ept6swz7neh3empi4wbdodvywdt6wbpkhiy"
)

// table is a few operations of each sort.
func table() []operation.Operation {
	commit := []string{`{"commit": "cid|null"}`}
	return []operation.Operation{
		{Name: "get", Command: []string{"get"}, Title: "Get", Doc: "Gets.", Effect: operation.Reads,
			Idempotent: true, Pure: true, Answer: operation.MediaJSON, Shapes: commit,
			Params: []operation.Param{
				{Name: "node", Kind: operation.String, Required: true, Doc: "a node"},
				{Name: "limit", Flag: "limit", Kind: operation.Integer, Doc: "how many"},
				{Name: "after", Flag: "after", Kind: operation.String, Doc: "from where"},
				{Name: "all", Flag: "all", Kind: operation.Boolean, Doc: "everything"},
				{Name: "type", Flag: "type", Kind: operation.Strings, Doc: "types"},
				{Name: "session", Flag: "session", Kind: operation.String, Effect: operation.Writes,
					Doc: "where it is recorded"},
				{Name: "now", Flag: "now", Kind: operation.String, Varies: true, Doc: "when"},
			}},
		{Name: "log", Command: []string{"log"}, Title: "Log", Doc: "Logs.", Effect: operation.Reads,
			Idempotent: true, Answer: operation.MediaNDJSON, Shapes: commit},
		{Name: "commit", Command: []string{"commit"}, Title: "Commit", Doc: "Commits.",
			Effect: operation.Writes, Answer: operation.MediaJSON, Body: operation.MediaNDJSON,
			Shapes: commit, Params: []operation.Param{
				{Name: "lines", Kind: operation.Lines, Doc: "lines"},
				{Name: "message", Flag: "message", Kind: operation.String, Doc: "why"},
				{Name: "expect", Flag: "expect", Kind: operation.String, Doc: "where it must be"},
			}},
		{Name: "purge", Command: []string{"purge"}, Title: "Purge", Doc: "Purges.",
			Effect: operation.Destroys, Answer: operation.MediaJSON, Shapes: commit},
		{Name: "export", Command: []string{"export"}, Title: "Export", Doc: "Exports.",
			Effect: operation.Reads, Idempotent: true, Answer: operation.MediaCAR},
		{Name: "import", Command: []string{"import"}, Title: "Import", Doc: "Imports.",
			Effect: operation.Writes, Answer: operation.MediaJSON, Body: operation.MediaCAR,
			Shapes: commit, Params: []operation.Param{
				{Name: "name", Flag: "name", Kind: operation.String, Doc: "as what"}}},
	}
}

// fake answers calls as a test says, and remembers them.
type fake struct {
	mu    sync.Mutex
	calls []string // name and arguments, with the input after a |
	as    []operation.Caller
	run   func(ctx context.Context, call operation.Call, out io.Writer) (operation.Outcome, error)
}

func (f *fake) Run(
	ctx context.Context, call operation.Call, out io.Writer,
) (operation.Outcome, error) {
	args, err := call.Arguments()
	if err != nil {
		return operation.Usage, err
	}
	line := call.Operation.Name
	for _, p := range call.Operation.Params {
		switch v := args.Values[p.Name].(type) {
		case nil:
		case []string:
			for _, s := range v {
				line += " " + p.Name + "=" + s
			}
		default:
			line += fmt.Sprintf(" %s=%v", p.Name, v)
		}
	}
	if args.Body != nil {
		data, err := io.ReadAll(args.Body)
		if err != nil {
			return operation.Failed, err
		}
		line += "|" + string(data)
	}
	f.mu.Lock()
	f.calls, f.as = append(f.calls, line), append(f.as, call.Caller)
	f.mu.Unlock()
	if f.run != nil {
		return f.run(ctx, call, out)
	}
	_, err = fmt.Fprintf(out, "{\"commit\":%q}\n", cidA)
	return operation.OK, err
}

// fixture is a server with a fake behind it.
type fixture struct {
	*fake
	t   *testing.T
	srv *Server
	url string
	log *bytes.Buffer
}

func newFixture(t *testing.T, change func(*Config)) *fixture {
	t.Helper()
	f := &fixture{fake: &fake{}, t: t, log: &bytes.Buffer{}}
	cfg := Config{
		Operations: table(), Runner: f.fake, Version: "test", Now: time.Now,
		Rand: mathrand.NewChaCha8([32]byte{}), Loopback: true,
		Log: slog.New(slog.NewJSONHandler(&locked{w: f.log}, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	f.srv = New(cfg)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	f.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.srv.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		must.OK(t, <-ended, "serve")
	})
	return f
}

// locked is a writer for many.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// reply is a response that was read.
type reply struct {
	*http.Response
	text string
}

// problem returns the problem of a reply.
func (r reply) problem(t *testing.T) problem {
	t.Helper()
	var p problem
	if r.Header.Get("Content-Type") != mediaProblem || json.Unmarshal([]byte(r.text), &p) != nil {
		t.Fatalf("%d %s is no problem: %s", r.StatusCode, r.Header.Get("Content-Type"), r.text)
	}
	if p.Status != r.StatusCode || p.Title == "" || p.Detail == "" || p.RequestID == "" {
		t.Errorf("status %d: %+v", r.StatusCode, p)
	}
	return p
}

// ask sends a request; headers are "Name: value".
func (f *fixture) ask(method, path, body string, headers ...string) reply {
	f.t.Helper()
	req := must.Get(http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body)))(f.t)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
		} else {
			req.Header.Set(name, value)
		}
	}
	res := must.Get(http.DefaultClient.Do(req))(f.t)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		f.t.Fatalf("%s %s: %v after %q", method, path, err, data)
	}
	return reply{res, string(data)}
}

// want fails the test unless a reply has a status and, for problems, a code.
func (f *fixture) want(r reply, status int, code string) problem {
	f.t.Helper()
	must.Require(f.t, r.StatusCode == status, "status %d, want %d: %s", r.StatusCode, status, r.text)
	if code == "" {
		return problem{}
	}
	p := r.problem(f.t)
	must.Equal(f.t, p.Code, code, "code: ", r.text)
	return p
}

const asJSONType = "Content-Type: application/json"

func TestCalls(t *testing.T) {
	f := newFixture(t, nil)
	for _, tt := range []struct{ method, path, body, media, want string }{
		{"GET", "/v1/get?node=a+b&limit=3&type=x&type=y&all", "", "",
			"get node=a b limit=3 all=true type=x type=y"},
		{"GET", "/v1/get?node=--all", "", "", "get node=--all"},
		{"POST", "/v1/get", `{"node":"a","limit":3,"all":false}`, "application/json",
			"get node=a limit=3 all=false"},
		{"POST", "/v1/get?node=a", "", "", "get node=a"},
		{"POST", "/v1/commit", `{"message":"m","lines":[{"node":{}}]}`, "application/json; charset=utf-8",
			"commit message=m|{\"node\":{}}\n"},
		{"POST", "/v1/commit?message=m", "{\"x\":1}\n{}\n", "application/x-ndjson",
			"commit message=m|{\"x\":1}\n{}\n"},
		{"POST", "/v1/import?name=n", "car", "application/vnd.ipld.car", "import name=n|car"},
	} {
		r := f.ask(tt.method, tt.path, tt.body, "Content-Type: "+tt.media)
		f.want(r, 200, "")
		if r.Header.Get("Content-Type") != operation.MediaJSON || !strings.Contains(r.text, cidA) {
			t.Errorf("%s: %s %s", tt.path, r.Header.Get("Content-Type"), r.text)
		}
		must.Equal(t, f.calls[len(f.calls)-1], tt.want, tt.method, " ", tt.path)
	}
	if r := f.ask("HEAD", "/v1/get?node=a", ""); r.StatusCode != 200 || r.text != "" {
		t.Errorf("HEAD: %d %q", r.StatusCode, r.text)
	}
}

func TestRefusedRequests(t *testing.T) {
	f := newFixture(t, nil)
	long := strings.Repeat("x", maxJSON)
	for _, tt := range []struct {
		method, path, body, media string
		status                    int
		code, detail              string
	}{
		{"GET", "/", "", "", 404, "not_found", "openapi"},
		{"GET", "/v1/", "", "", 404, "not_found", "openapi"},
		{"GET", "/v1/nothing", "", "", 404, "not_found", "nothing"},
		{"GET", "/v1/get/more", "", "", 404, "not_found", "openapi"},
		{"GET", "/v1/..%2f..%2fetc%2fpasswd", "", "", 404, "not_found", "passwd"},
		{"GET", "/v1/get", "", "", 400, "usage", "node: is required"},
		{"GET", "/v1/get?node=a&node=b", "", "", 400, "usage", "node: is given twice"},
		{"GET", "/v1/get?node=a&repo=/", "", "", 400, "usage", `unknown parameter "repo"`},
		{"GET", "/v1/get?node=a&limit=x", "", "", 400, "usage", "limit: want an integer"},
		{"GET", "/v1/get?node=%ff", "", "", 400, "usage", "not UTF-8"},
		{"GET", "/v1/get?node=%zz", "", "", 400, "usage", "query"},
		{"GET", "/v1/get?node=a&session=s", "", "", 405, "method_not_allowed", "want POST"},
		{"GET", "/v1/commit", "", "", 405, "method_not_allowed", "POST"},
		{"PUT", "/v1/get?node=a", "", "", 405, "method_not_allowed", "GET or HEAD or POST"},
		{"DELETE", "/v1/purge", "", "", 405, "method_not_allowed", "POST"},
		{"POST", "/healthz", "", "", 405, "method_not_allowed", "GET"},
		{"POST", "/openapi.json", "", "", 405, "method_not_allowed", "GET"},
		{"POST", "/v1/commit", "{}", "text/plain", 415, "unsupported_media_type", "x-ndjson"},
		{"POST", "/v1/get", "x", "application/x-ndjson", 415, "unsupported_media_type", "json"},
		{"POST", "/v1/import", "{}", "application/json", 415, "unsupported_media_type", "car"},
		{"POST", "/v1/get", "{}", "/", 415, "unsupported_media_type", "json"},
		{"POST", "/v1/get?node=a", "{}", "application/json", 400, "usage", "not in both"},
		{"POST", "/v1/get", "[]", "application/json", 400, "usage", "one JSON object"},
		{"POST", "/v1/get", `{"node":"a"} {}`, "application/json", 400, "usage", "one JSON object"},
		{"POST", "/v1/get", `{"node":"a","node":"b"}`, "application/json", 400, "usage", "given twice"},
		{"POST", "/v1/get", "{\"node\":\"\xff\"}", "application/json", 400, "usage", "UTF-8"},
		{"POST", "/v1/get", `{"node":` + strings.Repeat("[", 20_000), "application/json", 400, "usage",
			"one JSON object"},
		{"POST", "/v1/commit", long + "x", "application/json", 413, "too_large", "bytes"},
		{"POST", "/v1/purge", "", "", 403, "refused", "admin"},
	} {
		r := f.ask(tt.method, tt.path, tt.body, "Content-Type: "+tt.media)
		p := f.want(r, tt.status, tt.code)
		must.Contain(t, p.Detail, tt.detail, tt.method, " ", tt.path)
		if tt.status == 405 && r.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", tt.method, tt.path)
		}
	}
	must.Equal(t, len(f.calls), 0, "calls were made: ", f.calls)
}

func TestOutcomesOfCalls(t *testing.T) {
	f := newFixture(t, nil)
	for _, row := range operation.Outcomes() {
		f.run = func(context.Context, operation.Call, io.Writer) (operation.Outcome, error) {
			if row == operation.OK {
				return row, nil
			}
			return row, &operation.Error{Outcome: row, Message: "because", Hint: "do it"}
		}
		r := f.ask("GET", "/v1/get?node=a", "")
		if row == operation.OK {
			f.want(r, 200, "")
			continue
		}
		p := f.want(r, row.HTTP, row.Code)
		if p.Detail != "because" || p.Hint != "do it" || p.RequestID != r.Header.Get("X-Request-Id") {
			t.Errorf("%+v", p)
		}
		if (row.HTTP == 503) != (r.Header.Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", row.Code, r.Header.Get("Retry-After"))
		}
	}
	// Bad news is an answer; output before a failure is included.
	f.run = func(_ context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
		_, err := io.WriteString(out, `{"identical":false}`)
		return operation.Mismatch, err
	}
	if r := f.ask("GET", "/v1/get?node=a", ""); r.StatusCode != 409 || r.text != `{"identical":false}` {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	f.run = func(_ context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
		_, _ = io.WriteString(out, `{"conflicts":[1]}`)
		return operation.Conflict, &operation.Error{Outcome: operation.Conflict, Message: "kept"}
	}
	p := f.want(f.ask("POST", "/v1/commit", `{"message":"m"}`, asJSONType), 409, "conflict")
	must.Equal(t, string(p.Answer), `{"conflicts":[1]}`, "answer ", p.Answer)
	f.run = func(context.Context, operation.Call, io.Writer) (operation.Outcome, error) {
		panic("defect")
	}
	f.want(f.ask("GET", "/v1/get?node=a", ""), 500, "failed")
}

func TestProbesMetricsAndLog(t *testing.T) {
	var notReady error
	f := newFixture(t, func(c *Config) { c.Ready = func() error { return notReady } })
	if r := f.ask("GET", "/healthz", ""); r.StatusCode != 200 {
		t.Errorf("healthz: %d", r.StatusCode)
	}
	f.want(f.ask("GET", "/readyz", ""), 200, "")
	notReady = fmt.Errorf("not yet")
	if p := f.want(f.ask("GET", "/readyz", ""), 503, "busy"); p.Detail != "not yet" {
		t.Errorf("%+v", p)
	}
	r := f.ask("GET", "/v1/get?node=secret-node", "", "X-Request-Id: mine-1")
	must.Equal(t, r.Header.Get("X-Request-Id"), "mine-1", "request id")
	r = f.ask("GET", "/v1/get?node=a", "", "X-Request-Id: a b")
	if id := r.Header.Get("X-Request-Id"); len(id) != 2*idBytes {
		t.Errorf("request id %q", id)
	}
	r = f.ask("GET", "/metrics", "")
	for _, want := range []string{
		`mnem_http_requests_total{code="ok",method="GET",operation="get",status="200"} 2`,
		`mnem_http_request_seconds_count{operation="get"} 2`, "mnem_http_connections ", "go_goroutines",
	} {
		must.Contain(t, r.text, want, "metrics lack")
	}
	log := f.log.String()
	if !strings.Contains(log, `"request":"mine-1"`) || !strings.Contains(log, `"operation":"get"`) ||
		strings.Contains(log, "secret-node") {
		t.Errorf("log: %s", log)
	}
}

func TestRoutes(t *testing.T) {
	begun := make(chan struct{})
	f := newFixture(t, func(c *Config) {
		c.Routes = []Route{{Path: "/v1/op_watch", Effect: operation.Reads, Handler: http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, "event\n")
				_ = http.NewResponseController(w).Flush()
				close(begun)
				<-r.Context().Done()
			})}}
	})
	req := httptest.NewRequestWithContext(t.Context(), "GET", f.url+"/v1/op_watch", nil)
	req.RequestURI = ""
	res := must.Get(http.DefaultClient.Do(req))(t)
	<-begun
	t.Cleanup(func() { _ = res.Body.Close() }) // the server ends it when it stops, before this
	must.Equal(t, res.StatusCode, 200, "status")
}

// TestBodiesOfRoutes checks that bodies of routes are bounded like those of operations: in size, in total, and in time.
func TestBodiesOfRoutes(t *testing.T) {
	const size = 1000
	hold, held := make(chan struct{}), make(chan struct{})
	f := newFixture(t, func(c *Config) {
		c.Limits.Body, c.Limits.Read = size, 300*time.Millisecond
		c.Limits.Bodies = parsedWeight * size * 3 / 2
		c.Routes = []Route{{Path: "/route", Effect: operation.Reads, Handler: http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				data, err := io.ReadAll(r.Body)
				if err != nil || int64(len(data)) != r.ContentLength {
					t.Errorf("read %d of %d bytes: %v", len(data), r.ContentLength, err)
				}
				if strings.HasPrefix(string(data), "hold") {
					close(held)
					<-hold
				}
				_, _ = w.Write(data)
			})}}
	})
	if r := f.ask("POST", "/route", "hello"); r.text != "hello" {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	f.want(f.ask("POST", "/route", strings.Repeat("x", size+1)), 413, codeTooLarge)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.ask("POST", "/route", "hold"+strings.Repeat("x", size-4))
	}()
	<-held
	f.want(f.ask("POST", "/route", strings.Repeat("x", size)), 503, operation.Busy.Code)
	close(hold)
	<-ended
	in, out := io.Pipe()
	defer func() { _ = out.Close() }()
	go func() { _, _ = io.WriteString(out, "x") }() // and no more
	req := httptest.NewRequestWithContext(t.Context(), "POST", f.url+"/route", in)
	req.RequestURI = ""
	start := time.Now()
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
		must.Equal(t, res.StatusCode, http.StatusRequestTimeout, "status")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("a body that does not come was waited for %v", took)
	}
	if r := f.ask("POST", "/route", strings.Repeat("x", size)); r.StatusCode != 200 {
		t.Errorf("afterwards there is no room: %s", r.text)
	}
}

// TestSilentPipe serves a client over pipes that sends nothing, sends half of a request, rests after one, and reads no
// answer: the connection ends each time, although the client does not close the pipes.
func TestSilentPipe(t *testing.T) {
	const whole = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for name, says := range map[string]string{
		"nothing": "", "half": whole[:30], "rests": whole, "takes nothing": strings.Repeat(whole, 1000),
		"half a body": "POST /v1/import HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + operation.MediaCAR +
			"\r\nContent-Length: 100\r\n\r\nx",
	} {
		t.Run(name, func(t *testing.T) {
			in, to, err := os.Pipe()
			must.OK(t, err)
			from, out, err := os.Pipe()
			must.OK(t, err)
			const soon = 50 * time.Millisecond
			s := New(Config{
				Operations: table(), Runner: &fake{}, Now: time.Now, Rand: mathrand.NewChaCha8([32]byte{}), Own: true,
				Loopback: true, Log: slog.New(slog.DiscardHandler), Limits: Limits{
					Header: soon, Idle: soon, Read: soon, Stall: soon, Write: soon, Time: soon,
				},
			})
			ended := make(chan error, 1)
			l := &oneListener{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
			l.conn <- pipe.New(in, out, time.Nanosecond, func() error {
				close(l.closed)
				return nil
			})
			go func() { ended <- s.Serve(t.Context(), l) }()
			go func() { _, _ = io.WriteString(to, says) }() // as much as the server reads
			must.Fail(t, <-ended, net.ErrClosed)
			for _, f := range []*os.File{in, out, to, from} {
				must.OK(t, f.Close())
			}
		})
	}
}

// oneListener listens for one connection, and is closed with it.
type oneListener struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (l *oneListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneListener) Close() error   { return nil }
func (l *oneListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }
