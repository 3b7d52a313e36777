package links

import (
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// MaxEntries is how many entries a bucket has at most that is kept whole.
const MaxEntries = 64

// Limits of the format. The package comment says which structure each belongs to.
const (
	// partSize is about how long a part is. A question looks up some hundred nodes from all over a
	// graph, each with its part: shorter parts would cost more for being found.
	partSize = 4 << 10
	// maxPart is the longest part: one node whose entries are all of long types of their own.
	maxPart = 64 << 10
	// maxInline is the largest total of parts that are kept inside the segment's own block.
	maxInline = 16 << 10
	// dirFan is the number of parts under one directory block.
	dirFan = 256
	dirRow = graph.IDLen + ipld.CIDLen
	// maxNodes is the largest number of nodes in one segment, so that its block holds its
	// directories.
	maxNodes = 1 << 26
	// maxSegments is the largest number of segments; merges keep far below it.
	maxSegments = 128
	// maxDegree is more than any bucket has.
	maxDegree = 1 << 53
)

// asDamage makes the error of a decoder, nil included, wrap store.ErrCorrupt: what is decoded here
// was stored by this package.
func asDamage(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
}

// corrupt returns an error that wraps store.ErrCorrupt.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", store.ErrCorrupt, fmt.Sprintf(format, args...))
}
