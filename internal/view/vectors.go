package view

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/cache"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/ipld"
)

// VectorsOf names the sparse vectors of one model in one tree of embeddings.
type VectorsOf struct {
	root  ipld.CID
	Model string
}

// VectorSet is the result of a pass over a tree for one model.
type VectorSet struct {
	Key    VectorsOf
	Sparse *index.SparseMatrix // nil if the vectors are more than the cache may hold
	Models []string            // if there is no vector of the model: the models there are
}

// vectorSetOverhead is the approximate size of a set without its matrix and models, in bytes.
const vectorSetOverhead = 512

// Bytes returns about how many bytes of memory the set takes, as the cache counts them.
func (s *VectorSet) Bytes() int64 {
	n := int64(vectorSetOverhead)
	if s.Sparse != nil {
		n += s.Sparse.Bytes()
	}
	return n
}

// VectorCache keeps the vectors of models in memory. Safe for concurrent use. One pass over a tree
// runs at a time, so that it takes at most its limit once more while a set is being read.
type VectorCache struct {
	Limit int64
	build chan struct{} // holds a token while a set is being read
	Sets  cache.Cache[VectorsOf, *VectorSet]
}

// NewVectorCache returns an empty cache of at most limit bytes.
func NewVectorCache(limit int64) *VectorCache {
	c := &VectorCache{Limit: limit, build: make(chan struct{}, 1)}
	c.Sets.Init(limit)
	return c
}

// Clear empties the cache, since erased vectors must not stay.
func (c *VectorCache) Clear() { c.Sets.Clear() }

// Vectors returns the sparse vectors of a model at the state. It reads them in one pass if they are not cached.
func (c *VectorCache) Vectors(ctx context.Context, s *state.State, model string) (*VectorSet, error) {
	key := VectorsOf{s.VectorsRoot(), model}
	if set, ok, _ := c.Sets.Get(key); ok {
		return set, nil
	}
	select {
	case c.build <- struct{}{}:
		defer func() { <-c.build }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	set, ok, epoch := c.Sets.Get(key)
	if ok { // another goroutine read it first
		return set, nil
	}
	set, err := c.read(ctx, s, key)
	if err != nil {
		return nil, fmt.Errorf("read vectors of model %q: %w", model, err)
	}
	c.Sets.AddSince(epoch, key, set, set.Bytes())
	return set, nil
}

func (c *VectorCache) read(ctx context.Context, s *state.State, key VectorsOf) (*VectorSet, error) {
	set := &VectorSet{Key: key, Sparse: new(index.SparseMatrix)}
	found := false
	err := EachSparse(ctx, s, key.Model, func(id graph.ID, terms []graph.Term) error {
		set.Sparse.Add(id, terms)
		found = true
		if set.Bytes() > c.Limit {
			set.Sparse = nil
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if !found {
		set.Models, err = sparseModels(ctx, s)
		return set, err
	}
	return set, nil
}

// errEnough ends a pass.
var errEnough = errors.New("enough")

// EachSparse calls fn with the nodes that have a sparse embedding by a model, and its terms, in the order of ids. It
// skips erased ones.
func EachSparse(ctx context.Context, s *state.State, model string, fn func(graph.ID, []graph.Term) error) error {
	asked := func(name string) bool { return name == model }
	return eachSparse(ctx, s, asked, func(id graph.ID, _ string, e *graph.Embedding) error {
		terms, err := e.Terms()
		if err != nil {
			return err
		}
		return fn(id, terms)
	})
}

// eachSparse calls fn with the sparse embeddings by the models that asked accepts, and reads no others.
func eachSparse(
	ctx context.Context, s *state.State, asked func(model string) bool,
	fn func(id graph.ID, model string, e *graph.Embedding) error,
) error {
	for kv, err := range s.Vectors.Scan(ctx, nil, nil) {
		if err != nil {
			return err
		}
		id, model, err := graph.ParseEmbeddingKey(kv.Key)
		if err != nil {
			return fmt.Errorf("%w tree of embeddings: %w", store.ErrCorrupt, err)
		}
		if !asked(model) {
			continue
		}
		e, err := Embedding(ctx, s, kv.Value)
		if err == nil && e != nil && e.DType == graph.Sparse {
			err = fn(id, model, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Embedding reads the embedding that a value of the tree links to, nil for one that was erased.
func Embedding(ctx context.Context, s *state.State, item []byte) (*graph.Embedding, error) {
	c, err := state.LinkItem(item)
	if err != nil {
		return nil, err
	}
	e, err := commit.ReadEmbedding(ctx, s.Get, c)
	if errors.Is(err, store.ErrRedacted) {
		return nil, nil
	}
	return e, err
}

// DenseInt8 returns a dense vector for ranking: floats are quantised like those of queries.
func DenseInt8(e *graph.Embedding) ([]int8, error) {
	if e.DType == graph.Int8 {
		return e.Int8(), nil
	}
	floats := make([]float64, e.Dims)
	for i := range floats {
		bits := binary.LittleEndian.Uint32(e.Data[4*i:])
		floats[i] = float64(math.Float32frombits(bits))
	}
	return graph.Quantise(floats)
}

// sparseModels returns the first models, ascending, that have sparse embeddings of nodes.
func sparseModels(ctx context.Context, s *state.State) ([]string, error) {
	var models []string
	at := 0 // the place of the model asked about
	asked := func(model string) (is bool) {
		at, is = slices.BinarySearch(models, model)
		return !is && at < source.MaxModelsNamed
	}
	err := eachSparse(ctx, s, asked, func(_ graph.ID, model string, _ *graph.Embedding) error {
		models = slices.Insert(models, at, model)
		models = models[:min(len(models), source.MaxModelsNamed)]
		return nil
	})
	return models, err
}
