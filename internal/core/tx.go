package core

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
)

// Tx is one operation in the making: blocks gather in Stage, refs in Edits.
type Tx struct {
	Repo  *Repo
	Head  store.Head
	View  *View
	Stage *store.Stage
	Nodes *prolly.Nodes // trees read and written through Stage
	Edits map[graph.RefName][]byte

	resigned ipld.CID // the commit that was replaced by one that the same key signed

	Undoes, Redoes ipld.CID // the operation that this one takes back; at most one is defined

	Horizon uint64 // the new horizon; 0 for the one there is
	Always  bool   // record the operation even if no ref changes
	apart   bool   // moves the client's own HEAD, which is not in the view

	// indexes are made once it is certain that the facts can be written, so that what was erased is
	// not in an index either.
	indexes []stateChange
	fresh   state.Fresh

	Secrets  state.SecretLog // what looks like credentials in records and names
	Restores bool            // refs return to earlier values
	Foreign  bool            // refs are named by other repositories

	Scratch *state.ScratchRoom // nil if the store has none
}

// stateChange is a state that a commit has, and the one that it was made from.
type stateChange struct{ base, next *state.State }

// Transact runs fn as the only writer of this process and makes what it did to refs one durable
// operation. In a store that others share it runs fn again if one of them was first. If fn returns an
// error or changes no ref, nothing is changed. It returns the operation's CID, undefined if there is none.
func (r *Repo) Transact(ctx context.Context, by state.Stamp, fn func(*Tx) error) (ipld.CID, error) {
	return r.TransactAnew(ctx, func() (ipld.CID, error) { return r.TransactOnce(ctx, by, fn) })
}

// TransactOnce is Transact for an fn that must not run twice: it returns store.ErrHeadMoved if another
// process moved the head.
func (r *Repo) TransactOnce(ctx context.Context, by state.Stamp, fn func(*Tx) error) (ipld.CID, error) {
	if err := r.Writer.Lock(ctx); err != nil {
		return ipld.CID{}, err
	}
	defer r.Writer.Unlock()
	return r.Operate(ctx, by, fn)
}

// Operate is TransactOnce for a caller that already holds Writer.
func (r *Repo) Operate(ctx context.Context, by state.Stamp, fn func(*Tx) error) (ipld.CID, error) {
	c, durable, err := r.Begin(ctx, by, fn)
	if err == nil {
		err = durable()
	}
	if err != nil {
		return ipld.CID{}, err
	}
	return c, nil
}

// Begin is Operate without the wait for the disk: durable waits, and must be called.
func (r *Repo) Begin(
	ctx context.Context, by state.Stamp, fn func(*Tx) error,
) (c ipld.CID, durable func() error, err error) {
	if r.Ro {
		return ipld.CID{}, nil, store.ErrReadOnly
	}
	if st, ok := r.Store.(store.Roomer); ok { // before anything is done for it
		if err := st.Room(ctx); err != nil {
			return ipld.CID{}, nil, fmt.Errorf("begin an operation: %w", err)
		}
	}
	head, err := r.Writer.newest(ctx, r.Store)
	if err != nil {
		return ipld.CID{}, nil, fmt.Errorf("read operation head: %w", err)
	}
	stage := store.NewStageBehind(r.Facts(), state.StageLimit)
	defer stage.Wait()
	t := &Tx{
		Repo: r, Head: head, Stage: stage, Nodes: prolly.NewNodes(stage, r.Trees),
		Edits: make(map[graph.RefName][]byte), Scratch: state.NewScratchRoom(ctx, r.Store),
		Secrets: state.SecretLog{Opt: by.Secrets},
	}
	defer func() { _ = t.Scratch.Close() }() // what cannot be removed the next opening removes
	if t.View, err = LoadView(ctx, t.Nodes, stage, head); err != nil {
		return ipld.CID{}, nil, err
	}
	r.askedBy(ctx, t.View)
	if err := t.expects(ctx, by.Head); err != nil {
		return ipld.CID{}, nil, err
	}
	if err := fn(t); err != nil || len(t.Edits) == 0 && !t.Always && t.Horizon == 0 {
		return ipld.CID{}, isDurable, err
	}
	if err := t.within(); err != nil {
		return ipld.CID{}, nil, err
	}
	if err := t.unsaid(ctx); err != nil {
		return ipld.CID{}, nil, err
	}
	if err := t.guarded(ctx, by.Guard); err != nil {
		return ipld.CID{}, nil, err
	}
	if err := t.sealed(ctx, by); err != nil {
		return ipld.CID{}, nil, err
	}
	if t.apart {
		return t.finishApart(ctx, by)
	}
	return t.finish(ctx, by)
}

// index makes the indexes of the states of commits: side by side where they are made from nothing.
func (t *Tx) index(ctx context.Context) error {
	for _, c := range t.indexes {
		var kinds []func() error
		for _, k := range view.IndexKinds(t.Repo.Derived(), t.fresh) {
			kinds = append(kinds, func() error { return t.Repo.Indexes().change(ctx, k, c.base, c.next) })
		}
		if c.base.Nodes.Len() == 0 {
			if err := parallel.Do(kinds...); err != nil {
				return err
			}
			continue
		}
		for _, change := range kinds {
			if err := change(); err != nil {
				return err
			}
		}
	}
	return nil
}

func isDurable() error { return nil }

