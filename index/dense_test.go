package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
)

func denseID(n int) (id graph.ID) {
	binary.BigEndian.PutUint64(id[:], uint64(n)+1)
	return id
}

func randomVector(rng *rand.Rand, dims, spread int) []int8 {
	v := make([]int8, dims)
	for i := range v {
		v[i] = int8(rng.IntN(2*spread+1) - spread)
	}
	return v
}

// exactCosine is the formula of the specification in numbers of any size.
func exactCosine(a, b []int8) int64 {
	sum := func(x, y []int8) *big.Int {
		s := new(big.Int)
		for i := range x {
			s.Add(s, big.NewInt(int64(x[i])*int64(y[i])))
		}
		return s
	}
	product := sum(a, b)
	if product.Sign() <= 0 {
		return 0
	}
	root := new(big.Int).Sqrt(new(big.Int).Mul(sum(a, a), sum(b, b)))
	return product.Div(product.Lsh(product, 16), root).Int64()
}

// TestDenseOracle compares searches with ranking everything: small values make many ties.
func TestDenseOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for round := range 200 {
		dims, spread := 1+rng.IntN(70), []int{1, 3, 127}[rng.IntN(3)]
		query := randomVector(rng, dims, spread)
		rows := rng.IntN(300)
		keep := 1 + rng.IntN(3)
		accept := func(id graph.ID) (bool, error) { return int(id[7])%keep == 0, nil }
		m, want := new(Matrix), []Hit(nil)
		s := NewDenseSearch(query, accept, 1+rng.IntN(40))
		streamed := NewDenseSearch(query, accept, s.k)
		for i := range rows {
			d := dims
			if rng.IntN(10) == 0 {
				d++
			}
			v := randomVector(rng, d, spread)
			m.Add(denseID(i), v)
			if err := streamed.Offer(denseID(i), v); err != nil {
				t.Fatal(err)
			}
			ok, _ := accept(denseID(i))
			if d == dims && ok && exactCosine(query, v) > 0 {
				want = append(want, Hit{denseID(i), exactCosine(query, v)})
			}
		}
		slices.SortStableFunc(want, func(a, b Hit) int { return int(b.Score - a.Score) })
		want = want[:min(len(want), s.k)]
		if err := m.Search(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.Hits(), want) || !slices.Equal(streamed.Hits(), want) {
			t.Fatalf("round %d: %d dimensions, %d rows: %v, want %v", round, dims, rows, s.Hits(),
				want)
		}
	}
}

// TestDenseExtremes is the largest sums, vectors that are no direction, and the ends of the scale.
func TestDenseExtremes(t *testing.T) {
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
		m, s := new(Matrix), NewDenseSearch(c.a, nil, 0)
		m.Add(denseID(1), c.b)
		if err := m.Search(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		var got int64
		if hits := s.Hits(); len(hits) > 0 {
			got = hits[0].Score
		}
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestDenseFilterOne keeps one node of many: it is found however many are nearer.
func TestDenseFilterOne(t *testing.T) {
	m := new(Matrix)
	for i := range 5000 {
		m.Add(denseID(i), []int8{127, int8(i % 100)})
	}
	only := denseID(99)
	s := NewDenseSearch([]int8{127, 0}, func(id graph.ID) (bool, error) { return id == only, nil }, 3)
	if err := m.Search(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if hits := s.Hits(); len(hits) != 1 || hits[0].ID != only {
		t.Errorf("hits %v", hits)
	}
}

// TestDenseAsksLittle counts how often the filter is asked: of what cannot be among the best, not.
func TestDenseAsksLittle(t *testing.T) {
	m, asked := new(Matrix), 0
	for i := range 5000 {
		m.Add(denseID(i), []int8{127, int8(i % 100)})
	}
	s := NewDenseSearch([]int8{127, 0}, func(graph.ID) (bool, error) { asked++; return true, nil }, 10)
	if err := m.Search(t.Context(), s); err != nil || asked > 100 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

func TestDenseErrors(t *testing.T) {
	broken := errors.New("broken")
	m := new(Matrix)
	m.Add(denseID(1), []int8{1})
	s := NewDenseSearch([]int8{1}, func(graph.ID) (bool, error) { return false, broken }, 0)
	if err := m.Search(t.Context(), s); !errors.Is(err, broken) {
		t.Errorf("filter: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := m.Search(ctx, NewDenseSearch([]int8{1}, nil, 0))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if of, all := m.Rows(2); of != 0 || all != 1 || m.Bytes() != 1+rowOverhead {
		t.Errorf("%d of %d rows, %d bytes", of, all, m.Bytes())
	}
}

func BenchmarkDense(b *testing.B) {
	const rows, dims = 100_000, 384
	rng := rand.New(rand.NewPCG(1, 1))
	m := new(Matrix)
	for i := range rows {
		m.Add(denseID(i), randomVector(rng, dims, 127))
	}
	query := randomVector(rng, dims, 127)
	b.Run(fmt.Sprintf("rows=%d/dims=%d", rows, dims), func(b *testing.B) {
		b.SetBytes(rows * dims)
		for b.Loop() {
			if err := m.Search(b.Context(), NewDenseSearch(query, nil, 0)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
