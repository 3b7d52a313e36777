package dense

import (
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestOwn compares random vectors, in clusters and opposite to each other: by a scan and by a shortlist of all, in
// several segments and in one, with a filter.
func TestOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	m := newMemory(t)
	middle := randomVector(rng, 64, 60)
	for range 3 {
		changes := map[key][]int8{}
		for range 40 {
			v := randomVector(rng, 64, 40)
			for i := range v {
				v[i] += middle[i]
			}
			changes[key{denseID(rng.IntN(100)), "m"}] = v
		}
		m.apply(changes, UpdateOptions{})
	}
	odd := func(id graph.ID) (bool, error) { return id[7]%2 == 1, nil }
	for _, p := range []Peers{{20, 6 << 16}, {1, 0}, {200, 1 << 16}, {5, 3}} {
		for _, accept := range []Accept{nil, odd} {
			for _, k := range []int{0, 12} {
				q := Query{Model: "m", Values: randomVector(rng, 64, 60), Accept: accept, K: k, Peers: p}
				for i := range q.Values {
					q.Values[i] += middle[i]
				}
				hits := m.ranked(q)
				must.Require(t, len(hits) >= 12, "%d hits", len(hits))
				want := search1(t, m.fresh(), q).Own
				x := m.open(nil)
				must.Equal(t, gocmp.Diff(want, search1(t, x, q).Own), "", p)
				x.exactWork, q.Shortlist = 0, 1000
				got := search1(t, x, q)
				must.Equal(t, gocmp.Diff(want, got.Own), "", p, ", shortlist")
				must.Equal(t, gocmp.Diff(hits, got.Hits), "")
			}
		}
	}
}

// TestOwnOrder puts what stands alone before a crowd of look-alikes that are a little nearer.
func TestOwnOrder(t *testing.T) {
	m := newMemory(t)
	changes := map[key][]int8{{denseID(0), "m"}: {90, 0, 60}}
	for n := range 8 {
		changes[key{denseID(n + 1), "m"}] = []int8{95, 50, int8(n)}
	}
	m.apply(changes, UpdateOptions{})
	q := Query{Model: "m", Values: []int8{120, 30, 30}}
	res := search1(t, m.open(nil), q)
	must.Require(t, res.Own == nil && res.Hits[0].ID != denseID(0), "%+v: without peers", res)
	q.Peers = Peers{Most: 20, Ease: 6 << 16}
	if res = search1(t, m.open(nil), q); res.Own[0].ID != denseID(0) || len(res.Own) != len(res.Hits) {
		t.Errorf("%+v", res)
	}
	for _, h := range res.Own {
		must.Check(t, h.Score >= 1 && h.Score <= 1<<16, "%+v", h)
	}
}
