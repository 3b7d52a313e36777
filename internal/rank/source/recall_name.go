package source

import (
	"strings"

	"github.com/mnem-project/mnem/graph"
)

// NameTypes are the types of nodes that package memory writes for names and tags alone, each with
// what their keys begin with.
var NameTypes = map[string]string{"Entity": "entity/", "Tag": "tag/"}

// saidTypes are the types of nodes that package ingest writes for conversations. Their texts rank behind memories that
// were stored on purpose.
var saidTypes = map[string]bool{"Turn": true, "Session": true}

// IsSaid reports whether nodes of a type record a conversation, and were not stored on purpose.
func IsSaid(typ string) bool { return saidTypes[typ] }

// IsName reports whether a node is only a name that links memories: clause 26.7.
func IsName(n *graph.Node) bool {
	prefix, ok := NameTypes[n.Type]
	return ok && (strings.HasPrefix(n.Key, prefix) || n.Key != "" && n.Key == n.Summary) &&
		n.Context == "" && n.Content == nil && len(n.Props)+len(n.Cues) == 0
}
