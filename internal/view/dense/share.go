package dense

import (
	"sync"
	"sync/atomic"
)

// share runs fn on several goroutines, which divide the numbers below n among them: next returns the next range of at
// most step numbers, an empty one at the end. After an error the other goroutines get no further numbers; the error of
// the first goroutine that has one is returned.
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
