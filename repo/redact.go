package repo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// RedactedType is the type of the node that stands in for one that was purged.
const RedactedType = "redacted"

// RedactionEntry is one erased block and what is left of it.
type RedactionEntry struct {
	CID    ipld.CID
	Record *commit.Redaction
	// Open is whether the block is a gap: it was erased where the history that lacks it is from, and may
	// come from elsewhere.
	Open bool
}

// Redactions yields what was erased, in CID order, and then the gaps in CID order.
func (r *Repo) Redactions(ctx context.Context) iter.Seq2[RedactionEntry, error] {
	return func(yield func(RedactionEntry, error) bool) {
		e, ok := r.store.(store.Eraser)
		if !ok {
			return
		}
		err := e.Redactions(ctx, func(red store.Redaction) error {
			rec, err := decodeRedaction(red.CID, red.Stub)
			if err != nil {
				return err
			}
			if !yield(RedactionEntry{red.CID, rec, red.Open}, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(RedactionEntry{}, err)
		}
	}
}

func decodeRedaction(c ipld.CID, stub []byte) (*commit.Redaction, error) {
	rec, err := commit.DecodeRedaction(stub)
	if err != nil {
		return nil, fmt.Errorf("redaction of %s: %w: %w", c, store.ErrCorrupt, err)
	}
	return rec, nil
}

// Redaction returns what is left of an erased block, nil for a block that was not erased.
func (r *Repo) Redaction(ctx context.Context, c ipld.CID) (*commit.Redaction, error) {
	e, ok := r.store.(store.Eraser)
	if !ok {
		return nil, nil
	}
	red, redacted, err := e.Redacted(ctx, c)
	if err != nil || !redacted {
		return nil, err
	}
	return decodeRedaction(c, red.Stub)
}

// Redaction is that of the repository, for the CID that Node returned.
func (s *Snapshot) Redaction(ctx context.Context, c ipld.CID) (*commit.Redaction, error) {
	return s.repo.Redaction(ctx, c)
}

// Message returns the text of a message; of one that was erased why, when and by whom, as
// "redacted: REASON, TIME, ACTOR".
func (r *Repo) Message(ctx context.Context, m commit.Message) (string, error) {
	return shownMessage(ctx, r.facts(), m)
}

func shownMessage(ctx context.Context, get store.Getter, m commit.Message) (string, error) {
	text, err := commit.ReadMessage(ctx, get, m)
	var gone *store.RedactedError
	if !errors.As(err, &gone) {
		return text, err
	}
	rec, err := decodeRedaction(gone.CID, gone.Stub)
	if err != nil {
		return "", err
	}
	return rec.String(), nil
}

// standIn returns the node that is shown in place of one whose record was erased, and any other
// error of reading as it is.
func standIn(id graph.ID, err error) (*graph.Node, error) {
	var gone *store.RedactedError
	if !errors.As(err, &gone) {
		return nil, err
	}
	rec, err := decodeRedaction(gone.CID, gone.Stub)
	if err != nil {
		return nil, err
	}
	return &graph.Node{ID: id, Type: RedactedType, Summary: rec.String(), Created: rec.Time}, nil
}

// shown returns a node and its CID, nil where there is none, and a stand-in for one that was
// erased. What it returns is for showing, and must not be written.
func (s *state) shown(ctx context.Context, id graph.ID) (*graph.Node, ipld.CID, error) {
	n, c, err := s.node(ctx, id)
	if err != nil {
		n, err = standIn(id, err)
	}
	return n, c, err
}

// erased returns the erased nodes, edges and marks of a state, in the order of the CIDs of their
// records.
func (r *Repo) erased(ctx context.Context, s *state) ([]RedactionEntry, error) {
	var out []RedactionEntry
	for e, err := range r.Redactions(ctx) {
		if err != nil {
			return nil, err
		}
		has, err := s.hasErased(ctx, e)
		if err != nil {
			return nil, err
		}
		if has {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b RedactionEntry) int { return a.CID.Compare(b.CID) })
	return out, nil
}

func (s *state) hasErased(ctx context.Context, e RedactionEntry) (bool, error) {
	var tree *prolly.Map
	var key []byte
	switch e.Record.What {
	case commit.ErasedNode:
		tree, key = s.nodes, e.Record.Node[:]
	case commit.ErasedEdge:
		left, err := graph.DecodeEdge(e.Record.Left)
		if err != nil {
			return false, err
		}
		tree, key = s.edges, left.ID[:]
	case commit.ErasedMark:
		left, err := graph.DecodeMark(e.Record.Left)
		if err != nil {
			return false, err
		}
		tree, key = s.marks, graph.MarkKey(left.On, left.ID)
	default:
		return false, nil
	}
	c, err := lookup(ctx, tree, key)
	return c == e.CID, err
}
