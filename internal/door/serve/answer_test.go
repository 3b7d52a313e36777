package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// prints makes a fake that prints texts one after the other and then ends with an outcome.
func prints(o operation.Outcome, texts ...string) func(
	context.Context, operation.Call, io.Writer,
) (operation.Outcome, error) {
	return func(_ context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
		for _, s := range texts {
			if _, err := io.WriteString(out, s); err != nil {
				return operation.Interrupted, err
			}
		}
		if o != operation.OK {
			return o, &operation.Error{Outcome: o, Message: "because"}
		}
		return o, nil
	}
}

func TestETag(t *testing.T) {
	f := newFixture(t, nil)
	tag := `"` + cidA + `"`
	r := f.ask("GET", "/v1/get?node=a", "")
	must.Equal(t, r.Header.Get("ETag"), tag, "ETag")
	for _, tt := range []struct {
		path, header string
		status       int
	}{
		{"/v1/get?node=a", "If-None-Match: " + tag, 304},
		{"/v1/get?node=a", `If-None-Match: "x", W/` + tag, 304},
		{"/v1/get?node=a", "If-None-Match: *", 304},
		{"/v1/get?node=a", `If-None-Match: "` + cidB + `"`, 200},
		{"/v1/get?node=a&now=today", "If-None-Match: " + tag, 200}, // depends on more than the commit
		{"/v1/get?node=a", "If-Match: " + tag, 200},
		{"/v1/get?node=a", `If-Match: "` + cidB + `"`, 412},
		{"/v1/get?node=a", "If-Match: x", 400},
		{"/v1/log", "If-None-Match: *", 200},
	} {
		r := f.ask("GET", tt.path, "", tt.header)
		if r.StatusCode != tt.status || tt.status == 304 && (r.text != "" || r.Header.Get("ETag") != tag) {
			t.Errorf("%s %s: %d %q", tt.path, tt.header, r.StatusCode, r.text)
		}
	}
	if r := f.ask("GET", "/v1/get?node=a&now=today", ""); r.Header.Get("ETag") != "" {
		t.Errorf("ETag %q of what depends on more", r.Header.Get("ETag"))
	}
}

func TestIfMatchOfWrites(t *testing.T) {
	f := newFixture(t, nil)
	match := `If-Match: "` + cidB + `"`
	r := f.ask("POST", "/v1/commit", `{"message":"m"}`, asJSONType, match)
	f.want(r, 200, "")
	if got := f.calls[0]; got != "commit message=m expect="+cidB || r.Header.Get("ETag") == "" {
		t.Errorf("%q, ETag %q", got, r.Header.Get("ETag"))
	}
	f.want(f.ask("POST", "/v1/import", "x", "Content-Type: "+operation.MediaCAR, match), 400, "usage")
	f.want(f.ask("POST", "/v1/commit", `{"message":"m","expect":"none"}`, asJSONType, match), 400, "usage")
	f.run = prints(operation.Conflict)
	f.want(f.ask("POST", "/v1/commit", `{"message":"m"}`, asJSONType, match), 412, codePrecondition)
	f.want(f.ask("POST", "/v1/commit", `{"message":"m"}`, asJSONType), 409, "conflict")
}

