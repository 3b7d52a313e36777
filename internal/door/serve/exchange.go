package serve

import (
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// exchange is one request and its response: what is logged and counted of it. Nothing that callers
// write is: neither arguments, queries nor bodies.
type exchange struct {
	http.ResponseWriter
	start     time.Time
	id        string
	operation string // "" for other paths
	caller    string // name of the token, "" without one
	code      string // of the outcome or problem
	status    int    // 0 before the response begins
	bytes     int64
	of        *Server // that answers for the repository which the path names, nil for none
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	return x
}

// WriteHeader begins the response.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= 200 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write writes some of the response's body.
func (x *exchange) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Flush sends what was written so far.
func (x *exchange) Flush() {
	_ = http.NewResponseController(x.ResponseWriter).Flush() // a client that is gone is seen when writing
}

// ids makes the ids of requests.
type ids struct {
	mu   sync.Mutex
	from io.Reader
}

// idBytes is how many random bytes an id has: enough that no two are the same.
const idBytes = 16

func (i *ids) next() string {
	var b [idBytes]byte
	if err := i.read(b[:]); err != nil {
		return "none" // an id only helps to find a line of the log
	}
	return hex.EncodeToString(b[:])
}

// read fills b with random bytes.
func (i *ids) read(b []byte) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, err := io.ReadFull(i.from, b)
	return err
}

// An id that a client gives has the bytes of foreignID, and at most maxForeignID of them.
const (
	foreignID    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	maxForeignID = 64
)

func (s *Server) requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" && len(id) <= maxForeignID && strings.Trim(id, foreignID) == "" {
		return id
	}
	return s.ids.next()
}

func (s *Server) log(x *exchange, r *http.Request, took time.Duration, broken bool) {
	level := slog.LevelInfo
	if x.status >= 500 || broken {
		level = slog.LevelWarn
	}
	what := x.operation
	if what == "" {
		what = "-"
	}
	s.cfg.Log.LogAttrs(context.WithoutCancel(r.Context()), level, "request",
		slog.String("request", x.id), slog.String("method", knownMethod(r.Method)),
		slog.String("operation", what), slog.Int("status", x.status), slog.String("code", x.code),
		slog.String("caller", x.caller), slog.String("from", r.RemoteAddr),
		slog.Int64("bytes", x.bytes), slog.Duration("took", took), slog.Bool("broken", broken))
}

// knownMethod keeps what clients make up out of logs and metrics.
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions, http.MethodPut,
		http.MethodDelete, http.MethodPatch:
		return m
	}
	return "other"
}
