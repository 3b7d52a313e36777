package graph

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

type record interface {
	Validate() error
	Encode() []byte
}

// The golden records use every field.

func goldenNode() *Node {
	return &Node{
		ID: NodeID("alice"), Key: "alice", Type: "Person", Summary: "Alice leads infra",
		Context: "From the staff list.",
		Props: []ipld.Entry{
			{Key: "team", Value: ipld.StringValue("infra")},
			{Key: "since", Value: ipld.IntValue(2024)},
		},
		Content: &Content{Text: "# Alice", Size: 7, Media: "text/markdown"},
		Created: 1_790_000_000_000_000, Updated: At(1_790_000_000_000_001),
		ValidFrom: At(-1), ValidTo: At(0), Sources: []string{"staff.md"},
		Extra: []ipld.Entry{{Key: "mood", Value: ipld.BoolValue(true)}},
	}
}

func goldenEdge() *Edge {
	src, dst := NodeID("alice"), NodeID("svc/billing")
	return &Edge{
		ID: EdgeID(src, "owns", dst, "a"), Type: "owns", Src: src, Dst: dst, Key: "a",
		Weight: 1 << 15, Props: []ipld.Entry{{Key: "since", Value: ipld.IntValue(2024)}},
		Created: 1_790_000_000_000_000, ValidFrom: At(-1), ValidTo: At(0),
		Sources: []string{"staff.md"},
	}
}

func goldenMark() *Mark {
	return &Mark{
		On: OnNode, ID: NodeID("alice"), State: Superseded, By: NodeID("bob"), Reason: "left",
		Actor: "carol", Time: 1_790_000_000_000_000,
	}
}

func goldenEmbedding(t *testing.T) *Embedding {
	t.Helper()
	return must.Get(NewDense("m", []float64{0.1, -0.2, 0}, TextHash(goldenNode(), "# Alice")))(t)
}

func goldenSparse(t *testing.T) *Embedding {
	t.Helper()
	return must.Get(NewSparse("s", []SparseWeight{{"berth", 0.7}, {"pay", 1.25}}, [32]byte{1}))(t)
}

func goldenGraph() *Graph {
	tree := func(s string) ipld.CID { return ipld.Sum(ipld.DagCBOR, []byte(s)) }
	return &Graph{
		Nodes: tree("n"), Edges: tree("e"), Out: tree("o"), In: tree("i"), Marks: tree("m"),
		Counts: Counts{Nodes: 3, Edges: 2, Marks: 1},
	}
}

// Generators of valid records, for property tests.

func genID() *rapid.Generator[ID] {
	return rapid.Custom(func(t *rapid.T) ID {
		id := ID(rapid.SliceOfN(rapid.Byte(), IDLen, IDLen).Draw(t, "id"))
		id[15] |= 1
		return id
	})
}

func genName(most int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.StringN(1, 12, most).Draw(t, "name")
		s = strings.ReplaceAll(s, "\x00", "0")
		if rapid.IntRange(0, 20).Draw(t, "long") == 0 {
			s = strings.Repeat("x", most)
		}
		return s
	})
}

func genOpt[T any](g *rapid.Generator[T]) *rapid.Generator[T] {
	var zero T
	return rapid.OneOf(rapid.Just(zero), g)
}

func genTime() *rapid.Generator[Time] {
	return rapid.Map(rapid.Int64Range(int64(MinTime), int64(MaxTime)), func(n int64) Time { return Time(n) })
}

func genCID(codec ipld.Codec) *rapid.Generator[ipld.CID] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) ipld.CID { return ipld.Sum(codec, b) })
}

func genValue(depth int) *rapid.Generator[ipld.Value] {
	gens := []*rapid.Generator[ipld.Value]{
		rapid.Just(ipld.Value{}),
		rapid.Map(rapid.Bool(), ipld.BoolValue),
		rapid.Map(rapid.Int64(), ipld.IntValue),
		rapid.Map(rapid.Float64().Filter(func(f float64) bool {
			return !math.IsNaN(f) && !math.IsInf(f, 0)
		}), ipld.FloatValue),
		rapid.Map(rapid.StringN(0, 8, 40), ipld.StringValue),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), ipld.BytesValue),
		rapid.Map(genCID(ipld.Raw), ipld.LinkValue),
	}
	if depth > 0 {
		gens = append(gens,
			rapid.Map(rapid.SliceOfN(genValue(depth-1), 0, 3), func(list []ipld.Value) ipld.Value {
				return ipld.ListValue(list...)
			}),
			rapid.Map(genEntries(depth-1), func(e []ipld.Entry) ipld.Value { return ipld.MapValue(e...) }))
	}
	return rapid.OneOf(gens...)
}

