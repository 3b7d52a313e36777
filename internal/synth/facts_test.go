package synth

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestWordsDiffer(t *testing.T) {
	seen := make(map[string]int)
	for rank, w := range words() {
		before, ok := seen[w]
		must.Require(t, !ok || rank <= 0, "ranks %d and %d are both %q", before, rank, w)
		seen[w] = rank
		must.True(t, rank <= len(common) || len(w) >= 4, "rank %d is %q", rank, w)
	}
}

func TestZipf(t *testing.T) {
	r := NewRand(1, 0, 0)
	count := make([]int, Vocabulary+1)
	const draws = 1_000_000
	for range draws {
		n := r.Zipf(Vocabulary)
		must.Require(t, n >= 1 && n <= Vocabulary, "%v", n)
		count[n]++
	}
	harmonic := 0.0
	for n := 1; n <= Vocabulary; n++ {
		harmonic += 1 / float64(n)
	}
	for _, n := range []int{1, 2, 3, 5, 8, 13, 40, 100} {
		want := draws / harmonic / float64(n)
		if got := float64(count[n]); got < 0.85*want || got > 1.15*want {
			t.Errorf("rank %d was drawn %v times, want about %.0f", n, got, want)
		}
	}
}
