package commit

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// OperationBefore returns the operation at or before head that is current at time t: it is not later than t, and its
// successor, if any, is. If clocks never ran backwards, that is the newest not later than t; otherwise the search of
// clause 15.3 decides. It reads O(log² n) operations and returns an error that wraps store.ErrNotFound if even the
// first kept operation is later.
func OperationBefore(
	ctx context.Context, g store.Getter, head ipld.CID, t graph.Time,
) (OpEntry, error) {
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
func earlier(
	ctx context.Context, g store.Getter, newest, o *Operation, t graph.Time,
) (OpEntry, error) {
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
