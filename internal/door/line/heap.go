package line

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// firstPercent is how much the heap may grow before the first collection, from the 4 MiB that Go
	// starts with: most processes end before that. A question to a new one leaves up to 40 MiB.
	firstPercent = 1600
	// eagerPercent is how much a small heap may grow from then on: with the Go default of 100 a process
	// of 20 ms would spend a good part of them on garbage.
	eagerPercent = 400
	// eagerHeap is how many bytes may be in use with that; with more the default holds. So the heap
	// is at most five times this, or twice what is in use.
	eagerHeap     = 24 << 20
	normalPercent = 100
	// largeHeap is how many bytes may be in use with the default. What has more works for seconds, and
	// more room would be missed by others.
	largeHeap    = 96 << 20
	largePercent = 50
	// lastingRoom is how many bytes the heap of a process that stays may grow beyond what is in use, or
	// half of that if it is more: what a heap once had is slow to go back to others.
	lastingRoom = 16 << 20
)

// heap is how the heap of this process is tuned.
var heap struct{ tuned, lasting atomic.Bool }

// TuneHeap makes the process of one command collect garbage less often while its heap is small.
// It is for the program, not for tests or servers, and leaves a GOGC of the user's alone.
func TuneHeap(getenv func(string) string) {
	if getenv("GOGC") != "" {
		return
	}
	heap.tuned.Store(true)
	debug.SetGCPercent(firstPercent)
	watchHeap(firstPercent)
}

// LastingHeap is called by a command that stays and answers others: it leaves them more memory.
func LastingHeap() {
	heap.lasting.Store(true)
	if heap.tuned.Load() {
		debug.SetGCPercent(eagerPercent) // until the next collection
	}
}

// watchHeap decides after each collection, by what it left in use, how much the heap may grow before the
// next: each one frees an object, whose finalizer looks.
func watchHeap(percent int) {
	runtime.SetFinalizer(&struct{ _ [64]byte }{}, func(any) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		used := uint64(0)
		if live[0].Value.Kind() == metrics.KindUint64 {
			used = live[0].Value.Uint64()
		}
		now := PercentOf(used, heap.lasting.Load())
		if now != percent { // all that runs stops for it
			debug.SetGCPercent(now)
		}
		watchHeap(now)
	})
}

// PercentOf is how much a heap may grow with so many bytes in use, of a process that stays or of another.
func PercentOf(used uint64, lasting bool) int {
	switch {
	case lasting:
		return int(max(largePercent, min(eagerPercent, 100*lastingRoom/max(1, used))))
	case used > largeHeap:
		return largePercent
	case used > eagerHeap:
		return normalPercent
	}
	return eagerPercent
}
