package graph

import (
	"cmp"
	"math"

	"github.com/mnem-project/mnem/ipld"
)

// KindGraph is the kind of a graph's record.
const KindGraph = "graph"

// Graph is one state of the memory: the roots of its trees. Its CID identifies all facts.
type Graph struct {
	Nodes  ipld.CID // tree: id to link to node
	Edges  ipld.CID // tree: id to link to edge
	Out    ipld.CID // tree: adjacency by source
	In     ipld.CID // tree: adjacency by destination
	Marks  ipld.CID // tree: MarkKey to link to mark
	Counts Counts
	Extra  []ipld.Entry // unknown fields in canonical order
}

// Counts are the numbers of entries of three trees, each at most MaxCount.
type Counts struct{ Nodes, Edges, Marks uint64 }

var graphFields = ipld.FieldNames(new(Graph).fields)

func (g *Graph) fields(r *ipld.Record) {
	r.Begin(KindGraph, recordVersion, &g.Extra)
	r.Link("in", &g.In)
	r.Link("out", &g.Out)
	r.Link("edges", &g.Edges)
	r.Link("marks", &g.Marks)
	r.Link("nodes", &g.Nodes)
	r.Map("counts", func(r *ipld.Record) {
		ipld.Number(r, "edges", &g.Counts.Edges, 0, math.MaxInt64) // Validate is stricter
		ipld.Number(r, "marks", &g.Counts.Marks, 0, math.MaxInt64)
		ipld.Number(r, "nodes", &g.Counts.Nodes, 0, math.MaxInt64)
	})
}

// Validate returns a *FieldError unless g satisfies every rule and limit of the format. Only a valid graph may be
// encoded.
func (g *Graph) Validate() error {
	var m meter
	err := cmp.Or(
		CheckLink("nodes", g.Nodes, ipld.DagCBOR),
		CheckLink("edges", g.Edges, ipld.DagCBOR),
		CheckLink("out", g.Out, ipld.DagCBOR),
		CheckLink("in", g.In, ipld.DagCBOR),
		CheckLink("marks", g.Marks, ipld.DagCBOR),
		within("counts", g.Counts.check()),
		m.extra(g.Extra, graphFields),
	)
	if err != nil {
		return err
	}
	return m.fits(g.Encode)
}

func (c Counts) check() error {
	for _, n := range []uint64{c.Nodes, c.Edges, c.Marks} {
		if n > MaxCount {
			return Fieldf("", "%d exceeds %d", n, uint64(MaxCount))
		}
	}
	return nil
}

// Encode returns the block of a valid graph.
func (g *Graph) Encode() []byte { return ipld.WriteRecord(320, g.fields) }

// DecodeGraph decodes the block of a graph. It returns an error that wraps ipld.ErrInvalid for everything that
// Encode cannot have written. The graph keeps no reference to block.
func DecodeGraph(block []byte) (*Graph, error) {
	g := new(Graph)
	return ipld.ReadRecord(block, g, g.fields, g.Validate)
}