func genEntries(depth int) *rapid.Generator[[]ipld.Entry] {
	return rapid.Map(rapid.MapOfN(genName(MaxPropName), genValue(depth), 0, 4),
		func(m map[string]ipld.Value) []ipld.Entry {
			var entries []ipld.Entry
			for k, v := range m {
				entries = append(entries, ipld.Entry{Key: k, Value: v})
			}
			ipld.SortEntries(entries)
			return entries
		})
}

// genExtra gives unknown fields, whose names begin with x.
func genExtra() *rapid.Generator[[]ipld.Entry] {
	return rapid.Map(genEntries(1), func(entries []ipld.Entry) []ipld.Entry {
		for i := range entries {
			entries[i].Key = "x" + entries[i].Key
		}
		return entries
	})
}

func genSpan(t *rapid.T) (from, to OptTime) {
	if rapid.Bool().Draw(t, "from?") {
		from = At(genTime().Draw(t, "from"))
	}
	if to := genTime().Draw(t, "to"); !from.Given || to > from.Time {
		return from, At(to)
	}
	return from, to
}

func genContent() *rapid.Generator[*Content] {
	return rapid.Custom(func(t *rapid.T) *Content {
		text := rapid.StringN(1, 10, -1).Draw(t, "text")
		if rapid.Bool().Draw(t, "long") {
			n := rapid.IntRange(MaxInline, 3*ipld.ChunkSize).Draw(t, "n")
			text = strings.Repeat("ü", n/2)
		}
		c, _, err := SplitContent(text, genOpt(genName(MaxMedia)).Draw(t, "media"))
		must.OK(t, err)
		c.Extra = genExtra().Draw(t, "extra")
		return c
	})
}

func genNode() *rapid.Generator[*Node] {
	return rapid.Custom(func(t *rapid.T) *Node {
		n := &Node{
			ID:      genID().Draw(t, "id"),
			Key:     genOpt(genName(MaxKey)).Draw(t, "key"),
			Type:    genName(MaxType).Draw(t, "type"),
			Summary: rapid.StringN(0, 20, -1).Draw(t, "summary"),
			Context: rapid.StringN(0, 20, -1).Draw(t, "context"),
			Props:   genEntries(2).Draw(t, "props"),
			Content: genOpt(genContent()).Draw(t, "content"),
			Created: genTime().Draw(t, "created"),
			Sources: genOpt(rapid.SliceOfN(genName(MaxSource), 1, 3)).Draw(t, "sources"),
			Extra:   genExtra().Draw(t, "extra"),
		}
		if updated := genTime().Draw(t, "updated"); updated != n.Created {
			n.Updated = At(updated)
		}
		n.ValidFrom, n.ValidTo = genSpan(t)
		if n.Key != "" {
			n.ID = NodeID(n.Key)
		}
		return n
	})
}

func genEdge() *rapid.Generator[*Edge] {
	return rapid.Custom(func(t *rapid.T) *Edge {
		e := &Edge{
			ID:      genID().Draw(t, "id"),
			Type:    genName(MaxType).Draw(t, "type"),
			Src:     genID().Draw(t, "src"),
			Dst:     genID().Draw(t, "dst"),
			Key:     genOpt(genName(MaxKey)).Draw(t, "key"),
			Weight:  rapid.Uint32Range(1, MaxWeight).Draw(t, "weight"),
			Props:   genEntries(1).Draw(t, "props"),
			Created: genTime().Draw(t, "created"),
			Sources: genOpt(rapid.SliceOfN(genName(MaxSource), 1, 3)).Draw(t, "sources"),
			Extra:   genExtra().Draw(t, "extra"),
		}
		e.ValidFrom, e.ValidTo = genSpan(t)
		if e.Key != "" {
			e.ID = EdgeID(e.Src, e.Type, e.Dst, e.Key)
		}
		return e
	})
}

func genMark() *rapid.Generator[*Mark] {
	return rapid.Custom(func(t *rapid.T) *Mark {
		m := &Mark{
			On:     rapid.SampledFrom([]Target{OnNode, OnEdge}).Draw(t, "on"),
			ID:     genID().Draw(t, "id"),
			State:  rapid.SampledFrom(States()).Draw(t, "state"),
			Reason: genOpt(genName(MaxReason)).Draw(t, "reason"),
			Actor:  rapid.StringMatching(`[a-zü]{1,9}`).Draw(t, "actor"),
			Time:   genTime().Draw(t, "time"),
			Extra:  genExtra().Draw(t, "extra"),
		}
		if m.State == Superseded || m.State == Contradicted {
			m.By = genOpt(genID()).Draw(t, "by")
		}
		return m
	})
}
