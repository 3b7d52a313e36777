package dense

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// secSketch is the section of a segment that follows those of ids.
const secSketch = segment.Dead + 1

// Sections that no segment has: under their numbers a cache keeps what was read for it from elsewhere.
const (
	madeRows  = secSketch + 1 + iota // single rows
	madePages                        // pages
)

// Sums of a segment.
const (
	sumDims = iota
	// sumVectors tells segments with the same ids and sketches apart, so that a cache does not take the vectors of one for
	// those of the other: the sum of 40 bits of the hash of each vector added to it, or to what it was merged of, modulo 2^40.
	sumVectors
	sums
)

// vectorsMask are the bits of sumVectors.
const vectorsMask = 1<<40 - 1

// Format describes the segments of a group and the manifests.
var Format = &segment.Format{
	Name: "vectors", Version: 5, Sums: sums, Roots: 2,
	Sections: []segment.Spec{
		segment.IDs:  {Name: "ids", MaxPart: segment.IDsPerPart * graph.IDLen},
		segment.Dead: {Name: "dead", MaxPart: segment.IDsPerPart * graph.IDLen},
		secSketch:    {Name: "sketch", MaxPart: max(sketchPart, graph.MaxDims)},
	},
	Inline: maxInline, MaxDocs: maxRows, MaxSegments: maxSegments, MaxWaiting: maxWaiting,
	CacheBytes: mergeCache, Check: check, Merge: merge,
}

// table is a segment: ids and sketches of vectors of some dimensions.
type table struct {
	*segment.Segment
	dims  int
	width int // of a sketch in bytes
	per   int // sketches in each part but the last
}

func tableOf(s *segment.Segment) *table {
	t := &table{Segment: s, dims: int(s.Sums[sumDims])}
	t.width = sketchBits(t.dims) / 8
	t.per = sketchPart / t.width
	return t
}

func (t *table) parts() int         { return (t.Docs + t.per - 1) / t.per }
func (t *table) partRows(n int) int { return min(t.per, t.Docs-n*t.per) }

func check(s *segment.Segment) error {
	if s.Sums[sumDims] < 1 || s.Sums[sumDims] > graph.MaxDims {
		return segment.Corrupt("segment of %d dimensions", s.Sums[sumDims])
	}
	if n, want := s.Parts(secSketch), tableOf(s).parts(); n != want {
		return segment.Corrupt("%d parts of sketches, should have %d", n, want)
	}
	return s.CheckIDs()
}

// reader reads segments. Safe for concurrent use.
type reader struct{ *segment.Reader }

// part returns the sketches of part n, which must not be changed.
func (r reader) part(ctx context.Context, t *table, n int) ([]byte, error) {
	data, err := r.Bytes(ctx, t.Segment, secSketch, n)
	if want := t.partRows(n) * t.width; err == nil && len(data) != want {
		err = r.Wrap(t.Segment, secSketch, segment.Corrupt("%d bytes, want %d", len(data), want))
	}
	return data, err
}

// sketches reads the sketches of a segment one after the other.
type sketches struct {
	r    reader
	t    *table
	data []byte
	held int // the part in data, from 1
}

// at returns the sketch of row n, which must not be changed.
func (u *sketches) at(ctx context.Context, n int) ([]byte, error) {
	if part := n / u.t.per; u.held != part+1 {
		var err error
		if u.data, err = u.r.part(ctx, u.t, part); err != nil {
			return nil, err
		}
		u.held = part + 1
	}
	i := n % u.t.per * u.t.width
	return u.data[i : i+u.t.width], nil
}

// Limits of the format. The package comment says which structure each belongs to.
const (
	// sketchPart is about how long a part of sketches is in bytes: they are always read all.
	sketchPart = 256 << 10
	// pageBytes is about how many bytes the rows of a page take.
	pageBytes = 16 << 10
	// maxInline is the largest total of what is kept inside the segment's own block: the segment
	// of a small commit is one block.
	maxInline = 48 << 10
	// maxRows is the largest number of rows or of kills in one segment.
	maxRows = 1 << 24
	// maxSegments is the largest number of segments of a group: as many as always fit a value of the
	// tree of groups, with a run. Merges keep below it.
	maxSegments = 76
	// maxFanout keeps the segments of a group below maxWaiting: of each of nine classes of size up to
	// maxRows there are at most seven.
	maxFanout = 8
	// maxWaiting is how many segments a group may have while a merge is waited for.
	maxWaiting = 70
	// maxGroupRows is the largest number of vectors of a group, dead ones included: what a query
	// allocates in proportion to it is bounded.
	maxGroupRows = 1 << 28

	rowHead = graph.IDLen + 4 // id and norm before a vector
)
