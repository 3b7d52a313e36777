package owner

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// interruptGrace is how long an interrupted command may take to end.
const interruptGrace = 10 * time.Second

// ErrPeer is returned when the process at the other end is none that may be talked to.
var ErrPeer = errors.New("not a process to share a repository with")

// ErrSilent is returned by Dial when somebody listens but does not greet in time.
var ErrSilent = errors.New("the process that has the repository open does not answer")

// SkewError is returned by Dial when the owner speaks no protocol of this build, and by Run when it is
// another build.
type SkewError struct {
	PID         int // of the owner, as its owner file says
	Owner, Ours Build
}

func (e *SkewError) Error() string {
	what := fmt.Sprintf("it is mnem %s and this is mnem %s", e.Owner.Name, e.Ours.Name)
	if !e.Owner.speaks(e.Ours) {
		what = fmt.Sprintf("it speaks protocol %d (mnem %s) and this program %d (mnem %s)",
			e.Owner.Newest, e.Owner.Name, e.Ours.Newest, e.Ours.Name)
	}
	return fmt.Sprintf("process %d has the repository open, but %s", e.PID, what)
}

// LostError is returned by Run when the owner ended before the command did.
type LostError struct {
	// Clean says that the command had printed nothing and could not have written: it may be given to
	// the next owner, with the standard input that it had read.
	Clean bool
	// Writes says that the command may have written, so that nobody knows what became of it.
	Writes bool
	Err    error
}

func (e *LostError) Error() string { return fmt.Sprintf("the owner ended: %v", e.Err) }
func (e *LostError) Unwrap() error { return e.Err }

// Client is a connection to an owner, for one command.
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
		return c.skew()
	}
	return c.prove(dir)
}

func (c *Client) skew() error { return &SkewError{c.pid, c.owner, c.build} }

// Close ends the connection, and with it a command that runs.
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

// IO is where a command reads and prints.
type IO struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run has the owner run a command line, and returns its exit code when it ends; the end of ctx
// interrupts it. A *LostError says that the owner ended first, a *SkewError that it is another build;
// another error is one of writing to Stdout. The client is used up.
func (c *Client) Run(ctx context.Context, req *Request, rw IO) (int, error) {
	if !c.owner.same(c.build) {
		return 0, c.skew()
	}
	data, err := req.encode()
	if err != nil {
		return 0, err
	}
	defer c.interrupts(ctx)()
	r := &running{Client: c, rw: rw, clean: true}
	if err := c.out.send(kindRequest, data); err != nil {
		return 0, r.lost(err)
	}
	return r.follow()
}

// interrupts has the end of a context interrupt what runs at the owner, until stop is called.
func (c *Client) interrupts(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = c.out.send(kindCancel, nil) // if it cannot be said, the owner has ended
		_ = c.conn.SetReadDeadline(time.Now().Add(interruptGrace))
	})
}

// running is a command that runs at the owner.
type running struct {
	*Client
	rw       IO
	clean    bool // whether nothing was printed, and nothing could have been written
	writes   bool
	reading  sync.Mutex // held while standard input is read
	printErr error
}

func (r *running) lost(err error) error {
	return &LostError{Clean: r.clean && !r.writes, Writes: r.writes, Err: err}
}

// follow does what the owner says until the command ends.
func (r *running) follow() (int, error) {
	buf := make([]byte, 0, maxData)
	for {
		k, data, err := readFrame(r.conn, buf)
		if err != nil {
			return 0, r.lost(err)
		}
		switch k {
		case kindOutput:
			r.clean = false
			r.print(data)
		case kindErrors:
			r.clean = false
			_, _ = r.rw.Stderr.Write(data) // nobody to tell
		case kindNeed:
			go r.read(r.rw.Stdin)
		case kindWrites:
			r.writes = true
		case kindGone:
			return 0, r.lost(errors.New("it was told to end"))
		case kindExit:
			if len(data) != exitLen {
				return 0, r.lost(ErrProtocol)
			}
			return int(int32(binary.BigEndian.Uint32(data))), r.printErr
		default:
			return 0, r.lost(ErrProtocol)
		}
	}
}

// print writes results, and tells the owner once when that does not work.
func (r *running) print(data []byte) {
	if r.printErr != nil {
		return
	}
	if _, r.printErr = r.rw.Stdout.Write(data); r.printErr != nil {
		r.noPrint()
	}
}

// noPrint tells the owner that nothing can be printed any more.
func (r *running) noPrint() {
	var text []byte
	if !errors.Is(r.printErr, syscall.EPIPE) && !errors.Is(r.printErr, io.ErrClosedPipe) {
		text = message(r.printErr)
	}
	_ = r.out.send(kindNoPrint, text) // if it cannot be said, the owner has ended
}

// read sends the next piece of standard input. Where that takes as long as a person does, it
// outlives the command, and ends with the process.
func (r *running) read(from io.Reader) {
	r.reading.Lock()
	defer r.reading.Unlock()
	buf := make([]byte, maxData)
	for {
		n, err := from.Read(buf)
		switch {
		case n > 0:
			_ = r.out.send(kindInput, buf[:n]) // an owner that has ended wants none
		case errors.Is(err, io.EOF):
			_ = r.out.send(kindInput, nil)
		case err != nil:
			_ = r.out.send(kindNoInput, message(err))
		default:
			continue
		}
		return
	}
}
