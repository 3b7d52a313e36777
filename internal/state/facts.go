package state

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// MissingError is returned when a linked block is not in the store. errors.Is(err, store.ErrCorrupt) holds.
type MissingError struct{ CID ipld.CID }

// Error names the block.
func (e *MissingError) Error() string { return fmt.Sprintf("corrupt: block %s is missing", e.CID) }

// Is reports whether target is store.ErrCorrupt.
func (e *MissingError) Is(target error) bool { return target == store.ErrCorrupt }

// Linked reads blocks that other blocks link to. A missing one means that the repository is damaged.
type Linked struct{ store.Blocks }

// Get returns a block, or a *MissingError if the store does not have it.
func (l Linked) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := l.Blocks.Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &MissingError{c}
	}
	return data, err
}

// GetEach calls fn with blocks, or with a *MissingError for those that the store does not have.
func (l Linked) GetEach(ctx context.Context, cids iter.Seq[ipld.CID], fn store.EachFunc) error {
	return store.GetEach(ctx, l.Blocks, cids, func(c ipld.CID, data []byte, err error) error {
		if errors.Is(err, store.ErrNotFound) {
			data, err = nil, &MissingError{c}
		}
		return fn(c, data, err)
	})
}

// LinkedDerived is a store.Derived that reads blocks through Blocks: a missing block is a *MissingError. Cells come
// from Derived.
type LinkedDerived struct {
	store.Derived
	Blocks Linked
}

// Get returns a block, or a *MissingError if the store does not have it.
func (l LinkedDerived) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	return l.Blocks.Get(ctx, c)
}

// RedactedType is the type of the node that stands in for one that was purged.
const RedactedType = "redacted"

// DecodeRedaction decodes the stub that the erased block c left. The error wraps store.ErrCorrupt.
func DecodeRedaction(c ipld.CID, stub []byte) (*commit.Redaction, error) {
	rec, err := commit.DecodeRedaction(stub)
	if err != nil {
		return nil, fmt.Errorf("redaction of %s: %w: %w", c, store.ErrCorrupt, err)
	}
	return rec, nil
}

// standIn returns the node shown in place of one whose record was erased. It returns any other error unchanged.
func standIn(id graph.ID, err error) (*graph.Node, error) {
	var gone *store.RedactedError
	if !errors.As(err, &gone) {
		return nil, err
	}
	rec, err := DecodeRedaction(gone.CID, gone.Stub)
	if err != nil {
		return nil, err
	}
	return &graph.Node{ID: id, Type: RedactedType, Summary: rec.String(), Created: rec.Time}, nil
}

// Shown returns a node and its CID, nil if there is none, and a stand-in for an erased one. The result is only for
// display and must not be written.
func (s *State) Shown(ctx context.Context, id graph.ID) (*graph.Node, ipld.CID, error) {
	n, c, err := s.Node(ctx, id)
	if err != nil {
		n, err = standIn(id, err)
	}
	return n, c, err
}
