package owner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/mnem-project/mnem/internal/base/httpd"
)

const (
	// maxConns bounds the connections that are served at once; more wait to be accepted.
	maxConns = 256
	// greetTimeout is how long the headers of a request, and the call in it, may take to come, and how long a
	// connection may be idle.
	greetTimeout = 10 * time.Second
)

// Server answers other processes. Safe for concurrent use.
type Server struct {
	build Build
	run   func(context.Context, *Verb) VerbResult

	listener *listener
	place    place
	holding  *holding
	server   *http.Server
	served   chan struct{}      // closed when no more connections are accepted
	broken   context.Context    // of all requests
	breakOff context.CancelFunc // ends broken

	mu     sync.Mutex
	closed bool
	verbs  sync.WaitGroup // that run
}

// NewServer listens for other processes on the repository whose .mnem directory is dir, and has run run their verbs,
// each on a goroutine of its own. temp is the system's directory for temporary files, and build names this program.
// Only the process that holds the lock of the database may call this; it replaces the socket of an earlier owner.
// Close must be called.
func NewServer(dir, temp, build string, run func(context.Context, *Verb) VerbResult) (*Server, error) {
	held, err := hold(dir)
	if err != nil {
		return nil, fmt.Errorf("listen for other processes: %w", err)
	}
	at, l, err := listen(dir, temp)
	if err != nil {
		return nil, errors.Join(err, held.root.Close())
	}
	h := &Server{build: ours(build), run: run, place: at, holding: held, served: make(chan struct{})}
	h.listener = &listener{UnixListener: l, slots: make(chan struct{}, maxConns), ending: make(chan struct{})}
	h.broken, h.breakOff = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.hello)
	mux.HandleFunc("GET "+path("keep"), h.keep)
	mux.HandleFunc("POST "+path("verb"), h.verb)
	h.server = httpd.New(h.broken, mux, greetTimeout, greetTimeout)
	go func() {
		defer close(h.served)
		_ = h.server.Serve(h.listener) // until the listener is closed
	}()
	return h, nil
}

// Socket returns the path of the socket.
func (h *Server) Socket() string { return h.place.path }

// listener accepts at most as many connections as there are slots, from this user alone.
type listener struct {
	*net.UnixListener
	slots  chan struct{} // one for each connection
	ending chan struct{}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		select {
		case l.slots <- struct{}{}:
		case <-l.ending:
			return nil, net.ErrClosed
		}
		c, err := l.AcceptUnix()
		if err != nil {
			<-l.slots
			if errors.Is(err, net.ErrClosed) {
				return nil, err
			}
			time.Sleep(10 * time.Millisecond) // too many open files; they become fewer
			continue
		}
		accepted := &conn{UnixConn: c, end: sync.OnceFunc(func() { <-l.slots })}
		if checkPeer(c) == nil {
			return accepted, nil
		}
		_ = accepted.Close() // the other end reads that the connection ended
	}
}

// conn frees its slot when it is closed.
type conn struct {
	*net.UnixConn
	end func()
}

// Close implements net.Conn.
func (c *conn) Close() error {
	defer c.end()
	return c.UnixConn.Close()
}

// Close removes the socket, lets the verbs under way go on for grace, breaks off those that
// last longer, and returns when all have ended.
func (h *Server) Close(grace time.Duration) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	close(h.listener.ending)
	err := h.listener.Close()
	if errors.Is(err, net.ErrClosed) { // the server closed it, since it takes no more connections
		err = nil
	}
	err = errors.Join(err, h.place.remove())
	ended := make(chan struct{})
	go func() { h.verbs.Wait(); close(ended) }()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		h.breakOff()
		// What a verb still has to say must not wait for a caller that does not read.
		last := time.AfterFunc(lastWords, func() { _ = h.server.Close() })
		<-ended
		last.Stop()
	}
	h.breakOff()
	<-h.served
	_ = h.server.Close() // its listener is closed already
	return errors.Join(err, h.holding.root.Close())
}

// enter begins a verb, and returns false if this process is ending.
func (h *Server) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.verbs.Add(1)
	}
	return !h.closed
}

// hello tells which protocols this process speaks, and whether it holds the directory that is claimed.
func (h *Server) hello(w http.ResponseWriter, r *http.Request) {
	said, _ := json.Marshal(hello{h.build, h.holding.proves(r.URL.Query())}) // it has a JSON form
	_, _ = w.Write(said)                                                     // the client may be gone
}

