package guard

import (
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestSettingsWithinMaps: an entry of a map is read with its name, as a property is.
func TestSettingsWithinMaps(t *testing.T) {
	secret := ipld.StringValue("hunt" + "er22Zq8Lk93xT")
	at := func(v ipld.Value) *graph.Node {
		return &graph.Node{Type: "T", Props: []ipld.Entry{{Key: "m", Value: v}}}
	}
	entry := ipld.MapValue(ipld.Entry{Key: "password", Value: secret})
	for name, v := range map[string]ipld.Value{"map": entry, "list": ipld.ListValue(entry)} {
		list := Node(at(v))
		must.Check(t, len(list) == 1 && list[0].Field == "node.props.m", "%s: %+v", name, list)
	}
	if list := Node(at(ipld.MapValue(ipld.Entry{Key: "colour", Value: secret}))); len(list) > 0 {
		t.Errorf("found %+v", list)
	}
}
