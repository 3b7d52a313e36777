package server

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// drain is a writer that reports when copying into it has ended.
type drain struct{ ended chan struct{} }

func (d drain) Write(p []byte) (int, error) { return len(p), nil }

func (d drain) ReadFrom(r io.Reader) (int64, error) {
	defer close(d.ended)
	return io.Copy(io.Discard, r)
}

// TestCloseBeforeAccept closes a listener whose connection was never accepted, as a server does whose standard
// input ends at once: the output is not used after that.
func TestCloseBeforeAccept(t *testing.T) {
	out := drain{make(chan struct{})}
	l := Stdio(strings.NewReader(""), out)
	must.OK(t, l.Close())
	select {
	case <-out.ended:
	default:
		t.Error("the output is still used")
	}
	c, err := l.Accept()
	must.True(t, errors.Is(err, net.ErrClosed), "accepted %v, %v", c, err)
	must.OK(t, l.Close(), "closed twice")
}
