package store

import (
	"context"
	"io"
)

// Scratcher is a store that has room for what does not fit into memory for a moment.
type Scratcher interface {
	// Scratch returns an empty file of the caller's own.
	Scratch(ctx context.Context) (Scratch, error)
}

// Scratch is a file that no store reads and no power cut must leave whole. It may be read from several
// goroutines, also while one writes more. Close removes it; where it is not called, whoever opens the
// store for writing next does.
type Scratch interface {
	io.Writer // at the end
	io.ReaderAt
	io.Closer
}
