package parallel

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

var one = Limit[int]{Bytes: 1 << 20, Size: func(int) int { return 1 }}

func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func withProcs(t *testing.T, fn func(procs int)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		fn(procs)
	}
}

// TestMapKeepsOrder maps items that take the longer the earlier they are.
func TestMapKeepsOrder(t *testing.T) {
	withProcs(t, func(procs int) {
		for _, n := range []int{0, 1, 2, 3, 100} {
			got := slices.Collect(Map(upTo(n), one, func(i int) int {
				for range (n - i) % 7 {
					runtime.Gosched()
				}
				return i * i
			}))
			must.Require(t, len(got) == n, "%d processors: %d results of %d", procs, len(got), n)
			for i := range got {
				must.Equal(t, got[i], i*i, procs, " processors: result ", i)
			}
		}
	})
}

// TestMapIsBounded requests no more items than may be in flight, by number and by size.
func TestMapIsBounded(t *testing.T) {
	withProcs(t, func(procs int) {
		for _, size := range []int{1, 10, 100, 1000} {
			taken, most := 0, 0
			in := func(yield func(int) bool) {
				for i := range 200 {
					if taken++; !yield(i) {
						return
					}
				}
			}
			limit := Limit[int]{Bytes: 100, Size: func(int) int { return size }}
			yielded := 0
			for range Map(in, limit, func(i int) int { return i }) {
				most = max(most, taken-yielded)
				yielded++
			}
			// The item that waits for room was taken too.
			if want := min(2*procs, max(100/size, 1)) + 1; most > want {
				t.Errorf("%d processors, size %d: %d items under way, limit %d", procs, size, most, want)
			}
		}
	})
}

// TestMapStops ends early, in the ways a loop can: every call is over then, and no goroutine is left.
func TestMapStops(t *testing.T) {
	for name, end := range map[string]func(i int) bool{
		"break": func(int) bool { return true },
		"panic": func(i int) bool { panic(i) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
				var running atomic.Int32
				func() {
					defer func() { _ = recover() }()
					for i := range Map(upTo(1000), one, func(i int) int {
						running.Add(1)
						defer running.Add(-1)
						time.Sleep(time.Millisecond)
						return i
					}) {
						if i == 5 && end(i) {
							break
						}
					}
				}()
				must.Equal(t, running.Load(), 0, "calls under way")
			})
		})
	}
}

func TestPanicsComeUp(t *testing.T) {
	caught := func(fn func()) (p any) {
		defer func() { p = recover() }()
		fn()
		return nil
	}
	withProcs(t, func(procs int) {
		n := 0
		p := caught(func() {
			for range Map(upTo(100), one, func(i int) int {
				if i == 40 {
					panic("forty")
				}
				return i
			}) {
				n++
			}
		})
		must.True(t, p == "forty" && n == 40, "%d processors: %v after %d results", procs, p, n)
		p = caught(func() { _ = Do(func() error { return nil }, func() error { panic("two") }) })
		must.True(t, p == "two", "%d processors: Do panics with %v", procs, p)
	})
}

func TestDo(t *testing.T) {
	withProcs(t, func(procs int) {
		var called atomic.Int32
		fns := make([]func() error, 20)
		for i := range fns {
			fns[i] = func() error {
				called.Add(1)
				if i%5 == 3 {
					return fmt.Errorf("error %d", i)
				}
				return nil
			}
		}
		if err := Do(fns...); err == nil || err.Error() != "error 3" || called.Load() != 20 {
			t.Errorf("%d processors: %v after %d calls", procs, err, called.Load())
		}
		if err := Do(); err != nil {
			t.Error(err)
		}
		if err := Do(func() error { return errors.ErrUnsupported }); err != errors.ErrUnsupported {
			t.Error(err)
		}
	})
}
