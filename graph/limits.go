package graph

import "github.com/mnem-project/mnem/internal/base/vector"

// Limits of the records, in bytes unless said otherwise. They are part of the format: clause 3 of
// the specification.
const (
	// MaxKey is the longest key of a node or edge: a path or URL fits, and a tree key stays far below the limit of
	// trees.
	MaxKey = 512
	// MaxType is the longest type.
	MaxType = 255
	// MaxPropName is the longest property name.
	MaxPropName = 255
	// MaxProps is the largest number of properties of one node or edge.
	MaxProps = 1000
	// MaxPropDepth is the deepest nesting of lists and maps in one property's value.
	MaxPropDepth = 32
	// MaxText is the longest summary and the longest context: together they leave half of a block for the rest.
	MaxText = 256 << 10
	// MaxInline is the longest content stored in its record: records, which are read often, stay small.
	MaxInline = 32 << 10
	// MaxContent is the longest content.
	MaxContent = 64 << 20
	// MaxMedia is the longest media type.
	MaxMedia = 255
	// MaxSources is the largest number of sources.
	MaxSources = 64
	// MaxSource is the longest source.
	MaxSource = 1024
	// MaxCues is the largest number of cues.
	MaxCues = 12
	// MaxCue is the longest cue.
	MaxCue = 256
	// MaxReason is the longest reason of a mark.
	MaxReason = 4096
	// MaxActor is the longest name of an actor or author.
	MaxActor = 255
	// MaxModel is the longest name of an embedding model.
	MaxModel = vector.MaxModel
	// MaxDims is the largest number of dimensions of a dense vector.
	MaxDims = vector.MaxDims
	// MaxTerms is the largest number of terms of a sparse vector. With keys that is twice as many items, half of
	// what one block may hold.
	MaxTerms = 1 << 15
	// MaxTerm is the longest term of a sparse vector.
	MaxTerm = 255
	// MaxRefName is the longest name of a ref after its namespace.
	MaxRefName = 255
	// MaxImportName is the longest name of an import in bytes. A whole ref name follows it.
	MaxImportName = 100
	// MaxLine is the longest line of changes, without its line end.
	MaxLine = 4 << 20
	// MinTime is the earliest time, 0000-01-01T00:00:00Z. MinTime and MaxTime bound what RFC 3339 can express, so
	// that 9999-12-31, which people use for "forever", is an ordinary time.
	MinTime Time = -62_167_219_200_000_000
	// MaxTime is the latest time, 9999-12-31T23:59:59.999999Z.
	MaxTime Time = 253_402_300_799_999_999
	// MaxCount is the largest count of a tree's entries: an integer that every JSON reader represents exactly.
	MaxCount = 1<<53 - 1
	// MaxWeight is the weight 1.0 of an edge, the largest and the default.
	MaxWeight = 1 << 16
)
