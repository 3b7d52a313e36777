package dense

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// merge writes the parts of one segment made of several that follow each other, the oldest first,
// and returns it with its block. Kills of vectors within the run are carried out and those of older
// ones kept; if nothing is older (oldest) there are none. The segment is bare if one of the run is, or if they have
// that many vectors.
func merge(
	ctx context.Context, r *segment.Reader, segs []*segment.Segment, oldest bool, to *segment.Writer,
) (*segment.Segment, store.Block, error) {
	all := tablesOf(segs)
	w := newWriter(to, all[0].dims, bareTogether(all))
	vectors, sketches := make([]rows, len(all)), make([]rows, len(all))
	for i, t := range all {
		if t.dims != all[0].dims {
			return nil, store.Block{}, segment.Corrupt("vectors of %d and %d dimensions", t.dims, all[0].dims)
		}
		vectors[i] = rows{r: reader{r}, c: &t.cols[colVectors]}
		sketches[i] = rows{r: reader{r}, c: &t.cols[colSketch]}
	}
	err := r.MergeIDs(ctx, segs, oldest, w.kill, func(id graph.ID, i, n int) error {
		var row []byte
		if !w.bare {
			var err error
			if row, err = vectors[i].at(ctx, n); err == nil && graph.ID(row) != id {
				err = segment.Corrupt("segment %s, row %d: id of another", segs[i].CID, n)
			}
			if err != nil {
				return err
			}
		}
		sketch, err := sketches[i].at(ctx, n)
		if err != nil {
			return err
		}
		return w.addRow(id, row, sketch)
	})
	if err != nil {
		return nil, store.Block{}, err
	}
	return w.Finish()
}

// bareTogether reports whether a segment made of several, of the same dimensions, is bare.
func bareTogether(all []*table) bool {
	rows := 0
	for _, t := range all {
		if t.bare {
			return true
		}
		rows += t.Docs
	}
	return bare(rows, all[0].dims)
}
