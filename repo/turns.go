package repo

import (
	"container/list"
	"context"
	"runtime"
	"sync"
)

// turns lets callers in one at a time, or as many as it is told, in the order in which they asked: the one that
// leaves hands its turn to the one that has waited longest, so that a caller that comes meanwhile cannot take it.
// The zero value is ready.
type turns struct {
	most int // at a time, set before use; 0 for one

	mu      sync.Mutex
	taken   int
	waiting list.List // of chan struct{}, closed when the turn is theirs
}

// takeFree takes a turn that nobody has. Its caller holds mu.
func (q *turns) takeFree() bool {
	if q.taken >= max(1, q.most) {
		return false
	}
	q.taken++
	return true
}

// take waits for the turn, which give must end, or returns the error of a context that ends before.
func (q *turns) take(ctx context.Context) error {
	q.mu.Lock()
	if q.takeFree() {
		q.mu.Unlock()
		return nil
	}
	given := make(chan struct{})
	place := q.waiting.PushBack(given)
	q.mu.Unlock()
	select {
	case <-given:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	select {
	case <-given: // both at once
		q.mu.Unlock()
		q.give()
	default:
		q.waiting.Remove(place)
		q.mu.Unlock()
	}
	return ctx.Err()
}

// try takes the turn where nobody has it.
func (q *turns) try() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.takeFree()
}

// give hands the turn to the caller that has waited longest.
func (q *turns) give() {
	q.mu.Lock()
	defer q.mu.Unlock()
	next := q.waiting.Front()
	if next == nil {
		q.taken--
		return
	}
	close(q.waiting.Remove(next).(chan struct{}))
}

// answersAtOnce is how many retrievals compute at a time. More would take turns of ten milliseconds on the
// processors: an answer that needs several of these would wait for all others each time.
func answersAtOnce() int {
	return 2 * runtime.GOMAXPROCS(0)
}
