package state

import (
	"github.com/mnem-project/mnem/graph"
)

// TouchKind says what is touched.
type TouchKind string

// Touch is one change that an operation makes to what a ref leads to.
type Touch struct {
	Kind TouchKind
	Ref  graph.RefName // "" for an erasure, which changes all of history
	ID   graph.ID      // of the node or edge
	Type string        // its type; changing the type makes two touches
	// Source is the type of the edge's source node, "" if that does not exist.
	Source string
}

// Guard decides whether an operation may be recorded. It is called on the writer's goroutine, while other writers
// wait, at least once for each thing that the operation changes in what HEAD, a branch, a stage or a merge in
// progress leads to, by whatever means. Its first error refuses the operation, which then changes nothing and
// returns the error to the caller.
//
// A branch that is created or deleted is compared with what HEAD leads to before the operation; a stage with the
// commit it builds on. So a new branch at HEAD touches nothing, and a Guard cannot be bypassed by removing a branch
// and creating it again. A tag of a commit that comes with the operation is compared with what HEAD leads to, too.
type Guard func(Touch) error
