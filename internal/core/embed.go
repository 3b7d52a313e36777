package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view"
)

// EmbeddingState tells whether a node has an embedding by a model, and whether it matches the text.
type EmbeddingState string

// The states of embeddings.
const (
	EmbeddingMissing EmbeddingState = "missing" // there is none, or it was erased
	EmbeddingStale   EmbeddingState = "stale"   // the text has changed since
	EmbeddingCurrent EmbeddingState = "current" // it embeds the current text
)

// NodeEmbedding tells how a node stands with one model.
type NodeEmbedding struct {
	ID    graph.ID
	Type  string // of the node
	State EmbeddingState
	Dims  int // of the dense embedding, 0 if there is none
}

// Embeddings yields all nodes in id order, each with the state of its embedding by a model. It skips nodes with erased
// parts. The text of a node is read only if there is an embedding to compare it with.
func (s *Snapshot) Embeddings(ctx context.Context, model string) iter.Seq2[NodeEmbedding, error] {
	return func(yield func(NodeEmbedding, error) bool) {
		defer runtime.KeepAlive(s.State) // and with it its lease
		for kv, err := range s.State.Nodes.Scan(ctx, nil, nil) {
			var e NodeEmbedding
			if err == nil {
				e, err = s.embeddingOf(ctx, graph.ID(kv.Key), model)
			}
			if errors.Is(err, store.ErrRedacted) {
				continue
			}
			if err != nil {
				err = fmt.Errorf("look for embeddings by %q: %w", model, err)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (s *Snapshot) embeddingOf(ctx context.Context, id graph.ID, model string) (NodeEmbedding, error) {
	out := NodeEmbedding{ID: id, State: EmbeddingMissing}
	n, _, err := s.State.Node(ctx, id)
	if err != nil {
		return out, err
	}
	out.Type = n.Type
	item, ok, err := s.State.Vectors.Get(ctx, graph.EmbeddingKey(id, model))
	if err != nil || !ok {
		return out, err
	}
	e, err := view.Embedding(ctx, s.State, item)
	if err != nil || e == nil {
		return out, err
	}
	if e.DType != graph.Sparse {
		out.Dims = e.Dims
	}
	content, err := s.State.Content(ctx, n.Content)
	if err != nil {
		return out, err
	}
	out.State = EmbeddingStale
	if e.Text == graph.TextHash(n, content) {
		out.State = EmbeddingCurrent
	}
	return out, nil
}

// EmbeddedSince reports whether a node has another embedding by a model than it has in an older
// snapshot, or one that it has not there.
func (s *Snapshot) EmbeddedSince(ctx context.Context, old *Snapshot, id graph.ID, model string) (bool, error) {
	key := graph.EmbeddingKey(id, model)
	now, ok, err := s.State.Vectors.Get(ctx, key)
	if err != nil || !ok {
		return false, err
	}
	was, ok, err := old.State.Vectors.Get(ctx, key)
	return err == nil && (!ok || !bytes.Equal(now, was)), err
}

// DenseEmbedding returns the dense embedding of a node, the first by the names of models; nil for none.
func (s *Snapshot) DenseEmbedding(ctx context.Context, id graph.ID) (*graph.Embedding, error) {
	defer runtime.KeepAlive(s.State)
	after := append(id[:len(id):len(id)], 0xff) // names of models are UTF-8
	for kv, err := range s.State.Vectors.Scan(ctx, id[:], after) {
		if err != nil {
			return nil, err
		}
		e, err := view.Embedding(ctx, s.State, kv.Value)
		if err != nil || e != nil && e.DType != graph.Sparse {
			return e, err
		}
	}
	return nil, nil
}

// EmbedText returns the text that an embedding of a node is made of (graph.EmbedText). It is not ok
// if there is no such node, or something of it was erased.
func (s *Snapshot) EmbedText(ctx context.Context, id graph.ID) (text string, ok bool, err error) {
	n, _, err := s.State.Node(ctx, id)
	if err == nil && n != nil {
		var content string
		if content, err = s.State.Content(ctx, n.Content); err == nil {
			return graph.EmbedText(n, content), true, nil
		}
	}
	if errors.Is(err, store.ErrRedacted) {
		err = nil
	}
	return "", false, err
}