func TestForms(t *testing.T) {
	f := newFixture(t, nil)
	lines := []string{`{"n":1}` + "\n" + `{"n"`, `:2}` + "\n"}
	for _, tt := range []struct {
		path, accept string
		prints       []string
		media, want  string
	}{
		{"/v1/log", "", lines, operation.MediaNDJSON, strings.Join(lines, "")},
		{"/v1/log", "*/*", lines, operation.MediaNDJSON, strings.Join(lines, "")},
		{"/v1/log", "application/json", lines, operation.MediaJSON, `[{"n":1},{"n":2}]` + "\n"},
		{"/v1/log", "application/json, text/plain, */*", nil, operation.MediaJSON, "[]\n"},
		{"/v1/log", "application/json;q=0.5, application/*", lines, operation.MediaNDJSON,
			strings.Join(lines, "")},
		{"/v1/get?node=a", "application/x-ndjson", []string{"{}\n"}, operation.MediaNDJSON, "{}\n"},
		{"/v1/get?node=a", "text/html, */*;q=0.1", []string{"{}\n"}, operation.MediaJSON, "{}\n"},
		{"/v1/get?node=a", "text/plain", []string{"as text\n"}, "text/plain; charset=utf-8", "as text\n"},
		{"/v1/export", "", []string{"car"}, operation.MediaCAR, "car"},
	} {
		f.run = prints(operation.OK, tt.prints...)
		r := f.ask("GET", tt.path, "", "Accept: "+tt.accept)
		if tt.accept == "" {
			r = f.ask("GET", tt.path, "")
		}
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != tt.media || r.text != tt.want {
			t.Errorf("%s, %s: %d %s %q", tt.path, tt.accept, r.StatusCode, r.Header.Get("Content-Type"), r.text)
		}
	}
	for _, accept := range []string{"image/png", "application/json;q=0", "text/plain;q=x"} {
		f.want(f.ask("GET", "/v1/get?node=a", "", "Accept: "+accept), 406, codeAcceptable)
	}
	f.want(f.ask("GET", "/v1/export", "", "Accept: application/json"), 406, codeAcceptable)
}

// TestLongAnswers checks that no client can take a part of an answer for all of it.
func TestLongAnswers(t *testing.T) {
	f := newFixture(t, nil)
	part := `{"n":"` + strings.Repeat("x", maxHeld/2) + `"}` + "\n"
	f.run = prints(operation.OK, part, part, part)
	if r := f.ask("GET", "/v1/get?node=a", ""); r.StatusCode != 200 || len(r.text) != 3*len(part) {
		t.Errorf("%d, %d bytes", r.StatusCode, len(r.text))
	}
	f.run = prints(operation.Corrupt, part)
	f.want(f.ask("GET", "/v1/get?node=a", ""), 500, "corrupt")
	f.run = prints(operation.Corrupt, part, part, part)
	for _, path := range []string{"/v1/get?node=a", "/v1/export"} {
		res := must.Get(http.Get(f.url + path))(t)
		if _, err := io.ReadAll(res.Body); err == nil {
			t.Errorf("%s: half an answer ended as if it were whole", path)
		}
		_ = res.Body.Close() // it was read
	}
	f.run = prints(operation.Corrupt, "{}\n")
	r := f.ask("GET", "/v1/log", "")
	if r.StatusCode != 200 || !strings.HasPrefix(r.text, "{}\n{\"error\":{\"code\":\"corrupt\"") {
		t.Errorf("%d %q", r.StatusCode, r.text)
	}
	f.run = prints(operation.Corrupt)
	f.want(f.ask("GET", "/v1/log", ""), 500, "corrupt")
}

func TestLinkToTheNextPage(t *testing.T) {
	f := newFixture(t, nil)
	f.run = prints(operation.OK, `{"commit":null,"next":"a&b"}`)
	r := f.ask("GET", "/v1/get?node=x+y&after=old", "")
	must.Equal(t, r.Header.Get("Link"), `</v1/get?after=a%26b&node=x+y>; rel="next"`, "Link")
	f.run = prints(operation.OK, `{"commit":null,"next":null}`)
	must.Equal(t, f.ask("GET", "/v1/get?node=x", "").Header.Get("Link"), "", "Link")
}

func TestCallers(t *testing.T) {
	f := newFixture(t, nil)
	f.want(f.ask("POST", "/v1/get", `{"node":"a"}`, asJSONType, "Mnem-Author: Ada Löve",
		"Mnem-Agent: robot", "Mnem-Task: t", "Mnem-Branch: b", "Mnem-Session: s"), 200, "")
	want := operation.Caller{Author: "Ada Löve", Agent: "robot", Task: "t", Branch: "b", Session: "s"}
	must.Equal(t, f.as[0], want)
	f.want(f.ask("GET", "/v1/get?node=a", "", "Mnem-Session: s"), 405, codeMethod)
	f.want(f.ask("GET", "/v1/get?node=a", "", "Mnem-Author: "+strings.Repeat("x", 256)), 400, "usage")
	f.want(f.ask("GET", "/v1/get?node=a", "", "Mnem-Author: \xff"), 400, "usage")
	f.want(f.ask("GET", "/v1/get?node=a", "", "Mnem-Author: a\tb"), 400, "usage")
}

