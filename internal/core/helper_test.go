package core_test

import (
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func prop(t testing.TB, n *graph.Node, name string) ipld.Value {
	t.Helper()
	v, ok := ipld.FindEntry(n.Props, name)
	must.Require(t, ok, "node %s has no property %q", n.Key, name)
	return v
}
