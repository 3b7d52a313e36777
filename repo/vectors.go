package repo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/dense"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/internal/cache"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// vectorsOf names the sparse vectors of one model in one tree of embeddings.
type vectorsOf struct {
	root  ipld.CID
	model string
}

// vectorSet is what a pass over a tree found of one model.
type vectorSet struct {
	key    vectorsOf
	sparse *index.SparseMatrix // nil where the vectors are more than the cache may hold
	models []string            // where there is no vector of the model: the models there are
}

// vectorSetOverhead is about what a set takes beside its matrix and models, in bytes.
const vectorSetOverhead = 512

func (s *vectorSet) bytes() int64 {
	n := int64(vectorSetOverhead)
	if s.sparse != nil {
		n += s.sparse.Bytes()
	}
	return n
}

// vectorCache keeps the vectors of models in memory. Safe for concurrent use. One pass over a tree
// runs at a time, so that it takes at most its limit once more while a set is being read.
type vectorCache struct {
	limit int64
	build chan struct{} // holds a token while a set is being read
	sets  cache.Cache[vectorsOf, *vectorSet]
}

func newVectorCache(limit int64) *vectorCache {
	c := &vectorCache{limit: limit, build: make(chan struct{}, 1)}
	c.sets.Init(limit)
	return c
}

// clear forgets everything, for what was erased must not stay.
func (c *vectorCache) clear() { c.sets.Clear() }

