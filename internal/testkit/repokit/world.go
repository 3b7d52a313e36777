package repokit

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// World is a naive state of the memory that makes random changes of it: item name to fields.
type World map[string]facts

// facts are the fields of one item.
type facts map[string]string

// NodeName returns the item name of the node with a key.
func NodeName(key string) string { return "node/" + graph.NodeID(key).String() }

func edgeID(e ModelEdge) graph.ID {
	return graph.EdgeID(graph.NodeID(e.Src), e.Typ, graph.NodeID(e.Dst), e.Key)
}

// set adds fields to an item.
func (w World) set(item string, fields facts) {
	if w[item] == nil {
		w[item] = facts{}
	}
	maps.Copy(w[item], fields)
}

// needs returns the items without which one cannot be.
func needs(item string, f facts) []string {
	if of, ok := strings.CutPrefix(item, "mark/"); ok {
		return []string{of}
	}
	if strings.HasPrefix(item, "edge/") {
		return []string{f["src"], f["dst"]}
	}
	return nil
}

// remove removes an item and all that needs it.
func (w World) remove(item string) {
	delete(w, item)
	for other, f := range w {
		if w[other] != nil && slices.Contains(needs(other, f), item) {
			w.remove(other)
		}
	}
}

var worldKeys = 12

// Step makes a random change and returns its lines, "" if there is nothing to do.
func (w World) Step(rng *rand.Rand) string {
	key := func() string { return fmt.Sprintf("k%d", rng.IntN(worldKeys)) }
	has := func(k string) bool { return w[NodeName(k)] != nil }
	a, b := key(), key()
	e := ModelEdge{a, []string{"e", "f"}[rng.IntN(2)], b, ""}
	edge := "edge/" + edgeID(e).String()
	switch n := rng.IntN(100); {
	case n < 40:
		name, v := fmt.Sprintf("p%d", rng.IntN(3)), fmt.Sprint(rng.IntN(3))
		w.set(NodeName(a), facts{"props." + name: v, "key": a})
		return fmt.Sprintf(`{"node":{"key":%q,"type":"T","props":{%q:%s}}}`+"\n", a, name, v)
	case n < 65 && has(a) && has(b):
		v := fmt.Sprint(rng.IntN(3))
		w.set(edge, facts{"props.n": v, "src": NodeName(a), "dst": NodeName(b)})
		return e.Line(int64(v[0] - '0'))
	case n < 78 && has(a):
		w.remove(NodeName(a))
		return fmt.Sprintf(`{"remove":{"node":%q}}`+"\n", a)
	case n < 84 && w[edge] != nil:
		w.remove(edge)
		return fmt.Sprintf(`{"remove":{"edge":{%s}}}`+"\n", e.Members())
	case n < 92 && has(a):
		state := []string{"stale", "retired"}[rng.IntN(2)]
		w["mark/"+NodeName(a)] = facts{"state": state}
		return fmt.Sprintf(`{"mark":{"node":%q,"state":%q}}`+"\n", a, state)
	case n < 98 && w[edge] != nil:
		state := []string{"stale", "retired"}[rng.IntN(2)]
		w["mark/"+edge] = facts{"state": state}
		return fmt.Sprintf(`{"mark":{"edge":{"id":%q},"state":%q}}`+"\n", edge[5:], state)
	}
	return ""
}

// WorldOf returns the state that a snapshot has.
func WorldOf(t testing.TB, s *core.Snapshot) World {
	t.Helper()
	w := make(World)
	add := func(item string, on graph.Target, id graph.ID, f facts) {
		w[item] = f
		m := must.Get(s.Mark(t.Context(), on, id))(t)
		if m != nil {
			w["mark/"+item] = facts{"state": string(m.State)}
		}
	}
	for n, err := range s.Nodes(t.Context(), graph.ID{}) {
		must.OK(t, err)
		add("node/"+n.Node.ID.String(), graph.OnNode, n.Node.ID, facts{"key": n.Node.Key})
	}
	for e, err := range s.Edges(t.Context(), graph.ID{}) {
		must.OK(t, err)
		f := facts{"src": "node/" + e.Edge.Src.String(), "dst": "node/" + e.Edge.Dst.String()}
		add("edge/"+e.Edge.ID.String(), graph.OnEdge, e.Edge.ID, f)
	}
	return w
}
