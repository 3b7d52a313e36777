package retrieve

import (
	"github.com/mnem-project/mnem/graph"
)

// Hidden reports whether nodes and edges in a state are left out unless a request lets the state
// through: forgotten, superseded, expired and retired ones. What is stale or contradicted is shown,
// with its state.
func Hidden(s graph.State) bool {
	switch s {
	case graph.Forgotten, graph.Superseded, graph.Expired, graph.Retired:
		return true
	}
	return false
}
