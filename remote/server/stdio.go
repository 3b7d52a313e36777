package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/remote/byverb"
	"github.com/mnem-project/mnem/remote/place"
)

// sshVariable names the program that connects to another machine, with its first arguments.
const sshVariable = "MNEM_SSH"

// pipeConn is a connection that is made of two pipes.
type pipeConn struct {
	in    io.ReadCloser
	out   io.WriteCloser
	close func() error // once
}

func newPipeConn(in io.ReadCloser, out io.WriteCloser, end func() error) *pipeConn {
	c := &pipeConn{in: in, out: out}
	c.close = sync.OnceValue(func() error { return errors.Join(out.Close(), in.Close(), end()) })
	return c
}

func (c *pipeConn) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c *pipeConn) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c *pipeConn) Close() error                { return c.close() }

// LocalAddr, RemoteAddr and the deadlines are what net.Conn has; pipes have none.
func (c *pipeConn) LocalAddr() net.Addr              { return pipeAddr{} }
func (c *pipeConn) RemoteAddr() net.Addr             { return pipeAddr{} }
func (c *pipeConn) SetDeadline(time.Time) error      { return nil }
func (c *pipeConn) SetReadDeadline(time.Time) error  { return nil }
func (c *pipeConn) SetWriteDeadline(time.Time) error { return nil }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// oneConn is a listener for one connection: it ends when that is closed.
type oneConn struct {
	conn   chan net.Conn
	closed chan struct{}
	end    func()
}

// Stdio returns a listener for the one connection that the standard input and output of this process are.
func Stdio(in io.Reader, out io.Writer) net.Listener {
	return newOneConn(leftOpen{Reader: in}, leftOpen{Writer: out})
}

func newOneConn(in io.ReadCloser, out io.WriteCloser) *oneConn {
	l := &oneConn{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.end = sync.OnceFunc(func() { close(l.closed) })
	l.conn <- newPipeConn(in, out, func() error { l.end(); return nil })
	return l
}

// Accept implements net.Listener.
func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *oneConn) Close() error {
	l.end()
	return nil
}

// Addr implements net.Listener.
func (l *oneConn) Addr() net.Addr { return pipeAddr{} }

// leftOpen is a stream that belongs to the process.
type leftOpen struct {
	io.Reader
	io.Writer
}

func (leftOpen) Close() error { return nil }

// ReachSSH connects to a repository on another machine: 'mnem serve --stdio' answers there.
func ReachSSH(h *byverb.Host, at *place.URL) (*Side, error) {
	command := strings.Fields(cmp.Or(h.Getenv(sshVariable), "ssh"))
	if port := at.At.Port(); port != "" {
		command = append(command, "-p", port)
	}
	host := at.At.Hostname()
	if at.At.User != nil {
		host = at.At.User.Username() + "@" + host
	}
	path := at.Path
	if len(path) > 3 && path[2] == ':' { // of a drive
		path = path[1:]
	}
	command = append(command, "--", host, "mnem serve --stdio --repo "+plain.Shell(path))
	s, err := newSide(h, &url.URL{Scheme: "http", Host: "localhost"}, "")
	if err != nil {
		return nil, err
	}
	s.name = at.At.Host
	s.dial(func(context.Context) (net.Conn, error) { return startPipe(h.Stderr, command) })
	return s, nil
}

// startPipe starts a program and returns what it reads and writes as a connection. Closing that ends it.
func startPipe(stderr io.Writer, words []string) (net.Conn, error) {
	cmd := exec.Command(words[0], words[1:]...) //nolint:gosec // it is the user who names it
	cmd.Stderr = stderr
	if _, file := stderr.(*os.File); !file {
		cmd.Stderr = struct{ io.Writer }{stderr} // which is written to, and not read into
	}
	out, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return newPipeConn(in, out, func() error {
		timer := time.AfterFunc(pipeGrace, func() { _ = cmd.Process.Kill() }) // it may have ended
		defer timer.Stop()
		_ = cmd.Wait() // all was said
		return nil
	}), nil
}

// pipeGrace is how long a program may take to end when its connection is closed.
const pipeGrace = 5 * time.Second
