package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// metrics are the metrics of /metrics. Labels have few values: names of operations, methods, statuses; and the
// repository, since only a few are open at a time.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  prometheus.Gauge
	conns    prometheus.Gauge
	refused  prometheus.Counter // connections
	registry *prometheus.Registry
}

// newMetrics returns the metrics of a repository, with those of the process if it has no name.
func newMetrics(name string, usage Usages) *metrics {
	var of prometheus.Labels
	if name != "" {
		of = prometheus.Labels{"repository": name}
	}
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mnem_http_requests_total", Help: "Requests by operation, method, status and code.", ConstLabels: of,
		}, []string{"operation", "method", "status", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mnem_http_request_seconds", Help: "Time from the headers of a request to its end.", ConstLabels: of,
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
		}, []string{"operation"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "mnem_http_requests_running", Help: "Requests under way.",
		}),
		conns: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "mnem_http_connections", Help: "Connections that are open.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mnem_http_connections_refused_total", Help: "Connections beyond the limit.",
		}),
		registry: prometheus.NewRegistry(),
	}
	m.registry.MustRegister(m.requests, m.seconds)
	if name == "" {
		m.registry.MustRegister(m.running, m.conns, m.refused,
			collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	if usage != nil {
		m.registry.MustRegister(&usageMetrics{usage, [...]*prometheus.Desc{
			prometheus.NewDesc("mnem_repository_blocks", "Blocks that are stored, those of indexes among them.", nil, of),
			prometheus.NewDesc("mnem_repository_bytes", "Bytes that are stored.", nil, of),
			prometheus.NewDesc("mnem_repository_commits_today", "Operations since midnight, in UTC.", nil, of),
		}})
	}
	return m
}

type usageMetrics struct {
	usage Usages
	all   [3]*prometheus.Desc
}

func (m *usageMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range m.all {
		to <- d
	}
}

func (m *usageMetrics) Collect(to chan<- prometheus.Metric) {
	u, err := m.usage(false)
	if err != nil {
		return // the others are reported
	}
	for i, n := range [...]int64{u.Blocks, u.Bytes, u.Commits} {
		if n >= 0 {
			to <- prometheus.MustNewConstMetric(m.all[i], prometheus.GaugeValue, float64(n))
		}
	}
}

func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	all := prometheus.Gatherers{s.metrics.registry}
	s.subs.Range(func(sub, _ any) bool {
		all = append(all, sub.(*Server).metrics.registry)
		return true
	})
	families, err := all.Gather()
	var out bytes.Buffer // as text alone, which all that ask for metrics read: other forms are a program of their own
	for i := 0; i < len(families) && err == nil; i++ {
		_, err = expfmt.MetricFamilyToText(&out, families[i])
	}
	if err != nil {
		http.Error(w, "metrics: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", metricsType)
	_, _ = w.Write(out.Bytes()) // the client may have gone
}

const metricsType = "text/plain; version=0.0.4; charset=utf-8"

const (
	metricsConns = 64
	metricsTime  = 30 * time.Second
)

// ServeMetrics answers /metrics, /healthz and /readyz to all who reach a listener, without tokens, until the context
// ends. The listener is closed.
func (s *Server) ServeMetrics(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", s.serveMetrics)
	mux.HandleFunc("/healthz", s.plain(s.health))
	mux.HandleFunc("/readyz", s.plain(s.ready))
	srv := s.server(ctx, mux)
	srv.ReadTimeout, srv.WriteTimeout = metricsTime, metricsTime
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })() // its listener is closed
	if err := s.accept(srv, l, metricsConns); ctx.Err() == nil {
		return err
	}
	return nil
}

// plain answers a request that is neither counted nor logged.
func (s *Server) plain(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x, r := s.exchange(w, r)
		next(x, r)
	}
}

func (m *metrics) count(x *exchange, method string, took time.Duration) {
	m.requests.WithLabelValues(x.operation, knownMethod(method), strconv.Itoa(x.status), x.code).Inc()
	m.seconds.WithLabelValues(x.operation).Observe(took.Seconds())
}

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

func (s *Server) exchange(w http.ResponseWriter, r *http.Request) (*exchange, *http.Request) {
	x := &exchange{ResponseWriter: w, start: s.cfg.Now(), id: s.requestID(r)}
	return x, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
}

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

type ids struct {
	mu   sync.Mutex
	from io.Reader
}

// idBytes is how many random bytes an id has: enough that no two are the same.
const idBytes = 16

func (i *ids) next() string {
	var b [idBytes]byte
	if _, err := i.Read(b[:]); err != nil {
		return "none" // an id only helps to find a line of the log
	}
	return hex.EncodeToString(b[:])
}

// Read fills b with random bytes.
func (i *ids) Read(b []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return io.ReadFull(i.from, b)
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
	s.cfg.Log.LogAttrs(context.WithoutCancel(r.Context()), level, "request",
		slog.String("request", x.id), slog.String("method", knownMethod(r.Method)),
		slog.String("operation", cmp.Or(x.operation, "-")), slog.Int("status", x.status), slog.String("code", x.code),
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
