package repo

import (
	"context"
	"fmt"
	"sync"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// writers lets the writers of this process in one at a time. A commit is let go before it is
// durable, so that the next one can be made while the disk is waited for; whoever cannot build
// upon that, as it reads the newest operation from the store, removes blocks, or moves refs by what
// it read before, waits in Lock until all is durable. The zero value is ready.
type writers struct {
	mu      sync.Mutex
	begun   store.Head     // the newest operation of this process, durable or not
	waiting sync.WaitGroup // for operations to become durable; added to under mu
}

// Lock waits until no one writes and all that was written is durable.
func (w *writers) Lock() {
	w.mu.Lock()
	w.waiting.Wait()
}

func (w *writers) Unlock() { w.mu.Unlock() }

// newest returns the operation to build upon, for whoever has been let in.
func (w *writers) newest(ctx context.Context, st store.Store) (store.Head, error) {
	head, err := st.Head(ctx)
	if w.begun.Seq > head.Seq {
		head = w.begun
	}
	return head, err
}

// pipeline is transact for what reads refs through the tx alone: it does not wait until the
// operations before it are durable, nor lets others wait until its own is.
func (r *Repo) pipeline(ctx context.Context, by Stamp, fn func(*tx) error) (ipld.CID, error) {
	c, durable, err := r.inTurn(ctx, by, fn)
	if err != nil {
		return c, err
	}
	err = durable()
	r.writer.waiting.Done()
	if err == nil && !c.Defined() { // as others left it, who may not have heard from the disk yet
		err = r.writer.settle(ctx, r.store)
	}
	return c, err
}

// settle waits until all that was begun is durable.
func (w *writers) settle(ctx context.Context, st store.Store) error {
	w.Lock()
	defer w.Unlock()
	head, err := st.Head(ctx)
	if err == nil && head.Seq < w.begun.Seq {
		err = fmt.Errorf("operation %d was not recorded", w.begun.Seq)
	}
	return err
}

func (r *Repo) inTurn(
	ctx context.Context, by Stamp, fn func(*tx) error,
) (c ipld.CID, durable func() error, err error) {
	r.writer.mu.Lock()
	defer r.writer.mu.Unlock()
	if c, durable, err = r.begin(ctx, by, fn); err == nil {
		r.writer.waiting.Add(1)
	}
	return c, durable, err
}
