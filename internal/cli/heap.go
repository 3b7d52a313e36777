package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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
)

// TuneHeap makes the process of one command collect garbage less often while its heap is small.
// It is for the program, not for tests or servers, and leaves a GOGC of the user's alone.
func TuneHeap(getenv func(string) string) {
	if getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(firstPercent)
	watchHeap()
}

// watchHeap goes on to eagerPercent after the first collection, and back to the default after the
// first one that leaves much in use: each one frees an object, whose finalizer looks.
func watchHeap() {
	runtime.SetFinalizer(&struct{ _ [64]byte }{}, func(any) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() == metrics.KindUint64 && live[0].Value.Uint64() > eagerHeap {
			debug.SetGCPercent(normalPercent)
			return
		}
		debug.SetGCPercent(eagerPercent)
		watchHeap()
	})
}
