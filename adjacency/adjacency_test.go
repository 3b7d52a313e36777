package adjacency_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/ipld"
)

func node(name string) graph.ID { return graph.NodeID(name) }

func edge(src, typ, dst, key string) *graph.Edge {
	s, d := node(src), node(dst)
	return &graph.Edge{
		ID: graph.EdgeID(s, typ, d, key), Type: typ, Src: s, Dst: d, Key: key,
		Weight: graph.MaxWeight,
	}
}

// trees builds the adjacency of edges over blocks.
func trees(t testing.TB, blocks prolly.Blocks, edges ...*graph.Edge) adjacency.Trees {
	t.Helper()
	build := func(key func(*graph.Edge) []byte) *prolly.Map {
		var entries []prolly.Entry
		for _, e := range edges {
			entries = append(entries, prolly.Entry{Key: key(e), Value: adjacency.Value(e)})
		}
		slices.SortFunc(entries, func(a, b prolly.Entry) int { return bytes.Compare(a.Key, b.Key) })
		return must.Get(prolly.NewNodes(blocks, nil).Build(t.Context(),
			func(yield func(prolly.Entry, error) bool) {
				for _, e := range entries {
					if !yield(e, nil) {
						return
					}
				}
			}))(t)
	}
	return adjacency.Trees{Out: build(adjacency.OutKey), In: build(adjacency.InKey)}
}

func bucket(t testing.TB, tr adjacency.Trees, near string, side adjacency.Direction, typ string,
	after *adjacency.Entry) []adjacency.Entry {
	t.Helper()
	var out []adjacency.Entry
	for e, err := range tr.Bucket(t.Context(), node(near), side, typ, after) {
		must.OK(t, err)
		out = append(out, e)
	}
	return out
}

func TestParseRoundTrip(t *testing.T) {
	for _, typ := range []string{"e", "a longer type", "\x01", "\xc3\xbc"} {
		e := edge("a", typ, "b", "k")
		e.Weight = 7
		near, got, err := adjacency.Parse(adjacency.OutKey(e), adjacency.Value(e))
		want := adjacency.Entry{Type: typ, Other: e.Dst, Edge: e.ID, Weight: 7}
		must.True(t, err == nil && near == e.Src && got == want, "%q: %v %v %v", typ, near, got, err)
	}
}

func TestParseRefusesWhatKeyCannotWrite(t *testing.T) {
	e := edge("a", "type", "b", "")
	key, value := adjacency.OutKey(e), adjacency.Value(e)
	for name, c := range map[string]struct{ key, value []byte }{
		"empty":            {nil, value},
		"short":            {key[:40], value},
		"no end of type":   {bytes.Replace(key, []byte("type\x00"), []byte("typex"), 1), value},
		"NUL in the type":  {bytes.Replace(key, []byte("type\x00"), []byte("t\x00pe\x00"), 1), value},
		"no value":         {key, nil},
		"weight 0":         {key, ipld.AppendInt(nil, 0)},
		"weight above one": {key, ipld.AppendInt(nil, graph.MaxWeight+1)},
		"a string":         {key, ipld.AppendString(nil, "1")},
	} {
		_, _, err := adjacency.Parse(c.key, c.value)
		must.Fail(t, err, store.ErrCorrupt, name)
	}
}

func FuzzParse(f *testing.F) {
	e := edge("a", "type", "b", "")
	f.Add(adjacency.OutKey(e), adjacency.Value(e))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		near, e, err := adjacency.Parse(key, value)
		if err != nil {
			return
		}
		must.True(t, bytes.Equal(adjacency.Key(near, e.Type, e.Other, e.Edge), key), "key %x reads as %v", key, e)
	})
}

// TestBucketOrder checks order, types that are prefixes of others, resuming and counting against a sorted list.
func TestBucketOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	var edges []*graph.Edge
	for i := range 400 {
		typ := []string{"a", "ab", "abc", "b"}[rng.IntN(4)]
		edges = append(edges, edge("hub", typ, fmt.Sprint("n", rng.IntN(200)), fmt.Sprint(i)),
			edge(fmt.Sprint("n", rng.IntN(200)), typ, "hub", fmt.Sprint(i)))
	}
	edges = append(edges, edge("hub", "a", "hub", ""))
	tr := trees(t, mem.New().Facts(), edges...)
	for _, side := range []adjacency.Direction{adjacency.Out, adjacency.In} {
		for _, typ := range []string{"", "a", "ab", "b", "none"} {
			var want [][]byte
			for _, e := range edges {
				near, key := e.Src, adjacency.OutKey(e)
				if side == adjacency.In {
					near, key = e.Dst, adjacency.InKey(e)
				}
				if near == node("hub") && (typ == "" || e.Type == typ) {
					want = append(want, key)
				}
			}
			slices.SortFunc(want, bytes.Compare)
			got := bucket(t, tr, "hub", side, typ, nil)
			var keys [][]byte
			for _, e := range got {
				keys = append(keys, adjacency.Key(node("hub"), e.Type, e.Other, e.Edge))
			}
			must.Same(t, keys, want, "side ", side, " type ", typ)
			n := must.Get(tr.Degree(t.Context(), node("hub"), side, typ))(t, "degree")
			must.Equal(t, n, uint64(len(want)), "degree")
			for i := range got {
				rest := bucket(t, tr, "hub", side, typ, &got[i])
				must.True(t, slices.Equal(got[i+1:], rest), "side %d type %q: %v after entry %d", side, typ, rest, i)
			}
		}
	}
}

