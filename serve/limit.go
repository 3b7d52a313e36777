package serve

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnem-project/mnem/operation"
)

// rates bound how often callers ask: a bucket for each, which holds as many requests as two seconds
// bring. There are as many buckets as tokens, and a few.
type rates struct {
	mu      *sync.Mutex
	each    float64 // a second
	now     func() time.Time
	buckets map[string]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

// Buckets of those without a token, and of those whose token is none. Ids of tokens look different.
const (
	anonymous = "-"
	unknown   = "?"
	// unknownRate is how many tokens that are none may be tried a second, all callers together.
	unknownRate = 20
)

func newRates(each float64, now func() time.Time) rates {
	return rates{new(sync.Mutex), each, now, make(map[string]*bucket)}
}

// take takes a request of a caller, and returns after how long there is room for it, 0 for now.
func (r *rates) take(caller string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	each, now := r.each, r.now()
	if caller == unknown {
		each = unknownRate
	}
	b := r.buckets[caller]
	if b == nil {
		b = &bucket{left: 2 * each, at: now}
		r.buckets[caller] = b
	}
	b.left = min(2*each, b.left+each*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	if b.left < 1 {
		return time.Duration((1 - b.left) / each * float64(time.Second))
	}
	b.left--
	return 0
}

// tooMany is the problem of a caller who asks too often.
func tooMany(after time.Duration) *problem {
	p := newProblem(http.StatusTooManyRequests, codeTooMany, "too many requests: ask again later")
	p.header = http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(after.Seconds())))}}
	return p
}

// budget is a number of bytes that may be in use.
type budget struct {
	mu   sync.Mutex
	left int64
}

func (b *budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}

// slots bound the operations that run at once, and those that wait for their turn.
type slots struct {
	free    chan struct{}
	waiting *atomic.Int64
	most    int64
}

func newSlots(l Limits) slots {
	return slots{make(chan struct{}, l.Running), new(atomic.Int64), int64(l.Waiting)}
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
