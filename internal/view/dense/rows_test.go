package dense

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// TestIndexIsSmall: of a vector the index has its id and its sketch.
func TestIndexIsSmall(t *testing.T) {
	const rows, dims = 3000, 384
	rng := rand.New(rand.NewPCG(5, 5))
	m := newMemory(t)
	changes := map[key][]int8{}
	for i := range rows {
		changes[key{denseID(i), "m"}] = randomVector(rng, dims, 127)
	}
	m.apply(changes, UpdateOptions{})
	for i := range 20 {
		m.apply(map[key][]int8{{denseID(7 * i), "m"}: randomVector(rng, dims, 127)}, UpdateOptions{Fanout: 2})
	}
	m.verify()
	size, blocks := 0, 0
	err := Walk(t.Context(), m.blocks, m.manifest, func(c ipld.CID) error {
		b, err := m.blocks.Get(t.Context(), c)
		size, blocks = size+len(b), blocks+1
		return err
	})
	most := rows * (graph.IDLen + dims/8 + 4)
	must.True(t, err == nil && size <= most, "%d blocks of %d bytes, want %d at most: %v", blocks, size, most, err)
}

// TestOlderIndex asks indexes that share segments by one cache: what is dead in one lives in the other.
func TestOlderIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, newerFirst := range []bool{true, false} {
		m, cache := newMemory(t), segment.NewCache(1<<20)
		changes := map[key][]int8{}
		for i := range 100 {
			changes[key{denseID(i), "m"}] = randomVector(rng, 64, 127)
		}
		m.apply(changes, UpdateOptions{})
		old := *m
		old.vectors = maps.Clone(m.vectors)
		m.apply(map[key][]int8{
			{denseID(3), "m"}: nil, {denseID(4), "m"}: randomVector(rng, 64, 127), {denseID(500), "m"}: randomVector(rng, 64, 127),
		}, UpdateOptions{})
		must.Equal(t, len(m.segments(groupKey{"m", 64})), 2, "segments")
		order := []*memory{&old, m, &old}
		if newerFirst {
			order = []*memory{m, &old, m}
		}
		for i, at := range order {
			for _, shortlist := range []int{0, 1000} {
				x := at.open(cache)
				x.exactWork = 0
				q := Query{Model: "m", Values: randomVector(rng, 64, 127), Shortlist: shortlist, K: 1000}
				must.Same(t, search1(t, x, q).Hits, at.ranked(q), "index ", i, ", shortlist ", shortlist)
			}
		}
	}
}

// TestSameSketches: a vector with the sketch of the one that it replaces is not taken for it, though a cache has that.
func TestSameSketches(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	m, cache, k := newMemory(t), segment.NewCache(1<<20), key{denseID(1), "m"}
	first := randomVector(rng, 64, 60)
	next := slices.Clone(first)
	for next[5] += 20; ; next[5]-- {
		if reflect.DeepEqual(newSketcher(len(next)).bytes(next), newSketcher(len(first)).bytes(first)) {
			break
		}
	}
	must.Require(t, !reflect.DeepEqual(first, next), "no other vector has the same sketch")
	for _, v := range [][]int8{first, nil, next} {
		m.apply(map[key][]int8{k: v}, UpdateOptions{})
		q := Query{Model: "m", Values: first}
		for _, shortlist := range []int{0, 10} {
			x := m.open(cache)
			x.exactWork, q.Shortlist = 0, shortlist
			got, want := search1(t, x, q).Hits, m.ranked(q)
			must.True(t, v == nil || slices.Equal(got, want), "shortlist %d: %v, want %v", shortlist, got, want)
		}
	}
}

// TestSource: what the facts answer instead of a vector ends a question, and is not kept.
func TestSource(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	m := newMemory(t)
	changes := map[key][]int8{}
	for i := range 300 {
		changes[key{denseID(i), "m"}] = randomVector(rng, 64, 127)
	}
	m.apply(changes, UpdateOptions{})
	erased := errors.New("erased")
	var answer func(ids []graph.ID) ([][]int8, error)
	read := func(_ context.Context, model string, ids []graph.ID) ([][]int8, error) {
		must.Equal(t, model, "m", "asked for a vector")
		return answer(ids)
	}
	x := must.Get(Open(t.Context(), m.blocks, m.manifest, m.of(), read, segment.NewCache(1<<20)))(t)
	x.exactWork = 0
	for _, shortlist := range []int{0, 50} {
		q := Query{Model: "m", Values: randomVector(rng, 64, 127), Shortlist: shortlist}
		for name, c := range map[string]struct {
			vector []int8
			err    error
			want   error
		}{
			"erased": {nil, erased, erased}, "short": {make([]int8, 63), nil, store.ErrCorrupt},
			"none": {nil, nil, store.ErrCorrupt}, "missing": {nil, store.ErrNotFound, store.ErrNotFound},
		} {
			answer = func(ids []graph.ID) ([][]int8, error) {
				list, _ := m.source(t.Context(), "m", ids)
				list[len(list)/2] = c.vector
				return list, c.err
			}
			must.Fail(t, must.Err(x.Search(t.Context(), q)), c.want, name)
		}
		answer = func(ids []graph.ID) ([][]int8, error) { return make([][]int8, len(ids)-1), nil }
		must.Fail(t, must.Err(x.Search(t.Context(), q)), store.ErrCorrupt, "one vector less")
		answer = func(ids []graph.ID) ([][]int8, error) { return m.source(t.Context(), "m", ids) }
		got, err := x.Search(t.Context(), q)
		if want := m.ranked(q); shortlist == 0 && !reflect.DeepEqual(got.Hits, want) || err != nil || len(got.Hits) == 0 {
			t.Errorf("%v, %v, want %v", got.Hits, err, want)
		}
		asked := 0
		answer = func(ids []graph.ID) ([][]int8, error) { asked++; return nil, erased }
		must.Same(t, must.Get(x.Search(t.Context(), q))(t), got, "asked ", asked, " times again")
		x.src.Reader = Format.NewReader(m.blocks, segment.NewCache(1<<20))
	}
}

// TestSketchVerify: a vector that is not that of the sketch is found.
func TestSketchVerify(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	m := newMemory(t)
	m.apply(map[key][]int8{
		{denseID(1), "m"}: randomVector(rng, 64, 127), {denseID(2), "m"}: randomVector(rng, 64, 127),
	}, UpdateOptions{})
	m.verify()
	m.vectors[key{denseID(2), "m"}] = randomVector(rng, 64, 127)
	_, err := Verify(t.Context(), m.blocks, m.manifest, m.of(), m.source, digester, m.all())
	must.Fail(t, err, store.ErrCorrupt)
}

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
	res = search1(t, m.open(nil), q)
	must.True(t, res.Own[0].ID == denseID(0) && len(res.Own) == len(res.Hits), "%+v", res)
	for _, h := range res.Own {
		must.True(t, h.Score >= 1 && h.Score <= 1<<16, "%+v", h)
	}
}

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
