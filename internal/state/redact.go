package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

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
