package core_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// benchPeople commits so many nodes with an edge each.
func benchPeople(b *testing.B, r *core.Repo, n int) {
	var text strings.Builder
	for i := range n {
		text.WriteString(repokit.Person(i) + "\n")
		fmt.Fprintf(&text, `{"edge":{"type":"knows","src":"p%d","dst":"p%d"}}`+"\n", i, (i*7)%n)
	}
	repokit.Lines(b, r, text.String())
}

func careRepo(b *testing.B) (*core.Repo, *pebble.Store) {
	b.Helper()
	st, err := pebble.Open(b.TempDir()+"/.mnem", pebble.Options{Create: true})
	must.OK(b, err)
	r, err := care.New(b.Context(), st, repokit.By, core.Options{})
	must.OK(b, err)
	b.Cleanup(func() { _ = r.Close() })
	return r, st
}

// benchHeap reports how much more memory is in use than before, at most, while fn runs.
func benchHeap(b *testing.B, fn func()) {
	b.Helper()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	}()
	fn()
	close(done)
	<-stopped
	b.ReportMetric(float64(most-before)/(1<<20), "MiB-heap")
}

// BenchmarkGC collects 100,000 dead blocks in a repository of 10,000 nodes.
func BenchmarkGC(b *testing.B) {
	r, st := careRepo(b)
	benchPeople(b, r, 10_000)
	for b.Loop() {
		b.StopTimer()
		var dead []store.Block
		for n := range 100_000 {
			dead = append(dead, store.NewBlock(ipld.Raw, fmt.Appendf(nil, "dead %0300d", n)))
		}
		must.OK(b, st.Facts().Put(b.Context(), dead...))
		dead = nil
		b.StartTimer()
		benchHeap(b, func() {
			res, err := care.GC(b.Context(), r, care.GCOptions{Stamp: repokit.By})
			if err != nil || res.Blocks != 100_000 {
				b.Fatal(res, err)
			}
		})
	}
}

// BenchmarkFsck checks 100,000 nodes with as many edges and their index.
func BenchmarkFsck(b *testing.B) {
	r, _ := careRepo(b)
	benchPeople(b, r, 100_000)
	for b.Loop() {
		benchHeap(b, func() {
			report, err := care.Fsck(b.Context(), r, care.FsckOptions{})
			if err != nil || len(report.Errors) > 0 {
				b.Fatal(report, err)
			}
		})
	}
}

// BenchmarkPurge purges one of 100,000 nodes.
func BenchmarkPurge(b *testing.B) {
	r, _ := careRepo(b)
	benchPeople(b, r, 100_000)
	n := 0
	for b.Loop() {
		_, err := care.Purge(b.Context(), r, fmt.Sprintf("p%d", n), care.PurgeOptions{Stamp: repokit.By})
		must.OK(b, err)
		n++
	}
}
