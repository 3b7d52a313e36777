package links

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// Sections of a segment.
const (
	secNodes = iota
	secFilters
	secBusy
)

// Format is the format of indexes of links.
var Format = &segment.Format{
	Name: "links", Version: 3, Roots: 3,
	Sections: []segment.Spec{{Name: "nodes", MaxPart: maxPart}, {Name: "filters", MaxPart: maxFilter},
		{Name: "busy", MaxPart: busySize}},
	Inline: maxInline, MaxDocs: maxNodes,
	MaxSegments: maxSegments, MaxWaiting: maxWaiting, CacheBytes: mergeCache,
	Merge: merge,
}

// Of holds the roots of the trees that an index is a function of.
type Of struct{ Out, In, Marks ipld.CID }

func (o Of) roots() []ipld.CID { return []ipld.CID{o.Out, o.In, o.Marks} }

func ofRoots(roots []ipld.CID) Of { return Of{roots[0], roots[1], roots[2]} }

// reader reads segments. Safe for concurrent use.
type reader struct{ *segment.Reader }

func (r reader) part(ctx context.Context, s *segment.Segment, i int) (*part, error) {
	return segment.Part(ctx, r.Reader, s, secNodes, i, decodeNodes)
}

func decodeNodes(key, data []byte) (*part, int, error) {
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
	b, _, err := segment.Covering(ctx, r.Reader, s, secFilters, id[:], func(_, data []byte) (bloom, int, error) {
		if !bloom(data).fits() {
			return nil, 0, segment.Corrupt("%d bytes are no filter", len(data))
		}
		return bloom(data), len(data), nil
	})
	return b, err
}

// may reports whether a node may be in a segment. If the segment is the oldest it probably is.
func (r reader) may(ctx context.Context, s *segment.Segment, id graph.ID, oldest bool) (bool, error) {
	if oldest {
		return true, nil
	}
	v, err := r.bloom(ctx, s, id)
	return err == nil && (v == nil || v.has(id)), err
}

// find looks up a node in one segment.
func (r reader) find(ctx context.Context, s *segment.Segment, id graph.ID) (f Found, ok bool, err error) {
	p, _, err := segment.Covering(ctx, r.Reader, s, secNodes, id[:], decodeNodes) // only this part may have it
	if p == nil || err != nil {
		return f, false, err
	}
	i, ok := p.find(id)
	if ok {
		f, err = p.at(i)
	}
	return f, ok, err
}

// MaxEntries is the largest number of entries that a bucket stores.
const MaxEntries = 64

// Limits of the format. The package comment says which structure each belongs to.
const (
	// partSize is the approximate size of a part. A query looks up some hundred nodes scattered over a graph, each
	// in its own part: finding shorter parts would cost more.
	partSize = 4 << 10
	// maxPart is the longest part: one node whose entries all have different long types.
	maxPart = 64 << 10
	// maxFilter is an upper bound for a filter, of parts whose nodes have hardly any edges.
	maxFilter = 256 << 10
	// busySize is the size of a part of busy nodes.
	busySize = busyHead + 700*busyLen
	// maxInline is the largest total of parts stored in the segment's own block.
	maxInline = 16 << 10
	// filterParts is the number of parts covered by one filter.
	filterParts = 256
	// maxNodes is the largest number of nodes in one segment, so that its block holds its directories.
	maxNodes = 1 << 26
	// maxSegments is the largest number of segments; merges stay far below it.
	maxSegments = 128
	// maxWaiting is how many segments an index may have while a merge is pending.
	maxWaiting = 64
	// maxDegree is an upper bound for the degree of a bucket.
	maxDegree = 1 << 53
)

// Index is an open index. It is immutable and safe for concurrent use.
type Index struct {
	src  reader
	segs []*segment.Segment
}

// Open reads an index, which must belong to the given trees: the manifest and its segments' own blocks.
func Open(ctx context.Context, get store.Getter, c ipld.CID, of Of, cache *segment.Cache) (*Index, error) {
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
	return x.newest(id, func(s *segment.Segment, oldest bool) (f Found, ok bool, err error) {
		if ok, err = x.src.may(ctx, s, id, oldest); ok {
			f, ok, err = x.src.find(ctx, s, id)
		}
		return f, ok, err
	})
}

// Degrees is Find for callers that need numbers of edges alone, and those up to Few not exactly: such a node may be
// returned without edges. Instead of the node's own part it reads one of a segment's busy nodes, which has many more.
func (x *Index) Degrees(ctx context.Context, id graph.ID) (Found, error) {
	return x.newest(id, func(s *segment.Segment, oldest bool) (f Found, ok bool, err error) {
		if ok, err = x.src.may(ctx, s, id, oldest); !ok || err != nil {
			return f, false, err
		}
		if s.Parts(secFilters) > 0 { // else the parts of nodes are inline
			if f.degrees, ok, err = x.src.busy(ctx, s, id); ok && f.saturated() {
				return x.src.find(ctx, s, id)
			}
			if ok || oldest || err != nil {
				return f, true, err
			}
		}
		return x.src.find(ctx, s, id)
	})
}

// newest returns what find finds about a node in the newest segment that has it.
func (x *Index) newest(id graph.ID, find func(s *segment.Segment, oldest bool) (Found, bool, error)) (Found, error) {
	for i, s := range slices.Backward(x.segs) {
		f, ok, err := find(s, i == 0)
		if err != nil {
			return Found{}, fmt.Errorf("links of %s: %w", id, err)
		}
		if ok {
			return f, nil
		}
	}
	return Found{}, nil
}

// bloom is a Bloom filter of the nodes of some parts: a lookup of an absent node reads a part of a segment other
// than the oldest only once in 300 times. It is the number of nodes, u32, and filterBits bits for each.
type bloom []byte

const (
	filterHead = 4
	filterBits = 12
	filterKeys = 6
)

func newBloom(hashes []uint64) bloom {
	s := make(bloom, filterSize(len(hashes)))
	binary.LittleEndian.PutUint32(s, uint32(len(hashes)))
	for _, h := range hashes {
		for range filterKeys {
			at := s.place(&h)
			s[at/8] |= 1 << (at % 8)
		}
	}
	return s
}

func filterSize(nodes int) int { return filterHead + (nodes*filterBits+7)/8 }

// fits reports whether a filter has the length it declares.
func (s bloom) fits() bool {
	if len(s) <= filterHead {
		return false
	}
	n := binary.LittleEndian.Uint32(s)
	return n <= maxNodes && len(s) == filterSize(int(n))
}

// place returns the next bit position from a hash.
func (s bloom) place(h *uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	*h = (*h ^ *h>>29) * odd
	return 8*filterHead + *h>>32*uint64(8*(len(s)-filterHead))>>32
}

func (s bloom) has(id graph.ID) bool {
	h := hashID(id)
	for range filterKeys {
		if at := s.place(&h); s[at/8]&(1<<(at%8)) == 0 {
			return false
		}
	}
	return true
}

// hashID mixes all bytes of an id, which may have any distribution.
func hashID(id graph.ID) uint64 {
	const a, b = 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53
	low, high := binary.LittleEndian.Uint64(id[:]), binary.LittleEndian.Uint64(id[8:])
	h := (low ^ low>>32) * a
	h = (h ^ h>>29 ^ high) * b
	return h ^ h>>32
}
