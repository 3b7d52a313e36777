package owner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// host starts a host in a directory of its own.
func host(t *testing.T, run func(context.Context, *Verb) VerbResult) *Server {
	t.Helper()
	h := must.Get(NewServer(t.TempDir(), shortTemp(t), "v1", run))(t)
	t.Cleanup(func() {
		if err := h.Close(time.Second); err != nil {
			t.Error(err)
		}
	})
	return h
}

// shortTemp is a temporary directory whose name has room for a socket's.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "m"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func dialed(t *testing.T, h *Server) *Client {
	t.Helper()
	c := must.Get(Dial(h.Socket(), h.holding.root.Name(), "v1", 1, 5*time.Second))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// echo answers with what it was asked.
func echo(_ context.Context, v *Verb) VerbResult {
	if _, err := v.Input(); !errors.Is(err, io.EOF) {
		return VerbResult{Failed: true}
	}
	_, _ = v.Answers.Write(v.Request)
	return VerbResult{Data: []byte("7")}
}

// silent is a process that is asked for nothing.
var silent = Asker{Tell: func([]byte) {}}

// asks asks for a verb, which echo must answer.
func asks(t *testing.T, h *Server) {
	t.Helper()
	var out bytes.Buffer
	result, err := dialed(t, h).Ask(t.Context(), []byte("well?"), silent, readAll(&out))
	must.True(t, string(result) == "7" && out.String() == "well?" && err == nil, "%q, %q, %v", result, &out, err)
}

func readAll(to *bytes.Buffer) func(io.Reader) error {
	return func(r io.Reader) error { return must.Err(to.ReadFrom(r)) }
}