// expects returns an *ExpectError unless HEAD leads to a commit, or to any if want is nil.
func (t *Tx) expects(ctx context.Context, want *ipld.CID) error {
	if want == nil {
		return nil
	}
	head, _, err := t.View.Resolve(ctx, graph.Head)
	if err != nil {
		return err
	}
	return t.Repo.Embeddings().expected(ctx, head.Target, want)
}

// finish writes the view and the operation, and moves the head.
func (t *Tx) finish(ctx context.Context, by state.Stamp) (c ipld.CID, durable func() error, err error) {
	var edits []prolly.Edit
	for _, name := range slices.Sorted(maps.Keys(t.Edits)) {
		edits = append(edits, prolly.Edit{Key: []byte(name), Value: t.Edits[name]})
	}
	tree, err := state.EditOrBuild(ctx, t.Nodes, t.View.Tree, edits)
	if err != nil {
		return ipld.CID{}, nil, fmt.Errorf("write view: %w", err)
	}
	if tree.Root() == t.View.root() && !t.Always && t.Horizon == 0 {
		return ipld.CID{}, isDurable, nil
	}
	op, err := commit.NextOperation(ctx, t.Stage, t.Head)
	if err != nil {
		return ipld.CID{}, nil, err
	}
	op.Time = max(op.Time, t.Repo.Now(by))
	op.View, op.Actor, op.Command = tree.Root(), by.Author, by.Command
	op.Undoes, op.Redoes = t.Undoes, t.Redoes
	if t.Horizon != 0 {
		op.Horizon = t.Horizon
	}
	if err := op.Validate(); err != nil {
		return ipld.CID{}, nil, fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	block := store.NewBlock(ipld.DagCBOR, op.Encode())
	if err := t.saysNone(block.Data); err != nil {
		return ipld.CID{}, nil, err
	}
	next := store.Head{Seq: op.Seq, Operation: block.CID}
	if err := t.Repo.Redactions().Refuse(ctx, append(t.Stage.Pending(), block)); err != nil {
		return ipld.CID{}, nil, err
	}
	t.Stage.Ahead(ctx) // while indexes are made
	durable, err = t.whole(ctx, func() (func() error, error) {
		if err := t.index(ctx); err != nil {
			return nil, err
		}
		return t.record(ctx, next, append(t.Stage.Pending(), block))
	})
	return block.CID, durable, err
}

// whole calls record. If the operation fills a gap, whole drops the indexes built around the gap: first before
// record, to fail early if they cannot be dropped, then again for indexes built during record. If the second
// drop fails the operation is recorded all the same, and the next one drops them.
func (t *Tx) whole(ctx context.Context, record func() (func() error, error)) (durable func() error, err error) {
	r := t.Repo
	if !r.filled.Swap(false) {
		return record()
	}
	dropped := false
	defer func() {
		if !dropped {
			r.filled.Store(true)
		}
	}()
	if err := r.Indexes().ChangeAll(ctx, nil); err != nil {
		return nil, err
	}
	if durable, err = record(); err == nil {
		dropped = r.Indexes().ChangeAll(context.WithoutCancel(ctx), nil) == nil
	}
	return durable, err
}

// record moves the head. What it returns waits until that is durable.
func (t *Tx) record(ctx context.Context, next store.Head, blocks []store.Block) (durable func() error, err error) {
	failed := func(err error) error { return fmt.Errorf("record operation %d: %w", next.Seq, err) }
	wait := isDurable
	if p, ok := t.Repo.Store.(store.Pipeliner); ok {
		wait, err = p.Begin(ctx, t.Head, next, blocks...)
	} else {
		err = t.Repo.Store.Commit(ctx, t.Head, next, blocks...)
	}
	if err != nil {
		return nil, failed(err)
	}
	t.Repo.Writer.begun.Store(&next)
	return func() error {
		if err := wait(); err != nil {
			return failed(err)
		}
		t.Repo.Bell.ring()
		return nil
	}, nil
}

// Put stages one record and returns its CID. Credentials in it refuse the operation.
func (t *Tx) Put(ctx context.Context, data []byte) (ipld.CID, error) {
	return t.PutAfter(ctx, data, nil)
}

// PutAfter is Put for the successor of a record, which old reads: credentials that the old record has
// too are let through.
func (t *Tx) PutAfter(ctx context.Context, data []byte, old func() ([]byte, error)) (ipld.CID, error) {
	if err := t.wrote(data, old); err != nil {
		return ipld.CID{}, err
	}
	return t.putMerged(ctx, data)
}

// putMerged is Put for a record made of stored ones: credentials that they have are let through.
func (t *Tx) putMerged(ctx context.Context, data []byte) (ipld.CID, error) {
	b := store.NewBlock(ipld.DagCBOR, data)
	return b.CID, t.Stage.Put(ctx, b)
}

// SetRef makes or moves a ref when the operation is recorded.
func (t *Tx) SetRef(name graph.RefName, c ipld.CID) { t.Edits[name] = ipld.AppendLink(nil, c) }

// SetHead makes HEAD a ref to a branch.
func (t *Tx) SetHead(target graph.RefName) {
	t.Edits[graph.Head] = ipld.AppendString(nil, string(target))
}

// RemoveRef removes a ref, which need not exist.
func (t *Tx) RemoveRef(name graph.RefName) { t.Edits[name] = nil }

// WriteGraph writes the graph record of a state and sets its root.
func (t *Tx) WriteGraph(ctx context.Context, s *state.State) (err error) {
	g := s.Record()
	if err := g.Validate(); err != nil {
		return err
	}
	s.Root, err = t.Put(ctx, g.Encode())
	return err
}
