package index

import (
	"errors"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

// The text fields of a node, in the order of clause 7.1.
const (
	FieldSummary = iota
	FieldContext
	FieldContent
	FieldProps
	FieldType
	FieldCues
	// Fields is the number of text fields.
	Fields
)

// Limits of the format. The package comment says which structure each belongs to.
const (
	// maxPart is the longest part in bytes, except in the section "large": a query reads little for one term, and
	// hashing a part takes some tens of microseconds.
	maxPart = 64 << 10
	// partSize is the length at which a part ends: with any one entry it stays below maxPart.
	partSize = 32 << 10
	// dictSize is the length at which a part of the dictionary ends. A query reads one of them for each term and needs
	// only a little of it.
	dictSize = 16 << 10
	// maxInline is the largest total of parts kept inside the segment's own block: the segment
	// of a small commit is one block.
	maxInline = 48 << 10
	// docsPerPart is the number of documents in each part of "ids" and "lens" but the last, and
	// of a window of the search.
	docsPerPart = 2048
	// maxDocs is the largest number of documents or of kills in one segment. It limits the allocations that a segment's
	// block can cause, and merges stay below it.
	maxDocs = 1 << 24
	// maxTerm is the longest term in bytes.
	maxTerm = text.MaxTermRunes * utf8.UTFMax
	// restartEvery is the number of dictionary entries from one full term to the next.
	restartEvery = 16
	// blockDocs is the number of postings in a block with its own maxima.
	blockDocs = 128
	// maxInlinePosts is the longest posting list in bytes that is stored in the dictionary: most terms occur in a few
	// documents, and reading a part for them would be waste.
	maxInlinePosts = 64
	// maxSmallItem is the longest property value in bytes inside a part of "props"; longer ones
	// are parts of "large".
	maxSmallItem = 8 << 10
	// maxSegments is the largest number of segments in a manifest.
	maxSegments = 4096
	// maxWaiting is how many segments an index may have while a merge is waited for.
	maxWaiting = 128
	// maxCount bounds sums, so that any reader keeps them and no arithmetic overflows.
	maxCount = 1<<53 - 1
	// maxTF is the largest number of occurrences or length counted: content has at most 64 MiB.
	maxTF = 1<<32 - 1
)

// ErrAnalyser is returned when a manifest was made by another version of the analyser: the index must be rebuilt.
var ErrAnalyser = errors.New("index of another analyser")
