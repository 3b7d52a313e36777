package rank_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/index"
)

func setOf(model string, bytes int) *view.VectorSet {
	s := &view.VectorSet{Key: view.VectorsOf{Model: model}, Sparse: new(index.SparseMatrix)}
	for i := 1; s.Bytes() < int64(bytes); i++ {
		s.Sparse.Add(graph.ID{byte(i)}, []graph.Term{{Term: "t", Weight: 1}})
	}
	return s
}

// TestVectorCache counts what sets take, and keeps nothing of before a clearing.
func TestVectorCache(t *testing.T) {
	size := setOf("a", 1000).Bytes() + cache.Overhead
	c := view.NewVectorCache(3*size + 10)
	add := func(model string, bytes int, epoch int) (kept bool) {
		s := setOf(model, bytes)
		c.Sets.AddSince(epoch, s.Key, s, s.Bytes())
		_, kept, _ = c.Sets.Get(s.Key)
		return kept
	}
	for _, model := range []string{"a", "b", "c", "d"} {
		must.Check(t, add(model, 1000, 0), "%s is not kept", model)
	}
	must.Equal(t, c.Sets.Len(), 3, "sets of")
	must.Equal(t, c.Sets.Bytes(), 3*size, "sets of")
	must.Check(t, !add("e", int(c.Limit)+1, 0), "one larger than the cache is kept")
	_, _, epoch := c.Sets.Get(view.VectorsOf{Model: "f"})
	c.Clear()
	must.Check(t, !add("f", 1000, epoch), "what was read before the clearing is kept")
}

// TestDenseInt8 makes i8 of floats as a query's are.
func TestDenseInt8(t *testing.T) {
	floats := []float64{0.5, -0.25, 1e-40, 0.1}
	data := []byte{}
	for i, x := range floats {
		floats[i] = float64(float32(x))
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
	}
	e := &graph.Embedding{Model: "m", DType: graph.Float32, Dims: 4, Data: data}
	must.OK(t, e.Validate())
	want := must.Get(graph.Quantise(floats))(t)
	got := must.Get(view.DenseInt8(e))(t)
	must.Same(t, got, want)
}
