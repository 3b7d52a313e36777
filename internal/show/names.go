package show

import (
	"github.com/mnem-project/mnem/graph"
)

// label names a node for people: its key, or its id where it has none.
func label(n *graph.Node) string {
	if n.Key != "" {
		return line(n.Key)
	}
	return n.ID.String()
}
