package repo

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

// purgeTarget returns the id of a node, which the current commit need not have. A text means the visible node
// whose exact summary it is.
func (r *Repo) purgeTarget(ctx context.Context, node string) (graph.ID, error) {
	_, head, err := r.Branch(ctx)
	if err != nil {
		return graph.ID{}, err
	}
	s, err := r.At(ctx, head)
	if err != nil {
		return graph.ID{}, err
	}
	id, err := s.Name(ctx, node)
	if !isMissing(err) {
		return id, err
	}
	ref, refErr := graph.ParseRef(node)
	if refErr == nil {
		was, err := r.everWas(ctx, ref.Target())
		if err != nil || was {
			return ref.Target(), err
		}
	}
	id, err = s.FindTitle(ctx, node, func(m *graph.Mark) bool { return m == nil || !retrieve.Hidden(m.State) })
	if isMissing(err) && refErr != nil {
		err = orErr(hiddenOf(err), invalidf("node %q: %w", node, refErr))
	}
	return id, err
}

// hiddenOf returns an error about a node that a mark hides, nil for any other.
func hiddenOf(err error) error {
	var missing *NotFoundError
	if errors.As(err, &missing) && missing.Hidden != "" {
		return missing
	}
	return nil
}

// everWas reports whether any version of a node is or was in the repository, erased ones included.
func (r *Repo) everWas(ctx context.Context, id graph.ID) (was bool, err error) {
	for e, err := range r.Redactions(ctx) {
		if err != nil {
			return false, err
		}
		if e.Record.Node == id {
			return true, nil
		}
	}
	err = r.store.Facts().Iterate(ctx, ipld.CID{}, func(b store.Block) error {
		if b.CID.Codec() != ipld.DagCBOR || ipld.PeekKind(b.Data) != graph.KindNode {
			return nil
		}
		if n, err := graph.DecodeNode(b.Data); err == nil && n.ID == id {
			was = true
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return was, err
}
