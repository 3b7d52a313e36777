package dense

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// fresh opens an index that is built of the same vectors at once.
func (m *memory) fresh() *Index {
	m.t.Helper()
	other := newMemory(m.t)
	other.apply(maps.Clone(m.vectors), UpdateOptions{})
	return other.open(nil)
}

// TestShortlist compares shortlists with those of one segment, whatever the segments, filters and number of processors
// are. Small values make many ties. What shortlists are is frozen by TestShortlistGolden.
func TestShortlist(t *testing.T) {
	effort.Alone(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 2))
		m := newMemory(t)
		dims := []int{64, 70, 130, 200}[rng.IntN(4)]
		spread := 1 + 126*rng.IntN(2)
		same := randomVector(rng, dims, spread)
		for range 6 {
			changes := map[key][]int8{}
			for range 60 {
				k := key{denseID(rng.IntN(200)), "m"}
				switch rng.IntN(5) {
				case 0:
					changes[k] = nil
				case 1:
					changes[k] = same
				default:
					changes[k] = randomVector(rng, dims, spread)
				}
			}
			m.apply(changes, UpdateOptions{Fanout: 3})
		}
		m.verify()
		x, one := m.open(segment.NewCache(1<<20)), m.fresh()
		x.exactWork, one.exactWork = 0, 0
		for range 30 {
			runtime.GOMAXPROCS(1 + rng.IntN(4))
			q := Query{Model: "m", Values: randomVector(rng, dims, spread), Shortlist: 1 + rng.IntN(40)}
			if rng.IntN(3) > 0 {
				q.Near = 1 + rng.IntN(20)
			}
			if rng.IntN(3) == 0 {
				q.Values = same
			}
			if keep := rng.IntN(40); keep > 0 {
				q.Accept = func(id graph.ID) (bool, error) { return int(id[7])%keep == 0, nil }
			}
			got, want := search1(t, x, q).Hits, search1(t, one, q).Hits
			must.Same(t, got, want, "seed ", seed, ", shortlist ", q.Shortlist)
		}
	}
}
