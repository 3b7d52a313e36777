package dense

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// Columns of a segment, its sections.
const (
	colIDs    = segment.IDs
	colDead   = segment.Dead
	colSketch = iota
	columns
)

// Sections that no segment has: under their numbers a cache keeps what was read for it from elsewhere.
const (
	madeRows  = columns + iota // single rows
	madePages                  // pages
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
		colIDs:    {Name: "ids", MaxPart: segment.IDsPerPart * graph.IDLen},
		colDead:   {Name: "dead", MaxPart: segment.IDsPerPart * graph.IDLen},
		colSketch: {Name: "sketch", MaxPart: max(sketchPart, graph.MaxDims)},
	},
	Inline: maxInline, MaxDocs: maxRows, MaxSegments: maxSegments, MaxWaiting: maxWaiting,
	CacheBytes: mergeCache, Check: check, Merge: merge,
}

// column is rows of one width, one after another, per of them in each part, fewer in the last.
type column struct {
	seg                   *segment.Segment
	sec, width, per, rows int
}

// parts returns the number of parts.
func (c *column) parts() int { return (c.rows + c.per - 1) / c.per }

// partRows returns how many rows part n has.
func (c *column) partRows(n int) int { return min(c.per, c.rows-n*c.per) }

// table is a segment: ids and sketches of vectors of some dimensions.
type table struct {
	*segment.Segment
	dims int
	cols [columns]column
}

func tableOf(s *segment.Segment) *table {
	t := &table{Segment: s, dims: int(s.Sums[sumDims])}
	for i, shape := range shapes(t.dims) {
		t.cols[i] = column{s, i, shape.width, shape.per, s.Docs}
	}
	t.cols[colDead].rows = s.Kills
	return t
}

func tablesOf(segs []*segment.Segment) []*table {
	list := make([]*table, len(segs))
	for i, s := range segs {
		list[i] = tableOf(s)
	}
	return list
}

// shape is how long the rows of a column are and how many a part has.
type shape struct{ width, per int }

func shapes(dims int) [columns]shape {
	sketch := sketchBits(dims) / 8
	return [columns]shape{
		colIDs: {graph.IDLen, segment.IDsPerPart}, colDead: {graph.IDLen, segment.IDsPerPart},
		colSketch: {sketch, sketchPart / sketch},
	}
}

// check compares what follows from the numbers of a segment.
func check(s *segment.Segment) error {
	if s.Sums[sumDims] < 1 || s.Sums[sumDims] > graph.MaxDims {
		return segment.Corrupt("segment of %d dimensions", s.Sums[sumDims])
	}
	for i, c := range tableOf(s).cols {
		if n := s.Parts(i); n != c.parts() {
			return segment.Corrupt("column %d of %d parts, should have %d", i, n, c.parts())
		}
	}
	return nil
}

// reader reads segments. Safe for concurrent use.
type reader struct{ *segment.Reader }

// part returns the rows of part n, which must not be changed.
func (r reader) part(ctx context.Context, c *column, n int) ([]byte, error) {
	data, err := r.Bytes(ctx, c.seg, c.sec, n)
	if want := c.partRows(n) * c.width; err == nil && len(data) != want {
		err = r.Wrap(c.seg, c.sec, segment.Corrupt("%d bytes, want %d", len(data), want))
	}
	return data, err
}

// rows reads rows of a column one after the other.
type rows struct {
	r    reader
	c    *column
	data []byte
	held int // the part in data, from 1
}

// at returns row n, which must not be changed.
func (u *rows) at(ctx context.Context, n int) ([]byte, error) {
	if part := n / u.c.per; u.held != part+1 {
		var err error
		if u.data, err = u.r.part(ctx, u.c, part); err != nil {
			return nil, err
		}
		u.held = part + 1
	}
	i := n % u.c.per * u.c.width
	return u.data[i : i+u.c.width], nil
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
