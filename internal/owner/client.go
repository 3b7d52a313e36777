package owner

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
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

func (c *Client) get(path string) (*http.Response, error) {
	r := newRequest(http.MethodGet, path, nil)
	if err := r.Write(c.conn); err != nil {
		return nil, err
	}
	return c.response(r)
}

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

// Asker holds the inputs and outputs of a process that asks for a verb.
type Asker struct {
	Inputs []io.Reader // sent whole, in this order
	// File receives the output that the verb writes to a file.
	File io.Writer
	// Tell receives the owner's messages for standard error.
	Tell func(data []byte)
}

// Ask has the owner run a verb, passes the answer to read, and returns the verb's result when it ends. The end of ctx
// interrupts the verb. A *LostError says that the owner ended first; other errors come from an input or from read. The
// client cannot be used again.
func (c *Client) Ask(ctx context.Context, request []byte, by Asker, read func(io.Reader) error) ([]byte, error) {
	if len(request) > httpd.MaxBody {
		return nil, fmt.Errorf("a request of %d bytes is more than the %d that another process takes",
			len(request), httpd.MaxBody)
	}
	// The owner reads the end of the connection; the result still comes back on the other half.
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn.CloseWrite()                                // fails if the owner has ended
		_ = c.conn.SetDeadline(time.Now().Add(interruptGrace)) // the owner may have stopped reading
	})
	defer stop()
	a := &asking{Client: c, clean: true, by: by, failed: make(chan error, 1), buf: make([]byte, 0, maxData)}
	err := a.ask(request, read)
	select {
	case err = <-a.failed: // the owner has interrupted the verb
		return nil, err
	default:
		return a.result, err
	}
}

// asking is a verb that runs at the owner.
type asking struct {
	*Client
	by       Asker
	body     io.Reader
	clean    bool       // whether nothing was answered
	writes   bool       // whether the owner may have written
	failed   chan error // why an input could not be read
	buf      []byte
	rest     []byte // of the answers, not yet read
	result   []byte
	ended    error // io.EOF once the result is there, or why none comes
	printErr error
	fileErr  error // of writing the file
}

// ask sends the request and reads the answer.
func (a *asking) ask(request []byte, read func(io.Reader) error) error {
	r := a.form(request)
	send := func() {
		if r.Write(a.conn) != nil { // an input failed, or the owner has ended
			_ = a.conn.CloseWrite()
		}
	}
	if len(a.by.Inputs) > 0 {
		go send() // an input may come as slowly as a person types
	} else {
		send()
	}
	answer, err := a.response(r)
	if err != nil {
		return a.lost(err)
	}
	a.body = answer.Body
	if a.printErr = read(a); a.printErr != nil && a.ended == nil {
		_ = a.conn.CloseWrite() // nothing can be printed any more
	}
	if _, err := io.Copy(io.Discard, a); err != nil {
		return err
	}
	return cmp.Or(a.printErr, a.fileErr)
}

// form returns a request whose body is a form: the request for the verb, then the inputs.
func (a *asking) form(request []byte) *http.Request {
	var text bytes.Buffer
	var body []io.Reader
	form := multipart.NewWriter(&text)
	add := func(name string, content io.Reader) {
		_, _ = form.CreateFormField(name) // a buffer takes all
		body = append(body, bytes.NewReader(bytes.Clone(text.Bytes())), content)
		text.Reset()
	}
	add("call", bytes.NewReader(request))
	for _, in := range a.by.Inputs {
		add("input", &input{in, a.failed})
	}
	_ = form.Close() // as above
	r := newRequest(http.MethodPost, path("verb"), io.MultiReader(append(body, &text)...))
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}

// input notes why it could not be read.
type input struct {
	io.Reader
	failed chan<- error
}

func (in *input) Read(p []byte) (int, error) {
	n, err := in.Reader.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // as io.Copy compares it
		select {
		case in.failed <- err:
		default:
		}
	}
	return n, err
}

func (a *asking) lost(err error) error {
	return &LostError{Clean: a.clean && !a.writes, Writes: a.writes, Err: err}
}

// Read reads the verb's answer, and handles the other records between its parts.
func (a *asking) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.ended != nil {
			return 0, a.ended
		}
		k, data, err := readRecord(a.body, a.buf)
		if err == nil {
			err = a.follow(k, data)
		}
		if err != nil {
			a.ended = a.lost(err)
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

func (a *asking) follow(k kind, data []byte) error {
	switch k {
	case kindOutput:
		a.clean, a.rest = false, data
	case kindFile:
		if a.by.File == nil {
			return ErrProtocol
		}
		if a.fileErr != nil {
			return nil
		}
		if _, a.fileErr = a.by.File.Write(data); a.fileErr != nil {
			_ = a.conn.CloseWrite() // nothing can be written any more
		}
	case kindTell:
		if a.printErr == nil && a.fileErr == nil { // otherwise it reports the interruption
			a.by.Tell(data)
		}
	case kindWrites:
		a.writes = true
	case kindResult:
		a.result, a.ended = bytes.Clone(data), io.EOF
	}
	return nil
}
