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
	secSieves
)

// Format is that of indexes of links.
var Format = &segment.Format{
	Name: "links", Version: 2, Roots: 3,
	Sections: []segment.Spec{{Name: "nodes", MaxPart: maxPart}, {Name: "sieves", MaxPart: maxSieve}},
	Inline:   maxInline, MaxDocs: maxNodes,
	MaxSegments: maxSegments, MaxWaiting: maxWaiting, CacheBytes: mergeCache,
	Merge: merge,
}

// Of are the roots of the trees that an index is a function of.
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

// sieve reads the sieve that has a node where the segment does, nil where there is none.
func (r reader) sieve(ctx context.Context, s *segment.Segment, id graph.ID) (sieve, error) {
	v, _, err := r.Covering(ctx, s, secSieves, id[:], func(_, data []byte) (any, int, error) {
		if !sieve(data).fits() {
			return nil, 0, segment.Corrupt("%d bytes are no sieve", len(data))
		}
		return sieve(data), len(data), nil
	})
	b, _ := v.(sieve)
	return b, err
}

// find looks a node up in one segment, that it is likely to be in where that is the oldest.
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

// covering returns the only part that may have a node, nil for none.
func (r reader) covering(
	ctx context.Context, s *segment.Segment, id graph.ID, oldest bool,
) (*part, error) {
	if !oldest {
		v, err := r.sieve(ctx, s, id)
		if err != nil || v != nil && !v.has(id) {
			return nil, err
		}
	}
	v, _, err := r.Covering(ctx, s, secNodes, id[:], decodeNodes)
	p, _ := v.(*part)
	return p, err
}
