package view

import (
	"context"
	"errors"
	"sync"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Merges makes the merges of segments that commits leave for later, one at a time, whichever index they belong to. What
// it does is derived: a merge that fails or is stopped is asked for again by the next commit, and one that keeps failing
// is made by a commit in the end, which tells why. The zero value is ready; nil makes none.
type Merges struct {
	mu     sync.Mutex
	cancel context.CancelFunc // of the last merge, nil before the first
	done   chan struct{}      // closed when it has ended
}

// merger makes the merge that the index of a manifest waits for. It returns the segment and its key,
// both undefined if there is nothing to do.
type merger func(ctx context.Context, blocks segment.Blocks, manifest ipld.CID) (key, merged ipld.CID, err error)

// Start makes the merge that an index waits for, and keeps it in a cell, unless another is under way.
func (m *Merges) Start(derived store.Derived, merge merger, manifest ipld.CID) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done != nil {
		select {
		case <-m.done:
		default:
			return
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	m.cancel, m.done = cancel, done
	go func() {
		defer close(done)
		defer cancel()
		buffer := store.NewStageBehind(derived, state.StageLimit)
		defer buffer.Wait()
		key, merged, err := merge(ctx, buffer, manifest)
		if err == nil {
			err = buffer.Flush(ctx)
		}
		if err == nil && key.Defined() {
			_ = derived.SetCell(ctx, key, merged)
		}
	}()
}

// Stop stops what is under way, for a caller that goes on to remove derived blocks and keeps others from
// starting anything.
func (m *Merges) Stop() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done != nil {
		m.cancel()
		<-m.done
	}
}

// Wait waits for what is under way.
func (m *Merges) Wait() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done != nil {
		<-m.done
	}
}

// Awaited tells an update of an index which merges were made, and remembers whether it was asked for one that was not.
type Awaited struct {
	Derived store.Derived
	Missing bool
}

// Merged returns the merged segment of a key. It returns the undefined CID and sets Missing if that merge
// was not made yet.
func (a *Awaited) Merged(ctx context.Context, key ipld.CID) (ipld.CID, error) {
	c, err := a.Derived.Cell(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		a.Missing = true
		return ipld.CID{}, nil
	}
	return c, err
}