// keep keeps a request open until this process ends.
func (h *Server) keep(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).Flush() // a client that is gone ends the context
	select {
	case <-r.Context().Done():
	case <-h.listener.ending:
	}
}

// Verb is a verb that another process asks for. What its methods send and return is JSON, which this
// package does not read. They are for one goroutine at a time.
type Verb struct {
	Request []byte
	// Answers takes what the verb answers, File what it writes to the file that the other process has for it.
	Answers, File io.Writer
	out           *records
	form          *multipart.Reader
	body          io.Reader
	cancel        context.CancelFunc
}

// VerbResult is how a verb ended. Elsewhere says that this process does not have, any more, what was asked
// for: the other one looks for the owner again.
type VerbResult struct {
	Data      []byte // ≤ 128 MiB
	Failed    bool
	Elsewhere bool
}

// MaxTold is how many bytes Tell takes.
const MaxTold = maxData

// Writes must be called before the verb may write. After an error it must not: then the other process would not know.
func (v *Verb) Writes() error { return v.out.send(kindWrites, nil) }

// Tell says something on the side, of at most 64 KiB.
func (v *Verb) Tell(data []byte) error { return v.out.send(kindTell, data) }

// Input returns the next input, to be read to its end, and io.EOF after the last. Unless all inputs are read, the end of
// the other process goes unnoticed. Another error ends the context of the verb.
func (v *Verb) Input() (io.Reader, error) {
	part, err := v.form.NextPart()
	switch {
	case err == nil:
		return formInput{part, v}, nil
	case err == io.EOF: //nolint:errorlint // an error that wraps it says that the form has no end
		if _, err = io.Copy(io.Discard, v.body); err == nil { // there is nothing after a form
			return nil, io.EOF // from here on net/http looks for the end of the connection
		}
	}
	return nil, v.gone(err)
}

// gone ends the context of a verb whose inputs do not come.
func (v *Verb) gone(err error) error {
	v.cancel()
	return fmt.Errorf("read the inputs: %w: %w", context.Canceled, err)
}

type formInput struct {
	io.Reader
	v *Verb
}

func (in formInput) Read(p []byte) (int, error) {
	n, err := in.Reader.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // as io.Copy compares it
		err = in.v.gone(err)
	}
	return n, err
}

func (h *Server) verb(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	rc := http.NewResponseController(w)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	v := &Verb{out: &records{to: w, rc: rc}, body: r.Body, cancel: cancel}
	v.Answers, v.File = answers{v.out, kindOutput}, answers{v.out, kindFile}
	defer v.out.end()
	_ = rc.SetReadDeadline(time.Now().Add(greetTimeout)) // fails on a broken connection, as reading does
	if err := v.open(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = rc.SetReadDeadline(time.Time{})
	if !h.enter() {
		return // the other end reads that there is no result
	}
	defer h.verbs.Done()
	defer context.AfterFunc(ctx, func() { _ = rc.SetReadDeadline(time.Now()) })() // no input is read any more
	ended := make(chan VerbResult)
	go func() { ended <- h.run(ctx, v) }() // here a panic ends the process, whose repository may be in use; net/http would go on
	res := <-ended
	if !res.Elsewhere && (!res.Failed || h.broken.Err() == nil) {
		_ = v.out.send(kindResult, res.Data) // if it fails, the end of the connection says it
	}
}

// open reads the request for the verb, the first part of the form.
func (v *Verb) open(r *http.Request) (err error) {
	if v.form, err = r.MultipartReader(); err != nil {
		return err
	}
	call, err := v.form.NextPart()
	if err != nil {
		return err
	}
	v.Request, err = io.ReadAll(io.LimitReader(call, httpd.MaxBody+1))
	if err == nil && len(v.Request) > httpd.MaxBody {
		err = fmt.Errorf("%w: a call of more than %d bytes", ErrProtocol, httpd.MaxBody)
	}
	return err
}

// answers sends what a verb answers, or writes to a file.
type answers struct {
	out *records
	k   kind
}

func (w answers) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		piece := p[:min(len(p), maxData)]
		if err := w.out.send(w.k, piece); err != nil {
			return n, fmt.Errorf("%w: %w", syscall.EPIPE, err)
		}
		n += len(piece)
		p = p[len(piece):]
	}
	return n, nil
}
