package core

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// RefChange is one ref that an import sets, or that Receive removes.
type RefChange struct {
	Ref  graph.RefName
	From ipld.CID // undefined where it is new
	To   ipld.CID // undefined where it is removed
}
