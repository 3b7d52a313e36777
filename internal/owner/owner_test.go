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
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// v1 is the build of the tests.
var v1 = Build{Name: "v1"}

// host starts a host in a directory of its own.
func host(t *testing.T, run func(context.Context, *Call) int) *Host {
	t.Helper()
	h, err := NewHost(t.TempDir(), shortTemp(t), v1, Handler{Run: run})
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
func echo(_ context.Context, call *Call) int {
	_, _ = fmt.Fprintf(call.Stdout, "%+v\n", call.Request)
	in, err := io.ReadAll(call.Stdin)
	_, _ = fmt.Fprintf(call.Stderr, "%d bytes, %v", len(in), err)
	_, _ = call.Stdout.Write(in)
	return 7
}

func TestCommandLineGoesThere(t *testing.T) {
	h := host(t, echo)
	req := &Request{
		Args: []string{"a", "", "\xff\x00b"}, Env: [][2]string{{"X", "1"}, {"Y", ""}}, Dir: "/d",
		User: "U", Config: "/c", Data: "/d", Home: "/h", Executable: "/x", Remote: true, PID: 42, OutTTY: true,
	}
	in := bytes.Repeat([]byte("0123456789"), 100_000)
	var out, errs bytes.Buffer
	code, err := dialed(t, h).Run(t.Context(), req, IO{bytes.NewReader(in), &out, &errs})
	if code != 7 || err != nil {
		t.Fatalf("code %d, %v", code, err)
	}
	want := fmt.Sprintf("%+v\n", *req) + string(in)
	if out.String() != want || errs.String() != "1000000 bytes, <nil>" {
		t.Errorf("%.300s…, %s", out.String(), errs.String())
	}
}

// TestInputIsReadWhenWanted looks that standard input is left alone where the command reads none.
func TestInputIsReadWhenWanted(t *testing.T) {
	h := host(t, func(context.Context, *Call) int { return 0 })
	code, err := dialed(t, h).Run(t.Context(), &Request{}, IO{
		Stdin: readerFunc(func([]byte) (int, error) { t.Error("read"); return 0, io.EOF }),
	})
	if code != 0 || err != nil {
		t.Errorf("%d, %v", code, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestErrorsOfStreamsGoThere(t *testing.T) {
	h := host(t, func(ctx context.Context, call *Call) int {
		_, err := io.ReadAll(call.Stdin)
		if err == nil || err.Error() != "no such luck" {
			return 1
		}
		for ctx.Err() == nil {
			if _, err := call.Stdout.Write([]byte("x")); err != nil {
				_, _ = call.Stderr.Write([]byte(err.Error()))
				return 2
			}
		}
		return 3
	})
	full := errors.New("disk full")
	var errs bytes.Buffer
	code, err := dialed(t, h).Run(t.Context(), &Request{}, IO{
		Stdin:  readerFunc(func([]byte) (int, error) { return 0, errors.New("no such luck") }),
		Stdout: writerFunc(func([]byte) (int, error) { return 0, full }),
		Stderr: &errs,
	})
	if code != 2 || !errors.Is(err, full) || errs.String() != "disk full" {
		t.Errorf("code %d, %v, %s", code, err, &errs)
	}
}

// TestInterruptCancels interrupts a command, and takes its client away from another.
func TestInterruptCancels(t *testing.T) {
	ended := make(chan error, 1)
	begun := make(chan bool, 1)
	h := host(t, func(ctx context.Context, _ *Call) int {
		begun <- true
		<-ctx.Done()
		ended <- ctx.Err()
		return 130
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	code, err := dialed(t, h).Run(ctx, &Request{}, IO{})
	if code != 130 || err != nil || <-ended == nil {
		t.Errorf("code %d, %v", code, err)
	}
	client := dialed(t, h)
	go func() { <-begun; _ = client.Close() }()
	_, err = client.Run(t.Context(), &Request{}, IO{})
	var lost *LostError
	if !errors.As(err, &lost) || <-ended == nil {
		t.Errorf("%v", err)
	}
}

// TestLost says what is known of a command whose owner ends.
func TestLost(t *testing.T) {
	for _, tt := range []struct {
		name          string
		run           func(*Call)
		clean, writes bool
	}{
		{"silent", func(*Call) {}, true, false},
		{"printed", func(c *Call) { _, _ = c.Stdout.Write([]byte("x")) }, false, false},
		{"writes", func(c *Call) { _ = c.Writes() }, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begun := make(chan bool)
			h, err := NewHost(t.TempDir(), shortTemp(t), v1, Handler{Run: func(ctx context.Context, c *Call) int {
				tt.run(c)
				close(begun)
				<-ctx.Done()
				return 1
			}})
			if err != nil {
				t.Fatal(err)
			}
			client := dialed(t, h)
			closed := make(chan error)
			go func() { <-begun; closed <- h.Close(time.Millisecond) }()
			_, err = client.Run(t.Context(), &Request{}, IO{Stdout: io.Discard})
			var lost *LostError
			if !errors.As(err, &lost) || lost.Clean != tt.clean || lost.Writes != tt.writes {
				t.Errorf("%+v", err)
			}
			if err := <-closed; err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(h.Socket()); err == nil {
				t.Error("the socket is still there")
			}
		})
	}
}

func TestSkew(t *testing.T) {
	h := host(t, echo)
	other, err := Dial(h.Socket(), h.holding.root.Name(), Build{Name: "v2"}, 99, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.Run(t.Context(), &Request{}, IO{})
	var skew *SkewError
	if !errors.As(err, &skew) || skew.PID != 99 || !strings.Contains(err.Error(), "it is mnem v1") {
		t.Errorf("%v", err)
	}
	// An owner of another protocol.
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
	if !errors.As(err, &skew) || !strings.Contains(err.Error(), "speaks protocol 5 (mnem v1) and this program 3") {
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
		h, err := NewHost(at, temp, v1, Handler{Run: echo})
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
		if code, err := dialed(t, h).Run(t.Context(), &Request{}, IO{
			strings.NewReader(""), io.Discard, io.Discard,
		}); code != 7 || err != nil {
			t.Errorf("%d, %v", code, err)
		}
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
	_, err = NewHost(dir, temp, v1, Handler{Run: echo})
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
	empty := greeting + "R\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00"
	for _, sent := range []string{
		hello[:7], "H\x00\x00\x00\x04\x00\x03v1", "", "GET / HTTP/1.1\r\n\r\n", "H\xff\xff\xff\xff", "R\x00\x00\x00\x00",
		greeting + "Z\x00\x00\x00\x00", greeting + "V\x00\x00\x00\x00", greeting + "V\x7f\x00\x00\x00",
		empty + "Y\x00\x00\x00\x00", empty + "Y\x00\x00\x00\x04\x00\x00\x00\x01", greeting + "R\xff\xff\xff\xff", greeting + "R\x00\x00\x00\x01\x09",
		greeting + "R\x00\x40\x00\x00half", greeting + "O\x00\x00\x00\x01x",
		greeting + "R\x00\x00\x00\x07\x00\x00\x00\x00\x00\xff\xff",
		hello + "R\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00", hello + "K\x00\x00\x00\x00",
		hello + wrong + "K\x00\x00\x00\x00", hello + strings.Repeat(wrong, 9),
		hello + "D\x00\x00\x00\x00K\x00\x00\x00\x00", hello + "D\x00\x00\x00\x21" + value + "0",
		hello + "D\x00\x00\x00\x0b../../x" + "\x00", greeting + wrong + "K\x00\x00\x00\x00",
		empty + "R\x00\x00\x00\x00", empty + strings.Repeat("I\x00\x00\x00\x01x", 9),
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
	code, err := dialed(t, h).Run(t.Context(), &Request{}, IO{
		strings.NewReader(""), io.Discard, io.Discard,
	})
	if code != 7 || err != nil {
		t.Errorf("%d, %v", code, err)
	}
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
		c := dialed(t, h)
		code, err := c.Run(t.Context(), &Request{}, IO{strings.NewReader(""), io.Discard, io.Discard})
		if code != 7 || err != nil {
			t.Errorf("%d, %v", code, err)
		}
	}
	if n := len(h.slots); n > maxConns {
		t.Errorf("%d connections", n)
	}
	for _, conn := range idle {
		_ = conn.Close()
	}
}

func FuzzRequest(f *testing.F) {
	req := Request{Args: []string{"log"}, Env: [][2]string{{"A", "b"}}, Dir: "/", PID: 3, ErrTTY: true}
	data, err := req.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRequest(data)
		if err != nil {
			return
		}
		again, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		same, err := decodeRequest(again)
		if err != nil || !reflect.DeepEqual(r, same) {
			t.Errorf("%+v became %+v, %v", r, same, err)
		}
	})
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("H\x00\x00\x00\x04\x00\x01v1"))
	f.Add([]byte("A\x00\x00\x00\x04\x00\x00\x00\x01"))
	f.Add([]byte("R\x00\x3f\xff\xffx"))
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
