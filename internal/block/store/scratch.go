package store

import (
	"context"
	"io"
)

// Scratcher is implemented by a store that has temporary space for data that does not fit into memory.
type Scratcher interface {
	// Scratch returns an empty file owned by the caller.
	Scratch(ctx context.Context) (Scratch, error)
}

// Scratch is a temporary file outside the store; it need not survive a power cut. Several goroutines may read it,
// also while one appends. Close removes it; otherwise the next writable opening of the store does.
type Scratch interface {
	io.Writer // at the end
	io.ReaderAt
	io.Closer
}
