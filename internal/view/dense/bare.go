package dense

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// bareWork is up to how many dimensions of all its vectors together a group keeps them: as many as may all be compared,
// which would take long if each were read from the facts. A larger group has sketches, which say whose vectors to read.
const bareWork = exactWork

// bare reports whether a segment in a group of so many vectors is to have none.
func bare(rows, dims int) bool { return rows*dims > bareWork }

// row returns the row of "vectors" that a bare segment does not have, which must be of a live vector: the tree has it.
func (x *Index) row(ctx context.Context, g *group, s *table, n int, id graph.ID) ([]byte, error) {
	v, err := x.src.Made(s.Segment, colVectors, n, func() (any, int, error) {
		vector, err := x.source(ctx, id, g.model)
		if err == nil && len(vector) != s.dims {
			err = segment.Corrupt("vector of %s by %q of %d dimensions, should have %d", id, g.model, len(vector), s.dims)
		}
		if err != nil {
			return nil, 0, err
		}
		row := appendRow(make([]byte, 0, rowHead+s.dims), id, vector)
		return row, len(row), nil
	})
	if err != nil {
		return nil, err
	}
	return v.([]byte), nil
}

// page returns the rows of the part of "vectors" that a bare segment does not have, nil for dead ones.
func (x *Index) page(ctx context.Context, g *group, seg, part int) ([][]byte, error) {
	s := g.segs[seg]
	out := make([][]byte, s.pageRows(part))
	ids := x.src.IDCursor(s.Segment, colIDs)
	for i := range out {
		if ids.N = part*s.cols[colVectors].per + i; g.dead[seg].Has(uint32(ids.N)) {
			continue
		}
		id, err := ids.Peek(ctx)
		if err == nil {
			out[i], err = x.row(ctx, g, s, ids.N, graph.ID(id))
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fetchBare is fetchRows of a bare segment.
func (x *Index) fetchBare(ctx context.Context, g *group, s *table, list []candidate) error {
	ids := x.src.IDCursor(s.Segment, colIDs)
	for i := range list {
		at := &list[i]
		if len(at.row) > graph.IDLen {
			continue
		}
		ids.N = at.n
		id, err := ids.Peek(ctx)
		if err == nil {
			at.row, err = x.row(ctx, g, s, at.n, graph.ID(id))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
