package state

import (
	"github.com/mnem-project/mnem/graph"
)

// KindCounts are how many things of each kind a commit has.
type KindCounts struct {
	Nodes map[string]int      // by type
	Edges map[string]int      // by type
	Marks map[graph.State]int // by state, those of edges too
}
