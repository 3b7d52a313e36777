package core

import (
	"container/list"
	"context"
	"runtime"
	"sync"
)

// Turns is a first-come, first-served semaphore: a release hands the slot to the caller that has waited longest,
// so that a later caller cannot take it. The zero value is ready.
type Turns struct {
	Most int // at a time, set before use; 0 for one

	Mu      sync.Mutex
	Taken   int
	Waiting list.List // of chan struct{}, closed when the turn is theirs
}

// takeFree takes a free slot, if there is one. Its caller holds mu.
func (q *Turns) takeFree() bool {
	if q.Taken >= max(1, q.Most) {
		return false
	}
	q.Taken++
	return true
}

// Take waits for the turn, which Give must end, or returns the error of a context that ends before.
func (q *Turns) Take(ctx context.Context) error {
	q.Mu.Lock()
	if q.takeFree() {
		q.Mu.Unlock()
		return nil
	}
	given := make(chan struct{})
	place := q.Waiting.PushBack(given)
	q.Mu.Unlock()
	select {
	case <-given:
		return nil
	case <-ctx.Done():
	}
	q.Mu.Lock()
	select {
	case <-given: // both at once
		q.Mu.Unlock()
		q.Give()
	default:
		q.Waiting.Remove(place)
		q.Mu.Unlock()
	}
	return ctx.Err()
}

// Try takes a free slot without waiting, and reports whether it did.
func (q *Turns) Try() bool {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	return q.takeFree()
}

// Give hands the turn to the caller that has waited longest.
func (q *Turns) Give() {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	next := q.Waiting.Front()
	if next == nil {
		q.Taken--
		return
	}
	close(q.Waiting.Remove(next).(chan struct{}))
}

// answersAtOnce is how many retrievals compute at a time. More would take turns of ten milliseconds on the
// processors: an answer that needs several of these would wait for all others each time.
func answersAtOnce() int {
	return 2 * runtime.GOMAXPROCS(0)
}
