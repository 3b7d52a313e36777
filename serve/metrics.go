package serve

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what /metrics tells. Labels have few values: names of operations, methods, statuses.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  prometheus.Gauge
	conns    prometheus.Gauge
	refused  prometheus.Counter // connections
	handler  http.Handler
}

func newMetrics() *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mnem_http_requests_total", Help: "Requests by operation, method, status and code.",
		}, []string{"operation", "method", "status", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mnem_http_request_seconds", Help: "Time from the headers of a request to its end.",
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
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.seconds, m.running, m.conns, m.refused,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

func (m *metrics) serve(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

func (m *metrics) count(x *exchange, method string, took time.Duration) {
	m.requests.WithLabelValues(x.operation, knownMethod(method), strconv.Itoa(x.status), x.code).Inc()
	m.seconds.WithLabelValues(x.operation).Observe(took.Seconds())
}
