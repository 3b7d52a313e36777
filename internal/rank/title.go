package rank

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/guard"
)

// CalledBy returns the text that names a node, "" where it holds what looks like a credential.
func CalledBy(n *graph.Node) string {
	said := n.Summary
	if said == "" {
		said = n.Key
	}
	if len(guard.Find(said)) > 0 {
		return ""
	}
	return said
}
