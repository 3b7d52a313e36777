package state

import (
	"iter"

	"github.com/mnem-project/mnem/graph"
)

// Changes is a stream of changes: what graph.Reader reads or a caller makes. An error in it
// refuses the whole batch. What a change holds must not be changed after it was yielded.
type Changes = iter.Seq2[graph.Change, error]
