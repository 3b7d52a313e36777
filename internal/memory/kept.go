package memory

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
)

// partTypes are the types of nodes that hold files, conversations and proposals together. They are no memories.
var partTypes = map[string]bool{
	"Session": true, "Turn": true, "Collection": true, "Document": true, "Section": true, "Chunk": true,
	"proposal": true,
}

// IsMemory reports whether a node was kept for what it says: it is no part of a file or conversation, no proposal and
// no mere name.
func IsMemory(n *graph.Node) bool { return !partTypes[n.Type] && !source.IsName(n) }
