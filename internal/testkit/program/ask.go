package program

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Answered is an answer over HTTP.
type Answered struct {
	Status int
	Header http.Header
	Body   string
}

// Ask sends a request, with a body if that is not "", and a token if that is not "".
func Ask(t *testing.T, url, token, body string) Answered {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it is read below
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answered{res.StatusCode, res.Header, string(text)}
}

// Want sees to it that an answer has a status, and parts in its body.
func (a Answered) Want(t *testing.T, status int, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(a.Body, part) {
			t.Errorf("%q is missing", part)
			status = -1
		}
	}
	if a.Status != status {
		t.Errorf("status %d, want %d: %s", a.Status, status, a.Body)
	}
}
