package stage

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/retrieve"
)

func TestMeanVector(t *testing.T) {
	for _, tt := range []struct{ in, want [][]int8 }{
		{[][]int8{{3, -1, 0}}, [][]int8{{3, -1, 0}}},
		{[][]int8{{1, 0}, {0, 127}}, [][]int8{{127, 127}}},
		{[][]int8{{5, -9}, {-5, 9}}, [][]int8{{5, -9}}},
		{[][]int8{{127, 0}, {127, 0}, {0, 1}}, [][]int8{{127, 64}}},
	} {
		got, err := complete.MeanVector("m", tt.in...)
		if err != nil || got.Model != "m" || !slices.Equal(got.Values, tt.want[0]) {
			t.Errorf("%v: %v, %v, want %v", tt.in, got, err, tt.want[0])
		}
	}
	for _, bad := range [][][]int8{
		nil, {{}}, {{0}}, {{1}, {1, 2}}, {{1}, {0}}, {{-128}}, {make([]int8, graph.MaxDims+1)},
		slices.Repeat([][]int8{{1}}, retrieve.MaxRewrites+2),
	} {
		if _, err := complete.MeanVector("m", bad...); !errors.Is(err, retrieve.ErrRequest) {
			t.Errorf("%d vectors: %v", len(bad), err)
		}
	}
	if _, err := complete.MeanVector("", []int8{1}); !errors.Is(err, retrieve.ErrRequest) {
		t.Errorf("no model: %v", err)
	}
}

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
		if err != nil {
			t.Fatal(err)
		}
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