func TestIdempotencyKey(t *testing.T) {
	f := newFixture(t, nil)
	n := 0
	f.run = func(_ context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
		n++
		_, err := fmt.Fprintf(out, `{"commit":%q,"n":%d}`, cidA, n)
		return operation.OK, err
	}
	post := func(body, key string) reply {
		return f.ask("POST", "/v1/commit", body, asJSONType, "Idempotency-Key: "+key)
	}
	first := post(`{"message":"m"}`, "k1")
	again := post(`{"message": "m"}`, "k1")
	if first.text != again.text || n != 1 || again.Header.Get("Idempotent-Replay") != "true" ||
		again.Header.Get("ETag") != first.Header.Get("ETag") || again.StatusCode != 200 {
		t.Errorf("%q, then %q; %d calls", first.text, again.text, n)
	}
	f.want(post(`{"message":"other"}`, "k1"), 422, codeKeyReused)
	if post(`{"message":"m"}`, "k2"); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
	f.want(post(`{"message":"m"}`, "a b"), 400, "usage")
	f.want(post(`{"message":"m"}`, strings.Repeat("k", maxKey+1)), 400, "usage")

	// A refusal is an answer, a failure of the system is none.
	f.run = prints(operation.Invalid)
	f.want(post(`{"message":"bad"}`, "k3"), 422, "invalid_input")
	f.run = prints(operation.Failed)
	f.want(post(`{"message":"bad"}`, "k3"), 422, "invalid_input")
	f.want(post(`{"message":"m"}`, "k4"), 500, "failed")
	f.run = prints(operation.OK, "{}")
	f.want(post(`{"message":"m"}`, "k4"), 200, "")

	// A write that may have been done is not repeated.
	f.run = func(context.Context, operation.Call, io.Writer) (operation.Outcome, error) {
		n++
		return operation.Busy, &operation.Error{Outcome: operation.Busy, Message: "it ended", Unknown: true}
	}
	n = 0
	for range 2 {
		r := post(`{"message":"m"}`, "k6")
		if f.want(r, 503, "busy"); n != 1 || r.Header.Get("Retry-After") != "" {
			t.Errorf("%d calls, again after %q", n, r.Header.Get("Retry-After"))
		}
	}

	// A long answer runs once too.
	f.run = prints(operation.OK, strings.Repeat("x", maxHeld), "y")
	if r := post(`{"message":"m"}`, "k5"); len(r.text) != maxHeld+1 {
		t.Errorf("%d bytes", len(r.text))
	}
	if p := f.want(post(`{"message":"m"}`, "k5"), 409, codeInFlight); !strings.Contains(p.Detail, "too long") {
		t.Errorf("%+v", p)
	}
}

func TestIdempotencyKeyInFlight(t *testing.T) {
	f := newFixture(t, nil)
	begun, end := make(chan struct{}), make(chan struct{})
	f.run = func(ctx context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
		close(begun)
		<-end
		if ctx.Err() != nil {
			return operation.Interrupted, &operation.Error{Outcome: operation.Interrupted}
		}
		return prints(operation.OK, "{}")(ctx, operation.Call{}, out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	req := must.Get(http.NewRequestWithContext(ctx, "POST", f.url+"/v1/commit", strings.NewReader("{}")))(t)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "k")
	var wg sync.WaitGroup
	wg.Go(func() {
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close() // the client never reads
			t.Error("the client did not go")
		}
	})
	<-begun
	f.want(f.ask("POST", "/v1/commit", "{}", asJSONType, "Idempotency-Key: k"), 409, codeInFlight)
	cancel() // the client goes, and asks again
	wg.Wait()
	close(end)
	deadline := time.Now().Add(10 * time.Second)
	for {
		r := f.ask("POST", "/v1/commit", "{}", asJSONType, "Idempotency-Key: k")
		if r.StatusCode == 200 {
			must.Equal(t, r.Header.Get("Idempotent-Replay"), "true", "it was done twice")
			return
		}
		must.Require(t, !time.Now().After(deadline), "%d %s", r.StatusCode, r.text)
		time.Sleep(time.Millisecond)
	}
}

