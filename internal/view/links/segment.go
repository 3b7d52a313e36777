package links

import (
	"bytes"
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Sections of a segment.
const (
	secNodes = iota
	secFilters
)

// Format is the format of indexes of links.
var Format = &segment.Format{
	Name: "links", Version: 2, Roots: 3,
	Sections: []segment.Spec{{Name: "nodes", MaxPart: maxPart}, {Name: "filters", MaxPart: maxFilter}},
	Inline:   maxInline, MaxDocs: maxNodes,
	MaxSegments: maxSegments, MaxWaiting: maxWaiting, CacheBytes: mergeCache,
	Merge: merge,
}

// Of holds the roots of the trees that an index is a function of.
type Of struct{ Out, In, Marks ipld.CID }

func (o Of) roots() []ipld.CID { return []ipld.CID{o.Out, o.In, o.Marks} }

func ofRoots(roots []ipld.CID) Of { return Of{roots[0], roots[1], roots[2]} }

// reader reads segments. Safe for concurrent use.
type reader struct{ *segment.Reader }

// part reads part i of the nodes of a segment.
func (r reader) part(ctx context.Context, s *segment.Segment, i int) (*part, error) {
	v, err := r.Part(ctx, s, secNodes, i, decodeNodes)
	p, _ := v.(*part)
	return p, err
}

// decodeNodes is the segment.Decode of a part.
func decodeNodes(key, data []byte) (any, int, error) {
	p, err := decodePart(data)
	if err == nil && !bytes.Equal(p.first(), key) {
		err = segment.Corrupt("part begins with %s", p.id(0))
	}
	if err != nil {
		return nil, 0, err
	}
	return p, p.memory(len(data)), nil
}

// bloom reads the Bloom filter that covers a node, nil if there is none.
func (r reader) bloom(ctx context.Context, s *segment.Segment, id graph.ID) (bloom, error) {
	v, _, err := r.Covering(ctx, s, secFilters, id[:], func(_, data []byte) (any, int, error) {
		if !bloom(data).fits() {
			return nil, 0, segment.Corrupt("%d bytes are no filter", len(data))
		}
		return bloom(data), len(data), nil
	})
	b, _ := v.(bloom)
	return b, err
}

// find looks up a node in one segment. If the segment is the oldest the node is probably in it.
func (r reader) find(
	ctx context.Context, s *segment.Segment, id graph.ID, oldest bool,
) (f Found, ok bool, err error) {
	p, err := r.covering(ctx, s, id, oldest)
	if p == nil || err != nil {
		return f, false, err
	}
	i, ok := p.find(id)
	if ok {
		f, err = p.at(i)
	}
	return f, ok, err
}

// covering returns the only part that may have a node, or nil.
func (r reader) covering(
	ctx context.Context, s *segment.Segment, id graph.ID, oldest bool,
) (*part, error) {
	if !oldest {
		v, err := r.bloom(ctx, s, id)
		if err != nil || v != nil && !v.has(id) {
			return nil, err
		}
	}
	v, _, err := r.Covering(ctx, s, secNodes, id[:], decodeNodes)
	p, _ := v.(*part)
	return p, err
}
