package links

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Index is an open index. It is immutable and safe for concurrent use.
type Index struct {
	src  reader
	segs []*segment.Segment
}

// Open reads an index, which must belong to the given trees: the manifest and its segments' own blocks.
func Open(
	ctx context.Context, get store.Getter, c ipld.CID, of Of, cache *segment.Cache,
) (*Index, error) {
	m, err := Format.ReadManifest(ctx, get, c)
	if err == nil && ofRoots(m.Roots) != of {
		err = segment.Corrupt("manifest %s is of other trees", c)
	}
	x := &Index{src: reader{Format.NewReader(get, cache)}}
	if err == nil {
		x.segs, err = x.src.Segments(ctx, m.Segments)
	}
	if err != nil {
		return nil, fmt.Errorf("open index of links: %w", err)
	}
	return x, nil
}

// Find returns the edges of a node. It reads at most a directory, a Bloom filter and a part of each segment until
// one has the node, and usually only the filter in the segments before that one.
func (x *Index) Find(ctx context.Context, id graph.ID) (Found, error) {
	for i := len(x.segs) - 1; i >= 0; i-- {
		f, ok, err := x.src.find(ctx, x.segs[i], id, i == 0)
		if err != nil {
			return Found{}, fmt.Errorf("links of %s: %w", id, err)
		}
		if ok {
			return f, nil
		}
	}
	return Found{}, nil
}
