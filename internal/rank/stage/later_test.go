package stage

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestCosine of vectors that can be compared and of those that cannot.
func TestCosine(t *testing.T) {
	for _, c := range []struct {
		a, b []int8
		want int64
	}{
		{[]int8{3, 4}, []int8{6, 8}, 1 << 16},
		{[]int8{127, 0}, []int8{127, 127}, 46_342},
		{[]int8{1, 0}, []int8{0, 1}, 0},
		{[]int8{1, 1}, []int8{-1, -1}, 0},
		{[]int8{0, 0}, []int8{1, 1}, 0},
		{[]int8{1}, []int8{1, 1}, 0},
		{nil, nil, 0},
	} {
		must.Equal(t, cosine(c.a, c.b), c.want, c.a, " and ", c.b)
	}
}
