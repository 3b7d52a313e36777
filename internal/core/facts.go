package core

import (
	"context"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
)

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
