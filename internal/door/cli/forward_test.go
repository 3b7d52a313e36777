package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/cli"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/program"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// held holds a repository in this process, as another one would, and returns what ends that.
func held(t *testing.T, dir string) (stop func()) {
	t.Helper()
	var by holding
	stop = by.holdOne(dir, program.In(dir, io.Discard, io.Discard))
	must.Equal(t, by.held.Load(), 1, "nobody holds the repository")
	return stop
}

// code runs a command line and returns its exit code and what it printed.
func code(t *testing.T, app *line.App, args ...string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	one := *app
	one.Stdout, one.Stderr = &out, &errs
	n := cli.Run(t.Context(), &one, args)
	return n, out.String(), errs.String()
}

// TestOtherVersion has an owner of another version, and one that does not answer.
func TestOtherVersion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the socket is in a directory with a long name")
	}
	dir := newRepo(t)
	app := program.In(dir, io.Discard, io.Discard)
	room := must.Get(os.MkdirTemp("", "m"))(t)
	defer func() { _ = os.RemoveAll(room) }()
	socket := filepath.Join(room, "s")
	l := must.Get(net.Listen("unix", socket))(t)
	defer func() { _ = l.Close() }()
	words := must.Get(json.Marshal(map[string]any{"pid": 4711, "protocol": 99, "socket": socket}))(t)
	r, err := care.Open(dir, core.Options{}) // a lock that is free decides alone
	must.OK(t, err)
	defer func() { _ = r.Close() }()
	must.OK(t, os.WriteFile(filepath.Join(dir, ".mnem", "owner"), words, 0o600))
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = http.ReadRequest(bufio.NewReader(conn))
		said := `{"build":"v9.9","oldest":98,"newest":99}`
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(said), said)
		conn, err = l.Accept()
		if err == nil {
			defer func() { _ = conn.Close() }()
			time.Sleep(3 * time.Second)
		}
	}()
	n, out, errs := code(t, app, "log")
	for _, want := range []string{"process 4711", "protocol 99", "mnem v9.9", "stop process 4711"} {
		if n != 6 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("exit code %d, %s, want %q in: %s", n, out, want, errs)
		}
	}
	n, _, errs = code(t, app, "log", "--wait", "0s")
	must.True(t, n == 6 && strings.Contains(errs, "does not answer"), "exit code %d: %s", n, errs)
	// One that was killed is no hindrance.
	must.OK(t, errors.Join(l.Close(), r.Close()))
	must.OK(t, os.WriteFile(filepath.Join(dir, ".mnem", "owner"), words, 0o600))
	program.Ran(t, app, "op", "log")
}

// TestInputBeforeTheOwner has somebody take the repository after a command has read its standard
// input, which the new owner must be given.
func TestInputBeforeTheOwner(t *testing.T) {
	dir := newRepo(t)
	app := program.In(dir, io.Discard, io.Discard)
	app.Stdin = strings.NewReader(nodeLine("alice"))
	program.Ran(t, app, "commit", "-m", "x", "-")
	var stop func()
	defer func() { stop() }()
	app.Stdin = io.MultiReader(strings.NewReader("ali"), readerFunc(func([]byte) (int, error) {
		if stop == nil {
			stop = held(t, dir)
		}
		return 0, io.EOF
	}), strings.NewReader(""))
	must.Contain(t, program.Ran(t, app, "retrieve", "--json", "-"), `"query":"ali"`)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestAskedAgain has the owner end while standard input is read: what was not printed comes from the next one, and
// a write is sent when all of it was read.
func TestAskedAgain(t *testing.T) {
	t.Parallel() // an owner that ends waits seconds for what is under way
	for name, tt := range map[string]struct {
		args     []string
		in, want string
	}{
		"read":  {[]string{"retrieve", "--batch", "-", "--json"}, `{"text":"alice"}`, `"alice"`},
		"write": {[]string{"commit", "-m", "y", "-"}, nodeLine("bob"), "+1 ~0 -0 nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newRepo(t)
			app := program.In(dir, io.Discard, io.Discard)
			app.Stdin = strings.NewReader(nodeLine("alice"))
			program.Ran(t, app, "commit", "-m", "x", "-")
			stop := held(t, dir)
			one := *app
			r, w := io.Pipe()
			reads := make(chan bool, 1)
			one.Stdin = readerFunc(func(p []byte) (int, error) {
				select {
				case reads <- true:
				default:
				}
				return r.Read(p)
			})
			go func() {
				<-reads // the command has begun, and waits
				stop()
				_, _ = io.WriteString(w, tt.in)
				_ = w.Close()
			}()
			n, out, errs := code(t, &one, tt.args...)
			if n != 0 || !strings.Contains(out+errs, tt.want) {
				t.Errorf("%q: exit code %d: %s%s", tt.args, n, out, errs)
			}
		})
	}
}

// TestFailedRepository has the disk fail, after which the repository is opened again.
func TestFailedRepository(t *testing.T) {
	dir := newRepo(t)
	app := program.In(dir, io.Discard, io.Discard)
	err := cli.Live(app, func(h *peers.Holder) {
		app.Holder = h
		for i := range 3 {
			one := *app
			one.Stdin = strings.NewReader(nodeLine(fmt.Sprint(i)))
			program.Ran(t, &one, "commit", "-m", "x", "-", "--wait", "5s")
			must.True(t, h.Owns(), "it is not open")
			use, _, err := h.Reach(t.Context())
			must.OK(t, err)
			use.Done(core.ErrStopped)
			must.True(t, !h.Owns(), "it is still open")
		}
		if got := program.Ran(t, app, "log", "--json"); strings.Count(got, `"commit":"`) != 3 {
			t.Errorf("%s", got)
		}
	})
	must.OK(t, err)
}
