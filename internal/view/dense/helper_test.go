package dense

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
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

// key is a key of the tree of embeddings.
type key struct {
	id    graph.ID
	model string
}

// memory is a naive tree of embeddings with its index.
type memory struct {
	t        testing.TB
	blocks   store.Blocks
	vectors  map[key][]int8
	manifest ipld.CID
	version  int
}

func newMemory(t testing.TB) *memory {
	return &memory{t: t, blocks: mem.New().Derived(), vectors: map[key][]int8{}}
}

// of stands for the root of the tree.
func (m *memory) of() ipld.CID { return ipld.Sum(ipld.Raw, fmt.Append(nil, m.version)) }

// apply changes embeddings, nil removing one, in one update.
func (m *memory) apply(changes map[key][]int8, opt UpdateOptions) {
	m.t.Helper()
	var list []VectorChange
	for k, v := range changes {
		list = append(list, VectorChange{ID: k.id, Model: k.model, Old: len(m.vectors[k]), New: v})
		if m.vectors[k] = v; v == nil {
			delete(m.vectors, k)
		}
	}
	m.version++
	c := must.Get(Update(m.t.Context(), m.blocks, m.manifest, m.of(), yielded(list), opt))(m.t)
	m.manifest = c
}

// source reads the tree.
func (m *memory) source(_ context.Context, model string, ids []graph.ID) (list [][]int8, err error) {
	for _, id := range ids {
		v, ok := m.vectors[key{id, model}]
		if !ok {
			return nil, store.ErrNotFound
		}
		list = append(list, v)
	}
	return list, nil
}

// yielded yields changes in their order.
func yielded(list []VectorChange) iter.Seq2[VectorChange, error] {
	slices.SortFunc(list, func(a, b VectorChange) int {
		return cmp.Or(a.ID.Compare(b.ID), cmp.Compare(a.Model, b.Model))
	})
	return func(yield func(VectorChange, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (m *memory) open(cache *segment.Cache) *Index {
	m.t.Helper()
	return must.Get(Open(m.t.Context(), m.blocks, m.manifest, m.of(), m.source, cache))(m.t)
}

// verify checks the index against the vectors.
func (m *memory) verify() {
	m.t.Helper()
	wrong, err := Verify(m.t.Context(), m.blocks, m.manifest, m.of(), m.source, digester, m.all())
	must.Require(m.t, err == nil && len(wrong) <= 0, "%q, %v", wrong, err)
}

var digester = NewDigester()

func (m *memory) all() iter.Seq2[Vector, error] {
	return func(yield func(Vector, error) bool) {
		for k, v := range m.vectors {
			if !yield(Vector{k.id, k.model, digester.Of(v)}, nil) {
				return
			}
		}
	}
}

func search1(t testing.TB, x *Index, q Query) Result {
	t.Helper()
	return must.Get(x.Search(context.Background(), q))(t)
}

// ranked ranks all vectors by the formula.
func (m *memory) ranked(q Query) []index.Hit {
	hits := []index.Hit{}
	for k, v := range m.vectors {
		if k.model != q.Model || len(v) != len(q.Values) {
			continue
		}
		if q.Accept != nil {
			if ok, _ := q.Accept(k.id); !ok {
				continue
			}
		}
		if s := exactCosine(q.Values, v); s > 0 {
			hits = append(hits, index.Hit{ID: k.id, Score: s})
		}
	}
	slices.SortFunc(hits, func(a, b index.Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID)) })
	if q.K == 0 {
		q.K = index.LaneDepth
	}
	return hits[:min(len(hits), q.K)]
}

func storeBlock(c ipld.CID, data []byte) store.Block { return store.Block{CID: c, Data: data} }
