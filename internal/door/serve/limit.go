package serve

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// rates bound how often callers ask: a bucket for each, which holds as many requests as two seconds
// bring, at least one. There are as many buckets as tokens, and a few.
type rates struct {
	mu      *sync.Mutex
	each    float64 // a second
	now     func() time.Time
	buckets map[string]*rate.Limiter
}

// Buckets of those without a token, and of those whose code is none. Ids of tokens look different.
const (
	anonymous = "-"
	unknown   = "?"
	// unknownRate is how many codes that are none may be tried a second, all callers together.
	unknownRate = 20
)

func newRates(each float64, now func() time.Time) rates {
	return rates{new(sync.Mutex), each, now, make(map[string]*rate.Limiter)}
}

// take takes a request of a caller, and returns after how long there is room for it, 0 for now.
func (r *rates) take(caller string) time.Duration {
	now := r.now()
	asked := r.bucket(caller).ReserveN(now, 1)
	after := asked.DelayFrom(now)
	if after > 0 {
		asked.CancelAt(now)
	}
	return after
}

// problem takes a request of a caller, and returns the problem of one who asks too often.
func (r *rates) problem(caller string) *problem {
	if after := r.take(caller); after > 0 {
		return tooMany(after)
	}
	return nil
}

func (r *rates) bucket(caller string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.buckets[caller]
	if b == nil {
		each := r.each
		if caller == unknown {
			each = unknownRate
		}
		b = rate.NewLimiter(rate.Limit(each), max(1, int(2*each)))
		r.buckets[caller] = b
	}
	return b
}

func tooMany(after time.Duration) *problem {
	p := newProblem(http.StatusTooManyRequests, codeTooMany, "too many requests: ask again later")
	p.header = retryAfter(after)
	return p
}

func retryAfter(d time.Duration) http.Header {
	return http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(d.Seconds())))}}
}

// smallBody is the size of a small body: large bodies leave room for it.
const smallBody = 64 << 10

// room bounds the total use of all callers, and each caller's share: one caller cannot keep out the others.
type room struct {
	all   int64
	share int64 // of one caller
	spare int64 // of all, for small parts; one caller may have half of it on top of its share
	mu    sync.Mutex
	used  int64
	by    map[string]int64 // use of each caller; without callers that use nothing
	freed chan struct{}    // closed when something is released; nil while no caller waits
}

func newRoom(all, share, spare int64) *room {
	return &room{all: all, share: share, spare: spare, by: make(map[string]int64)}
}

// newBodies returns the room of bodies. One caller may use half of it, or as much as one request needs.
func newBodies(l Limits) *room {
	need := max(l.Body+1, parsedWeight*(min(maxJSON, l.Body)+1)) // one byte more is asked for to see the end
	spare := l.Bodies / 8
	return newRoom(max(l.Bodies, need+spare), max(l.Bodies/2, need), spare)
}

type use int

const (
	wholly use = iota // for all of something
	little            // for little
	partly            // for a part of something whose rest may not fit
)

