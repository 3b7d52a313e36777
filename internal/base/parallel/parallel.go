// Package parallel runs work concurrently with deterministic results: they come in input order for any GOMAXPROCS,
// memory is bounded, and no goroutine outlives the call that started it, however that ends. A panic on a goroutine
// is repeated on the caller's.
package parallel

import (
	"cmp"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// Limit bounds the items in flight in Map: at most two for each processor and, beyond the first, a total of Bytes
// as reported by Size.
type Limit[In any] struct {
	Bytes int
	Size  func(In) int
}

// Map yields fn's result for each item of in, in order. fn runs on up to GOMAXPROCS goroutines; in and yield run on
// the caller's, and in is read ahead of the yielded results. With a single item, or one processor, everything runs
// on the caller's goroutine. Map returns after every call of fn has.
func Map[In, Out any](in iter.Seq[In], limit Limit[In], fn func(In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		m := mapper[In, Out]{limit: limit, fn: fn, yield: yield, workers: runtime.GOMAXPROCS(0)}
		defer m.stop()
		for item := range in {
			if !m.add(item) {
				return
			}
		}
		m.finish()
	}
}

type mapper[In, Out any] struct {
	limit   Limit[In]
	fn      func(In) Out
	yield   func(Out) bool
	workers int

	first *In // the only item so far
	jobs  chan *job[In, Out]
	done  sync.WaitGroup
	queue []*job[In, Out] // under way, the oldest first
	bytes int             // of the queue
}

type job[In, Out any] struct {
	in     In
	size   int
	result chan Out // of capacity 1
	panics chan any // likewise
}

// add takes an item, and reports whether more are wanted.
func (m *mapper[In, Out]) add(item In) bool {
	if m.workers < 2 {
		return m.yield(m.fn(item))
	}
	if m.jobs == nil {
		if m.first == nil {
			m.first = &item
			return true
		}
		m.start()
		m.submit(*m.first)
	}
	size := m.limit.Size(item)
	for len(m.queue) >= 2*m.workers || len(m.queue) > 0 && m.bytes+size > m.limit.Bytes {
		if !m.next() {
			return false
		}
	}
	m.submit(item)
	return true
}

func (m *mapper[In, Out]) start() {
	m.jobs = make(chan *job[In, Out], 2*m.workers)
	for range m.workers {
		m.done.Go(func() {
			for j := range m.jobs {
				m.work(j)
			}
		})
	}
}

func (m *mapper[In, Out]) work(j *job[In, Out]) {
	defer func() {
		if p := recover(); p != nil {
			j.panics <- p
		}
	}()
	j.result <- m.fn(j.in)
}

// submit passes an item to the goroutines. It does not block: the channel has the capacity of the queue.
func (m *mapper[In, Out]) submit(item In) {
	j := &job[In, Out]{item, m.limit.Size(item), make(chan Out, 1), make(chan any, 1)}
	m.queue = append(m.queue, j)
	m.bytes += j.size
	m.jobs <- j
}

// next yields the oldest result.
func (m *mapper[In, Out]) next() bool {
	j := m.queue[0]
	m.queue[0] = nil
	m.queue = m.queue[1:]
	m.bytes -= j.size
	select {
	case out := <-j.result:
		return m.yield(out)
	case p := <-j.panics:
		panic(p)
	}
}

func (m *mapper[In, Out]) finish() {
	if m.jobs == nil {
		if m.first != nil {
			m.yield(m.fn(*m.first))
		}
		return
	}
	for len(m.queue) > 0 && m.next() {
	}
}

// stop waits for the goroutines. Queued items are not started.
func (m *mapper[In, Out]) stop() {
	if m.jobs == nil {
		return
	}
	for len(m.jobs) > 0 {
		select {
		case <-m.jobs:
		default:
		}
	}
	close(m.jobs)
	m.done.Wait()
}

// Do calls all functions concurrently and, after all have returned, returns the first error in argument order. With
// one processor they are called in sequence.
func Do(fns ...func() error) error {
	errs, panics := make([]error, len(fns)), make([]any, len(fns))
	call := func(i int) {
		defer func() { panics[i] = recover() }()
		errs[i] = fns[i]()
	}
	var done sync.WaitGroup
	serial := runtime.GOMAXPROCS(0) < 2
	for i := range fns {
		if serial {
			call(i)
		} else {
			done.Go(func() { call(i) })
		}
	}
	done.Wait()
	for i := range fns {
		if panics[i] != nil {
			panic(panics[i])
		}
		if errs[i] != nil {
			return errs[i]
		}
	}
	return nil
}

// Share runs fn on several goroutines, which divide the numbers below n among them: next returns the next range of at
// most step numbers, an empty one at the end. After an error the other goroutines get no further numbers; the error of
// the first goroutine that has one is returned.
func Share(workers, n, step int, fn func(next func() (from, to int)) error) error {
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
	return cmp.Or(errs...)
}
