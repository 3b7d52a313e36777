package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// eagerPercent is how much a small heap may grow between collections: the Go default of 100
	// makes a process that lives for 20 ms collect garbage three or four times.
	eagerPercent = 400
	// eagerHeap is how many bytes may be in use with that; with more the default holds. So the heap
	// is at most five times this, or twice what is in use.
	eagerHeap     = 24 << 20
	normalPercent = 100
)

// TuneHeap makes the process of one command collect garbage less often while its heap is small.
// It is for the program, not for tests or servers, and leaves a GOGC of the user's alone.
func TuneHeap(getenv func(string) string) {
	if getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(eagerPercent)
	watchHeap()
}

// watchHeap goes back to the default after the first collection that leaves much in use: each one
// frees an object, whose finalizer looks.
func watchHeap() {
	runtime.SetFinalizer(&struct{ _ [64]byte }{}, func(any) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() == metrics.KindUint64 && live[0].Value.Uint64() > eagerHeap {
			debug.SetGCPercent(normalPercent)
			return
		}
		watchHeap()
	})
}
