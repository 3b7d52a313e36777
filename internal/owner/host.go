package owner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// maxConns bounds the connections that are served at once; more wait to be accepted.
	maxConns = 256
	// greetTimeout is how long a connection may take until its request is there.
	greetTimeout = 10 * time.Second
	// lastWords is how long an ended verb's last frames may take to be written.
	lastWords = 10 * time.Second
)

// Host answers other processes. Safe for concurrent use.
type Host struct {
	build Build
	run   func(context.Context, *Verb) VerbResult

	listener *net.UnixListener
	place    place
	holding  *holding
	slots    chan struct{} // one for each connection

	mu     sync.Mutex
	closed bool
	conns  map[*session]bool
	done   sync.WaitGroup
}

// NewHost listens for other processes on the repository whose .mnem directory is dir, and has run run
// their verbs, each on a goroutine of its own. temp is the system's directory for temporary files. Only the process
// that holds the lock of the database may call this; it replaces the socket of an earlier owner. Close must be
// called.
func NewHost(dir, temp string, as Build, run func(context.Context, *Verb) VerbResult) (*Host, error) {
	held, err := hold(dir)
	if err != nil {
		return nil, fmt.Errorf("listen for other processes: %w", err)
	}
	at, listener, err := listen(dir, temp)
	if err != nil {
		return nil, errors.Join(err, held.root.Close())
	}
	h := &Host{
		build: ours(as), run: run, listener: listener, place: at, holding: held,
		slots: make(chan struct{}, maxConns), conns: make(map[*session]bool),
	}
	h.done.Add(1)
	go h.accept()
	return h, nil
}

// Socket returns the path of the socket.
func (h *Host) Socket() string { return h.place.path }

func (h *Host) accept() {
	defer h.done.Done()
	for {
		h.slots <- struct{}{}
		conn, err := h.listener.AcceptUnix()
		if err != nil {
			<-h.slots
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond) // too many open files; they become fewer
			continue
		}
		s := &session{host: h, conn: conn, out: sender{conn: conn}}
		if !h.enter(s) {
			_ = conn.Close() // nobody is told anything any more
			<-h.slots
			return
		}
		go func() {
			defer h.leave(s)
			s.serve()
		}()
	}
}

func (h *Host) enter(s *session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.conns[s] = true
	h.done.Add(1)
	return true
}

func (h *Host) leave(s *session) {
	_ = s.conn.Close() // all was said
	h.mu.Lock()
	delete(h.conns, s)
	h.mu.Unlock()
	<-h.slots
	h.done.Done()
}

// Close removes the socket, lets the verbs under way go on for grace, breaks off those that
// last longer, and returns when all have ended.
func (h *Host) Close(grace time.Duration) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	for s := range h.conns {
		if !s.running.Load() {
			_ = s.conn.Close() // it has asked for nothing, or only to be told
		}
	}
	h.mu.Unlock()
	err := errors.Join(h.listener.Close(), h.place.remove())
	ended := make(chan struct{})
	go func() { h.done.Wait(); close(ended) }()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		h.mu.Lock()
		for s := range h.conns {
			s.breakOff()
		}
		h.mu.Unlock()
		<-ended
	}
	return errors.Join(err, h.holding.root.Close())
}

// session is one connection of another process.
type session struct {
	host    *Host
	conn    *net.UnixConn
	out     sender
	running atomic.Bool // whether a verb runs

	mu      sync.Mutex
	cancel  context.CancelFunc // of the verb, nil while there is none
	gone    bool               // whether this end broke the verb off
	noPrint error              // what writing answers returns, nil while it works

	needed atomic.Bool
	input  chan inputPiece
	ended  <-chan struct{}
}

type inputPiece struct {
	data []byte
	err  error
}

func (s *session) breakOff() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	if s.cancel != nil {
		s.cancel()
	}
	// What it still has to say must not wait for somebody who does not read.
	s.out.hurry(lastWords)
}

// serve greets the other end and does what it asks.
func (s *session) serve() {
	k, data, err := s.greet()
	if err != nil || k == kindKeep {
		return // the other end reads that the connection ended
	}
	s.running.Store(true)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.mu.Lock()
	s.cancel = cancel
	if s.gone {
		cancel()
	}
	s.mu.Unlock()
	s.input, s.ended = make(chan inputPiece, 1), ctx.Done()
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		defer cancel() // who has gone wants no answer
		s.listen()
	}()
	s.end(s.host.run(ctx, &Verb{s, data, answers{s, kindOutput}, answers{s, kindFile}, func() error { return s.out.send(kindWrites, nil) }}))
	_ = s.conn.CloseWrite()
	_ = s.conn.SetReadDeadline(time.Now()) // the verb has ended: nothing more is wanted
	<-listening
}

