package links

// MaxEntries is how many entries a bucket has at most that is kept whole.
const MaxEntries = 64

// Limits of the format. The package comment says which structure each belongs to.
const (
	// partSize is about how long a part is. A question looks up some hundred nodes from all over a
	// graph, each with its part: shorter parts would cost more for being found.
	partSize = 4 << 10
	// maxPart is the longest part: one node whose entries are all of long types of their own.
	maxPart = 64 << 10
	// maxSieve is more than any sieve has: of parts of nodes with hardly an edge.
	maxSieve = 256 << 10
	// maxInline is the largest total of parts that are kept inside the segment's own block.
	maxInline = 16 << 10
	// sieveParts is the number of parts whose nodes are in one sieve.
	sieveParts = 256
	// maxNodes is the largest number of nodes in one segment, so that its block holds its directories.
	maxNodes = 1 << 26
	// maxSegments is the largest number of segments; merges keep far below it.
	maxSegments = 128
	// maxWaiting is how many segments an index may have while a merge is waited for.
	maxWaiting = 64
	// maxDegree is more than any bucket has.
	maxDegree = 1 << 53
)