// vectors returns the sparse vectors of a model at the state, read in one pass where they are not
// cached.
func (c *vectorCache) vectors(
	ctx context.Context, s *state, model string,
) (*vectorSet, error) {
	key := vectorsOf{s.vectorsRoot(), model}
	if set, ok, _ := c.sets.Get(key); ok {
		return set, nil
	}
	select {
	case c.build <- struct{}{}:
		defer func() { <-c.build }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	set, ok, epoch := c.sets.Get(key)
	if ok { // someone else read it meanwhile
		return set, nil
	}
	set, err := c.read(ctx, s, key)
	if err != nil {
		return nil, fmt.Errorf("read vectors of model %q: %w", model, err)
	}
	c.sets.AddSince(epoch, key, set, set.bytes())
	return set, nil
}

// read makes a set in one pass over the tree.
func (c *vectorCache) read(ctx context.Context, s *state, key vectorsOf) (*vectorSet, error) {
	set := &vectorSet{key: key, sparse: new(index.SparseMatrix)}
	found := false
	err := s.eachSparse(ctx, key.model, func(id graph.ID, terms []graph.Term) error {
		set.sparse.Add(id, terms)
		found = true
		if set.bytes() > c.limit {
			set.sparse = nil
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if !found {
		set.models, err = s.sparseModels(ctx)
		return set, err
	}
	return set, nil
}

// errEnough ends a pass.
var errEnough = errors.New("enough")

// eachSparse calls fn with the nodes that have a sparse embedding by a model, and its terms, in the
// order of ids. What was erased is passed over.
func (s *state) eachSparse(
	ctx context.Context, model string, fn func(graph.ID, []graph.Term) error,
) error {
	for kv, err := range s.vectors.Scan(ctx, nil, nil) {
		if err != nil {
			return err
		}
		id, name, err := graph.ParseEmbeddingKey(kv.Key)
		if err != nil {
			return fmt.Errorf("%w tree of embeddings: %w", store.ErrCorrupt, err)
		}
		if name != model {
			continue
		}
		e, err := s.embedding(ctx, kv.Value)
		if err != nil {
			return err
		}
		if e == nil || e.DType != graph.Sparse {
			continue
		}
		terms, err := e.Terms()
		if err == nil {
			err = fn(id, terms)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// embedding reads the embedding that a value of the tree links to, nil for one that was erased.
func (s *state) embedding(ctx context.Context, item []byte) (*graph.Embedding, error) {
	c, err := linkItem(item)
	if err != nil {
		return nil, err
	}
	e, err := commit.ReadEmbedding(ctx, s.get, c)
	if errors.Is(err, store.ErrRedacted) {
		return nil, nil
	}
	return e, err
}

// denseInt8 returns a dense vector as it is ranked: floats are quantised as those of queries are.
func denseInt8(e *graph.Embedding) ([]int8, error) {
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

// sparseModels returns the first models, ascending, by which nodes have sparse embeddings.
func (s *state) sparseModels(ctx context.Context) ([]string, error) {
	var models []string // ascending, one more than are named at most
	for kv, err := range s.vectors.Scan(ctx, nil, nil) {
		if err != nil {
			return nil, err
		}
		_, name, err := graph.ParseEmbeddingKey(kv.Key)
		if err != nil {
			return nil, fmt.Errorf("%w tree of embeddings: %w", store.ErrCorrupt, err)
		}
		at, known := slices.BinarySearch(models, name)
		if known || at == retrieve.MaxModelsNamed {
			continue
		}
		e, err := s.embedding(ctx, kv.Value)
		if err != nil {
			return nil, err
		}
		if e == nil || e.DType != graph.Sparse {
			continue
		}
		models = slices.Insert(models, at, name)
		models = models[:min(len(models), retrieve.MaxModelsNamed)]
	}
	return models, nil
}

// Dense ranks the nodes that have a dense embedding of the query's model.
func (v indexView) Dense(
	ctx context.Context, q retrieve.QueryVector, accept retrieve.Accept, k int,
	list retrieve.Shortlist,
) (retrieve.DenseResult, error) {
	x, err := v.s.dense(ctx)
	if err != nil || x == nil {
		return retrieve.DenseResult{None: true}, err
	}
	got, err := x.Search(ctx, dense.Query{
		Model: q.Model, Values: q.Values, Accept: v.acceptID(ctx, accept), K: k,
		Shortlist: list.Most, Near: list.Near,
		Peers: dense.Peers{Most: list.Peers, Ease: list.Ease},
	})
	res := retrieve.DenseResult{Hits: hits(got.Hits), Own: hits(got.Own), Other: got.Other, None: got.None}
	if err == nil && got.None {
		res.Models, err = x.Models(ctx, retrieve.MaxModelsNamed)
	}
	return res, err
}

// Sparse ranks the nodes that have a sparse embedding of the query's model. Vectors that are in
// memory are scanned there; the first query of a model at a commit reads them all, and where they
// are more than the cache may hold so does every one.
func (v indexView) Sparse(
	ctx context.Context, q retrieve.SparseVector, accept retrieve.Accept, k int,
) (retrieve.SparseResult, error) {
	st := v.s.state
	set, err := v.s.repo.vectors.vectors(ctx, st, q.Model)
	if err != nil {
		return retrieve.SparseResult{}, err
	}
	search := index.NewSparseSearch(q.Terms, v.acceptID(ctx, accept), k)
	if set.sparse != nil {
		err := set.sparse.Search(ctx, search)
		return retrieve.SparseResult{
			Hits: hits(search.Hits()), None: set.sparse.Rows() == 0, Models: set.models,
		}, err
	}
	err = st.eachSparse(ctx, q.Model, search.Offer)
	return retrieve.SparseResult{Hits: hits(search.Hits())}, err
}

// acceptID asks a filter about the document of a node; a node that is none was erased.
func (v indexView) acceptID(
	ctx context.Context, accept retrieve.Accept,
) func(graph.ID) (bool, error) {
	find := v.x.Finder(ctx)
	return func(id graph.ID) (bool, error) {
		d, ok, err := find.Doc(id)
		if err != nil || !ok {
			return false, err
		}
		ok, err = accept(document{d})
		return ok, cmp.Or(err, d.Err())
	}
}

// EmbeddedText returns the hash of the text that the embedding of a node by a model stands for.
func (v indexView) EmbeddedText(
	ctx context.Context, id graph.ID, model string,
) ([sha256.Size]byte, error) {
	item, ok, err := v.s.state.vectors.Get(ctx, graph.EmbeddingKey(id, model))
	var e *graph.Embedding
	if err == nil && ok {
		e, err = v.s.state.embedding(ctx, item)
	}
	if err == nil && e == nil { // it was erased meanwhile: the retrieval begins again
		err = fmt.Errorf("embedding of %s by %q: %w", id, model, retrieve.ErrNoNode)
	}
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return e.Text, nil
}
