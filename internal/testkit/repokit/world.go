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
	"github.com/mnem-project/mnem/ipld"
)

// World is a naive state of the memory: item name to fields. It merges by looking at everything.
type World map[string]facts

// facts are the fields of one item.
type facts map[string]string

// Clone returns a deep copy.
func (w World) Clone() World {
	out := make(World)
	for k, v := range w {
		out[k] = maps.Clone(v)
	}
	return out
}

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

// Check compares a snapshot with the world.
func (w World) Check(t *testing.T, s *core.Snapshot) {
	t.Helper()
	got := make(World)
	add := func(item string, on graph.Target, id graph.ID, f facts, props []ipld.Entry) {
		for _, p := range props {
			f["props."+p.Key] = fmt.Sprint(p.Value.Int())
		}
		got[item] = f
		m, err := s.Mark(t.Context(), on, id)
		must.OK(t, err)
		if m != nil {
			got["mark/"+item] = facts{"state": string(m.State)}
		}
	}
	for n, err := range s.Nodes(t.Context(), graph.ID{}) {
		must.OK(t, err)
		add("node/"+n.Node.ID.String(), graph.OnNode, n.Node.ID, facts{"key": n.Node.Key}, n.Node.Props)
	}
	for e, err := range s.Edges(t.Context(), graph.ID{}) {
		must.OK(t, err)
		f := facts{"src": "node/" + e.Edge.Src.String(), "dst": "node/" + e.Edge.Dst.String()}
		add("edge/"+e.Edge.ID.String(), graph.OnEdge, e.Edge.ID, f, e.Edge.Props)
	}
	for _, item := range slices.Sorted(maps.Keys(w)) {
		if !maps.Equal(w[item], got[item]) {
			t.Fatalf("%s is %v, want %v", item, got[item], w[item])
		}
	}
	for item, f := range got {
		if w[item] == nil {
			t.Fatalf("%s is %v, want none", item, f)
		}
	}
}

// WorldMerge is a merge of worlds, and what conflicts in it.
type WorldMerge struct {
	base, ours, theirs, Out World
	virtual                 bool
	Conflicts               map[string]graph.ConflictKind
	follow                  map[string]bool
}

// MergeWorlds merges two worlds against their base. A virtual merge computes a merge base: it takes the base's side
// of a conflict and keeps items whose ends are missing.
func MergeWorlds(base, ours, theirs World, virtual bool) *WorldMerge {
	m := &WorldMerge{
		base: base, ours: ours, theirs: theirs, virtual: virtual, Out: make(World),
		Conflicts: make(map[string]graph.ConflictKind), follow: make(map[string]bool),
	}
	all := make(map[string]bool)
	for _, w := range []World{base, ours, theirs} {
		for item := range w {
			all[item] = true
		}
	}
	for _, kind := range []string{"node/", "edge/", "mark/node/", "mark/edge/"} {
		for _, item := range slices.Sorted(maps.Keys(all)) {
			if strings.HasPrefix(item, kind) {
				m.item(item)
			}
		}
		if virtual {
			continue
		}
		for _, item := range slices.Sorted(maps.Keys(m.Out)) {
			if strings.HasPrefix(item, kind) {
				m.prune(item)
			}
		}
	}
	return m
}

func (m *WorldMerge) item(item string) {
	take := graph.TakeOurs
	if m.virtual {
		take = graph.TakeBase
	}
	f, kind := mergeFacts(item, m.base[item], m.ours[item], m.theirs[item], take)
	if kind == graph.DeleteModify && !m.virtual {
		remover, has := m.ours, m.theirs[item]
		if m.ours[item] != nil {
			remover, has = m.theirs, m.ours[item]
		}
		gone, with := m.gone(item, has, func(need string) bool { return remover[need] == nil })
		switch {
		case with:
			kind = ""
			m.follow[item] = true
		case gone:
			kind, f = graph.EndRemoved, nil
		}
	}
	if kind != "" {
		m.Conflicts[item] = kind
	}
	if f != nil {
		m.Out[item] = f
	}
}

// gone reports whether a need is missing, and if so whether all that are are in conflict.
func (m *WorldMerge) gone(item string, f facts, missing func(string) bool) (gone, with bool) {
	with = true
	for _, need := range needs(item, f) {
		if missing(need) {
			gone = true
			with = with && (m.Conflicts[need] != "" || m.follow[need])
		}
	}
	return gone, gone && with
}

