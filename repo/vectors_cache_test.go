package repo

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
)

func setOf(model string, bytes int) *vectorSet {
	s := &vectorSet{key: vectorsOf{model: model}, sparse: new(index.SparseMatrix)}
	for i := 1; s.bytes() < int64(bytes); i++ {
		s.sparse.Add(graph.ID{byte(i)}, []graph.Term{{Term: "t", Weight: 1}})
	}
	return s
}

// TestVectorCache keeps what was used last within its bound, and nothing of before a clearing.
func TestVectorCache(t *testing.T) {
	limit := 3*setOf("a", 1000).bytes() + 10
	c := newVectorCache(limit)
	kept := func() (models []string) {
		for e := c.order.Front(); e != nil; e = e.Next() {
			models = append(models, e.Value.(*vectorSet).key.model)
		}
		return models
	}
	for _, model := range []string{"a", "b", "c"} {
		c.add(setOf(model, 1000), 0)
	}
	if set, _ := c.get(vectorsOf{model: "a"}); set == nil {
		t.Fatal("a is not kept")
	}
	c.add(setOf("d", 1000), 0)
	if got := kept(); !slices.Equal(got, []string{"d", "a", "c"}) || c.size > limit {
		t.Errorf("kept %v of %d bytes", got, c.size)
	}
	c.add(setOf("e", int(limit)+1), 0)
	if len(kept()) != 0 || c.size != 0 {
		t.Errorf("one too large: kept %v of %d bytes", kept(), c.size)
	}
	_, epoch := c.get(vectorsOf{model: "f"})
	c.clear()
	c.add(setOf("f", 1000), epoch)
	if set, _ := c.get(vectorsOf{model: "f"}); set != nil {
		t.Error("what was read before the clearing is kept")
	}
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
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	want, err := graph.Quantise(floats)
	if err != nil {
		t.Fatal(err)
	}
	got, err := denseInt8(e)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v, %v", got, want, err)
	}
}
