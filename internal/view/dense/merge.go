package dense

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// merge writes the parts of one segment made of several that follow each other, the oldest first,
// and returns it with its block. Kills of vectors within the run are carried out and those of older
// ones kept; if nothing is older (oldest) there are none.
func merge(
	ctx context.Context, r *segment.Reader, segs []*segment.Segment, oldest bool, to *segment.Writer,
) (*segment.Segment, store.Block, error) {
	all := tablesOf(segs)
	w := newWriter(to, all[0].dims)
	sketches := make([]rows, len(all))
	for i, t := range all {
		if t.dims != all[0].dims {
			return nil, store.Block{}, segment.Corrupt("vectors of %d and %d dimensions", t.dims, all[0].dims)
		}
		w.Sums[sumVectors] = (w.Sums[sumVectors] + t.Sums[sumVectors]) & vectorsMask
		sketches[i] = rows{r: reader{r}, c: &t.cols[colSketch]}
	}
	err := r.MergeIDs(ctx, segs, oldest, w.kill, func(id graph.ID, i, n int) error {
		sketch, err := sketches[i].at(ctx, n)
		if err != nil {
			return err
		}
		return w.addSketch(id, sketch)
	})
	if err != nil {
		return nil, store.Block{}, err
	}
	return w.Finish()
}
