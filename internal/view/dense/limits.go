package dense

import "github.com/mnem-project/mnem/graph"

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