// take reserves n more for a caller, and reports whether there was room. Parts have a quarter of the room, so that
// their holders cannot keep all from getting the rest.
func (r *room) take(caller string, n int64, as use) bool {
	all, share := max(r.all-r.spare, r.share), r.share
	switch as {
	case little:
		all, share = max(r.all, r.share), r.share+r.spare/2
	case partly:
		all, share = all/4, share/4
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used+n > all || r.by[caller]+n > share {
		return false
	}
	r.used += n
	r.by[caller] += n
	return true
}

// await takes room for n as take does, and waits for it until the context ends.
func (r *room) await(ctx context.Context, caller string, n int64) bool {
	for {
		r.mu.Lock()
		if r.freed == nil {
			r.freed = make(chan struct{})
		}
		freed := r.freed
		r.mu.Unlock()
		if r.take(caller, n, wholly) {
			return true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

func (r *room) give(caller string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	if r.by[caller] -= n; r.by[caller] == 0 {
		delete(r.by, caller)
	}
	if r.freed != nil {
		close(r.freed)
		r.freed = nil
	}
}

// slots bound the operations that run at once, and those that wait for their turn.
type slots struct {
	free    chan struct{}
	waiting *atomic.Int64
	most    int64
	slow    *atomic.Int64 // that wait for their clients
}

func newSlots(l Limits) slots {
	return slots{make(chan struct{}, l.Running), new(atomic.Int64), int64(l.Waiting), new(atomic.Int64)}
}

// enter waits for a turn, which leave must end.
func (s *slots) enter(ctx context.Context) *problem {
	select {
	case s.free <- struct{}{}:
		return nil
	default:
	}
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > s.most {
		return failed(operation.Busy, "too many requests wait already")
	}
	select {
	case s.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return failed(operation.Busy, "the request waited too long for its turn")
	}
}

func (s *slots) leave() { <-s.free }

// outside runs a function that waits for a client, without its slot, so that a client that reads its answer slowly
// blocks no other. Beyond maxOutside such functions keep their slots: each has an answer begun.
func (s *slots) outside(ctx context.Context, wait func() error) error {
	defer s.slow.Add(-1)
	if s.slow.Add(1) > maxOutside {
		return wait()
	}
	s.leave()
	err := wait()
	select {
	case s.free <- struct{}{}:
		return err
	case <-ctx.Done():
		s.free <- struct{}{} // leave ends this turn as any other
		return ctx.Err()
	}
}

// maxOutside is how many operations may wait for their clients in addition to the running ones.
const maxOutside = 256

// Usage describes a repository's size and activity. Unknown numbers are negative.
type Usage struct {
	Blocks, Bytes int64
	Commits       int64 // of this day, in UTC
}

// Quota bounds a repository's size and activity. A zero bounds nothing.
type Quota struct {
	Blocks, Bytes int64
	Commits       int64 // a day
}

// Usages returns a repository's usage. It may be some seconds old unless fresh is set.
type Usages func(fresh bool) (Usage, error)

// over returns the problem of a repository that may not grow by n bytes, or change again today; nil if it may.
func (q *Quota) over(u Usage, n int64, now time.Time) *problem {
	switch {
	case q.Bytes > 0 && u.Bytes+n > q.Bytes:
		return full("the repository has as many bytes as it may have: %d", q.Bytes)
	case q.Blocks > 0 && u.Blocks >= q.Blocks:
		return full("the repository has as many blocks as it may have: %d", q.Blocks)
	case q.Commits > 0 && u.Commits >= q.Commits:
		p := newProblem(http.StatusTooManyRequests, codeQuota, "the repository was changed as often today as it may be: %d times",
			q.Commits)
		p.header = retryAfter(now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now))
		p.Hint = "a day begins at midnight, in UTC"
		return p
	}
	return nil
}

func full(format string, args ...any) *problem {
	p := newProblem(http.StatusInsufficientStorage, codeQuota, format, args...)
	p.Hint = "remove something and collect garbage, or have the server's --limit raised"
	return p
}

// room returns the problem of a repository without room for n bytes more, nil if there is room. Operations that need a
// token of scope admin are not checked: purges and collections make room.
func (s *Server) room(n int64) *problem {
	if s.cfg.Quota == (Quota{}) {
		return nil
	}
	u, err := s.cfg.Usage(false)
	if err == nil {
		p := s.cfg.Quota.over(u, n, s.cfg.Now())
		if p == nil {
			return nil
		}
		if u, err = s.cfg.Usage(true); err == nil { // a collection may have made room since
			return s.cfg.Quota.over(u, n, s.cfg.Now())
		}
	}
	s.cfg.Log.Error("what the repository has cannot be counted", "cause", err)
	return ofError(err, "what the repository has cannot be counted")
}

// listener bounds the open connections. Further ones get a short answer that says so and are closed, so that no client
// waits without an answer.
type listener struct {
	net.Listener
	free    chan struct{}
	metrics *metrics
}

// Accept returns the next connection there is room for.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.free <- struct{}{}:
			l.metrics.conns.Inc()
			return &conn{Conn: c, end: sync.OnceFunc(func() {
				<-l.free
				l.metrics.conns.Dec()
			})}, nil
		default:
			l.metrics.refused.Inc()
			turnAway(c)
		}
	}
}

// turnAway answers a connection without reading from it. The answer fits the system's buffer, so the write does not
// wait. The client may lose it if it sends at the same time.
func turnAway(c net.Conn) {
	p := failed(operation.Busy, "too many connections")
	body := p.body()
	_, _ = fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: %s\r\nRetry-After: 1\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", mediaProblem, len(body), body)
	_ = c.Close() // the client has its answer
}

// conn releases its slot when it is closed.
type conn struct {
	net.Conn
	end func()
}

// Close closes the connection.
func (c *conn) Close() error {
	defer c.end()
	return c.Conn.Close()
}

// traffic counts requests, so that a server can end when none comes.
type traffic struct {
	begun   atomic.Int64
	running atomic.Int64
}

// begin counts a request until what it returns is called.
func (t *traffic) begin() (end func()) {
	t.running.Add(1)
	t.begun.Add(1)
	return func() { t.running.Add(-1) }
}

// quietChecks is how many checks in a row must find no request: a server ends after the given time, or a quarter later.
const quietChecks = 4

// endQuiet calls end when no request came or was running for a time. It returns earlier if the context ends.
func (t *traffic) endQuiet(ctx context.Context, after time.Duration, end func()) {
	tick := time.NewTicker(max(after/quietChecks, time.Millisecond))
	defer tick.Stop()
	seen := t.begun.Load()
	for quiet := 0; quiet < quietChecks; quiet++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if begun := t.begun.Load(); begun != seen || t.running.Load() > 0 {
			seen, quiet = begun, -1
		}
	}
	end()
}
