package dense

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// naiveRotation is the rotation of clause 9.5, entry of the matrix by entry.
func naiveRotation(v []int8) []int64 {
	sign := func(r, i int) int64 { return 1 - 2*int64(signs()[r][i/8]>>(i%8)&1) }
	x := make([]int64, sketchBits(len(v)))
	for i, n := range v {
		x[i%len(x)] += 64 * sign(0, i) * int64(n)
	}
	p := 1 << (bits.Len(uint(len(x))) - 1)
	for r := range 3 {
		from := r % 2 * (len(x) - p)
		if r > 0 {
			for i := range x {
				x[i] *= sign(r, i)
			}
		}
		block := slices.Clone(x[from : from+p])
		for j := range block {
			sum := int64(0)
			for i, n := range block {
				sum += n * (1 - 2*int64(bits.OnesCount(uint(i&j))%2))
			}
			x[from+j] = naiveScale(sum, p)
		}
	}
	return x
}

// naiveScale is floor(sum / root of p), if that is no integer with the root of 1/2 to 16 bits.
func naiveScale(sum int64, p int) int64 {
	floor := func(a, b int64) int64 { return (a - (a%b+b)%b) / b }
	for k := int64(1); ; k *= 2 {
		switch int64(p) {
		case k * k:
			return floor(sum, k)
		case 2 * k * k:
			return floor(sum*46_341, 65_536*k)
		}
	}
}

func naiveSketch(v []int8) []bool {
	var out []bool
	for _, y := range naiveRotation(v) {
		out = append(out, y < 0)
	}
	return out
}

// naiveDistance is the weight of the bits in which a sketch differs from the sketch of a rotated query.
func naiveDistance(query []int64, sketch []bool) int {
	most, sum := int64(1), 0
	for _, y := range query {
		most = max(most, y, -y)
	}
	for i, y := range query {
		if y < 0 != sketch[i] {
			sum += int((max(y, -y)*7 + most/2) / most)
		}
	}
	return sum
}

// naiveMargin is the margin of clause 9.5.
func naiveMargin(query []int64) int {
	squares := 0
	for i := range query {
		one := make([]bool, len(query))
		for j, y := range query {
			one[j] = y < 0
		}
		one[i] = !one[i]
		weight := naiveDistance(query, one)
		squares += weight * weight
	}
	root := 0
	for (root+1)*(root+1) <= squares/2 {
		root++
	}
	return root
}

// shortlisted ranks the shortlist of a query naively.
func (m *memory) shortlisted(q Query) map[key][]int8 {
	type near struct {
		k key
		d int
	}
	var list []near
	query := naiveRotation(q.Values)
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
	if q.Near > 0 && q.Near <= len(list) {
		bound := list[q.Near-1].d + naiveMargin(query)
		list = slices.DeleteFunc(list, func(n near) bool { return n.d > bound })
	}
	out := map[key][]int8{}
	for _, n := range list[:min(len(list), q.Shortlist)] {
		out[n.k] = m.vectors[n.k]
	}
	return out
}

// TestShortlist compares shortlists with ranking all sketches, whatever the segments, filters and
// number of processors are. Small values make many ties.
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
		x := m.open(segment.NewCache(1 << 20))
		x.exactWork = 0
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
