// Package parallel does work side by side so that nobody can tell: results come in the order of what
// they are of, whatever GOMAXPROCS is, memory is bounded, and no goroutine outlives the call that
// began it, however that ends. A panic on a goroutine comes up again on the caller's.
package parallel

import (
	"iter"
	"runtime"
	"sync"
)

// Limit bounds what Map has under way: at most two items for each processor, and of those, beyond
// the first, no more than Bytes as Size tells them.
type Limit[In any] struct {
	Bytes int
	Size  func(In) int
}

// Map yields what fn returns of each item of in, in the order of items. fn is called on several
// goroutines at once, of up to GOMAXPROCS items; in and yield on the caller's, and in is asked for
// items somewhat before those before it are yielded. Where there is one item alone, or one processor,
// all is done on the caller's goroutine. Map returns once every call of fn has.
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

// submit hands an item to the goroutines. There is room in the channel: it takes the whole queue.
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

// stop waits for the goroutines. What is queued still is not begun.
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

// Do calls all functions at once and returns, when the last has, the error of the first that had one
// in the order given. Where there is one processor they are called one after the other.
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