// end says how it ended: with its result, or that this process broke it off.
func (s *session) end(res VerbResult) {
	s.mu.Lock()
	gone := s.gone
	s.mu.Unlock()
	s.out.hurry(lastWords)
	k, data := kindResult, res.Data
	if gone && res.Failed || res.Elsewhere {
		k, data = kindGone, nil
	}
	_ = s.out.send(k, data) // where it cannot be said the end of the connection says it
}

// greet reads the hello and what is asked for. Where the other end only waits it returns when that goes.
func (s *session) greet() (kind, []byte, error) {
	if err := checkPeer(s.conn); err != nil {
		return 0, nil, err
	}
	if err := s.conn.SetReadDeadline(time.Now().Add(greetTimeout)); err != nil {
		return 0, nil, err
	}
	s.out.last.Store(time.Now().Add(greetTimeout).UnixNano())
	theirs, err := readHello(s.conn)
	if err != nil {
		return 0, nil, err
	}
	if err := s.out.send(kindHello, s.host.build.encode()); err != nil {
		return 0, nil, err
	}
	if !theirs.speaks(s.host.build) {
		return 0, nil, ErrProtocol // it has read why
	}
	k, data, err := s.prove()
	if err != nil {
		return 0, nil, err
	}
	if err := s.conn.SetReadDeadline(time.Time{}); err != nil {
		return 0, nil, err
	}
	s.out.last.Store(0)
	switch {
	case k == kindKeep:
		_, _, err := readFrame(s.conn, nil) // it says nothing more, and goes when it likes
		return k, nil, err
	case k == kindVerb:
		return k, data, nil
	}
	return 0, nil, fmt.Errorf("%w: frame %q for a verb", ErrProtocol, k)
}

// listen takes what the other end says while its verb runs, until it has gone.
func (s *session) listen() {
	for {
		k, data, err := readFrame(s.conn, nil)
		if err != nil {
			return
		}
		switch k {
		case kindCancel:
			s.cancel()
		case kindNoPrint:
			err := error(syscall.EPIPE)
			if len(data) > 0 {
				err = errors.New(string(data))
			}
			s.mu.Lock()
			s.noPrint = err
			s.mu.Unlock()
		case kindInput, kindNoInput:
			piece := inputPiece{data: data}
			switch {
			case k == kindNoInput:
				piece = inputPiece{err: errors.New(string(data))}
			case len(data) == 0:
				piece.err = io.EOF
			}
			if !s.needed.CompareAndSwap(true, false) {
				return // nobody asked
			}
			s.give(piece)
		default:
			return
		}
	}
}

// read reads the input that need names.
func (s *session) read(p, need []byte) (int, error) {
	select {
	case piece := <-s.input:
		return s.take(p, piece)
	default:
	}
	if s.needed.CompareAndSwap(false, true) {
		if err := s.out.send(kindNeed, need); err != nil {
			return 0, err
		}
	}
	select {
	case piece := <-s.input:
		return s.take(p, piece)
	case <-s.ended:
		return 0, fmt.Errorf("read standard input: %w", context.Canceled)
	}
}

// take copies from a piece and puts back what is left of it.
func (s *session) take(p []byte, piece inputPiece) (int, error) {
	n := copy(p, piece.data)
	if piece.data = piece.data[n:]; len(piece.data) > 0 || piece.err != nil {
		s.give(piece) // the next is only asked for when this one is used up
	}
	if n > 0 {
		return n, nil
	}
	return 0, piece.err
}

// give puts a piece of input where read finds it. Only after the end of a verb there may be one
// already.
func (s *session) give(piece inputPiece) {
	select {
	case s.input <- piece:
	case <-s.ended:
	}
}

// answers sends what a verb answers, or writes to a file.
type answers struct {
	s *session
	k kind
}

func (w answers) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		w.s.mu.Lock()
		err := w.s.noPrint
		w.s.mu.Unlock()
		if err != nil {
			return n, err
		}
		piece := p[:min(len(p), maxData)]
		if err := w.s.out.send(w.k, piece); err != nil {
			return n, fmt.Errorf("%w: %w", syscall.EPIPE, err)
		}
		n += len(piece)
		p = p[len(piece):]
	}
	return n, nil
}
