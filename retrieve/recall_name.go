package retrieve

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
)

// nameTypes are the types of nodes that package memory writes for names and tags alone, each with
// what their keys begin with.
var nameTypes = map[string]string{"Entity": "entity/", "Tag": "tag/"}

// IsName reports whether a node is nothing but a name, by which memories are linked: clause 26.7.
func IsName(n *graph.Node) bool {
	prefix, ok := nameTypes[n.Type]
	return ok && (strings.HasPrefix(n.Key, prefix) || n.Key != "" && n.Key == n.Summary) &&
		n.Context == "" && n.Content == nil && len(n.Props)+len(n.Cues) == 0
}

// onlyName reports whether a node that is nothing but a name is left out: to a reader it says nothing that the
// items do not say themselves. One that the request names or asks for by its type is an item like others.
func (r *run) onlyName(c *candidate, n *graph.Node) bool {
	return (r.req.row().bands || r.recalled != nil && c.recalled != nil) && c.tier == tierNone &&
		!slices.Contains(r.req.Types, n.Type) && IsName(n)
}
