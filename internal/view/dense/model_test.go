package dense

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// TestModel compares indexes that grew by random changes with a full scan, and with indexes built from scratch.
func TestModel(t *testing.T) {
	effort.Alone(t)
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := newMemory(t)
		models := []string{"a", "a\x01", "b", "long/model"}
		dims := []int{1, 3, 64, 65, 200}
		opt := UpdateOptions{Fanout: 2 + rng.IntN(3), OpenGroups: 1 + rng.IntN(8)}
		for range 30 {
			changes := map[key][]int8{}
			for range 1 + rng.IntN(40) {
				k := key{denseID(rng.IntN(60)), models[rng.IntN(len(models))]}
				if rng.IntN(4) == 0 {
					changes[k] = nil
					continue
				}
				changes[k] = randomVector(rng, dims[rng.IntN(len(dims))], 3)
			}
			m.apply(changes, opt)
			m.verify()
			m.compare(rng, models, dims)
		}
		again := newMemory(t)
		again.apply(m.vectors, UpdateOptions{})
		again.verify()
	}
}

// compare asks random questions.
func (m *memory) compare(rng *rand.Rand, models []string, dims []int) {
	m.t.Helper()
	x := m.open(segment.NewCache(1 << 20))
	for range 8 {
		q := Query{
			Model: models[rng.IntN(len(models))], K: rng.IntN(20),
			Values: randomVector(rng, dims[rng.IntN(len(dims))], 3),
		}
		if keep := rng.IntN(4); keep > 0 {
			q.Accept = func(id graph.ID) (bool, error) { return int(id[7])%keep == 0, nil }
		}
		same, all := 0, 0
		for k, v := range m.vectors {
			if k.model == q.Model {
				if all++; len(v) == len(q.Values) {
					same++
				}
			}
		}
		res := search1(m.t, x, q)
		if want := m.ranked(q); !slices.Equal(res.Hits, want) || res.Other != all-same || res.None != (all == 0) {
			m.t.Fatalf("%+v, want %v, %d of %d", res, want, same, all)
		}
	}
}

// TestExtremes is the largest sums, vectors that are no direction, and the ends of the scale.
func TestExtremes(t *testing.T) {
	full := func(dims int, x int8) []int8 { return slices.Repeat([]int8{x}, dims) }
	one := make([]int8, graph.MaxDims)
	one[0] = 1
	for _, c := range []struct {
		name string
		a, b []int8
		want int64
	}{
		{"the same", full(graph.MaxDims, 127), full(graph.MaxDims, 127), 1 << 16},
		{"the opposite", full(graph.MaxDims, 127), full(graph.MaxDims, -127), 0},
		{"of other length", []int8{1, 2}, []int8{50, 100}, 1 << 16},
		{"at right angles", []int8{1, 0}, []int8{0, 1}, 0},
		{"nearly so", full(graph.MaxDims, 127), one, 1 << 8},
		{"zeros", []int8{0, 0}, []int8{1, 1}, 0},
		{"rounds down", []int8{1, 1}, []int8{1, 0}, 1 << 16},
	} {
		m := newMemory(t)
		m.apply(map[key][]int8{{denseID(1), "m"}: c.b}, UpdateOptions{})
		m.verify()
		var got int64
		if hits := search1(t, m.open(nil), Query{Model: "m", Values: c.a}).Hits; len(hits) > 0 {
			got = hits[0].Score
		}
		must.Equal(t, got, c.want, c.name)
	}
}

// TestUpdateRefuses names changes that do not fit.
func TestUpdateRefuses(t *testing.T) {
	m := newMemory(t)
	m.apply(map[key][]int8{{denseID(1), "m"}: {1, 2}}, UpdateOptions{})
	of := ipld.Sum(ipld.Raw, nil)
	for name, list := range map[string][]VectorChange{
		"killed twice":   {{ID: denseID(1), Model: "m", Old: 2}, {ID: denseID(2), Model: "m", Old: 2}},
		"of other group": {{ID: denseID(1), Model: "m", Old: 3}},
	} {
		_, err := Update(t.Context(), m.blocks, m.manifest, of, yielded(list), UpdateOptions{})
		must.True(t, err != nil, "%s: no error", name)
	}
	broken := errors.New("broken")
	_, err := Update(t.Context(), m.blocks, m.manifest, of, func(yield func(VectorChange, error) bool) {
		yield(VectorChange{}, broken)
	}, UpdateOptions{})
	must.Fail(t, err, broken)
	_, err = m.open(nil).Search(t.Context(), Query{Model: "m", Values: []int8{1, 2},
		Accept: func(graph.ID) (bool, error) { return false, broken }})
	must.Fail(t, err, broken)
}

// TestWalk visits every block of an index, so that nothing else is garbage.
func TestWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	m := newMemory(t)
	changes := map[key][]int8{}
	for i := range 3000 {
		changes[key{denseID(i), "m"}] = randomVector(rng, 100, 127)
	}
	m.apply(changes, UpdateOptions{})
	m.apply(map[key][]int8{{denseID(7), "m"}: {1}, {denseID(8), "m"}: nil}, UpdateOptions{})
	copied := newMemory(t)
	must.OK(t, Walk(t.Context(), m.blocks, m.manifest, func(c ipld.CID) error {
		data, err := m.blocks.Get(t.Context(), c)
		if err == nil {
			err = copied.blocks.Put(t.Context(), storeBlock(c, data))
		}
		return err
	}))
	copied.vectors, copied.manifest, copied.version = m.vectors, m.manifest, m.version
	copied.verify()
	skipped := 0
	must.OK(t, Walk(t.Context(), m.blocks, m.manifest, func(ipld.CID) error {
		skipped++
		return segment.ErrSkipLinked
	}), "visited")
	must.Equal(t, skipped, 1, "visited")
}
