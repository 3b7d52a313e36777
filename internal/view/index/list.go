package index

import (
	"context"
	"iter"

	"github.com/mnem-project/mnem/graph"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// Recency runs the recency lane of clause 9.3: the k documents that accept lets pass and that were
// changed last, score descending and id ascending. accept may be nil; k <= 0 means LaneDepth.
func (x *Index) Recency(ctx context.Context, accept Accept, k int) ([]Hit, error) {
	return x.best(ctx, func(m *docMeta) (int64, bool) {
		at := m.created
		if m.updated.Given {
			at = m.updated.Time
		}
		return min(max(0, int64(at)), maxCount), true
	}, accept, k)
}

// best returns the k documents that accept lets pass and that score gives most, without those that it leaves out.
func (x *Index) best(ctx context.Context, score func(*docMeta) (int64, bool), accept Accept, k int) ([]Hit, error) {
	top := newTop(k)
	for n := len(x.segs) - 1; n >= 0; n-- {
		v, err := x.view(ctx, n)
		if err != nil {
			return nil, err
		}
		for doc := range uint32(v.seg.Docs) {
			if doc%docsPerPart == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			m, err := v.docMeta(doc)
			if err != nil {
				return nil, err
			}
			if s, ok := score(m); ok {
				if err := top.offer(v, accept, doc, s); err != nil {
					return nil, err
				}
			}
		}
	}
	return top.hits()
}

// Docs returns the live documents in the order of their ids. An error is the last thing the iterator yields: one of a Doc
// ends it too.
func (x *Index) Docs(ctx context.Context) iter.Seq2[Doc, error] {
	return func(yield func(Doc, error) bool) {
		err := x.eachLive(ctx, func(v *view, n uint32) error {
			id, err := v.id(n)
			if err != nil {
				return err
			}
			if !yield(Doc{view: v, n: n, id: id, known: true}, nil) {
				return errStop
			}
			return v.failed
		})
		if err != nil && err != errStop {
			yield(Doc{}, err)
		}
	}
}

// eachLive calls fn with every live document in the order of their ids.
func (x *Index) eachLive(ctx context.Context, fn func(v *view, n uint32) error) error {
	views := make([]*view, len(x.segs))
	ids := make([]segment.IDCursor, len(x.segs))
	for i, s := range x.segs {
		v, err := x.view(ctx, i)
		if err != nil {
			return err
		}
		views[i] = v
		ids[i] = x.src.IDCursor(s, secIDs)
	}
	for {
		low, err := lowest(ctx, ids, views)
		if err != nil || low < 0 {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n := uint32(ids[low].N)
		ids[low].N++
		if err := fn(views[low], n); err != nil {
			return err
		}
	}
}

// lowest returns the segment whose next live document has the smallest id, -1 at the end of all.
func lowest(ctx context.Context, ids []segment.IDCursor, views []*view) (int, error) {
	at := -1
	var low graph.ID
	for i := range ids {
		c := &ids[i]
		for c.N < views[i].seg.Docs && views[i].dead.Has(uint32(c.N)) {
			c.N++
		}
		// A run of dead documents may reach beyond the current part.
		id, err := c.Peek(ctx)
		if err != nil {
			return 0, err
		}
		if id != nil && (at < 0 || low.Compare(graph.ID(id)) > 0) {
			at, low = i, graph.ID(id)
		}
	}
	return at, nil
}

// Times are the times of a document.
type Times = ranking.Times

func (m *docMeta) times() Times {
	return Times{Created: m.created, Updated: m.updated, ValidFrom: m.validFrom, ValidTo: m.validTo}
}

// ByTime returns the k documents that accept lets pass and whose times score gives most, without those that it gives 0
// or less: score descending, id ascending. accept may be nil; k <= 0 means LaneDepth. It looks at the times of all
// documents, and at nothing else of those that are not among the best.
func (x *Index) ByTime(ctx context.Context, score func(Times) int64, accept Accept, k int) ([]Hit, error) {
	return x.best(ctx, func(m *docMeta) (int64, bool) {
		s := score(m.times())
		return s, s > 0
	}, accept, k)
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
func (x *Index) eachOfNodes(ctx context.Context, ids []graph.ID, fn func(v *view, d placedDoc) error) error {
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
