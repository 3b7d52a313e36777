package core

import (
	"sync/atomic"
	"time"
)

// GCResult tells what a collection removed, or would remove.
type GCResult struct {
	Blocks  int    // facts and derived blocks
	Bytes   int64  // of these
	Kept    int    // blocks that stay
	Horizon uint64 // the oldest operation that is kept
	// MustFree is how many bytes must be freed on the disk before what was removed gives back its room;
	// 0 for none.
	MustFree uint64
}

// collected remembers the last collection that ended well. Of several that wait for one under way, the
// first does what the others are for.
type collected struct {
	Begun atomic.Int64 // how many began so far
	Last  Collection   // guarded by Repo.collecting
}

// Collection is one that ended well.
type Collection struct {
	Number  int64 // from 1
	KeepOps int
	Grace   time.Duration
	Res     GCResult
}
