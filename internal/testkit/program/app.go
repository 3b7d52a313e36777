// Package program lets tests use the whole program: its command line in this process, as another process, and as a
// server. A test binary whose TestMain is [Main] also acts as the program, so that commands can start it.
package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// In returns circumstances in a directory.
func In(dir string, out, errs io.Writer) *line.App {
	return &line.App{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: errs, Dir: dir, User: "Tess", PID: os.Getpid(),
		Getenv: func(string) string { return "" }, Now: time.Now, Rand: rand.NewChaCha8([32]byte{}),
	}
}

// Child returns a command line as a process of this test binary in a directory: what says what the binary is there.
func Child(t *testing.T, dir, what string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), what+"=1", "XDG_CONFIG_HOME="+filepath.Join(dir, "xdg"),
		"MNEM_WAIT=20s")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	return cmd
}

// Hold starts 'mnem hold' and returns it when it has said what it does, and what it says.
func Hold(t *testing.T, dir string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := Child(t, dir, AsProgram, "hold", "--json")
	out := must.Get(cmd.StdoutPipe())(t)
	must.OK(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewReader(out)
}

// Owns reads the next word of a holding process, and reports whether it is the owner.
func Owns(t *testing.T, out *bufio.Reader) bool {
	t.Helper()
	line, err := out.ReadBytes('\n')
	var said struct{ Owner bool }
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	must.OK(t, err, line)
	return said.Owner
}

// Serve runs 'mnem serve' until the test ends, and returns its URL.
func Serve(t *testing.T, app *line.App, args ...string) string {
	t.Helper()
	out, to := io.Pipe()
	app.Stdout = to
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, app, append([]string{"serve", "--addr", "127.0.0.1:0", "--json"}, args...))
		_ = to.Close() // a pipe in memory
	}()
	t.Cleanup(func() {
		cancel()
		must.Equal(t, <-ended, 0, "serve ended")
	})
	var said struct{ URL string }
	must.OK(t, json.NewDecoder(out).Decode(&said))
	return said.URL
}

// Ran runs a command line, which must succeed, and returns what it printed.
func Ran(t *testing.T, app *line.App, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	one := *app
	one.Stdout, one.Stderr = &out, &errs
	must.Equal(t, cli.Run(t.Context(), &one, args), 0, "mnem ", args, ": exit code: ", &errs)
	return out.String()
}

// FreeAddr returns an address of this machine that nothing listens at.
func FreeAddr(t *testing.T) string {
	t.Helper()
	l := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer func() { _ = l.Close() }() // nothing was accepted
	return l.Addr().String()
}

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
	req := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res := must.Get(http.DefaultClient.Do(req))(t)
	defer func() { _ = res.Body.Close() }() // it is read below
	text := must.Get(io.ReadAll(res.Body))(t)
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
	must.Equal(t, a.Status, status, "status: ", a.Body)
}
