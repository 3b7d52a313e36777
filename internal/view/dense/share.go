package dense

import (
	"sync"
	"sync/atomic"
)

// share runs fn on up to some goroutines, which share the numbers below n: next returns the ones
// that come next, up to step of them, none at the end. After an error the others get no more; that
// of the first goroutine that has one is returned.
func share(workers, n, step int, fn func(next func() (from, to int)) error) error {
	var at atomic.Int64
	next := func() (from, to int) {
		from = int(at.Add(int64(step))) - step
		return min(from, n), min(from+step, n)
	}
	workers = min(workers, (n+step-1)/step)
	if workers <= 1 {
		return fn(next)
	}
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			if errs[w] = fn(next); errs[w] != nil {
				at.Store(int64(n))
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
