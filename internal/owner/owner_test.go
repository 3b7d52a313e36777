package owner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// v1 is the build of the tests.
var v1 = Build{Name: "v1"}

// host starts a host in a directory of its own.
func host(t *testing.T, run func(context.Context, *Verb) VerbResult) *Host {
	t.Helper()
	h, err := NewHost(t.TempDir(), shortTemp(t), v1, run)
	if err != nil {
		t.Fatal(err)
	}
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
	dir, err := os.MkdirTemp("", "m")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func dialed(t *testing.T, h *Host) *Client {
	t.Helper()
	c, err := Dial(h.Socket(), h.holding.root.Name(), v1, 1, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// echo answers with what it was asked.
func echo(_ context.Context, v *Verb) VerbResult {
	_, _ = v.Answers.Write(v.Request)
	return VerbResult{Data: []byte("7")}
}

// silent is a process that is asked for nothing.
var silent = Asker{Flush: func() {}, Tell: func([]byte) {}}

// asks asks for a verb, which echo must answer.
func asks(t *testing.T, h *Host) {
	t.Helper()
	var out bytes.Buffer
	result, err := dialed(t, h).Ask(t.Context(), []byte("well?"), silent, readAll(&out))
	if string(result) != "7" || out.String() != "well?" || err != nil {
		t.Errorf("%q, %q, %v", result, &out, err)
	}
}

func readAll(to *bytes.Buffer) func(io.Reader) error {
	return func(r io.Reader) error {
		_, err := to.ReadFrom(r)
		return err
	}
}

// TestSkew has an owner of another protocol.
func TestSkew(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(shortTemp(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		out := sender{conn: conn}
		_, _ = readHello(conn)
		_ = out.send(kindHello, Build{Name: "v1", Oldest: Protocol + 1, Newest: Protocol + 2}.encode())
	}()
	_, err = Dial(l.Addr().String(), t.TempDir(), v1, 99, time.Second)
	var skew *SkewError
	want := fmt.Sprintf("speaks protocol %d (mnem v1) and this program %d", Protocol+2, Protocol)
	if !errors.As(err, &skew) || skew.PID != 99 || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}

func TestSilentOwner(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(shortTemp(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if _, err := Dial(l.Addr().String(), t.TempDir(), v1, 1, 20*time.Millisecond); !errors.Is(err, ErrSilent) {
		t.Errorf("%v", err)
	}
}

// TestSockets makes sockets where an earlier one was left behind, and where the path is too long.
func TestSockets(t *testing.T) {
	temp := shortTemp(t)
	dir := filepath.Join(temp, "repo")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at := &net.UnixAddr{Name: filepath.Join(dir, socketName), Net: "unix"}
	stale, err := net.ListenUnix("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(temp, strings.Repeat("x", 200))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, long} {
		h, err := NewHost(at, temp, v1, echo)
		if err != nil {
			t.Fatal(err)
		}
		if in := strings.HasPrefix(h.Socket(), dir+"/"); in != (at == dir) && runtime.GOOS != "windows" {
			t.Errorf("socket %s", h.Socket())
		}
		info, err := os.Stat(h.Socket())
		if err != nil || info.Mode().Perm() != socketMode && runtime.GOOS != "windows" {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		asks(t, h)
		if err := h.Close(time.Second); err != nil {
			t.Error(err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	// What is no socket stays, and a room that others may look into is not used.
	if err := os.WriteFile(filepath.Join(dir, socketName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	room := filepath.Join(temp, fmt.Sprintf("mnem-%d", os.Getuid()))
	if err := os.Chmod(room, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = NewHost(dir, temp, v1, echo)
	if err == nil || !strings.Contains(err.Error(), "is no socket") ||
		!strings.Contains(err.Error(), "of this user alone") {
		t.Errorf("%v", err)
	}
}

// TestHostileFrames sends what no client does, and looks that the connection ends and others work.
func TestHostileFrames(t *testing.T) {
	h := host(t, echo)
	hello := "H\x00\x00\x00\x0e\x00\x03\x00\x03" + strings.Repeat("\x00", tableLen) + "v1"
	wrong := "D\x00\x00\x00\x20" + strings.Repeat("f", valueText)
	value := strings.Repeat("0", valueText)
	left := filepath.Join(h.holding.root.Name(), proofPrefix+value)
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	greeting := hello + "D\x00\x00\x00\x20" + value
	empty := greeting + "V\x00\x00\x00\x00"
	for _, sent := range []string{
		hello[:7], "H\x00\x00\x00\x04\x00\x03v1", "", "GET / HTTP/1.1\r\n\r\n", "H\xff\xff\xff\xff", "V\x00\x00\x00\x00",
		greeting + "Z\x00\x00\x00\x00", empty, greeting + "V\x7f\x00\x00\x00", greeting + "R\x00\x00\x00\x00",
		empty + "Y\x00\x00\x00\x00", empty + "Y\x00\x00\x00\x04\x00\x00\x00\x01", greeting + "V\xff\xff\xff\xff",
		greeting + "V\x00\x40\x00\x00half", greeting + "O\x00\x00\x00\x01x",
		hello + "V\x00\x00\x00\x00", hello + "K\x00\x00\x00\x00",
		hello + wrong + "K\x00\x00\x00\x00", hello + strings.Repeat(wrong, 9),
		hello + "D\x00\x00\x00\x00K\x00\x00\x00\x00", hello + "D\x00\x00\x00\x21" + value + "0",
		hello + "D\x00\x00\x00\x0b../../x" + "\x00", greeting + wrong + "K\x00\x00\x00\x00",
		empty + "V\x00\x00\x00\x00", empty + strings.Repeat("I\x00\x00\x00\x01x", 9),
	} {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: h.Socket(), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(sent)); err != nil {
			t.Fatal(err)
		}
		soon := time.Now().Add(5 * time.Second)
		if err := errors.Join(conn.CloseWrite(), conn.SetDeadline(soon)); err != nil {
			t.Fatal(err)
		}
		var timeout net.Error
		if _, err := io.ReadAll(conn); errors.As(err, &timeout) && timeout.Timeout() {
			t.Errorf("%q: the connection goes on", sent)
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
		conn, err := net.Dial("unix", h.Socket())
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, conn)
	}
	for range 3 {
		asks(t, h)
	}
	if n := len(h.slots); n > maxConns {
		t.Errorf("%d connections", n)
	}
	for _, conn := range idle {
		_ = conn.Close()
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("H\x00\x00\x00\x04\x00\x01v1"))
	f.Add([]byte("A\x00\x00\x00\x04\x00\x00\x00\x01"))
	f.Add([]byte("V\x00\x3f\xff\xffx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, payload, err := readFrame(bytes.NewReader(data), make([]byte, 0, 16))
		if limit, ok := k.limit(); err == nil && (!ok || len(payload) > limit) {
			t.Errorf("frame %q of %d bytes", k, len(payload))
		}
		if err == nil && !bytes.Equal(payload, data[headerLen:headerLen+len(payload)]) {
			t.Errorf("payload %q of %q", payload, data)
		}
	})
}
