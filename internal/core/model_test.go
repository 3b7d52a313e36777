package core_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// model is a naive graph: what the repository must hold after the same lines.
type model struct {
	nodes map[string]map[string]int64 // key to properties
	edges map[repokit.ModelEdge]int64 // to the property "n"
}

func newModel() *model {
	return &model{nodes: map[string]map[string]int64{}, edges: map[repokit.ModelEdge]int64{}}
}

func (m *model) clone() *model {
	c := newModel()
	for k, props := range m.nodes {
		c.nodes[k] = maps.Clone(props)
	}
	c.edges = maps.Clone(m.edges)
	return c
}

// lines returns the change lines that make the model from nothing.
func (m *model) lines() string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(m.nodes)) {
		fmt.Fprintf(&b, `{"node":{"key":%q,"type":"T","props":{`, key)
		sep := ""
		for _, name := range slices.Sorted(maps.Keys(m.nodes[key])) {
			fmt.Fprintf(&b, `%s%q:%d`, sep, name, m.nodes[key][name])
			sep = ","
		}
		b.WriteString("}}}\n")
	}
	for e, n := range m.edges {
		b.WriteString(e.Line(n))
	}
	return b.String()
}

// step makes one random change of the model and returns its line, "" if there is nothing to do.
func (m *model) step(rng *rand.Rand) string {
	key := func() string { return fmt.Sprintf("k%d", rng.IntN(40)) }
	switch n := rng.IntN(100); {
	case n < 40: // make or change a node
		k, name, v := key(), fmt.Sprintf("p%d", rng.IntN(3)), int64(rng.IntN(4))
		if m.nodes[k] == nil {
			m.nodes[k] = map[string]int64{}
		}
		m.nodes[k][name] = v
		return fmt.Sprintf(`{"node":{"key":%q,"type":"T","props":{%q:%d}}}`+"\n", k, name, v)
	case n < 80: // make or change an edge; an end that is missing yet is made first
		e := repokit.ModelEdge{Src: key(), Typ: []string{"e", "ee", "f"}[rng.IntN(3)], Dst: key(), Key: ""}
		if rng.IntN(4) == 0 {
			e.Key = fmt.Sprint(rng.IntN(2))
		}
		line := ""
		for _, k := range []string{e.Src, e.Dst} {
			if m.nodes[k] == nil {
				m.nodes[k] = map[string]int64{}
				line += fmt.Sprintf(`{"node":{"key":%q,"type":"T"}}`+"\n", k)
			}
		}
		m.edges[e] = int64(rng.IntN(3))
		return line + e.Line(m.edges[e])
	case n < 90: // remove a node
		k := key()
		if m.nodes[k] == nil {
			return ""
		}
		delete(m.nodes, k)
		maps.DeleteFunc(m.edges, func(e repokit.ModelEdge, _ int64) bool { return e.Src == k || e.Dst == k })
		return fmt.Sprintf(`{"remove":{"node":%q}}`+"\n", k)
	default: // remove an edge
		all := slices.SortedFunc(maps.Keys(m.edges), func(a, b repokit.ModelEdge) int {
			return strings.Compare(a.Members(), b.Members())
		})
		if len(all) == 0 {
			return ""
		}
		e := all[rng.IntN(len(all))]
		delete(m.edges, e)
		return fmt.Sprintf(`{"remove":{"edge":{%s}}}`+"\n", e.Members())
	}
}

// diffLines turns what differs between two snapshots into change lines.
func diffLines(t *testing.T, a, b *core.Snapshot) string {
	t.Helper()
	var out strings.Builder
	d := a.Diff(b)
	for n, err := range d.Nodes(t.Context()) {
		must.OK(t, err)
		if n.New == nil {
			fmt.Fprintf(&out, `{"remove":{"node":%q}}`+"\n", n.Old.Key)
			continue
		}
		props := ipld.AppendJSON(nil, ipld.MapValue(slices.Clone(n.New.Props)...))
		fmt.Fprintf(&out, `{"node":{"key":%q,"type":"T","replace":true,"props":%s}}`+"\n", n.New.Key, props)
	}
	for e, err := range d.Edges(t.Context()) {
		must.OK(t, err)
		if e.New == nil {
			if exists(t, b, e.Old.Src) && exists(t, b, e.Old.Dst) { // else it goes with its end
				fmt.Fprintf(&out, `{"remove":{"edge":{"id":%q}}}`+"\n", e.ID)
			}
			continue
		}
		n, _ := ipld.FindEntry(e.New.Props, "n")
		key := ""
		if e.New.Key != "" {
			key = fmt.Sprintf(`"key":%q,`, e.New.Key)
		}
		fmt.Fprintf(&out, `{"edge":{%s"type":%q,"src":%q,"dst":%q,"props":{"n":%d}}}`+"\n",
			key, e.New.Type, e.New.Src, e.New.Dst, n.Int())
	}
	return out.String()
}

func exists(t *testing.T, s *core.Snapshot, id graph.ID) bool {
	t.Helper()
	_, _, err := s.Node(t.Context(), id)
	return err == nil
}

// TestModel applies random batches to a repository and to a naive model. After each the graph must be the one that is
// made from nothing but what the model has; now and then the difference to the state before, as change lines, must
// lead from that to this.
func TestModel(t *testing.T) {
	effort.Alone(t)
	// Histories that fsck reads in little time after each batch.
	seeds, batches, every := effort.Pick(1, 3, 100), effort.Pick(60, 120, 100), effort.Pick(10, 10, 1)
	for seed := range seeds {
		modelRun(t, uint64(seed)+7, batches, every)
	}
}

func modelRun(t *testing.T, seed uint64, batches, every int) {
	t.Logf("seed %d, %d batches", seed, batches)
	rng := rand.New(rand.NewPCG(seed, 0))
	r, m := repokit.OpenMem(t), newModel()
	repokit.Lines(t, r, `{"node":{"key":"k0","type":"T"}}`)
	m.nodes["k0"] = map[string]int64{}
	for i := range batches {
		before, old := m.clone(), repokit.Head(t, r)
		var text strings.Builder
		for range 1 + rng.IntN(12) {
			text.WriteString(m.step(rng))
		}
		repokit.Lines(t, r, text.String())
		now := repokit.Head(t, r)
		scratch := repokit.OpenMem(t)
		if got := repokit.Lines(t, scratch, m.lines()).Graph; got != now.Graph() && len(m.nodes) > 0 {
			t.Fatalf("seed %d, batch %d: graph %s, from scratch %s:\n%s", seed, i, now.Graph(), got, &text)
		}
		if i%every != 0 {
			continue
		}
		again := repokit.OpenMem(t)
		repokit.Lines(t, again, before.lines())
		repokit.Lines(t, again, diffLines(t, old, now))
		got := repokit.Head(t, again).Graph()
		must.Require(t, got == now.Graph(),
			"seed %d, batch %d: the difference leads to %s, want %s:\n%s", seed, i, got, now.Graph(), &text)
		repokit.CheckClean(t, r)
	}
}
