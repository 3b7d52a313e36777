package serve

import (
	"fmt"
	"net"
	"sync"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// listener bounds the open connections. Further ones get a short answer that says so and are closed, so that no client
// waits without an answer.
type listener struct {
	net.Listener
	free    chan struct{}
	metrics *metrics
}

func newListener(l net.Listener, conns int, m *metrics) *listener {
	return &listener{l, make(chan struct{}, conns), m}
}

// Accept returns the next connection there is room for.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.free <- struct{}{}:
			l.metrics.conns.Inc()
			return &conn{Conn: c, end: sync.OnceFunc(func() {
				<-l.free
				l.metrics.conns.Dec()
			})}, nil
		default:
			l.metrics.refused.Inc()
			turnAway(c)
		}
	}
}

// turnAway answers a connection without reading from it. The answer fits the system's buffer, so the write does not
// wait. The client may lose it if it sends at the same time.
func turnAway(c net.Conn) {
	p := failed(operation.Busy, "too many connections")
	body := p.body()
	_, _ = fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: %s\r\nRetry-After: 1\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", mediaProblem, len(body), body)
	_ = c.Close() // the client has its answer
}

// conn releases its slot when it is closed.
type conn struct {
	net.Conn
	end func()
}

// Close closes the connection.
func (c *conn) Close() error {
	defer c.end()
	return c.Conn.Close()
}
