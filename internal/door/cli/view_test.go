package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/serving"
)

// startView runs 'mnem view' until the test ends, and returns the code of its address.
func startView(t *testing.T, w *world, args ...string) (s *servedWorld, code string) {
	t.Helper()
	app := *w.App
	out, in := io.Pipe()
	app.Stdout, app.Stderr = in, io.Discard
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, &app, append([]string{"view", "--json"}, args...))
		_ = in.Close() // a pipe in memory
	}()
	t.Cleanup(func() {
		cancel()
		if exit := <-ended; exit != 0 {
			t.Errorf("view ended with %d", exit)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("view: %v", err)
	}
	checkAnswer(t, "mnem view", line)
	var said serving.ServeJSON
	if err := json.Unmarshal([]byte(line), &said); err != nil {
		t.Fatal(err)
	}
	url, code, found := strings.Cut(said.URL, "/#code=")
	if !found || !strings.HasPrefix(url, "http://127.0.0.1:") || len(code) < 50 {
		t.Fatalf("address %q", said.URL)
	}
	return &servedWorld{w, url}, code
}

// enter logs in with a code, and returns the headers of what is asked then.
func (s *servedWorld) enter(code string) []string {
	s.t.Helper()
	req := strings.NewReader(`{"code":"` + code + `"}`)
	res, err := httpPost(s.t, s.url+"/login", req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var said struct{ Key string }
	if err := json.NewDecoder(res.Body).Decode(&said); err != nil || res.StatusCode != 200 ||
		len(res.Cookies()) != 1 {
		s.t.Fatalf("%d, %v, %v", res.StatusCode, res.Cookies(), err)
	}
	c := res.Cookies()[0]
	return []string{"Cookie: " + c.Name + "=" + c.Value, "Mnem-View: " + said.Key}
}

func TestView(t *testing.T) {
	s, code := startView(t, demoWorld(t))
	const query = "/v1/recall?query=why+was+it+delayed"
	if status, text := s.ask("GET", "/", ""); status != 200 || !strings.Contains(text, "<!doctype html>") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := s.ask("GET", query, ""); status != 401 {
		t.Errorf("without a login: %d %s", status, text)
	}
	browser := s.enter(code)
	status, got := s.ask("GET", query, "", browser...)
	if want, _ := s.run(0, "recall", "why was it delayed", "--json"); status != 200 || got != want {
		t.Errorf("%d %s", status, got)
	}
	if status, text := s.ask("POST", "/v1/undo", "{}", browser...); status != 403 {
		t.Errorf("undo: %d %s", status, text)
	}
	if status, text := s.ask("GET", query, "", append(browser, "Origin: http://evil.example.org")...); status != 403 {
		t.Errorf("foreign origin: %d %s", status, text)
	}
}

func TestViewWrites(t *testing.T) {
	s, code := startView(t, demoWorld(t), "--write")
	browser := s.enter(code)
	if status, text := s.ask("POST", "/v1/undo", "{}", browser...); status != 200 {
		t.Errorf("undo: %d %s", status, text)
	}
	if status, text := s.ask("POST", "/v1/gc", "{}", browser...); status != 403 {
		t.Errorf("gc: %d %s", status, text)
	}
}

func TestViewIsRefused(t *testing.T) {
	w := newWorld(t)
	w.run(3, "view") // no repository
	w.init()
	for _, args := range [][]string{{"--addr", "127.0.0.1:-1"}, {"--addr", "127.0.0.1:65536"}, {"--addr", "0.0.0.0:0"}, {"more"}} {
		w.run(2, append([]string{"view"}, args...)...)
	}
}

// TestOpenByFile sees to it that no program is started with the code in its arguments.
func TestOpenByFile(t *testing.T) {
	const url = "http://127.0.0.1:1/#code=secret"
	var opened string
	remove, err := serving.OpenByFile(t.Context(), url, func(_ context.Context, path string) error {
		opened = path
		data, err := os.ReadFile(path)
		if err != nil || strings.Count(string(data), `"`+url+`"`) != 1 || !strings.Contains(string(data), "url="+url) {
			t.Errorf("%v: %s", err, data)
		}
		return nil
	})
	if err != nil || strings.Contains(opened, "secret") {
		t.Fatalf("%q, %v", opened, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(opened)); !os.IsNotExist(err) {
		t.Errorf("the file stays: %v", err)
	}
	none := errors.New("no browser")
	remove, err = serving.OpenByFile(t.Context(), url, func(context.Context, string) error { return none })
	if !errors.Is(err, none) || remove() != nil {
		t.Errorf("%v", err)
	}
}

// httpPost sends JSON.
func httpPost(t *testing.T, url string, body io.Reader) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(req)
}
