package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/door/serving"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// overSocket returns a client of a Unix socket.
func overSocket(path string) *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial}}
}

// shortDir returns a directory whose path leaves space for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "m"))(t)
	t.Cleanup(func() {
		must.OK(t, os.RemoveAll(dir))
	})
	return dir
}

// TestServeOnSocket serves the user of the machine, over a socket that an earlier server left behind.
func TestServeOnSocket(t *testing.T) {
	w := demoWorld(t)
	path := filepath.Join(shortDir(t), "s")
	stale := must.Get(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))(t)
	stale.SetUnlinkOnClose(false)
	must.OK(t, stale.Close())
	startOwn(t, w, "--addr", "unix:"+path)
	client := overSocket(path)
	res := must.Get(client.Post("http://localhost/v1/gc", "application/json", strings.NewReader("{}")))(t)
	if _ = res.Body.Close(); res.StatusCode != 200 { // its status says all
		t.Errorf("gc: %s", res.Status)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v %v", info, err)
	}
	_, stderr := w.run(6, "serve", "--addr", "unix:"+path)
	must.Contain(t, stderr, "a server answers there")
	_, stderr = w.run(1, "serve", "--addr", "unix:"+filepath.Join(w.Dir, "memory.jsonl"))
	must.Contain(t, stderr, "it is no socket")
	must.Contain(t, stderr, "--addr unix:PATH")
	w.run(2, "serve", "--addr", "unix:"+path, "--need-token")
	w.run(2, "serve", "--limit", "idle=1ms")
}

// startOwn runs 'mnem serve' until the test ends or it ends by itself.
func startOwn(t *testing.T, w *world, args ...string) (said serving.ServeJSON, ended chan int) {
	t.Helper()
	app := *w.App
	out, in := io.Pipe()
	app.Stdout, app.Stderr = in, io.Discard
	ctx, cancel := context.WithCancel(context.Background())
	ended = make(chan int, 2)
	go func() {
		code := Run(ctx, &app, append([]string{"serve", "--json"}, args...))
		_ = in.Close() // a pipe in memory
		ended <- code
		ended <- code
	}()
	t.Cleanup(func() {
		cancel()
		must.Equal(t, <-ended, 0, "serve ended")
	})
	line := must.Get(bufio.NewReader(out).ReadString('\n'))(t, "serve")
	checkAnswer(t, "mnem serve", line)
	must.OK(t, json.Unmarshal([]byte(line), &said))
	return said, ended
}

// TestServeWithTokenFile needs the token of the file, which may do everything and is no agent.
func TestServeWithTokenFile(t *testing.T) {
	w := demoWorld(t)
	path := filepath.Join(w.Dir, "start.json")
	must.OK(t, os.WriteFile(path, []byte("of an earlier server"), 0o644))
	said, ended := startOwn(t, w, "--addr", "127.0.0.1:0", "--token-file", path, "--limit", "idle=3s")
	data := must.Get(os.ReadFile(path))(t)
	var start struct{ URL, Token string }
	if err := json.Unmarshal(data, &start); err != nil || start.URL != said.URL {
		t.Fatalf("%s: %v", data, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("file: %v %v", info, err)
	}
	s := &servedWorld{w, said.URL}
	if status, text := s.ask("POST", "/v1/gc", "{}"); status != 401 {
		t.Errorf("without the token: %d %s", status, text)
	}
	by := "Authorization: Bearer " + start.Token
	if status, text := s.ask("POST", "/v1/gc", "{}", by); status != 200 {
		t.Errorf("with the token: %d %s", status, text)
	}
	_, stderr := w.run(6, "serve", "--addr", "127.0.0.1:0", "--token-file", path, "--limit", "idle=5s")
	if again, err := os.ReadFile(path); !strings.Contains(stderr, "a server answers there") || !bytes.Equal(again, data) {
		t.Errorf("a second server with the same file: %s%s %v", stderr, again, err)
	}
	const commit = `{"message":"m","lines":[{"node":{"key":"zoe","type":"P"}}]}`
	if status, text := s.ask("POST", "/v1/commit", commit, by, "Idempotency-Key: k1"); status != 200 {
		t.Errorf("commit: %d %s", status, text)
	}
	_, log := s.ask("GET", "/v1/log?limit=1", "", by)
	must.Contain(t, log, `"agent":null`)
	_, log = s.ask("GET", "/v1/op_log?limit=1", "", by)
	must.Contain(t, log, `"command":["commit","--message","key=6ab9f1eb8f7d3388"]`)
	if code := <-ended; code != 0 { // no request comes
		t.Errorf("ended with %d", code)
	}
}

// TestServeOnSocketAtOnce leaves a stale socket to the server that holds its lock: another one that also finds it
// stale must not remove the new socket.
func TestServeOnSocketAtOnce(t *testing.T) {
	w := demoWorld(t)
	path := filepath.Join(shortDir(t), "s")
	unlock := must.Get(filestate.Lock(t.Context(), path))(t)
	_, stderr := w.run(6, "serve", "--addr", "unix:"+path)
	must.Contain(t, stderr, "a server answers there")
	must.OK(t, unlock())
	startOwn(t, w, "--addr", "unix:"+path)
}

// TestServePrintsOpenAPI prints the document that a server answers with, without a repository.
func TestServePrintsOpenAPI(t *testing.T) {
	w := newWorld(t)
	out, _ := w.run(0, "serve", "--openapi")
	var doc struct {
		OpenAPI string
		Paths   map[string]any
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.OpenAPI != "3.1.0" || doc.Paths["/v1/recall"] == nil {
		t.Fatalf("%v: %.100s", err, out)
	}
	s := startServing(t, demoWorld(t))
	if _, served := s.ask("GET", "/openapi.json", ""); served != strings.TrimSuffix(out, "\n") {
		t.Error("the server answers with another document")
	}
}
