package dense

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// TestSketchGolden freezes the sketches of vectors, from which shortlists are made.
func TestSketchGolden(t *testing.T) {
	cases.Golden(t, "testdata/sketch.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct{ Vector string }
		cases.Parse(t, c.Input, &in)
		var values []int8
		for _, b := range cases.Bytes(t, in.Vector) {
			values = append(values, int8(b))
		}
		return map[string]any{"sketch": hex.EncodeToString(newSketcher(len(values)).bytes(values))}
	})
}

// bulkVectors describes vectors instead of listing them: vector i belongs to the node whose id is the beginning of the
// hash of Seed:i, and its values are hashes of Seed:i:j.
type bulkVectors struct {
	Seed                          string
	Count, Dims, Size, Near, Keep int
}

func (b bulkVectors) vector(seed string, i int) []int8 {
	out := make([]int8, 0, b.Dims)
	for j := 0; len(out) < b.Dims; j++ {
		for _, x := range sha256.Sum256(fmt.Appendf(nil, "%s:%d:%d", seed, i, j)) {
			if len(out) < b.Dims {
				out = append(out, max(int8(x), -127))
			}
		}
	}
	return out
}

func (b bulkVectors) changes() iter.Seq2[VectorChange, error] {
	var list []VectorChange
	for i := range b.Count {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", b.Seed, i))
		list = append(list, VectorChange{
			ID: graph.ID(sum[:16]), Model: "m", New: b.vector(b.Seed, i),
		})
	}
	slices.SortFunc(list, func(x, y VectorChange) int { return x.ID.Compare(y.ID) })
	return func(yield func(VectorChange, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// bulkIndexes are the indexes that cases share.
var bulkIndexes sync.Map

// index makes the index of a bulk, once.
func (b bulkVectors) index(t testing.TB) *Index {
	key := bulkVectors{Seed: b.Seed, Count: b.Count, Dims: b.Dims}
	if x, ok := bulkIndexes.Load(key); ok {
		return x.(*Index)
	}
	m := newMemory(t)
	for c := range b.changes() {
		m.vectors[denseKey(c)] = c.New
	}
	var err error
	m.manifest, err = Update(t.Context(), m.blocks, ipld.CID{}, m.of(), b.changes(), UpdateOptions{})
	must.OK(t, err)
	x := m.open(segment.NewCache(1 << 20))
	bulkIndexes.Store(key, x)
	return x
}

func denseKey(c VectorChange) key { return key{c.ID, c.Model} }

// TestShortlistGolden freezes the results of searches among many vectors, few of them compared.
func TestShortlistGolden(t *testing.T) {
	cases.Golden(t, "testdata/shortlist.jsonl", func(t testing.TB, c cases.Case) any {
		var in bulkVectors
		cases.Parse(t, c.Input, &in)
		q := Query{
			Model: "m", Values: in.vector(in.Seed+":query", 0), Shortlist: in.Size, Near: in.Near,
			Accept: func(id graph.ID) (bool, error) { return int(id[15])%in.Keep == 0, nil },
		}
		got := must.Get(in.index(t).Search(t.Context(), q))(t)
		hits := [][2]any{}
		for _, h := range got.Hits {
			hits = append(hits, [2]any{hex.EncodeToString(h.ID[:]), h.Score})
		}
		return map[string]any{"hits": hits}
	})
}