// TestBucketCost bounds the cost of reading the first edges and the degree of a hub.
func TestBucketCost(t *testing.T) {
	var edges []*graph.Edge
	for i := range 20_000 {
		edges = append(edges, edge("hub", "e", fmt.Sprint("n", i), ""))
	}
	s := mem.New()
	counted := storetest.NewCounting(s.Facts())
	tr := trees(t, s.Facts(), edges...)
	out := must.Get(prolly.NewNodes(counted, nil).Load(t.Context(), tr.Out.Root()))(t)
	tr.Out = out
	height := out.Height()
	before := int(counted.Counts().BlocksRead)
	n := 0
	for _, err := range tr.Bucket(t.Context(), node("hub"), adjacency.Out, "", nil) {
		must.OK(t, err)
		if n++; n == 5 {
			break
		}
	}
	reads := int(counted.Counts().BlocksRead) - before
	must.True(t, reads <= height+2, "the first 5 edges read %d blocks in a tree of height %d", reads, height)
	before = int(counted.Counts().BlocksRead)
	must.Equal(t, must.Get(tr.Degree(t.Context(), node("hub"), adjacency.Out, ""))(t), 20_000)
	reads = int(counted.Counts().BlocksRead) - before
	must.True(t, reads <= 2*height, "the degree read %d blocks in a tree of height %d", reads, height)
}

func TestShortestPath(t *testing.T) {
	tr := trees(t, mem.New().Facts(),
		edge("a", "e", "b", ""), edge("b", "e", "c", ""), edge("c", "f", "d", ""),
		edge("a", "f", "x", ""), edge("d", "e", "x", ""), edge("a", "e", "a", ""))
	names := map[graph.ID]string{}
	for _, n := range []string{"a", "b", "c", "d", "x", "lonely"} {
		names[node(n)] = n
	}
	for _, c := range []struct {
		from, to string
		opt      adjacency.PathOptions
		want     string
	}{
		{"a", "d", adjacency.PathOptions{}, "a>b>c>d"},
		{"a", "d", adjacency.PathOptions{Direction: adjacency.Both}, "a>x<d"},
		{"d", "a", adjacency.PathOptions{Direction: adjacency.In}, "d<c<b<a"},
		{"d", "a", adjacency.PathOptions{}, "none"},
		{"a", "a", adjacency.PathOptions{}, "a"},
		{"a", "lonely", adjacency.PathOptions{Direction: adjacency.Both}, "none"},
		{"a", "d", adjacency.PathOptions{MaxHops: 2}, "none"},
		{"a", "c", adjacency.PathOptions{MaxHops: 2}, "a>b>c"},
		{"a", "d", adjacency.PathOptions{Types: []string{"e"}}, "none"},
		{"a", "d", adjacency.PathOptions{Skip: func(_ context.Context, e adjacency.Entry) (bool, error) {
			return e.Other == node("c"), nil
		}}, "none"},
	} {
		steps, found, err := tr.ShortestPath(t.Context(), node(c.from), node(c.to), c.opt)
		got := "none"
		if found {
			got = c.from
			for _, s := range steps {
				arrow := "<"
				if s.Forward {
					arrow = ">"
				}
				got += arrow + names[s.To]
			}
		}
		must.OK(t, err, c.from, " to ", c.to)
		must.Equal(t, got, c.want, c.from, " to ", c.to)
	}
}

func TestShortestPathBounds(t *testing.T) {
	var edges []*graph.Edge
	for i := range 100 {
		edges = append(edges, edge("a", "e", fmt.Sprint("n", i), ""))
	}
	tr := trees(t, mem.New().Facts(), edges...)
	_, _, err := tr.ShortestPath(t.Context(), node("a"), node("z"), adjacency.PathOptions{MaxNodes: 50})
	must.Fail(t, err, adjacency.ErrTooFar)
	boom := errors.New("boom")
	_, _, err = tr.ShortestPath(t.Context(), node("a"), node("z"), adjacency.PathOptions{
		Skip: func(context.Context, adjacency.Entry) (bool, error) { return false, boom },
	})
	must.Fail(t, err, boom)
}