func TestAnswersAreForgotten(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	a := newAnswers(func() time.Time { return now })
	op := table()[2]
	begin := func(key string) (*kept, *problem) {
		return a.begin(&request{key: key, call: operation.Call{Operation: &op}})
	}
	done := func(key string, size int) {
		k, p := begin(key)
		must.Require(t, p == nil && !k.done, "%s: %+v", key, p)
		k.keepBody(200, nil, make([]byte, size))
		a.end(k)
	}
	done("old", 10)
	now = now.Add(keptTime + time.Second)
	done("old", 10)
	for i := range 5 {
		done(fmt.Sprint("large", i), maxKeptSize/2)
	}
	must.True(t, a.size <= 2*maxKeptSize && len(a.byKey) <= 4, "%d bytes of %d answers", a.size, len(a.byKey))
	for i := range maxKept + 10 {
		done(fmt.Sprint("many", i), 0)
	}
	if len(a.byKey) > maxKept || a.order.Len() != len(a.byKey) {
		t.Errorf("%d answers, %d in order", len(a.byKey), a.order.Len())
	}
	for i := range maxKept {
		if _, p := begin(fmt.Sprint("running", i)); p != nil {
			t.Fatalf("%d: %+v", i, p)
		}
	}
	if _, p := begin("one more"); p == nil || p.Status != 503 {
		t.Errorf("%+v, want 503: all are under way", p)
	}
}

// TestIdempotencyKeyAtTheEnd stops a server while a write with a key takes longer than it waits: the write is
// interrupted, like one without a key.
func TestIdempotencyKeyAtTheEnd(t *testing.T) {
	begun, told := make(chan struct{}), make(chan struct{})
	run := func(ctx context.Context, _ operation.Call, _ io.Writer) (operation.Outcome, error) {
		close(begun)
		select {
		case <-ctx.Done():
			close(told)
		case <-time.After(20 * time.Second):
		}
		return operation.Interrupted, &operation.Error{Outcome: operation.Interrupted, Message: "cut"}
	}
	t.Cleanup(func() { // after the server was stopped
		select {
		case <-told:
		case <-time.After(5 * time.Second):
			t.Error("the write goes on after the server has ended")
		}
	})
	f := newFixture(t, func(c *Config) { c.Limits.Grace = 50 * time.Millisecond })
	f.run = run
	req := httptest.NewRequestWithContext(t.Context(), "POST", f.url+"/v1/commit",
		strings.NewReader("{}"))
	req.RequestURI = ""
	req.Header.Set("Content-Type", operation.MediaJSON)
	req.Header.Set("Idempotency-Key", "k")
	go func() {
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-begun
}

// TestLongAnswerIsLost has a client go while the long answer to its write is sent: the write is made
// to its end, once.
func TestLongAnswerIsLost(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Limits.Write = 200 * time.Millisecond })
	ended := make(chan error, 9)
	part := strings.Repeat("x", maxHeld)
	f.run = func(_ context.Context, _ operation.Call, out io.Writer) (operation.Outcome, error) {
		for range 16 {
			if _, err := io.WriteString(out, part); err != nil {
				ended <- err
				return operation.Interrupted, err
			}
		}
		ended <- nil
		return operation.OK, nil
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	must.OK(t, err)
	defer func() { _ = c.Close() }()
	const headers = "Host: localhost\r\nIdempotency-Key: k\r\n" + asJSONType + "\r\n"
	_, err = io.WriteString(c, "POST /v1/commit HTTP/1.1\r\n"+headers+"Content-Length: 2\r\n\r\n{}")
	must.OK(t, err)
	if err := <-ended; err != nil { // nothing was read
		t.Errorf("the write was broken off: %v", err)
	}
	for range 100 { // until its end is known
		r := f.ask("POST", "/v1/commit", "{}", asJSONType, "Idempotency-Key: k")
		must.Equal(t, r.StatusCode, 409, "status")
		if strings.Contains(r.text, "too long") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the write did not end")
}
