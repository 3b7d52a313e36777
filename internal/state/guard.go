package state

import (
	"github.com/mnem-project/mnem/graph"
)

// TouchKind says what is touched.
type TouchKind string

// Touch is one thing that an operation changes in what a ref leads to.
type Touch struct {
	Kind TouchKind
	Ref  graph.RefName // "" for an erasure, which changes all of history
	ID   graph.ID      // of the node or edge
	Type string        // its type: a change of the type is two touches
	// Source is the type of the node that an edge leaves from, "" where there is no such node.
	Source string
}

// Guard decides whether an operation may be recorded. It is called on the goroutine of the writer,
// while other writers wait, once or more for each thing that the operation changes in what HEAD, a
// branch, a stage or a merge in progress leads to, however it does that; its first error refuses
// the operation, which then changes nothing, and comes back to the caller.
//
// A branch that did not exist before, or does not afterwards, is compared with what HEAD leads to
// before the operation; a stage with the commit it builds on. So a new branch at HEAD touches
// nothing, and a Guard cannot be bypassed by removing a branch and creating it again. A tag of a commit that comes
// with the operation is compared with what HEAD leads to, too.
type Guard func(Touch) error
