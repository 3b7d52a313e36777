package core

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// writers lets the writers of this process in one at a time, in the order in which they ask. A commit gives its turn
// away before it is durable, so that the next one can be made while the disk is waited for. A writer that cannot build
// upon that, as it reads the newest operation from the store, removes blocks, or moves refs by what it read before,
// waits in Lock until all is durable. The zero value is ready.
type writers struct {
	Turns   Turns
	begun   atomic.Pointer[store.Head] // the newest operation of this process, durable or not
	Waiting sync.WaitGroup             // for operations to become durable; added to within a turn
	shared  store.Shared               // nil for a store that no other process writes to
	end     func()                     // of the turn among processes; set within a turn
	held    *HeldTurn                  // takes the turn when it ends, nil for none; set within a turn
}

// Lock waits until no one writes and all writes are durable. If it returns an error, that of the
// context, Unlock must not be called.
func (w *writers) Lock(ctx context.Context) error {
	if err := w.take(ctx); err != nil {
		return err
	}
	w.Waiting.Wait()
	return w.begin(ctx)
}

// Unlock ends the turn that Lock took, among processes and in this one.
func (w *writers) Unlock() {
	if w.shared != nil {
		w.end()
	}
	w.give()
}

// begin begins a turn among processes, or gives the turn back in this one.
func (w *writers) begin(ctx context.Context) (err error) {
	if w.shared == nil {
		return nil
	}
	if w.end, err = w.shared.Turn(ctx); err != nil {
		w.give()
	}
	return err
}

// newest returns the newest operation that was begun: within a turn, the one to build upon.
func (w *writers) newest(ctx context.Context, st store.Store) (store.Head, error) {
	head, err := st.Head(ctx)
	if begun := w.begun.Load(); w.shared == nil && begun != nil && begun.Seq > head.Seq {
		head = *begun
	}
	return head, err
}

// pipeline is Transact for an fn that reads refs through the Tx alone: it does not wait until the
// operations before it are durable, nor lets others wait until its own is.
func (r *Repo) pipeline(ctx context.Context, by state.Stamp, fn func(*Tx) error) (ipld.CID, error) {
	if r.SharedStore != nil {
		return r.Transact(ctx, by, fn)
	}
	c, durable, err := r.inTurn(ctx, by, fn)
	if err != nil {
		return c, err
	}
	err = durable()
	r.Writer.Waiting.Done()
	if err == nil && !c.Defined() { // as others left it, who may not have heard from the disk yet
		err = r.Writer.settle(ctx, r.Store)
	}
	return c, err
}

// settle waits until all that was begun is durable.
func (w *writers) settle(ctx context.Context, st store.Store) error {
	if err := w.Lock(ctx); err != nil {
		return err
	}
	defer w.Unlock()
	head, err := st.Head(ctx)
	if begun := w.begun.Load(); err == nil && begun != nil && head.Seq < begun.Seq {
		err = fmt.Errorf("operation %d was not recorded", begun.Seq)
	}
	return err
}

func (r *Repo) inTurn(
	ctx context.Context, by state.Stamp, fn func(*Tx) error,
) (c ipld.CID, durable func() error, err error) {
	if err := r.Writer.take(ctx); err != nil {
		return ipld.CID{}, nil, err
	}
	defer r.Writer.give()
	if c, durable, err = r.Begin(ctx, by, fn); err == nil {
		r.Writer.Waiting.Add(1)
	}
	return c, durable, err
}
