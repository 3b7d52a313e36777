package owner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/mnem-project/mnem/internal/base/httpd"
)

// interruptGrace is how long an interrupted verb may take to end.
const interruptGrace = 10 * time.Second

// ErrPeer is returned when the process at the other end is none that may be talked to.
var ErrPeer = errors.New("not a process to share a repository with")

// ErrSilent is returned by Dial when somebody listens but does not greet in time.
var ErrSilent = errors.New("the process that has the repository open does not answer")

// SkewError is returned by Dial when the owner speaks no protocol of this build.
type SkewError struct {
	PID         int // of the owner, as its owner file says
	Owner, Ours Build
}

func (e *SkewError) Error() string {
	return fmt.Sprintf("process %d has the repository open, but it speaks protocol %d (mnem %s) and this program %d (mnem %s)",
		e.PID, e.Owner.Newest, e.Owner.Name, e.Ours.Newest, e.Ours.Name)
}

// LostError is returned by Ask when the owner ended before the verb did.
type LostError struct {
	// Clean says that the verb had answered nothing and could not have written: it may be given to the next owner.
	Clean bool
	// Writes says that the verb may have written, so that the outcome is unknown.
	Writes bool
	Err    error
}

func (e *LostError) Error() string { return fmt.Sprintf("the owner ended: %v", e.Err) }
func (e *LostError) Unwrap() error { return e.Err }

// Client is a connection to an owner, for one verb.
type Client struct {
	conn         *net.UnixConn
	limit        *io.LimitedReader // bounds the headers of a response
	in           *bufio.Reader
	pid          int
	build, owner Build
}

// Owner returns the owner's description of itself and its process id.
func (c *Client) Owner() (as Build, pid int) { return c.owner, c.pid }

// Dial connects to the socket of an owner whose process is pid, does the handshake within wait, and has the owner prove
// that it holds the .mnem directory dir. It returns a *SkewError, an error that wraps ErrPeer, ErrSilent or
// ErrElsewhere, or another error if no process listens there. build names this program.
func Dial(socket, dir, build string, pid int, wait time.Duration) (*Client, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if errors.Is(err, syscall.EAGAIN) {
		return nil, ErrSilent // more wait to be served than the system keeps
	}
	if err != nil {
		return nil, err
	}
	limit := &io.LimitedReader{R: conn}
	c := &Client{conn: conn, limit: limit, in: bufio.NewReader(limit), pid: pid, build: ours(build)}
	if err := c.greet(dir, wait); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

func (c *Client) greet(dir string, wait time.Duration) error {
	if err := checkPeer(c.conn); err != nil {
		return err
	}
	if err := c.conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	err := c.prove(dir)
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return ErrSilent
	case err != nil:
		return err
	}
	return c.conn.SetDeadline(time.Time{})
}

// claim greets the owner and returns whether a claim is about the directory that it holds.
func (c *Client) claim(claim string) (bool, error) {
	var said hello
	var data []byte
	r, err := c.get("/?" + claim)
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(r.Body, maxHello))
	}
	if err == nil {
		err = json.Unmarshal(data, &said)
	}
	if err != nil {
		return false, fmt.Errorf("%w: no hello: %w", ErrProtocol, err)
	}
	if c.owner = said.Build; !c.owner.speaks(c.build) {
		return false, &SkewError{c.pid, c.owner, c.build}
	}
	return said.Holds, nil
}

// newRequest returns a request for an owner.
func newRequest(method, path string, body io.Reader) *http.Request {
	r, err := http.NewRequestWithContext(context.Background(), method, "http://owner"+path, body)
	if err != nil {
		panic(err) // this package supplies the paths and methods
	}
	return r
}

// get sends a request without a body.
func (c *Client) get(path string) (*http.Response, error) {
	r := newRequest(http.MethodGet, path, nil)
	if err := r.Write(c.conn); err != nil {
		return nil, err
	}
	return c.response(r)
}

// response reads the status and headers of the answer to a request.
func (c *Client) response(r *http.Request) (*http.Response, error) {
	c.limit.N = httpd.MaxHeader
	a, err := http.ReadResponse(c.in, r)
	c.limit.N = math.MaxInt64
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%w: status %s", ErrProtocol, a.Status)
	}
	return a, err
}

// Close ends the connection, and with it a verb that runs.
func (c *Client) Close() error { return c.conn.Close() }

// Wait returns when the owner ends, or the context does.
func (c *Client) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
	defer stop()
	if r, err := c.get(path("keep")); err == nil { // else it has ended already
		_, _ = io.Copy(io.Discard, r.Body) // it says nothing but that it ended
	}
	return ctx.Err()
}

// interrupts has the end of a context interrupt what runs at the owner, until stop is called. The owner reads the end
// of the connection; the result still comes back on the other half.
func (c *Client) interrupts(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = c.conn.CloseWrite()                                // fails if the owner has ended
		_ = c.conn.SetDeadline(time.Now().Add(interruptGrace)) // the owner may have stopped reading
	})
}