// TestSkew has an owner of another protocol.
func TestSkew(t *testing.T) {
	l := must.Get(net.Listen("unix", filepath.Join(shortTemp(t), "s")))(t)
	defer func() { _ = l.Close() }()
	later := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"build":"v1","oldest":%d,"newest":%d,"holds":true,"more":1}`, Protocol+1, Protocol+2)
	})
	go func() { _ = http.Serve(l, later) }() //nolint:gosec // until the listener is closed
	_, err := Dial(l.Addr().String(), t.TempDir(), "v1", 99, time.Second)
	var skew *SkewError
	want := fmt.Sprintf("speaks protocol %d (mnem v1) and this program %d", Protocol+2, Protocol)
	must.True(t, errors.As(err, &skew) && skew.PID == 99 && strings.Contains(err.Error(), want), "%v", err)
}

func TestSilentOwner(t *testing.T) {
	l := must.Get(net.Listen("unix", filepath.Join(shortTemp(t), "s")))(t)
	defer func() { _ = l.Close() }()
	_, err := Dial(l.Addr().String(), t.TempDir(), "v1", 1, 20*time.Millisecond)
	must.Fail(t, err, ErrSilent)
}

// TestSockets makes sockets where an earlier one was left behind, and where the path is too long.
func TestSockets(t *testing.T) {
	temp := shortTemp(t)
	dir := filepath.Join(temp, "repo")
	must.OK(t, os.Mkdir(dir, 0o700))
	at := &net.UnixAddr{Name: filepath.Join(dir, socketName), Net: "unix"}
	stale := must.Get(net.ListenUnix("unix", at))(t)
	stale.SetUnlinkOnClose(false)
	must.OK(t, stale.Close())
	long := filepath.Join(temp, strings.Repeat("x", 200))
	must.OK(t, os.Mkdir(long, 0o700))
	for _, at := range []string{dir, long} {
		h := must.Get(NewServer(at, temp, "v1", echo))(t)
		if in := strings.HasPrefix(h.Socket(), dir+"/"); in != (at == dir) && runtime.GOOS != "windows" {
			t.Errorf("socket %s", h.Socket())
		}
		info, err := os.Stat(h.Socket())
		if err != nil || info.Mode().Perm() != socketMode && runtime.GOOS != "windows" {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		asks(t, h)
		must.OK(t, h.Close(time.Second))
	}
	if runtime.GOOS == "windows" {
		return
	}
	// What is no socket stays, and a room that others may look into is not used.
	must.OK(t, os.WriteFile(filepath.Join(dir, socketName), nil, 0o600))
	room := filepath.Join(temp, fmt.Sprintf("mnem-%d", os.Getuid()))
	must.OK(t, os.Chmod(room, 0o755))
	_, err := NewServer(dir, temp, "v1", echo)
	if err == nil || !strings.Contains(err.Error(), "is no socket") ||
		!strings.Contains(err.Error(), "of this user alone") {
		t.Errorf("%v", err)
	}
}

// TestHostileRequests sends what no client does, and looks that the connection ends and others work.
func TestHostileRequests(t *testing.T) {
	h := host(t, echo)
	form := func(parts ...string) string {
		return "Host: owner\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n" +
			strings.Join(parts, "")
	}
	chunk := func(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }
	call := "--b\r\nContent-Disposition: form-data; name=\"call\"\r\n\r\n{}"
	const verb, end, last = "POST /v9/verb HTTP/1.1\r\n", "\r\n--b--\r\n", "0\r\n\r\n"
	for sent, want := range map[string]string{
		"": "", "GET": "", "H\x00\x00\x00\x0e\x00\x07\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00v1": "",
		"GET / HTTP/1.1\r\nHost: owner\r\nX: " + strings.Repeat("x", 1<<20):    " 431 ",
		"GET /v7/verb HTTP/1.0\r\n\r\n":                                        " 404 ",
		"GET /v9/verb HTTP/1.0\r\n\r\n":                                        " 405 ",
		"GET /?identity= HTTP/1.0\r\n\r\n":                                     `"holds":false`,
		"GET /?value=..%2f..%2fx HTTP/1.0\r\n\r\n":                             `"holds":false`,
		"GET / HTTP/1.0\r\n\r\n":                                               `"holds":false`,
		verb + "Host: owner\r\nConnection: close\r\nContent-Length: 9\r\n\r\n": " 400 ",
		verb + form("5\r\n--b"):                                                " 400 ",
		verb + form("xyz\r\n"):                                                 " 400 ",
		verb + form(chunk(call), last):                                         " 400 ",
		verb + form(chunk(call)):                                               " 400 ",
		verb + form(chunk("--b--\r\n"), last):                                  " 400 ",
		verb + form(chunk(call+end)):                                           "", // a body without an end
		verb + form(chunk(call+end), chunk("x"), last):                         "Z\x00\x00\x00\x017",
		verb + form(chunk(call+end), last):                                     "Z\x00\x00\x00\x017",
		verb + form(chunk(call+"\r\n"+call+end), last):                         "",
	} {
		conn := must.Get(net.DialUnix("unix", nil, &net.UnixAddr{Name: h.Socket(), Net: "unix"}))(t)
		_, _ = conn.Write([]byte(sent)) // the owner may have refused what came first
		must.OK(t, errors.Join(conn.CloseWrite(), conn.SetDeadline(time.Now().Add(5*time.Second))))
		var timeout net.Error
		got, err := io.ReadAll(conn)
		must.True(t, !errors.As(err, &timeout) || !timeout.Timeout(), "%.200q: the connection goes on", sent)
		if !strings.Contains(string(got), want) || want == "" && strings.Contains(string(got), "Z\x00\x00\x00\x017") {
			t.Errorf("%.200q: %q", sent, got)
		}
		_ = conn.Close()
	}
	asks(t, h)
}

// TestManyConnections opens more connections than are served at once.
func TestManyConnections(t *testing.T) {
	h := host(t, echo)
	var idle []net.Conn
	for range maxConns - 1 {
		conn := must.Get(net.Dial("unix", h.Socket()))(t)
		idle = append(idle, conn)
	}
	for range 3 {
		asks(t, h)
	}
	if n := len(h.listener.slots); n > maxConns {
		t.Errorf("%d connections", n)
	}
	for _, conn := range idle {
		_ = conn.Close()
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte("O\x00\x00\x00\x04\x00\x01v1"))
	f.Add([]byte("W\x00\x00\x00\x00"))
	f.Add([]byte("Z\x00\x3f\xff\xffx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, payload, err := readRecord(bytes.NewReader(data), make([]byte, 0, 16))
		must.True(t, err != nil || int64(len(payload)) <= k.limit(), "record %q of %d bytes", k, len(payload))
		must.True(t, err != nil || bytes.Equal(payload, data[headerLen:headerLen+len(payload)]),
			"payload %q of %q", payload, data)
	})
}

// TestProof asks an owner about its directory by each of its names, and about others.
func TestProof(t *testing.T) {
	h := host(t, echo)
	dir := h.holding.root.Name()
	copied := t.TempDir()
	try := func(at string, want error) {
		t.Helper()
		c, err := Dial(h.Socket(), at, "v1", 1, 5*time.Second)
		must.Fail(t, err, want, at)
		if err == nil {
			_ = c.Close()
		}
		for _, d := range []string{dir, copied} {
			left, _ := filepath.Glob(filepath.Join(d, proofPrefix+"*"))
			must.True(t, len(left) <= 0, "%q are left behind", left)
		}
	}
	try(dir, nil)
	try(copied, ErrElsewhere)
	try(filepath.Join(dir, "none"), os.ErrNotExist)
	if runtime.GOOS == "windows" {
		return // what is open cannot be renamed
	}
	link := filepath.Join(t.TempDir(), "link")
	must.OK(t, os.Symlink(dir, link))
	try(link, nil)
	// Moved away, with a copy in its place.
	away := filepath.Join(t.TempDir(), "away")
	must.OK(t, errors.Join(os.Rename(dir, away), os.Rename(copied, dir)))
	socket := filepath.Join(away, filepath.Base(h.Socket()))
	c, err := Dial(socket, dir, "v1", 1, 5*time.Second)
	must.Fail(t, err, ErrElsewhere, c)
	c = must.Get(Dial(socket, away, "v1", 1, 5*time.Second))(t, "moved")
	_ = c.Close()
}

// TestProofByValue: where device and inode say no, a value that is left in the directory tells.
func TestProofByValue(t *testing.T) {
	h := host(t, echo)
	dir := h.holding.root.Name()
	h.holding.identity = "1-1" // as if it were reached by another file system
	for range 3 {
		c := dialed(t, h)
		names, _ := filepath.Glob(filepath.Join(dir, proofPrefix+"*"))
		must.True(t, len(names) <= 0, "%q are left behind", names)
		_ = c.Close()
	}
	value := strings.Repeat("ab", valueLen)
	must.True(t, !h.holding.proves(url.Values{byValue: {value}}), "a value that is not there proves it")
	must.OK(t, os.Mkdir(filepath.Join(dir, proofPrefix+value), 0o700))
	must.True(t, !h.holding.proves(url.Values{byValue: {value}}), "a directory proves it")
	h.holding.identity = ""
	for _, claim := range []string{"", "x", value[1:], strings.Repeat("..", valueLen)} {
		if h.holding.proves(url.Values{byValue: {claim}}) || h.holding.proves(url.Values{byIdentity: {claim}}) {
			t.Errorf("claim %q proves it", claim)
		}
	}
}

// TestSweep: an owner that begins removes what processes left that were killed.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{proofPrefix + "1", proofPrefix + "2", "head"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	h := must.Get(hold(dir))(t)
	defer func() { _ = h.root.Close() }()
	entries, err := os.ReadDir(dir)
	must.True(t, err == nil && len(entries) == 1 && entries[0].Name() == "head", "%v, %v", entries, err)
}
