package commit

import (
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// OpEntry is one operation of the log.
type OpEntry struct {
	CID       ipld.CID
	Operation *Operation
}

// Operations returns the operations from head back to the first that is kept (Operation.Horizon of head),
// inclusive. After an error, which comes with the zero OpEntry, it ends. An undefined head yields none.
func Operations(ctx context.Context, g store.Getter, head ipld.CID) iter.Seq2[OpEntry, error] {
	return func(yield func(OpEntry, error) bool) {
		var newest *Operation
		want := uint64(0)
		for c := head; c.Defined(); {
			o, err := readOperation(ctx, g, c, want)
			if err != nil {
				yield(OpEntry{}, err)
				return
			}
			if newest == nil {
				newest = o
			}
			if !yield(OpEntry{c, o}, nil) || newest.Behind(o.Seq-1) {
				return
			}
			c, want = o.Parent, o.Seq-1
		}
	}
}

// readOperation reads the operation that must have sequence number want; 0 accepts any.
func readOperation(ctx context.Context, g store.Getter, c ipld.CID, want uint64) (*Operation, error) {
	o, err := ReadOperation(ctx, g, c)
	if err == nil && want != 0 && o.Seq != want {
		err = fmt.Errorf("read operation %s: %w: sequence number %d, want %d", c, ipld.ErrInvalid, o.Seq, want)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// OperationAt returns the operation of sequence number seq at or before head. It reads O(log² n) operations, n
// being the distance from head. It returns an error that wraps store.ErrNotFound if seq is 0, after head, or behind
// its horizon.
func OperationAt(ctx context.Context, g store.Getter, head ipld.CID, seq uint64) (OpEntry, error) {
	o, err := ReadOperation(ctx, g, head)
	if err != nil {
		return OpEntry{}, err
	}
	if seq < 1 || seq > o.Seq {
		return OpEntry{}, fmt.Errorf("operation %d of %d: %w", seq, o.Seq, store.ErrNotFound)
	}
	if o.Behind(seq) {
		return OpEntry{}, fmt.Errorf("operation %d: collected, the oldest kept is %d: %w", seq,
			o.Horizon, store.ErrNotFound)
	}
	return operationAt(ctx, g, OpEntry{head, o}, seq)
}

// operationAt finds the operation of sequence number seq, which may be one kept behind the horizon.
func operationAt(ctx context.Context, g store.Getter, at OpEntry, seq uint64) (OpEntry, error) {
	for at.Operation.Seq > seq {
		// Follow the skip link if it does not pass the target, otherwise the parent.
		next, want := at.Operation.Parent, at.Operation.Seq-1
		if far := Skip(at.Operation.Seq); far >= seq {
			next, want = at.Operation.Skip, far
		}
		o, err := readOperation(ctx, g, next, want)
		if err != nil {
			return OpEntry{}, err
		}
		at = OpEntry{next, o}
	}
	return at, nil
}

// NextOperation returns an operation that follows head, with its sequence number, links and horizon filled in, its
// time the earliest allowed, and all else left to the caller. It reads O(log n) operations. The zero head gives the
// first operation.
func NextOperation(ctx context.Context, g store.Getter, head store.Head) (*Operation, error) {
	next := &Operation{Parent: head.Operation, Seq: head.Seq + 1}
	if head.Seq == 0 {
		return next, nil
	}
	newest, err := readOperation(ctx, g, head.Operation, head.Seq)
	if err != nil {
		return nil, err
	}
	next.Horizon, next.Time = newest.Horizon, newest.Time
	far := Skip(next.Seq)
	if far == 0 {
		return next, nil
	}
	at, err := operationAt(ctx, g, OpEntry{head.Operation, newest}, far)
	if err != nil {
		return nil, fmt.Errorf("find skip link of operation %d: %w", next.Seq, err)
	}
	next.Skip = at.CID
	return next, nil
}

// OperationBefore returns the operation at or before head that is current at time t: it is not later than t, and its
// successor, if any, is. If clocks never ran backwards, that is the newest not later than t; otherwise the search of
// clause 15.3 decides. It reads O(log² n) operations and returns an error that wraps store.ErrNotFound if even the
// first kept operation is later.
func OperationBefore(ctx context.Context, g store.Getter, head ipld.CID, t graph.Time) (OpEntry, error) {
	o, err := ReadOperation(ctx, g, head)
	if err != nil {
		return OpEntry{}, err
	}
	at := OpEntry{head, o}
	for at.Operation.Time > t {
		if at, err = earlier(ctx, g, o, at.Operation, t); err != nil {
			return OpEntry{}, err
		}
	}
	return at, nil
}

// earlier returns the operation that o skips to if that is kept and also later than t, otherwise its parent. Whether an
// operation is kept follows from newest.
func earlier(ctx context.Context, g store.Getter, newest, o *Operation, t graph.Time) (OpEntry, error) {
	if o.Skip.Defined() && !newest.Behind(Skip(o.Seq)) {
		far, err := readOperation(ctx, g, o.Skip, Skip(o.Seq))
		if err != nil {
			return OpEntry{}, err
		}
		if far.Time > t {
			return OpEntry{o.Skip, far}, nil
		}
	}
	if newest.Behind(o.Seq - 1) {
		return OpEntry{}, fmt.Errorf("operation at %s: %w", t, store.ErrNotFound)
	}
	parent, err := readOperation(ctx, g, o.Parent, o.Seq-1)
	return OpEntry{o.Parent, parent}, err
}
