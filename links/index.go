package links

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// Index is an open index. It is immutable and safe for concurrent use.
type Index struct {
	src  reader
	segs []*segment
}

// Open reads an index, which must be that of some trees: the manifest and its segments' own blocks.
func Open(
	ctx context.Context, get store.Getter, c ipld.CID, of Of, cache *Cache,
) (*Index, error) {
	m, err := readManifest(ctx, get, c)
	if err == nil && m.of != of {
		err = corrupt("manifest %s is of other trees", c)
	}
	if err != nil {
		return nil, fmt.Errorf("open index of links: %w", err)
	}
	x := &Index{src: reader{get: get, cache: cache}}
	for _, ref := range m.Segments {
		s, err := x.src.segment(ctx, ref.CID)
		if err == nil && (s.docs != ref.Docs || s.kills != ref.Kills) {
			err = corrupt("segment %s has %d nodes, should have %d", ref.CID, s.docs, ref.Docs)
		}
		if err != nil {
			return nil, fmt.Errorf("open index of links: %w", err)
		}
		x.segs = append(x.segs, s)
	}
	return x, nil
}

// Find returns what the index has of a node. It reads at most a directory, a sieve and a part of each
// segment until one has the node, and most often of all segments but that one only the sieve.
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
