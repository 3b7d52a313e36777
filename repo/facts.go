package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// MissingError is returned when a block that something links to is not in the store.
// errors.Is(err, store.ErrCorrupt) holds.
type MissingError struct{ CID ipld.CID }

func (e *MissingError) Error() string { return fmt.Sprintf("corrupt: block %s is missing", e.CID) }

// Is reports whether target is store.ErrCorrupt.
func (e *MissingError) Is(target error) bool { return target == store.ErrCorrupt }

// linked reads blocks that something links to: where one is missing, the repository is damaged.
type linked struct{ store.Blocks }

// Get returns a block, and a *MissingError where it is not there.
func (l linked) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := l.Blocks.Get(ctx, c)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &MissingError{c}
	}
	return data, err
}

// facts are the fact blocks, read as linked ones; what was redacted cannot be put.
func (r *Repo) facts() store.Blocks { return factBlocks{linked{r.store.Facts()}, r} }

type factBlocks struct {
	linked
	repo *Repo
}

// Put stores blocks. It returns a *store.RedactedError where one was erased, and stores nothing.
func (f factBlocks) Put(ctx context.Context, blocks ...store.Block) error {
	if err := f.repo.refuseErased(ctx, blocks); err != nil {
		return err
	}
	return f.linked.Put(ctx, blocks...)
}

// refuseErased returns a *store.RedactedError where one of the blocks to be written was erased: what
// would link to it could not be read. It notes where one fills a gap: indexes that were built without the
// block must go then.
func (r *Repo) refuseErased(ctx context.Context, blocks []store.Block) error {
	e, ok := r.store.(store.Eraser)
	if !ok {
		return nil
	}
	for _, b := range blocks {
		red, redacted, err := e.Redacted(ctx, b.CID)
		if err != nil {
			return fmt.Errorf("write block: %w", err)
		}
		if redacted && red.Open {
			r.filled.Store(true)
		}
		if !redacted || red.Open {
			continue
		}
		rec, err := decodeRedaction(b.CID, red.Stub)
		if err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", rec, &store.RedactedError{CID: b.CID, Stub: red.Stub})
	}
	return nil
}

// derived are the blocks and cells of indexes, read as linked ones.
func (r *Repo) derived() store.Derived {
	d := r.store.Derived()
	return linkedDerived{d, linked{d}}
}

type linkedDerived struct {
	store.Derived
	blocks linked
}

// Get returns a block, and a *MissingError where it is not there.
func (l linkedDerived) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	return l.blocks.Get(ctx, c)
}

// nodes reads trees of facts through the repository's cache.
func (r *Repo) nodes() *prolly.Nodes { return prolly.NewNodes(r.facts(), r.trees) }
