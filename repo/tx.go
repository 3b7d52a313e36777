package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/internal/parallel"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// Stamp says who does something, and when. Nothing below the caller reads a clock or the
// environment, so that the same calls give the same bytes.
type Stamp struct {
	Author string     // required: 1 to graph.MaxActor bytes without control characters
	Agent  string     // the program that acts for the author, if any
	Task   string     // what it works on, if any
	Time   graph.Time // of commits and what they hold; required for writes. See Options.Now
	// Command is what the operation log shows: the verb, flag names and ids, never values. It is required for
	// writes, 1 to commit.MaxCommand words. "purge" and "capture" as the first word are those of mnem: Undo
	// treats them apart.
	Command []string
	// Sign makes the signatures of the commits that come of it, on the calling goroutine while
	// other writers wait; nil leaves them unsigned. What it returns must hold, and where it fails
	// nothing is written. Whoever serves others has no key of theirs and leaves it nil.
	Sign commit.SignFunc
	// Head, where given, is the commit that HEAD must lead to, undefined for none yet: else nothing
	// is written and the error is an *ExpectError.
	Head *ipld.CID
	// Guard may refuse what an operation changes; nil for whoever may do anything.
	Guard Guard
	// Secrets says what becomes of credentials in what is written: they are refused unless it says
	// otherwise.
	Secrets SecretOptions
	// Signed, where given, is asked about each commit that a key has signed before it is taken off a
	// branch or a tag: by amending it, undoing, moving, resetting or removing. What it returns refuses
	// the operation. nil refuses no more than to amend such a commit without the same key.
	Signed func(*SignedError) error
}

// tx is one operation in the making: blocks gather in stage, refs in edits.
type tx struct {
	repo  *Repo
	head  store.Head
	view  *view
	stage *store.Stage
	nodes *prolly.Nodes // trees read and written through stage
	edits map[graph.RefName][]byte

	resigned ipld.CID // the commit that was replaced by one that the same key signed

	undoes, redoes ipld.CID // the operation that this one takes back; at most one is defined

	horizon uint64 // the new horizon; 0 for the one there is
	always  bool   // record the operation even where no ref changes
	apart   bool   // the edit of HEAD is of the client's own

	// indexes are made once it is certain that the facts can be written, so that what was erased is
	// not in an index either.
	indexes []stateChange
	fresh   fresh

	secrets  secretLog // what looks like credentials in records and names
	restores bool      // refs are what they were before
	foreign  bool      // refs are named by other repositories

	scratch *scratchRoom // nil where the store has none
}

// fresh is what is known of the facts that a transaction made, for their indexes.
type fresh struct {
	draft *index.Draft // of nodes; nil for none
	trees *freshTrees  // nil for none
}

// stateChange is a state that a commit has, and the one that it was made from.
type stateChange struct{ base, next *state }

// transact runs fn as the only writer of this process and makes what it did to refs one durable
// operation. In a store that others share it runs fn again where one of them was first. Where fn returns an error or changes no ref, nothing is changed. It returns the
// operation's CID, undefined where there is none.
func (r *Repo) transact(ctx context.Context, by Stamp, fn func(*tx) error) (ipld.CID, error) {
	return r.transactAnew(ctx, func() (ipld.CID, error) { return r.transactOnce(ctx, by, fn) })
}

// transactOnce is transact for an fn that cannot be run anew: where another process moved the head it returns
// store.ErrHeadMoved.
func (r *Repo) transactOnce(ctx context.Context, by Stamp, fn func(*tx) error) (ipld.CID, error) {
	if err := r.writer.Lock(ctx); err != nil {
		return ipld.CID{}, err
	}
	defer r.writer.Unlock()
	return r.operate(ctx, by, fn)
}

