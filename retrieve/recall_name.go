package retrieve

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
)

// nameTypes are the types of nodes that package memory writes for names and tags alone, each with
// what their keys begin with.
var nameTypes = map[string]string{"Entity": "entity/", "Tag": "tag/"}

// onlyName reports whether a node is nothing but a name, by which memories are linked: to a reader of
// a recall it says nothing that the items do not say themselves. One that was given anything else, or
// that the request names or asks for by its type, is an item like others: clause 26.7.
func (r *run) onlyName(c *candidate, n *graph.Node) bool {
	prefix, ok := nameTypes[n.Type]
	return ok && (r.req.row().bands || r.recalled != nil && c.recalled != nil) && c.tier == tierNone &&
		(strings.HasPrefix(n.Key, prefix) || n.Key != "" && n.Key == n.Summary) &&
		n.Context == "" && n.Content == nil && len(n.Props)+len(n.Cues) == 0 &&
		!slices.Contains(r.req.Types, n.Type)
}
