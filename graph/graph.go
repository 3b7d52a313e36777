package graph

import "github.com/mnem-project/mnem/ipld"

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

var graphFields = []string{"v", "in", "out", "kind", "edges", "marks", "nodes", "counts"}

// Validate returns a *FieldError unless g satisfies every rule and limit of the format. Only a valid graph may be
// encoded.
func (g *Graph) Validate() error {
	var m meter
	err := firstError(
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
func (g *Graph) Encode() []byte {
	w := ipld.NewRecord(make([]byte, 0, 320), g.Extra)
	w.Version(recordVersion)
	w.Link("in", g.In)
	w.Link("out", g.Out)
	w.Kind(KindGraph)
	w.Link("edges", g.Edges)
	w.Link("marks", g.Marks)
	w.Link("nodes", g.Nodes)
	w.Append("counts", func(b []byte) []byte {
		b = ipld.AppendMap(b, 3)
		b = ipld.AppendInt(ipld.AppendString(b, "edges"), int64(g.Counts.Edges))
		b = ipld.AppendInt(ipld.AppendString(b, "marks"), int64(g.Counts.Marks))
		return ipld.AppendInt(ipld.AppendString(b, "nodes"), int64(g.Counts.Nodes))
	})
	return w.Finish()
}

// DecodeGraph decodes the block of a graph. It returns an error that wraps ipld.ErrInvalid for everything that
// Encode cannot have written. The graph keeps no reference to block.
func DecodeGraph(block []byte) (*Graph, error) {
	var dec graphDecoder
	extra, err := ipld.DecodeRecord(block, KindGraph, recordVersion, dec.field)
	if err != nil {
		return nil, err
	}
	dec.g.Extra = extra
	if err := firstError(missing(dec.seen, "counts"), dec.g.Validate()); err != nil {
		return nil, decodeProblem(KindGraph, err)
	}
	return &dec.g, nil
}

type graphDecoder struct {
	g    Graph
	seen uint // bits of the required fields whose zero values are valid
}

func (dec *graphDecoder) field(key string, d *ipld.Decoder) (known bool, err error) {
	g := &dec.g
	switch key {
	case "in":
		g.In, err = d.Link()
	case "out":
		g.Out, err = d.Link()
	case "edges":
		g.Edges, err = d.Link()
	case "marks":
		g.Marks, err = d.Link()
	case "nodes":
		g.Nodes, err = d.Link()
	case "counts":
		dec.seen |= 1
		err = g.Counts.decode(d)
	default:
		return false, nil
	}
	return true, err
}

func (c *Counts) decode(d *ipld.Decoder) error {
	entries := 0
	err := d.Map(func(key string) error {
		n, err := d.Int()
		if err == nil && n < 0 {
			err = d.Errorf("negative count %d", n)
		}
		switch key {
		case "edges":
			c.Edges = uint64(n)
		case "marks":
			c.Marks = uint64(n)
		case "nodes":
			c.Nodes = uint64(n)
		default:
			return d.Errorf("unknown count %s", quote(key))
		}
		entries++
		return err
	})
	if err == nil && entries != 3 {
		err = d.Errorf("%d counts, want nodes, edges and marks", entries)
	}
	return err
}
