package core

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// RedactionEntry is one erased block and what is left of it.
type RedactionEntry struct {
	CID    ipld.CID
	Record *commit.Redaction
	// Open is whether the block is a gap: it was erased where the history that lacks it is from, and may
	// come from elsewhere.
	Open bool
}

// Redactions reads the records of erased texts, and keeps what was erased from coming back.
type Redactions struct{ repo *Repo }

// Redactions returns the redactions.
func (r *Repo) Redactions() Redactions { return Redactions{r} }

// All yields what was erased, in CID order, and then the gaps in CID order.
func (r Redactions) All(ctx context.Context) iter.Seq2[RedactionEntry, error] {
	return func(yield func(RedactionEntry, error) bool) {
		e, ok := r.repo.Store.(store.Eraser)
		if !ok {
			return
		}
		err := e.Redactions(ctx, func(red store.Redaction) error {
			rec, err := state.DecodeRedaction(red.CID, red.Stub)
			if err != nil {
				return err
			}
			if !yield(RedactionEntry{red.CID, rec, red.Open}, nil) {
				return ErrStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, ErrStop) {
			yield(RedactionEntry{}, err)
		}
	}
}

// Read returns what is left of an erased block, nil for a block that was not erased.
func (r Redactions) Read(ctx context.Context, c ipld.CID) (*commit.Redaction, error) {
	e, ok := r.repo.Store.(store.Eraser)
	if !ok {
		return nil, nil
	}
	red, redacted, err := e.Redacted(ctx, c)
	if err != nil || !redacted {
		return nil, err
	}
	return state.DecodeRedaction(c, red.Stub)
}

// Redaction returns the repository's redaction of the CID that Node returned.
func (s *Snapshot) Redaction(ctx context.Context, c ipld.CID) (*commit.Redaction, error) {
	return s.Repo.Redactions().Read(ctx, c)
}

// Message returns the text of a message; of one that was erased why, when and by whom, as
// "redacted: REASON, TIME, ACTOR".
func (r *Repo) Message(ctx context.Context, m commit.Message) (string, error) {
	return shownMessage(ctx, r.Facts(), m)
}

func shownMessage(ctx context.Context, get store.Getter, m commit.Message) (string, error) {
	text, err := commit.ReadMessage(ctx, get, m)
	var gone *store.RedactedError
	if !errors.As(err, &gone) {
		return text, err
	}
	rec, err := state.DecodeRedaction(gone.CID, gone.Stub)
	if err != nil {
		return "", err
	}
	return rec.String(), nil
}

// Of returns the erased nodes, edges and marks of a state, in the order of the CIDs of their records.
func (r Redactions) Of(ctx context.Context, s *state.State) ([]RedactionEntry, error) {
	var out []RedactionEntry
	for e, err := range r.All(ctx) {
		if err != nil {
			return nil, err
		}
		has, err := hasErased(ctx, s, e)
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

func hasErased(ctx context.Context, s *state.State, e RedactionEntry) (bool, error) {
	var tree *prolly.Map
	var key []byte
	switch e.Record.What {
	case commit.ErasedNode:
		tree, key = s.Nodes, e.Record.Node[:]
	case commit.ErasedEdge:
		left, err := graph.DecodeEdge(e.Record.Left)
		if err != nil {
			return false, err
		}
		tree, key = s.Edges, left.ID[:]
	case commit.ErasedMark:
		left, err := graph.DecodeMark(e.Record.Left)
		if err != nil {
			return false, err
		}
		tree, key = s.Marks, graph.MarkKey(left.On, left.ID)
	default:
		return false, nil
	}
	c, err := state.Lookup(ctx, tree, key)
	return c == e.CID, err
}

// Refuse returns a *store.RedactedError if one of the blocks to be written was erased: what would link to it
// could not be read. It notes if one fills a gap: indexes that were built without the block must go then.
func (r Redactions) Refuse(ctx context.Context, blocks []store.Block) error {
	e, ok := r.repo.Store.(store.Eraser)
	if !ok {
		return nil
	}
	for _, b := range blocks {
		red, redacted, err := e.Redacted(ctx, b.CID)
		if err != nil {
			return fmt.Errorf("write block: %w", err)
		}
		if redacted && red.Open {
			r.repo.filled.Store(true)
		}
		if !redacted || red.Open {
			continue
		}
		rec, err := state.DecodeRedaction(b.CID, red.Stub)
		if err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", rec, &store.RedactedError{CID: b.CID, Stub: red.Stub})
	}
	return nil
}

// Facts are the fact blocks, read as linked ones; what was redacted cannot be put.
func (r *Repo) Facts() store.Blocks { return factBlocks{state.Linked{Blocks: r.Store.Facts()}, r} }

type factBlocks struct {
	state.Linked
	repo *Repo
}

// Put stores blocks. It returns a *store.RedactedError where one was erased, and stores nothing.
func (f factBlocks) Put(ctx context.Context, blocks ...store.Block) error {
	if err := f.repo.Redactions().Refuse(ctx, blocks); err != nil {
		return err
	}
	return f.Linked.Put(ctx, blocks...)
}

// Derived are the blocks and cells of indexes, read as linked ones.
func (r *Repo) Derived() store.Derived {
	d := r.Store.Derived()
	return state.LinkedDerived{Derived: d, Blocks: state.Linked{Blocks: d}}
}

// Nodes reads trees of facts through the repository's cache.
func (r *Repo) Nodes() *prolly.Nodes { return prolly.NewNodes(r.Facts(), r.Trees) }
