package dense

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// TestBareIsSmall: in a large group a vector takes its id and its sketch.
func TestBareIsSmall(t *testing.T) {
	const rows, dims = 3000, 384
	rng := rand.New(rand.NewPCG(5, 5))
	m := newMemory(t)
	for n, count := range []int{10, rows} { // the first with vectors
		changes := map[key][]int8{}
		for i := range count {
			changes[key{denseID(n*10 + i), "m"}] = randomVector(rng, dims, 127)
		}
		m.apply(changes, UpdateOptions{Rows: n * manyRows})
	}
	for i := range 20 {
		m.apply(map[key][]int8{{denseID(7 * i), "m"}: randomVector(rng, dims, 127)}, UpdateOptions{Fanout: 2, Rows: manyRows})
	}
	m.verify()
	size, blocks := 0, 0
	err := Walk(t.Context(), m.blocks, m.manifest, func(c ipld.CID) error {
		b, err := m.blocks.Get(t.Context(), c)
		size, blocks = size+len(b), blocks+1
		return err
	})
	if most := rows * (graph.IDLen + dims/8 + 4); err != nil || size > most {
		t.Errorf("%d blocks of %d bytes, want %d at most: %v", blocks, size, most, err)
	}
	for i, s := range m.segments(groupKey{"m", dims}) {
		if s.bare != (i > 0) {
			t.Errorf("segment %d of %d vectors: bare %v", i, s.Docs, s.bare)
		}
	}
}

// TestBareTogether: segments with vectors that together have more than may all be compared become a bare one.
func TestBareTogether(t *testing.T) {
	of := func(docs int, isBare bool) *table {
		return &table{Segment: &segment.Segment{Docs: docs}, dims: 384, bare: isBare}
	}
	for _, c := range []struct {
		all  []*table
		want bool
	}{
		{[]*table{of(10_000, false), of(11_845, false)}, false},
		{[]*table{of(10_000, false), of(11_846, false)}, true},
		{[]*table{of(1, false), of(1, true)}, true},
	} {
		if got := bareTogether(c.all); got != c.want {
			t.Errorf("%d and %d: %v", c.all[0].Docs, c.all[1].Docs, got)
		}
	}
}

// TestBareSource: what the facts answer instead of a vector ends a question, and is not kept.
func TestBareSource(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	m := newMemory(t)
	changes := map[key][]int8{}
	for i := range 300 {
		changes[key{denseID(i), "m"}] = randomVector(rng, 64, 127)
	}
	m.apply(changes, UpdateOptions{Rows: manyRows})
	erased := errors.New("erased")
	var answer func(graph.ID) ([]int8, error)
	read := func(_ context.Context, id graph.ID, model string) ([]int8, error) {
		if model != "m" {
			t.Errorf("asked for a vector by %q", model)
		}
		return answer(id)
	}
	x, err := Open(t.Context(), m.blocks, m.manifest, m.of(), read, segment.NewCache(1<<20))
	if err != nil {
		t.Fatal(err)
	}
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
			answer = func(graph.ID) ([]int8, error) { return c.vector, c.err }
			if res, err := x.Search(t.Context(), q); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, %v, want %v", name, res, err, c.want)
			}
		}
		answer = func(id graph.ID) ([]int8, error) { return m.source(t.Context(), id, "m") }
		got, err := x.Search(t.Context(), q)
		if want := m.ranked(q); shortlist == 0 && !reflect.DeepEqual(got.Hits, want) || err != nil || len(got.Hits) == 0 {
			t.Errorf("%v, %v, want %v", got.Hits, err, want)
		}
		asked := 0
		answer = func(id graph.ID) ([]int8, error) { asked++; return nil, erased }
		if again, err := x.Search(t.Context(), q); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("asked %d times again: %v, %v", asked, again, err)
		}
		x.src.Reader = Format.NewReader(m.blocks, segment.NewCache(1<<20))
	}
}

// TestBareVerify: a vector that is not that of the sketch is found.
func TestBareVerify(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	m := newMemory(t)
	m.apply(map[key][]int8{
		{denseID(1), "m"}: randomVector(rng, 64, 127), {denseID(2), "m"}: randomVector(rng, 64, 127),
	}, UpdateOptions{Rows: manyRows})
	m.verify()
	m.vectors[key{denseID(2), "m"}] = randomVector(rng, 64, 127)
	_, err := Verify(t.Context(), m.blocks, m.manifest, m.of(), m.source, digester, m.all())
	if !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%v, want %v", err, store.ErrCorrupt)
	}
}
