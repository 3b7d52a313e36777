// Package serve answers the operations of a repository over HTTP: /v1/NAME for each, all by one handler over the table
// of package operation, with an OpenAPI document made from it.
//
// Input is hostile until its sender is known and its size bounded. In this order: connections are counted (listener),
// Host and Origin must name this server (guard), a token identifies the caller and its rights (auth), a rate bounds how
// often it asks, bodies need room (body), and then an operation runs, a limited number at once (call). No input names a
// file.
package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnem-project/mnem/internal/base/httpd"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Config configures a server. Operations, Runner, Now, Rand and Log are required.
type Config struct {
	Operations []operation.Operation
	Runner     operation.Runner
	Version    string // of the program, for the OpenAPI document
	Now        func() time.Time
	Rand       io.Reader // for the ids of requests; read by one goroutine at a time
	Log        *slog.Logger
	// Ready returns why operations cannot be answered yet, nil when they can. Nil for always.
	Ready func() error
	// Token returns the token of an id, nil for none; it is called at each request that brings one, so that revocation
	// is immediate. Nil if there are no tokens.
	Token func(id string) (*Token, error)
	// NeedToken refuses who brings no token. Without it they may read and write, which is right on a
	// loopback address alone.
	NeedToken bool
	// Only is the branch that all callers are confined to, "" for none. A token may confine its callers to it too; one
	// that confines to another branch does not count, nor does any if callers need no token and Only is "".
	Only string
	// Own is whether all who reach the server are this user: then who brings no token may do everything.
	Own bool
	// Loopback is whether the server listens on a loopback address: then Host must be such an address or localhost.
	Loopback bool
	Hosts    []string // more names that may be in Host, without port
	Origins  []string // pages that may ask from a browser: "https://example.org"; none by default
	// View answers "/" with the web view, and lets browsers log in.
	View   bool
	Routes []Route
	// OAuth lets clients sign in; nil if they need a token that was made by hand.
	OAuth *OAuth
	// Under returns one of several repositories by its name, nil for none: it answers requests whose path begins with
	// the name, with its own tokens. Nil if the server has only one repository.
	Under func(name string) (*Named, error)
	// Uploads keeps bodies that come in parts, nil if none may.
	Uploads *Uploads
	// Name is the name of one of several repositories, for metrics.
	Name string
	// Usage returns the repository's usage; nil if that is unknown, and then there is no Quota.
	Usage  Usages
	Quota  Quota
	Limits Limits
}

// Route is a further path with its own handler. Its requests are guarded like all others, and their bodies are bounded
// and read before; they have no time limit, and their contexts end when the server stops.
type Route struct {
	Path    string
	Effect  operation.Effect // the right that the caller needs
	Handler http.Handler
}

// Limits bound what requests cost. A zero takes the default.
type Limits struct {
	Body    int64         // bytes of one body; default 64 MiB
	Bodies  int64         // bytes of all bodies at once; default 4 times Body, at least 128 MiB
	Running int           // operations at once; default 32
	Waiting int           // that wait for their turn; default 512
	Conns   int           // connections at once; default 4096
	Rate    float64       // requests a second of one token, or of all without one; default 500
	Time    time.Duration // for one request; default 5 minutes
	Read    time.Duration // for a body to come; default a minute
	Stall   time.Duration // for 64 KiB of a body, or its rest, to arrive; default 5 seconds
	Write   time.Duration // for a client to take a part of an answer; default 30 seconds
	Grace   time.Duration // for requests under way when the server is to stop; default 10 seconds
	Header  time.Duration // for the line and headers of a request to come; default 5 seconds
	Idle    time.Duration // between requests of a connection; default a minute
	// Drain is how long a stopping server continues to answer while /readyz reports the stop, so that a load balancer
	// sends requests to other servers. Default 0.
	Drain time.Duration
	// Quiet ends a server that no request came to for so long; 0 for never. Connections without a request do not count.
	Quiet time.Duration
}

const (
	headerTime = 5 * time.Second
	// minBodies lets one caller send JSON of the greatest size, and others too.
	minBodies = 4 * parsedWeight * maxJSON
)

func (l *Limits) fill() {
	l.Body = cmp.Or(l.Body, httpd.MaxBody)
	l.Bodies = cmp.Or(l.Bodies, max(4*l.Body, minBodies))
	l.Running = cmp.Or(l.Running, 32)
	l.Waiting = cmp.Or(l.Waiting, 512)
	l.Conns = cmp.Or(l.Conns, 4096)
	l.Rate = cmp.Or(l.Rate, 500)
	l.Time = cmp.Or(l.Time, 5*time.Minute)
	l.Read = cmp.Or(l.Read, time.Minute)
	l.Stall = cmp.Or(l.Stall, 5*time.Second)
	l.Write = cmp.Or(l.Write, 30*time.Second)
	l.Grace = cmp.Or(l.Grace, 10*time.Second)
	l.Header = cmp.Or(l.Header, headerTime)
	l.Idle = cmp.Or(l.Idle, time.Minute)
}

