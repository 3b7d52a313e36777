package mcp_test

import "io"

// end is one end of a pair of streams.
type end struct {
	r *io.PipeReader
	w *io.PipeWriter
}

// pipes returns the two ends of a pair of streams.
func pipes() (ours, theirs end) {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	return end{r1, w2}, end{r2, w1}
}