func (m *WorldMerge) prune(item string) {
	gone, with := m.gone(item, m.Out[item], func(need string) bool { return m.Out[need] == nil })
	if !gone {
		return
	}
	delete(m.Out, item)
	if with {
		m.follow[item] = true
	} else {
		m.Conflicts[item] = graph.EndRemoved
	}
}

func versions(b, l, r facts) map[graph.Take]facts {
	return map[graph.Take]facts{graph.TakeOurs: l, graph.TakeTheirs: r, graph.TakeBase: b}
}

// mergeFacts merges one item.
func mergeFacts(item string, b, l, r facts, take graph.Take) (facts, graph.ConflictKind) {
	same := func(x, y facts) bool { return (x == nil) == (y == nil) && maps.Equal(x, y) }
	picked := versions(b, l, r)[take]
	switch {
	case same(l, r), same(r, b):
		return l, ""
	case same(l, b):
		return r, ""
	case l == nil || r == nil:
		return picked, graph.DeleteModify
	}
	kind := graph.EditEdit
	if b == nil {
		kind = graph.AddAdd
	}
	if strings.HasPrefix(item, "mark/") {
		return picked, kind
	}
	out, clash := facts{}, false
	for _, side := range []facts{l, r} {
		for name := range side {
			var v string
			var ok bool
			bv, bok := b[name]
			lv, lok := l[name]
			rv, rok := r[name]
			switch {
			case lok == rok && lv == rv, rok == bok && rv == bv:
				v, ok = lv, lok
			case lok == bok && lv == bv:
				v, ok = rv, rok
			default:
				clash = true
				v, ok = picked[name]
			}
			if ok {
				out[name] = v
			}
		}
	}
	if !clash {
		return out, ""
	}
	if b == nil && take == graph.TakeBase {
		return nil, kind
	}
	return out, kind
}

// Resolve returns the world that a merge becomes when each conflict is resolved by a side.
func (m *WorldMerge) Resolve(take func(item string) graph.Take) World {
	out := m.Out.Clone()
	side := func(item string) World {
		if t := take(item); t == graph.TakeOurs || t == graph.TakeBase && m.ours[item] != nil {
			return m.ours
		}
		return m.theirs
	}
	decided := make(World)
	for item, kind := range m.Conflicts {
		b, l, r := m.base[item], m.ours[item], m.theirs[item]
		decided[item], _ = mergeFacts(item, b, l, r, take(item))
		if kind == graph.DeleteModify || kind == graph.EndRemoved {
			decided[item] = versions(b, l, r)[take(item)]
		}
	}
	var bring func(from World, item string)
	around := func(from World, item string) {
		for other, f := range from {
			_, open := m.Conflicts[other]
			list := needs(other, f)
			if open || out[other] != nil || !slices.Contains(list, item) ||
				strings.HasPrefix(other, "mark/edge") {
				continue
			}
			if !slices.ContainsFunc(list, func(n string) bool { return out[n] == nil }) {
				out[other] = f
				mark := "mark/" + other
				if _, open := m.Conflicts[mark]; !open && from[mark] != nil && out[mark] == nil {
					out[mark] = from[mark]
				}
			}
		}
	}
	bring = func(from World, item string) {
		if out[item] != nil || from[item] == nil {
			return
		}
		for _, n := range needs(item, from[item]) {
			bring(from, n)
		}
		out[item] = from[item]
		if strings.HasPrefix(item, "node/") {
			around(from, item)
		}
	}
	each := func(prefix string, fn func(item string, f facts)) {
		for _, item := range slices.Sorted(maps.Keys(decided)) {
			if strings.HasPrefix(item, prefix) {
				fn(item, decided[item])
			}
		}
	}
	each("node/", func(item string, f facts) {
		if f == nil {
			out.remove(item)
		} else {
			out[item] = f
		}
	})
	each("node/", func(item string, f facts) {
		if f != nil && m.Conflicts[item] == graph.DeleteModify {
			around(side(item), item)
		}
	})
	for _, prefix := range []string{"edge/", "mark/"} {
		each(prefix, func(item string, f facts) {
			if f == nil {
				out.remove(item)
				return
			}
			for _, n := range needs(item, f) {
				bring(side(item), n)
			}
			there := out[item] != nil
			out[item] = f
			mark := "mark/" + item
			if _, open := m.Conflicts[mark]; !open && !there && side(item)[mark] != nil && out[mark] == nil {
				out[mark] = side(item)[mark]
			}
		})
	}
	return out
}
