package graph

import (
	"testing"

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
