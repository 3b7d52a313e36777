package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

const testKey = "sk-test-0123456789"

// stillClock is a time that passes only in sleep.
type stillClock struct {
	now   time.Time
	slept []time.Duration
}

func (c *stillClock) Now() time.Time { return c.now }

func (c *stillClock) Sleep(ctx context.Context, d time.Duration) error {
	c.now, c.slept = c.now.Add(d), append(c.slept, d)
	return context.Cause(ctx)
}

var proto = Protocol{
	Provider: Provider{Name: "fake"}, Action: "ask", Path: "/v1/answers", Hint: "start it",
	KeyHint: "check the key", ModelHint: "pull it",
}

// asking returns what a question comes to at a server that answers with steps, and then well.
func asking(t *testing.T, change func(*ProviderOptions), steps ...http.HandlerFunc) (
	requests int, clock *stillClock, err error,
) {
	t.Helper()
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests++
		request := requests
		mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body) // only then a server sees that its client is gone
		if r.Header.Get("Authorization") != "Bearer "+testKey || r.URL.Path != proto.Path {
			w.WriteHeader(http.StatusTeapot)
		} else if request <= len(steps) {
			steps[request-1](w, r)
		} else {
			_, _ = fmt.Fprint(w, `{"fine":true}`)
		}
	}))
	defer server.Close()
	clock = &stillClock{now: time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)}
	opt := ProviderOptions{URL: server.URL, Key: testKey, Clock: clock}
	if change != nil {
		change(&opt)
	}
	c := must.Get(Open(proto, "m", opt))(t)
	err = c.Ask(t.Context(), []byte("{}"), func(answer []byte) error {
		return ReadObject(answer, func(name string, _ json.RawMessage) error {
			if name != "fine" {
				return errors.New("not what was asked for")
			}
			return nil
		})
	})
	server.Close() // and so await a handler whose client has given up
	return requests, clock, err
}

func say(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}
}

func TestAskTriesAgain(t *testing.T) {
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = fmt.Fprint(w, `{"fine":`)
	}
	half := time.Second / 2
	for name, c := range map[string]struct {
		steps []http.HandlerFunc
		slept []time.Duration
	}{
		"three failures": {[]http.HandlerFunc{say(429, `{"error":"slow down"}`, "Retry-After", "3"), say(500, ""), say(503, "busy")},
			[]time.Duration{6 * half, 2 * half, 4 * half}},
		"a date":   {[]http.HandlerFunc{say(503, "", "Retry-After", "Tue, 01 Sep 2026 08:00:09 GMT")}, []time.Duration{18 * half}},
		"nonsense": {[]http.HandlerFunc{say(502, "<html>", "Retry-After", "soon")}, []time.Duration{half}},
		"cut":      {[]http.HandlerFunc{cut}, []time.Duration{half}},
	} {
		n, clock, err := asking(t, nil, c.steps...)
		must.True(t, err == nil && n == len(c.steps)+1 && fmt.Sprint(clock.slept) == fmt.Sprint(c.slept),
			"%s: %d requests, slept %v, %v", name, n, clock.slept, err)
	}
}

func TestAskGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		step     http.HandlerFunc
		requests int
		is       error
		says     string
	}{
		"bad request": {say(400, `{"message":"too long"}`), 1, nil, "too long"},
		"key":         {say(401, testKey), 1, ErrKey, "check the key"},
		"model":       {say(404, `{"detail":"no m"}`), 1, ErrModel, "pull it"},
		"quota":       {say(429, `{"error":{"message":"pay","code":"insufficient_quota"}}`), 1, nil, "pay"},
		"redirect":    {say(307, "", "Location", "http://127.0.0.1:1/"), 1, ErrRedirect, "307"},
		"wait":        {say(429, "", "Retry-After", "7200"), 1, nil, "2h0m0s"},
		"truncated":   {say(200, `{"fine":`), 1, ErrAnswer, "truncated JSON"},
		"other":       {say(200, `{"other":1}`), 1, ErrAnswer, "not what was asked for"},
		"twice":       {say(200, `{"fine":1,"fine":2}`), 1, ErrAnswer, "twice"},
		"huge":        {say(200, strings.Repeat("x", 2000)), 1, ErrAnswer, "longer than 1000"},
		"no content":  {say(204, ""), 1, nil, "204 No Content"},
		"no such use": {say(501, ""), 1, nil, "501 Not Implemented"},
		"far date":    {say(503, "", "Retry-After", "Fri, 01 Jan 9999 00:00:00 GMT"), 1, nil, "is 1m0s"},
		"long error":  {say(400, strings.Repeat("x", 2000)), 1, ErrAnswer, "longer than 1000"},
		"repeats key": {say(200, `{"`+testKey+`":1}`), 1, ErrAnswer, "repeats the key"},
	} {
		n, _, err := asking(t, func(o *ProviderOptions) { o.MaxAnswer = 1000 }, c.step)
		var typed *Error
		if !errors.As(err, &typed) || n != c.requests || !strings.Contains(err.Error(), c.says) ||
			c.is != nil && !errors.Is(err, c.is) || strings.Contains(err.Error(), testKey) {
			t.Errorf("%s: %d requests, %v", name, n, err)
		}
	}
	twice := func(o *ProviderOptions) { o.Attempts = 2 }
	n, _, err := asking(t, twice, say(500, ""), say(500, ""), say(500, ""))
	if n != 2 || err == nil || !strings.Contains(err.Error(), "ask with fake:m") ||
		!strings.Contains(err.Error(), "2 attempts") {
		t.Errorf("%d requests, %v", n, err)
	}
}

func TestAskEnds(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	_, _, err := asking(t, func(o *ProviderOptions) { o.Timeout, o.Attempts = 5*time.Millisecond, 1 }, hang)
	must.True(t, errors.Is(err, context.DeadlineExceeded) && strings.Contains(err.Error(), "within 5ms"),
		"timeout: %v", err)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	c := must.Get(Open(proto, "m", ProviderOptions{URL: "http://127.0.0.1:1"}))(t)
	var typed *Error
	if err := c.Ask(ctx, nil, nil); !errors.Is(err, why) || errors.As(err, &typed) {
		t.Errorf("canceled: %v", err)
	}
	must.Fail(t, (systemClock{}).Sleep(ctx, time.Hour), why)
	must.OK(t, (systemClock{}).Sleep(context.Background(), time.Microsecond), "sleep")
}

func TestProblemText(t *testing.T) {
	for answer, want := range map[string]string{
		`{"error":"a"}`: "a", `{"message":"b"}`: "b", `{"detail":"c"}`: "c", "no JSON": "no JSON",
		`{"error":{"message":"d","code":"x"}}`: "d x", `{"detail":[1]}`: "", `[]`: "[]",
	} {
		said, reason := problemText([]byte(answer))
		must.Equal(t, strings.TrimSpace(said+" "+reason), want, answer)
	}
}

func TestEndpointURL(t *testing.T) {
	for base, want := range map[string]string{
		"http://h:1":         "http://h:1/v1/embeddings",
		"http://h:1/":        "http://h:1/v1/embeddings",
		"https://h/v1":       "https://h/v1/embeddings",
		"https://h/v1/":      "https://h/v1/embeddings",
		"https://h/api/v1":   "https://h/api/v1/embeddings",
		"https://h/a%2Fb/v1": "https://h/a/b/v1/embeddings",
		"http://[::1]:8080":  "http://[::1]:8080/v1/embeddings",
	} {
		u := must.Get(endpointURL(base, "/v1/embeddings"))(t, base)
		must.Equal(t, u.String(), want, base)
	}
}

func TestEndpointVersion(t *testing.T) {
	for base, want := range map[string]string{
		"https://h/v1": "https://h/v2/rerank", "https://h/v2": "https://h/v2/rerank",
		"https://h": "https://h/v2/rerank", "https://h/api/": "https://h/api/v2/rerank",
	} {
		u := must.Get(endpointURL(base, "/v2/rerank"))(t, base)
		must.Equal(t, u.String(), want, base)
	}
}

// FuzzProblemText reads what providers may say of a failure: whatever it is, no reading panics.
func FuzzProblemText(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"m","code":"insufficient_quota"}}`))
	f.Add([]byte(`{"detail":["m"]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		said, reason := problemText(answer)
		if !json.Valid(answer) && (said != string(answer) || reason != "") {
			t.Fatalf("%q said of %q", said, answer)
		}
	})
}
