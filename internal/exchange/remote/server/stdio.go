package server

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/base/pipe"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
)

// sshVariable names the program that connects to another machine, with its first arguments.
const sshVariable = "MNEM_SSH"

// OneConn is a listener for one connection; closing that ends it.
type OneConn struct {
	one    *pipe.Conn
	conn   chan net.Conn
	closed chan struct{}
	end    func()
}

// Stdio returns a listener whose one connection is this process's standard input and output.
func Stdio(in io.Reader, out io.Writer) *OneConn {
	l := &OneConn{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.end = sync.OnceFunc(func() { close(l.closed) })
	l.one = pipe.New(in, out, pipeGrace, func() error { l.end(); return nil })
	l.conn <- l.one
	return l
}

// Accept implements net.Listener.
func (l *OneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It also closes a connection that was never accepted, which nothing else would close.
func (l *OneConn) Close() error {
	l.end()
	select {
	case c := <-l.conn:
		return c.Close()
	default:
		return nil
	}
}

// Addr implements net.Listener.
func (l *OneConn) Addr() net.Addr { return l.one.LocalAddr() }

// Gone is closed when the other end of the connection has closed.
func (l *OneConn) Gone() <-chan struct{} { return l.one.Gone() }

// ReachSSH connects to a repository on another machine, served there by 'mnem serve --stdio'.
func ReachSSH(h *place.Host, at *place.URL) (*Side, error) {
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

// startPipe starts a program and returns its standard input and output as a connection. Closing that ends the program.
func startPipe(stderr io.Writer, words []string) (net.Conn, error) {
	cmd := exec.Command(words[0], words[1:]...)   // the user names it
	cmd.Stderr, cmd.WaitDelay = stderr, pipeGrace // other processes may hold stderr open after it has ended
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
	return pipe.New(in, out, pipeGrace, func() error {
		_, _ = out.Close(), in.Close()                                        // it may have closed the other ends
		timer := time.AfterFunc(pipeGrace, func() { _ = cmd.Process.Kill() }) // it may have ended
		defer timer.Stop()
		_ = cmd.Wait() // errors were printed
		return nil
	}), nil
}

// pipeGrace is how long after closing the connection the other end may take to read, and the program to end.
const pipeGrace = 5 * time.Second
