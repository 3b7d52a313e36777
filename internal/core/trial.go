package core

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Trial returns a repository that begins as r is now and keeps all that is written to it in
// memory, until it is forgotten: it answers what a write would do. It works if r is read-only.
// r must stay open while it is used; closing it does nothing.
func (r *Repo) Trial(ctx context.Context) (*Repo, error) {
	head, err := r.Store.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("read operation head: %w", err)
	}
	return r.trial(head), nil
}

// Trial returns a repository as that of a Repo, in which a branch, "" for the one that HEAD is on, is at
// the snapshot, whatever was committed since. by is whose change that counts as.
func (s *Snapshot) Trial(ctx context.Context, branch string, by state.Stamp) (*Repo, error) {
	head, err := s.Repo.Writer.newest(ctx, s.Repo.Store)
	if err != nil {
		return nil, fmt.Errorf("read operation head: %w", err)
	}
	r := s.Repo.trial(head)
	_, err = r.Transact(ctx, by, func(t *Tx) error {
		ref, err := t.View.branch(ctx, CommitOptions{Branch: branch})
		if err == nil && ref.Target != s.Id {
			t.Edits[ref.Name] = EncodeRef(Ref{Target: s.Id})
		}
		return err
	})
	return r, err
}

// trial returns a trial that begins at an operation.
func (r *Repo) trial(head store.Head) *Repo {
	t := &trialStore{head: head}
	t.facts = trialBlocks{store.NewStage(r.Store.Facts(), 0), r.Store.Facts()}
	base := r.Store.Derived()
	t.derived = trialDerived{
		trialBlocks: trialBlocks{store.NewStage(base, 0), base},
		base:        base, cells: make(map[ipld.CID]ipld.CID),
	}
	return &Repo{&Opened{
		left:  make(chan struct{}, 1),
		Store: t, Trees: r.Trees, Parts: r.Parts, Rows: r.Rows, Vectors: r.Vectors, clock: r.clock,
	}, r.only}
}

// trialStore is a store over another, which it only reads.
type trialStore struct {
	facts   trialBlocks
	derived trialDerived
	mu      sync.Mutex
	head    store.Head
}

// Facts returns the facts of the base and, in memory, those of the trial.
func (t *trialStore) Facts() store.Blocks { return t.facts }

// Derived returns the derived blocks and cells of the base and, in memory, those of the trial.
func (t *trialStore) Derived() store.Derived { return &t.derived }

// Close does nothing: the base stays open.
func (t *trialStore) Close() error { return nil }

// Head returns the trial's own operation head.
func (t *trialStore) Head(ctx context.Context) (store.Head, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head, ctx.Err()
}

// Commit keeps blocks in memory and moves the trial's head. It returns store.ErrHeadMoved unless that is at old.
func (t *trialStore) Commit(ctx context.Context, old, next store.Head, blocks ...store.Block) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.head != old {
		return store.ErrHeadMoved
	}
	if err := old.CheckNext(next); err != nil {
		return err
	}
	if err := t.facts.Put(ctx, blocks...); err != nil {
		return err
	}
	t.head = next
	return ctx.Err()
}

// trialBlocks are blocks in memory before those of a base.
type trialBlocks struct {
	*store.Stage
	base store.Blocks
}

// Iterate calls fn with the blocks of both, in CID order.
func (t trialBlocks) Iterate(ctx context.Context, from ipld.CID, fn func(store.Block) error) error {
	fresh := slices.DeleteFunc(t.Pending(), func(b store.Block) bool {
		return from.Defined() && b.CID.Compare(from) < 0
	})
	slices.SortFunc(fresh, func(a, b store.Block) int { return a.CID.Compare(b.CID) })
	err := t.base.Iterate(ctx, from, func(b store.Block) error {
		for ; len(fresh) > 0 && fresh[0].CID.Compare(b.CID) < 0; fresh = fresh[1:] {
			if err := fn(fresh[0]); err != nil {
				return err
			}
		}
		if len(fresh) > 0 && fresh[0].CID == b.CID {
			fresh = fresh[1:]
		}
		return fn(b)
	})
	for ; err == nil && len(fresh) > 0; fresh = fresh[1:] {
		err = fn(fresh[0])
	}
	return err
}

// trialDerived are derived blocks and cells in memory before those of a base.
type trialDerived struct {
	trialBlocks
	base store.Derived

	mu      sync.Mutex
	cleared bool // whether the cells of the base are out of sight
	cells   map[ipld.CID]ipld.CID
}

// Cell returns what the trial set, else the cell of the base unless Clear was called.
func (t *trialDerived) Cell(ctx context.Context, key ipld.CID) (ipld.CID, error) {
	t.mu.Lock()
	c, ok := t.cells[key]
	cleared := t.cleared
	t.mu.Unlock()
	switch {
	case ok:
		return c, nil
	case cleared:
		return c, &store.NotFoundError{CID: key}
	}
	return t.base.Cell(ctx, key)
}

// SetCell sets a cell in memory; the base keeps its own.
func (t *trialDerived) SetCell(ctx context.Context, key, value ipld.CID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cells[key] = value
	return ctx.Err()
}

// Clear forgets the cells: blocks that no cell leads to are out of reach.
func (t *trialDerived) Clear(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleared = true
	clear(t.cells)
	return ctx.Err()
}
