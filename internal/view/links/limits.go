package links

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
