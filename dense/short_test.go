package dense

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
)

// naiveSketch is the sketch of clause 9.5, number by number.
func naiveSketch(v []int8) []bool {
	out := make([]bool, sketchBits(len(v)))
	for j := range out {
		sum := 0
		for i, x := range v {
			n := int(x)
			if signs()[i/8]>>(i%8)&1 == 1 {
				n = -n
			}
			if bits.OnesCount(uint(i&j))%2 == 1 { // entry of the Hadamard matrix
				n = -n
			}
			sum += n
		}
		out[j] = sum < 0
	}
	return out
}

func naiveDistance(a, b []bool) int {
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// shortlisted ranks the shortlist of a query naively.
func (m *memory) shortlisted(q Query) map[key][]int8 {
	type near struct {
		k key
		d int
	}
	var list []near
	query := naiveSketch(q.Values)
	for k, v := range m.vectors {
		if k.model != q.Model || len(v) != len(q.Values) {
			continue
		}
		if q.Accept != nil {
			if ok, _ := q.Accept(k.id); !ok {
				continue
			}
		}
		list = append(list, near{k, naiveDistance(query, naiveSketch(v))})
	}
	slices.SortFunc(list, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.d, b.d), a.k.id.Compare(b.k.id))
	})
	out := map[key][]int8{}
	for _, n := range list[:min(len(list), q.Shortlist)] {
		out[n.k] = m.vectors[n.k]
	}
	return out
}

// TestShortlist compares shortlists with ranking all sketches, whatever the segments, filters and
// number of processors are. Small values make many ties.
func TestShortlist(t *testing.T) {
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
			m.apply(changes, Options{Fanout: 3})
		}
		m.verify()
		x := m.open(NewCache(1 << 20))
		x.exactWork = 0
		for range 30 {
			runtime.GOMAXPROCS(1 + rng.IntN(4))
			q := Query{Model: "m", Values: randomVector(rng, dims, spread), Shortlist: 1 + rng.IntN(40)}
			if rng.IntN(3) == 0 {
				q.Values = same
			}
			if keep := rng.IntN(40); keep > 0 {
				q.Accept = func(id graph.ID) (bool, error) { return int(id[7])%keep == 0, nil }
			}
			got := search1(t, x, q).Hits
			all := m.vectors
			m.vectors = m.shortlisted(q)
			want := m.ranked(q)
			m.vectors = all
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, shortlist %d: %v, want %v", seed, q.Shortlist, got, want)
			}
		}
	}
}
