package index

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
)

// Times are the times of a document.
type Times = ranking.Times

func (m *docMeta) times() Times {
	return Times{Created: m.created, Updated: m.updated, ValidFrom: m.validFrom, ValidTo: m.validTo}
}

// ByTime returns the k documents that accept lets pass and whose times score gives most, without
// those that it gives 0 or less: score descending, id ascending. accept may be nil; k <= 0 means
// LaneDepth. It looks at the times of all documents, and at nothing else of those that are not
// among the best.
func (x *Index) ByTime(
	ctx context.Context, score func(Times) int64, accept Accept, k int,
) ([]Hit, error) {
	top := newTop(k)
	err := x.eachMeta(ctx, func(v *view, doc uint32, m *docMeta) error {
		if s := score(m.times()); s > 0 {
			return top.offer(v, accept, doc, s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return top.hits()
}

// Times returns the times of nodes in the order of ids, and for which of them there are any: not
// for a node that is no live document. It reads what the index has about these nodes alone.
func (x *Index) Times(ctx context.Context, ids []graph.ID) (times []Times, ok []bool, err error) {
	times, ok = make([]Times, len(ids)), make([]bool, len(ids))
	err = x.eachOfNodes(ctx, ids, func(v *view, d placedDoc) error {
		m, err := v.docMeta(d.doc)
		if err == nil {
			times[d.at], ok[d.at] = m.times(), true
		}
		return err
	})
	return times, ok, err
}

// Types returns the types of nodes in the order of ids, "" for one that is no live document. It reads what
// the index has about these nodes alone.
func (x *Index) Types(ctx context.Context, ids []graph.ID) ([]string, error) {
	types := make([]string, len(ids))
	return types, x.eachOfNodes(ctx, ids, func(v *view, d placedDoc) (err error) {
		types[d.at], err = v.typ(d.doc)
		return err
	})
}

// eachOfNodes calls fn for those of some nodes that are live documents, with their places in ids.
func (x *Index) eachOfNodes(
	ctx context.Context, ids []graph.ID, fn func(v *view, d placedDoc) error,
) error {
	for n := len(x.segs) - 1; n >= 0; n-- {
		docs, err := x.liveDocs(ctx, n, ids)
		if err != nil {
			return err
		}
		if len(docs) == 0 {
			continue
		}
		v, err := x.view(ctx, n)
		if err != nil {
			return err
		}
		for _, d := range docs {
			if err := fn(v, d); err != nil {
				return err
			}
		}
	}
	return nil
}
