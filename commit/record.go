package commit

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// validate checks the fields of a record, and that its block is within the limits of blocks, which only unknown fields
// can exceed.
func validate(check func() error, encode func() []byte) error {
	if err := check(); err != nil {
		return err
	}
	if err := ipld.Check(encode()); err != nil {
		return graph.Fieldf("", "does not fit into a block: %v", err)
	}
	return nil
}

// ReadCommit fetches and decodes a commit. Its errors, like those of the other Read functions, name the block and
// wrap the store's, or store.ErrCorrupt if the bytes are no such record.
func ReadCommit(ctx context.Context, g store.Getter, c ipld.CID) (*Commit, error) {
	return read(ctx, g, c, KindCommit, DecodeCommit)
}

// ReadOperation fetches and decodes an operation.
func ReadOperation(ctx context.Context, g store.Getter, c ipld.CID) (*Operation, error) {
	return read(ctx, g, c, KindOperation, DecodeOperation)
}

// ReadStage fetches and decodes a stage.
func ReadStage(ctx context.Context, g store.Getter, c ipld.CID) (*Stage, error) {
	return read(ctx, g, c, KindStage, DecodeStage)
}

// ReadMerge fetches and decodes a merge in progress.
func ReadMerge(ctx context.Context, g store.Getter, c ipld.CID) (*Merge, error) {
	return read(ctx, g, c, KindMerge, DecodeMerge)
}

// ReadConflict fetches and decodes a conflict.
func ReadConflict(ctx context.Context, g store.Getter, c ipld.CID) (*Conflict, error) {
	return read(ctx, g, c, KindConflict, DecodeConflict)
}

// ReadGraph fetches and decodes a graph.
func ReadGraph(ctx context.Context, g store.Getter, c ipld.CID) (*graph.Graph, error) {
	return read(ctx, g, c, graph.KindGraph, graph.DecodeGraph)
}

// ReadNode fetches and decodes a node.
func ReadNode(ctx context.Context, g store.Getter, c ipld.CID) (*graph.Node, error) {
	return read(ctx, g, c, graph.KindNode, graph.DecodeNode)
}

// ReadEdge fetches and decodes an edge, or the remainder of an erased one.
func ReadEdge(ctx context.Context, g store.Getter, c ipld.CID) (*graph.Edge, error) {
	return read(ctx, LeftGetter{g}, c, graph.KindEdge, graph.DecodeEdge)
}

// ReadMark fetches and decodes a mark, or the remainder of an erased one.
func ReadMark(ctx context.Context, g store.Getter, c ipld.CID) (*graph.Mark, error) {
	return read(ctx, LeftGetter{g}, c, graph.KindMark, graph.DecodeMark)
}

// LeftGetter returns the remainders of erased edges and marks in their place.
type LeftGetter struct{ store.Getter }

// Get returns a block, or its remainder.
func (g LeftGetter) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := g.Getter.Get(ctx, c)
	if err != nil {
		return Left(err)
	}
	return data, nil
}

// ReadEmbedding fetches and decodes an embedding.
func ReadEmbedding(ctx context.Context, g store.Getter, c ipld.CID) (*graph.Embedding, error) {
	return read(ctx, g, c, graph.KindEmbedding, graph.DecodeEmbedding)
}

func read[T any](
	ctx context.Context, g store.Getter, c ipld.CID, kind string, decode func([]byte) (T, error),
) (T, error) {
	var none T
	if !c.Defined() || c.Codec() != ipld.DagCBOR {
		return none, fmt.Errorf("read %s: %w: %q is not the CID of a record", kind, ipld.ErrCID, c)
	}
	block, err := g.Get(ctx, c)
	if err != nil {
		return none, fmt.Errorf("read %s %s: %w", kind, c, err)
	}
	record, err := decode(block)
	if err != nil {
		return none, fmt.Errorf("read %s %s: %w: %w", kind, c, store.ErrCorrupt, err)
	}
	return record, nil
}
