package care

import (
	"cmp"
	"context"
	"errors"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// purgeTarget returns the id of a node, which the current commit need not have. A text selects the visible node
// whose summary equals it.
func purgeTarget(ctx context.Context, r *core.Repo, node string) (graph.ID, error) {
	_, head, err := r.Branch(ctx)
	if err != nil {
		return graph.ID{}, err
	}
	s, err := r.At(ctx, head)
	if err != nil {
		return graph.ID{}, err
	}
	id, err := s.Name(ctx, node)
	if !session.IsMissing(err) {
		return id, err
	}
	ref, refErr := graph.ParseRef(node)
	if refErr == nil {
		was, err := everWas(ctx, r, ref.Target())
		if err != nil || was {
			return ref.Target(), err
		}
	}
	id, err = rank.FindTitle(ctx, s, node, func(m *graph.Mark) bool { return m == nil || !m.State.Hides() })
	if session.IsMissing(err) && refErr != nil {
		err = cmp.Or(hiddenOf(err), state.Invalidf("node %q: %w", node, refErr))
	}
	return id, err
}

// hiddenOf returns an error about a node that a mark hides, nil for any other.
func hiddenOf(err error) error {
	var missing *state.NotFoundError
	if errors.As(err, &missing) && missing.Hidden != "" {
		return missing
	}
	return nil
}

// everWas reports whether any version of a node is or was in the repository, including erased ones.
func everWas(ctx context.Context, r *core.Repo, id graph.ID) (was bool, err error) {
	for e, err := range r.Redactions().All(ctx) {
		if err != nil {
			return false, err
		}
		if e.Record.Node == id {
			return true, nil
		}
	}
	err = r.Store.Facts().Iterate(ctx, ipld.CID{}, func(b store.Block) error {
		if b.CID.Codec() != ipld.DagCBOR || ipld.PeekKind(b.Data) != graph.KindNode {
			return nil
		}
		if n, err := graph.DecodeNode(b.Data); err == nil && n.ID == id {
			was = true
			return core.ErrStop
		}
		return nil
	})
	if errors.Is(err, core.ErrStop) {
		err = nil
	}
	return was, err
}