// operate is transact for whoever is the only writer already.
func (r *Repo) operate(ctx context.Context, by Stamp, fn func(*tx) error) (ipld.CID, error) {
	c, durable, err := r.begin(ctx, by, fn)
	if err == nil {
		err = durable()
	}
	if err != nil {
		return ipld.CID{}, err
	}
	return c, nil
}

// begin is operate but for the waiting, which durable does; it must be called.
func (r *Repo) begin(
	ctx context.Context, by Stamp, fn func(*tx) error,
) (c ipld.CID, durable func() error, err error) {
	if r.ro {
		return ipld.CID{}, nil, store.ErrReadOnly
	}
	if st, ok := r.store.(store.Roomer); ok { // before anything is done for it
		if err := st.Room(ctx); err != nil {
			return ipld.CID{}, nil, fmt.Errorf("begin an operation: %w", err)
		}
	}
	head, err := r.writer.newest(ctx, r.store)
	if err != nil {
		return ipld.CID{}, nil, fmt.Errorf("read operation head: %w", err)
	}
	stage := store.NewStageBehind(r.facts(), stageLimit)
	defer stage.Wait()
	t := &tx{
		repo: r, head: head, stage: stage, nodes: prolly.NewNodes(stage, r.trees),
		edits: make(map[graph.RefName][]byte), scratch: newScratchRoom(ctx, r.store),
		secrets: secretLog{opt: by.Secrets},
	}
	defer func() { _ = t.scratch.close() }() // what cannot be removed the next opening removes
	if t.view, err = loadView(ctx, t.nodes, stage, head); err != nil {
		return ipld.CID{}, nil, err
	}
	r.askedBy(ctx, t.view)
	if err := t.expects(ctx, by.Head); err != nil {
		return ipld.CID{}, nil, err
	}
	if err := fn(t); err != nil || len(t.edits) == 0 && !t.always && t.horizon == 0 {
		return ipld.CID{}, isDurable, err
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
func (t *tx) index(ctx context.Context) error {
	for _, c := range t.indexes {
		var kinds []func() error
		for _, k := range indexKinds(t.repo.derived(), t.fresh) {
			kinds = append(kinds, func() error { return t.repo.changeKind(ctx, k, c.base, c.next) })
		}
		if c.base.nodes.Len() == 0 {
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

// expects returns an *ExpectError unless HEAD leads to a commit, or to any where want is nil.
func (t *tx) expects(ctx context.Context, want *ipld.CID) error {
	if want == nil {
		return nil
	}
	head, _, err := t.view.resolve(ctx, graph.Head)
	if err == nil && head.Target != *want {
		err = &ExpectError{Want: *want, Have: head.Target}
	}
	return err
}

// finish writes the view and the operation, and moves the head.
func (t *tx) finish(ctx context.Context, by Stamp) (c ipld.CID, durable func() error, err error) {
	var edits []prolly.Edit
	for _, name := range slices.Sorted(maps.Keys(t.edits)) {
		edits = append(edits, prolly.Edit{Key: []byte(name), Value: t.edits[name]})
	}
	tree, err := editOrBuild(ctx, t.nodes, t.view.tree, edits)
	if err != nil {
		return ipld.CID{}, nil, fmt.Errorf("write view: %w", err)
	}
	if tree.Root() == t.view.root() && !t.always && t.horizon == 0 {
		return ipld.CID{}, isDurable, nil
	}
	op, err := commit.NextOperation(ctx, t.stage, t.head)
	if err != nil {
		return ipld.CID{}, nil, err
	}
	op.Time = max(op.Time, t.repo.now(by))
	op.View, op.Actor, op.Command = tree.Root(), by.Author, by.Command
	op.Undoes, op.Redoes = t.undoes, t.redoes
	if t.horizon != 0 {
		op.Horizon = t.horizon
	}
	if err := op.Validate(); err != nil {
		return ipld.CID{}, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	block := store.NewBlock(ipld.DagCBOR, op.Encode())
	if err := t.saysNone(block.Data); err != nil {
		return ipld.CID{}, nil, err
	}
	next := store.Head{Seq: op.Seq, Operation: block.CID}
	if err := t.repo.refuseErased(ctx, append(t.stage.Pending(), block)); err != nil {
		return ipld.CID{}, nil, err
	}
	t.stage.Ahead(ctx) // while indexes are made
	durable, err = t.whole(ctx, func() (func() error, error) {
		if err := t.index(ctx); err != nil {
			return nil, err
		}
		return t.record(ctx, next, append(t.stage.Pending(), block))
	})
	return block.CID, durable, err
}

// whole does what records the operation. Where the operation fills a gap, it drops the indexes that were
// built around the gap: before, so that it is not begun where they cannot be dropped, and again for those
// that somebody built meanwhile. Where that fails the operation has been recorded all the same, and the
// next one drops them.
func (t *tx) whole(ctx context.Context, record func() (func() error, error)) (durable func() error, err error) {
	r := t.repo
	if !r.filled.Swap(false) {
		return record()
	}
	dropped := false
	defer func() {
		if !dropped {
			r.filled.Store(true)
		}
	}()
	if err := r.changeAllIndexed(ctx, nil); err != nil {
		return nil, err
	}
	if durable, err = record(); err == nil {
		dropped = r.changeAllIndexed(context.WithoutCancel(ctx), nil) == nil
	}
	return durable, err
}

// record moves the head. What it returns waits until that is durable.
func (t *tx) record(
	ctx context.Context, next store.Head, blocks []store.Block,
) (durable func() error, err error) {
	failed := func(err error) error { return fmt.Errorf("record operation %d: %w", next.Seq, err) }
	wait := isDurable
	if p, ok := t.repo.store.(store.Pipeliner); ok {
		wait, err = p.Begin(ctx, t.head, next, blocks...)
	} else {
		err = t.repo.store.Commit(ctx, t.head, next, blocks...)
	}
	if err != nil {
		return nil, failed(err)
	}
	t.repo.writer.begun.Store(&next)
	return func() error {
		if err := wait(); err != nil {
			return failed(err)
		}
		t.repo.bell.ring()
		return nil
	}, nil
}

// editOrBuild applies edits to a tree, nil meaning an empty one.
func editOrBuild(
	ctx context.Context, n *prolly.Nodes, m *prolly.Map, edits []prolly.Edit,
) (*prolly.Map, error) {
	if m == nil {
		var err error
		if m, err = emptyTree(ctx, n); err != nil {
			return nil, err
		}
	}
	return m.Edit(ctx, edits)
}

func emptyTree(ctx context.Context, n *prolly.Nodes) (*prolly.Map, error) {
	return n.Build(ctx, func(func(prolly.Entry, error) bool) {})
}

// put stages one record and returns its CID. Credentials in it refuse the operation.
func (t *tx) put(ctx context.Context, data []byte) (ipld.CID, error) {
	return t.putAfter(ctx, data, nil)
}

// putAfter is put for a record that goes on from another one, which old reads: what that one has was let through.
func (t *tx) putAfter(ctx context.Context, data []byte, old func() ([]byte, error)) (ipld.CID, error) {
	if err := t.wrote(data, old); err != nil {
		return ipld.CID{}, err
	}
	return t.putMerged(ctx, data)
}

// putMerged is put for a record made of others that are stored, which keeps what they have.
func (t *tx) putMerged(ctx context.Context, data []byte) (ipld.CID, error) {
	b := store.NewBlock(ipld.DagCBOR, data)
	return b.CID, t.stage.Put(ctx, b)
}

func (t *tx) setRef(name graph.RefName, c ipld.CID) { t.edits[name] = ipld.AppendLink(nil, c) }

func (t *tx) setSymbolic(name, target graph.RefName) {
	t.edits[name] = ipld.AppendString(nil, string(target))
}

func (t *tx) removeRef(name graph.RefName) { t.edits[name] = nil }
