package index

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

func randomTerms(rng *rand.Rand) (terms []graph.Term) {
	for c := range 12 {
		if rng.IntN(3) == 0 {
			w := []int64{1, 7, 1 << 16, 1 << 24, math.MaxInt32}[rng.IntN(5)]
			terms = append(terms, graph.Term{Term: string(rune('a' + c)), Weight: w})
		}
	}
	return terms
}

// sparseScore is clause 9.7 in numbers without bound.
func sparseScore(a, b []graph.Term) int64 {
	sum := new(big.Int)
	for _, x := range a {
		for _, y := range b {
			if x.Term == y.Term {
				sum.Add(sum, new(big.Int).Mul(big.NewInt(x.Weight), big.NewInt(y.Weight)))
			}
		}
	}
	if sum.Sign() == 0 {
		return 0
	}
	if !sum.IsUint64() {
		sum.SetUint64(math.MaxUint64)
	}
	return max(1, sum.Rsh(sum, 16).Int64())
}

// TestSparseSearch compares both ways of searching with the formula, for lists of every length and
// filters that let few pass.
func TestSparseSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	for range 200 {
		var m SparseMatrix
		vectors := map[graph.ID][]graph.Term{}
		var ids []graph.ID
		for i := range rng.IntN(80) {
			id := graph.ID{1, byte(i)}
			ids, vectors[id] = append(ids, id), randomTerms(rng)
			m.Add(id, vectors[id])
		}
		query, k, few := randomTerms(rng), 1+rng.IntN(20), 1+rng.IntN(6)
		accept := func(id graph.ID) (bool, error) { return int(id[1])%few == 0, nil }
		var want []Hit
		for id, v := range vectors {
			if s := sparseScore(query, v); s > 0 && int(id[1])%few == 0 {
				want = append(want, Hit{ID: id, Score: s})
			}
		}
		slices.SortFunc(want, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
		})
		want = want[:min(k, len(want))]
		one, two := NewSparseSearch(query, accept, k), NewSparseSearch(query, accept, k)
		must.OK(t, m.Search(t.Context(), one))
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		for _, id := range ids {
			must.OK(t, two.Offer(id, vectors[id]))
		}
		must.Same(t, one.Hits(), want, "\n")
		must.Same(t, two.Hits(), want, "\n")
		if m.Rows() != len(ids) || m.Bytes() < int64(graph.IDLen*len(ids)) {
			t.Fatalf("%d rows of %d bytes", m.Rows(), m.Bytes())
		}
	}
}

func TestSparseSearchErrors(t *testing.T) {
	var m SparseMatrix
	query := []graph.Term{{Term: "a", Weight: 1}}
	if s := NewSparseSearch(query, nil, 0); m.Search(t.Context(), s) != nil || len(s.Hits()) != 0 {
		t.Error("an empty matrix")
	}
	m.Add(graph.ID{1}, query)
	broken := errors.New("broken")
	s := NewSparseSearch(query, func(graph.ID) (bool, error) { return false, broken }, 1)
	must.Fail(t, m.Search(t.Context(), s), broken)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(t, m.Search(ctx, NewSparseSearch(query, nil, 1)), context.Canceled)
}
