package memory

import (
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/memory/extract"
)

// Types of the nodes that edges lead to, and the beginnings of their keys.
const (
	TypeEntity   = "Entity"
	TypeTag      = "Tag"
	EntityPrefix = "entity/"
	TagPrefix    = "tag/"
)

// EntityKey returns the key of the node of an entity, "" if the name is blank or too long for
// one.
func EntityKey(name string) string { return nodeKey(EntityPrefix, name) }

// TagKey returns the key of the node of a tag, "" likewise.
func TagKey(name string) string { return nodeKey(TagPrefix, name) }

func nodeKey(prefix, name string) string {
	folded := extract.Fold(name)
	if folded == "" || len(prefix)+len(folded) > graph.MaxKey {
		return ""
	}
	return prefix + folded
}

// Credentials are the findings of the guard in a text.
type Credentials []guard.Finding

// Has reports whether an entity of the text overlaps a credential. Such an entity would become nodes and edges, which
// outlive the memory.
func (c Credentials) Has(e extract.Entity) bool {
	within := func(f guard.Finding) bool { return f.Start < e.End && e.Start < f.End }
	return slices.ContainsFunc(c, within) || guard.IsSecret(e.Name)
}