// Server answers requests. Safe for concurrent use.
type Server struct {
	cfg     Config
	ops     map[string]*operation.Operation
	openAPI func() ([]byte, error) // made when it is asked for first
	// openAPIConfined has the operations that callers may ask for who are confined to a branch.
	openAPIConfined func() ([]byte, error)
	mux             *http.ServeMux
	metrics         *metrics
	ids             *ids
	instance        string // random, in each answer: a client learns from it that another process answers
	requests        traffic
	rates           rates
	met             *met // repositories and tokens
	bodies          *room
	slots           slots
	watchers        *room    // of requests that watch
	answers         *answers // of requests with an Idempotency-Key
	logins          logins   // of browsers
	subs            sync.Map // that Sub made, *Server
	stopping        atomic.Bool
	stop            chan struct{} // closed when the server is to stop
	broken          chan struct{} // closed when it does not wait for requests under way any more
}

// New returns a server.
func New(cfg Config) *Server {
	cfg.Limits.fill()
	s := &Server{
		cfg: cfg, ops: make(map[string]*operation.Operation), metrics: newMetrics(cfg.Name, cfg.Usage),
		ids: &ids{from: cfg.Rand}, rates: newRates(cfg.Limits.Rate, cfg.Now), met: newMet(),
		bodies: newBodies(cfg.Limits), slots: newSlots(cfg.Limits),
		watchers: newRoom(maxWatchers, maxWatchers/2, 0),
		logins:   logins{all: make(map[digest]*login)},
		answers:  newAnswers(cfg.Now), stop: make(chan struct{}), broken: make(chan struct{}),
	}
	s.instance = s.ids.next()
	for i := range cfg.Operations {
		s.ops[cfg.Operations[i].Name] = &cfg.Operations[i]
	}
	s.openAPI = sync.OnceValues(func() ([]byte, error) { return Document(cfg.Operations, cfg.Version) })
	s.openAPIConfined = sync.OnceValues(func() ([]byte, error) {
		return Document(operation.Confined(cfg.Operations), cfg.Version)
	})
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("/v1/{operation}", s.allow(0, s.call)) // the effect is known later
	if s.ops[watchName] != nil {
		s.mux.HandleFunc("/v1/"+watchName, s.allow(operation.Reads, s.watch))
	}
	if cfg.Uploads != nil {
		s.mux.HandleFunc("/v1/uploads/{id}", s.allow(operation.Writes, s.unconfined(s.upload)))
	}
	s.mux.HandleFunc("/openapi.json", s.allow(operation.Reads, s.serveOpenAPI))
	s.mux.HandleFunc("/metrics", s.allow(operation.Reads, s.unconfined(s.serveMetrics)))
	s.mux.HandleFunc("/healthz", s.health)
	s.mux.HandleFunc("/readyz", s.ready)
	other := func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, notFound("no %q here: see /openapi.json", r.URL.Path))
	}
	if cfg.Name != "" {
		other = s.allow(0, other) // who has no token does not learn that the repository is there
	}
	s.mux.HandleFunc("/", other)
	if cfg.View {
		s.mux.HandleFunc(loginPath, s.login)
		s.serveView()
	}
	if cfg.OAuth != nil {
		oauth{s}.serveOAuth()
	}
	for _, route := range cfg.Routes {
		s.mux.HandleFunc(route.Path, s.allow(route.Effect, s.whole(s.long(route.Handler))))
	}
	return s
}

// Serve answers connections until the context ends, then lets requests under way end for as long
// as Limits.Grace, and returns. The listener is closed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	ctx, quiet := context.WithCancel(ctx)
	defer quiet()
	if s.cfg.Limits.Quiet > 0 {
		go s.requests.endQuiet(ctx, s.cfg.Limits.Quiet, quiet)
	}
	srv := s.server(base, s)
	ended := make(chan error, 1)
	go func() { ended <- s.accept(srv, l, s.cfg.Limits.Conns) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	if s.cfg.Limits.Drain > 0 {
		srv.SetKeepAlivesEnabled(false) // clients reconnect to another server
		select {
		case err := <-ended:
			return err
		case <-time.After(s.cfg.Limits.Drain):
		}
	}
	close(s.stop)
	grace, done := context.WithTimeout(base, s.cfg.Limits.Grace)
	defer done()
	err := srv.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		s.cfg.Log.Warn("requests were broken off", "after", s.cfg.Limits.Grace)
		cancel()
		close(s.broken)
		err = srv.Close()
	}
	<-ended
	return err
}

// accept answers the connections of a listener, at most conns at a time.
func (s *Server) accept(srv *http.Server, l net.Listener, conns int) error {
	return srv.Serve(&listener{l, make(chan struct{}, conns), s.metrics})
}

