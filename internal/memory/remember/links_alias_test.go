package remember

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// nodeOf returns the id of the node that a written link names.
func nodeOf(name string) graph.ID {
	if id, err := graph.ParseID(name); err == nil {
		return id
	}
	return graph.NodeID(name)
}

// aliases returns the keys of the nodes that the node of a first name is an alias of.
func aliases(t *testing.T, r Remembered) (out []graph.ID) {
	t.Helper()
	for _, l := range r.Links {
		if l.Type == memory.EdgeAlias {
			out = append(out, nodeOf(l.Dst))
		}
	}
	return out
}

// TestAlias holds that a first name alone binds to the full name that begins with it if there is one.
func TestAlias(t *testing.T) {
	full := graph.NodeID("entity/caroline smith")
	for _, c := range []struct {
		name   string
		before []string
		say    string
		want   []graph.ID
	}{
		{"one", []string{"On Monday Caroline Smith moved"}, "On Friday Caroline left", []graph.ID{full}},
		{"two", []string{"On Monday Caroline Smith moved", "On Tuesday Caroline Jones moved"},
			"On Friday Caroline left", nil},
		{"none", []string{"On Monday Carol Smith moved"}, "On Friday Caroline left", nil},
		{"last name", []string{"On Monday Caroline Smith moved"}, "On Friday Smith left", nil},
		{"no person", []string{"On Monday the Kafka Cluster moved"}, "On Friday Kafka left", nil},
	} {
		m := newMemory(t)
		keep(t, m, said(c.before...)...)
		must.Same(t, aliases(t, keep(t, m, said(c.say)...)[0]), c.want, c.name)
	}
}

// TestAliasStays checks that an alias is not bound again, whatever comes later, nor after its edge was hidden.
func TestAliasStays(t *testing.T) {
	m := newMemory(t)
	got := keep(t, m, said("On Monday Caroline Smith moved", "On Friday Caroline left")...)
	short, full := graph.NodeID("entity/caroline"), graph.NodeID("entity/caroline smith")
	must.Same(t, aliases(t, got[1]), []graph.ID{full}, "bound to")
	edge := graph.EdgeID(short, memory.EdgeAlias, full, "")
	if _, _, err := m.headOf(t).Edge(t.Context(), edge); err != nil {
		t.Fatal(err)
	}
	commitChanges(t, m, graph.Change{Mark: &graph.MarkChange{
		On: graph.MarkRef{Edge: &graph.EdgeRef{ID: edge}}, State: graph.Forgotten,
	}})
	for _, s := range []string{"On Sunday Caroline came back", "On Monday Caroline Jones moved",
		"On Tuesday Caroline rowed"} {
		if got := aliases(t, keep(t, m, said(s)...)[0]); got != nil {
			t.Errorf("%s: bound to %v again", s, got)
		}
	}
}

// TestAliasKeepsNoName holds that purging the only memory that mentions a name takes the name with it,
// though it is an alias.
func TestAliasKeepsNoName(t *testing.T) {
	m := newMemory(t)
	got := keep(t, m, said("On Monday Caroline Smith moved", "On Friday Caroline left")...)
	res := must.Get(care.Purge(t.Context(), m.r, got[1].ID.String(), care.PurgeOptions{Stamp: linkBy}))(t)
	must.Check(t, slices.Contains(res.Derived, graph.NodeID("entity/caroline")), "gone are %v", res.Derived)
	must.Check(t, !slices.Contains(res.Derived, graph.NodeID("entity/caroline smith")),
		"a name goes that another memory mentions")
}
