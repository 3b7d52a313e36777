package repo

import (
	"container/list"
	"context"
	"sync"
)

// turns lets callers in one at a time, in the order in which they asked: the one that leaves hands
// its turn to the one that has waited longest, so that a caller that comes meanwhile cannot take it.
// The zero value is ready.
type turns struct {
	mu      sync.Mutex
	taken   bool
	waiting list.List // of chan struct{}, closed when the turn is theirs
}

// take waits for the turn, which give must end, or returns the error of a context that ends before.
func (q *turns) take(ctx context.Context) error {
	q.mu.Lock()
	if !q.taken {
		q.taken = true
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
	if q.taken {
		return false
	}
	q.taken = true
	return true
}

// give hands the turn to the caller that has waited longest.
func (q *turns) give() {
	q.mu.Lock()
	defer q.mu.Unlock()
	next := q.waiting.Front()
	if next == nil {
		q.taken = false
		return
	}
	close(q.waiting.Remove(next).(chan struct{}))
}