// server returns what answers connections by a handler.
func (s *Server) server(ctx context.Context, h http.Handler) *http.Server {
	srv := httpd.New(ctx, h, s.cfg.Limits.Header, s.cfg.Limits.Idle)
	srv.ErrorLog = slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug) // errors of clients
	return srv
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, r := s.exchange(w, r)
	h := w.Header()
	h.Set("X-Request-Id", x.id)
	h.Set("Mnem-Instance", s.instance)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "private, no-cache")
	s.metrics.running.Inc()
	defer s.requests.begin()()
	defer s.end(x, r)
	s.limitTime(w, r, x.start)
	if p := s.guard(x, r); p != nil {
		s.refuse(x, r, p)
		return
	}
	if r.Method == http.MethodOptions {
		x.WriteHeader(http.StatusNoContent) // the guard set the headers if the origin is allowed
		return
	}
	if !s.under(x, r) {
		s.mux.ServeHTTP(x, r)
	}
}

// limitTime bounds the time for a body to come and for the answer to be taken. An error means a dead connection.
func (s *Server) limitTime(w http.ResponseWriter, r *http.Request, start time.Time) {
	rc, l := http.NewResponseController(w), &s.cfg.Limits
	_ = rc.SetWriteDeadline(start.Add(l.Time + l.Read + l.Write))
	if r.ContentLength != 0 { // net/http lifts it when the body was read; without one it would end all
		_ = rc.SetReadDeadline(start.Add(l.Read))
	}
}

// end counts and logs a request, and answers one whose handler panicked.
func (s *Server) end(x *exchange, r *http.Request) {
	cause := recover()
	if cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
		s.cfg.Log.Error("panic", "request", x.id, "cause", cause)
		if x.status == 0 {
			s.refuse(x, r, failed(operation.Failed, "the request met a defect of this program"))
			cause = nil
		}
	}
	s.metrics.running.Dec()
	took := s.cfg.Now().Sub(x.start)
	metrics := s.metrics
	if x.of != nil {
		metrics = x.of.metrics
	}
	metrics.count(x, r.Method, took)
	s.log(x, r, took, cause != nil)
	if cause != nil {
		panic(http.ErrAbortHandler) // the client must not take half an answer for a whole one
	}
}

func (s *Server) health(w http.ResponseWriter, r *http.Request) { s.status(w, r, nil) }

// ready reports whether operations can be answered.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	var err error
	if s.cfg.Ready != nil {
		err = s.cfg.Ready()
	}
	if s.stopping.Load() {
		err = errors.New("the server is stopping")
	}
	s.status(w, r, err)
}

func (s *Server) status(w http.ResponseWriter, r *http.Request, err error) {
	if !s.methods(w, r, http.MethodGet, http.MethodHead) {
		return
	}
	if err != nil {
		s.refuse(w, r, failed(operation.Busy, err.Error()))
		return
	}
	w.Header().Set("Content-Type", operation.MediaJSON)
	_, _ = io.WriteString(w, `{"status":"ok"}`+"\n") // who asked may have gone
}

func (s *Server) serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	if !s.methods(w, r, http.MethodGet, http.MethodHead) {
		return
	}
	of := s.openAPI
	if whoOf(r.Context()).only != "" {
		of = s.openAPIConfined
	}
	doc, err := of()
	if err != nil {
		s.cfg.Log.Error("the OpenAPI document cannot be made", "cause", err)
		s.refuse(w, r, failed(operation.Failed, "the document cannot be made"))
		return
	}
	w.Header().Set("Content-Type", operation.MediaJSON)
	_, _ = w.Write(doc) // as above
}

// methods reports whether a request has one of the methods, and refuses others.
func (s *Server) methods(w http.ResponseWriter, r *http.Request, list ...string) bool {
	if slices.Contains(list, r.Method) {
		return true
	}
	s.refuse(w, r, wrongMethod(list...))
	return false
}

// long answers a request that may take as long as its client stays.
func (s *Server) long(h http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := until(r.Context(), s.stop)
		defer cancel()
		rc := http.NewResponseController(w)
		_ = rc.SetReadDeadline(time.Time{}) // if it cannot be lifted the request ends sooner
		_ = rc.SetWriteDeadline(time.Time{})
		h.ServeHTTP(w, r.WithContext(ctx))
	}
}

// whole reads the body of a request before it is answered, as bodies of operations are: within its
// time and size, if there is room.
func (s *Server) whole(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next(w, r)
			return
		}
		body, p := s.take(r, s.cfg.Limits.Body, parsedWeight)
		defer body.release()
		if p != nil {
			s.refuse(w, r, p)
			return
		}
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body.text())), body.size
		next(w, r)
	}
}

// until returns a context that ends when a channel is closed too. cancel must be called.
func until(ctx context.Context, end <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-end:
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
