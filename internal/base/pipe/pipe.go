// Package pipe combines two streams, one to read and one to write, into a connection.
//
// Streams such as standard input have no deadlines, and some cannot be closed while they are being read, so that
// waiting for the other end may take forever. Here a goroutine for each stream copies data, and the connection
// waits for these goroutines, with deadlines, until it is closed. A goroutine whose stream is silent stays until
// end closes the stream, or the process ends.
package pipe

import (
	"io"
	"net"
	"sync"
	"time"
)

// Conn is a connection. Safe for concurrent use as a net.Conn is.
type Conn struct {
	net.Conn          // this end of the way in
	out      net.Conn // this end of the way out
	gone     chan struct{}
	close    func() error // once
}

var _ net.Conn = (*Conn)(nil)

// New returns a connection that reads from in and writes to out. Close waits at most last for pending writes, and
// calls end once, which may close the streams.
func New(in io.Reader, out io.Writer, last time.Duration, end func() error) *Conn {
	c := &Conn{gone: make(chan struct{})}
	var from, to net.Conn
	c.Conn, from = net.Pipe()
	c.out, to = net.Pipe()
	go func() {
		_, _ = io.Copy(from, in) // that it ended is all that is asked
		close(c.gone)
		_ = from.Close() // in memory
	}()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(out, to) // the next write reports the error
		_ = to.Close()          // in memory
	}()
	c.close = sync.OnceValue(func() error {
		_, _ = c.Conn.Close(), c.out.Close() // in memory
		timer := time.NewTimer(last)
		defer timer.Stop()
		select {
		case <-sent:
		case <-timer.C:
		}
		return end()
	})
	return c
}

// Gone returns a channel that is closed when no more data can arrive: the other end has closed, or data arrived
// after the connection was closed.
func (c *Conn) Gone() <-chan struct{} { return c.gone }

// Write implements net.Conn: data is buffered and written soon.
func (c *Conn) Write(p []byte) (int, error) { return c.out.Write(p) }

// Close implements net.Conn.
func (c *Conn) Close() error { return c.close() }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.Conn.SetDeadline(t); err != nil {
		return err
	}
	return c.out.SetDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.out.SetWriteDeadline(t) }
