package heap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestBest finds the ten least of numbers, as all callers do.
func TestBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	after := func(a, b int) bool { return a > b }
	for range 200 {
		var all, best []int
		for range rng.IntN(60) {
			n := rng.IntN(40)
			all = append(all, n)
			if len(best) < 10 {
				best = append(best, n)
				Up(best, after)
			} else if n < best[0] {
				best[0] = n
				Down(best, 0, after)
			}
		}
		slices.Sort(all)
		slices.Sort(best)
		want := all[:min(10, len(all))]
		must.Require(t, slices.Equal(best, want), "kept %v of %v", best, all)
	}
}
