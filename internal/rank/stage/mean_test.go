package stage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// TestMeanVectorIsAmidst compares with what floats make of it, and with the largest vectors there are.
func TestMeanVectorIsAmidst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, dims := range []int{1, 2, 17, 300, graph.MaxDims} {
		list := make([][]int8, 1+rng.IntN(retrieve.MaxRewrites+1))
		want := make([]float64, dims)
		for j := range list {
			list[j] = make([]int8, dims)
			square := 0.0
			for i := range list[j] {
				list[j][i] = int8(rng.IntN(255) - 127)
				square += float64(list[j][i]) * float64(list[j][i])
			}
			if square == 0 {
				list[j][0], square = 1, 1
			}
			for i, x := range list[j] {
				want[i] += float64(x) / math.Sqrt(square)
			}
		}
		got, err := complete.MeanVector("m", list...)
		must.OK(t, err)
		most := 0.0
		for _, x := range want {
			most = max(most, math.Abs(x))
		}
		for i, x := range got.Values {
			near := 127 * want[i] / most
			if len(list) == 1 {
				near = float64(list[0][i])
			}
			if math.Abs(float64(x)-near) > 0.501 {
				t.Fatalf("%d dimensions: %d at %d, want %v", dims, x, i, near)
			}
		}
	}
}
