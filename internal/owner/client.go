package owner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
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
	// Clean says that the verb had answered nothing and could not have written: it may be given to the
	// next owner, with the input that was read.
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
	out          sender
	pid          int
	build, owner Build
}

// Owner is what the owner says of itself, and PID its process.
func (c *Client) Owner() (as Build, pid int) { return c.owner, c.pid }

// Dial connects to the socket of an owner whose process is pid, greets it within wait, and has it
// show that it holds the .mnem directory dir. It returns a *SkewError, an error that wraps ErrPeer,
// ErrSilent or ErrElsewhere, or another one where nobody listens there.
func Dial(socket, dir string, as Build, pid int, wait time.Duration) (*Client, error) {
	addr := &net.UnixAddr{Name: socket, Net: "unix"}
	conn, err := net.DialUnix("unix", nil, addr)
	if errors.Is(err, syscall.EAGAIN) {
		return nil, ErrSilent // more wait to be served than the system keeps
	}
	if err != nil {
		return nil, err
	}
	c := &Client{conn: conn, out: sender{conn: conn}, pid: pid, build: ours(as)}
	if err := c.greet(dir, wait); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

func (c *Client) greet(dir string, wait time.Duration) error {
	if err := checkPeer(c.conn); err != nil {
		return err
	}
	if err := c.conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	err := c.meet(dir)
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return ErrSilent
	case err != nil:
		return err
	}
	return c.conn.SetReadDeadline(time.Time{})
}

// meet exchanges hellos and claims.
func (c *Client) meet(dir string) (err error) {
	if err := c.out.send(kindHello, c.build.encode()); err != nil {
		return err
	}
	if c.owner, err = readHello(c.conn); err != nil {
		return err
	}
	if !c.owner.speaks(c.build) {
		return &SkewError{c.pid, c.owner, c.build}
	}
	return c.prove(dir)
}

// Close ends the connection, and with it a verb that runs.
func (c *Client) Close() error { return c.conn.Close() }

// Wait returns when the owner ends, or the context does.
func (c *Client) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
	defer stop()
	if err := c.out.send(kindKeep, nil); err != nil {
		return ctx.Err() // it has ended already
	}
	_, _, _ = readFrame(c.conn, nil) // it says nothing but that it ended
	return ctx.Err()
}

// interrupts has the end of a context interrupt what runs at the owner, until stop is called.
func (c *Client) interrupts(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = c.out.send(kindCancel, nil) // if it cannot be said, the owner has ended
		_ = c.conn.SetReadDeadline(time.Now().Add(interruptGrace))
	})
}
