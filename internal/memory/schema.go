package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Bounds of a schema besides the caller's limit.
const (
	// MaxSchema is how many types, and how many names of properties, a schema distinguishes. Further ones, in the order
	// of ids, are only counted.
	MaxSchema      = 10_000
	schemaKinds    = 5  // types that are named of a property or of an end of edges
	schemaExamples = 3  // values of a property
	exampleScalars = 60 // of a string
	exampleBytes   = 96 // of any other value
)

// TypeCount is a type and its number of nodes or edges.
type TypeCount struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// Schema lists the names that requests to a commit can use, without hidden nodes. Each list begins with the most
// frequent names, equal ones in order of name.
type Schema struct {
	Nodes      int              `json:"nodes"`
	Edges      int              `json:"edges"`
	NodeTypes  []TypeCount      `json:"node_types"`
	MoreNodes  int              `json:"more_node_types"`
	Properties []SchemaProperty `json:"properties"`
	MoreProps  int              `json:"more_properties"`
	EdgeTypes  []SchemaEdges    `json:"edge_types"`
	MoreEdges  int              `json:"more_edge_types"`
	// Untold are nodes and properties of nodes whose types and names were too many to be told apart.
	Untold int `json:"untold"`
}

// SchemaProperty is a property that nodes have, by the name that a predicate calls it.
type SchemaProperty struct {
	Name      string      `json:"name"`
	Count     int         `json:"count"`
	Kinds     []string    `json:"kinds"` // of its values, as ipld.Kind names them
	Types     []TypeCount `json:"types"` // of the nodes
	MoreTypes int         `json:"more_types"`
	// Examples are values of the first nodes in the order of ids, each once; none that looks secret.
	Examples []json.RawMessage `json:"examples"`
}

// SchemaEdges are the edges of a type. In a predicate, out.TYPE applies to nodes of the types in From, in.TYPE to those
// in To.
type SchemaEdges struct {
	Type     string      `json:"type"`
	Count    int         `json:"count"`
	From     []TypeCount `json:"from"` // types of the nodes at their ends
	MoreFrom int         `json:"more_from"`
	To       []TypeCount `json:"to"`
	MoreTo   int         `json:"more_to"`
}

type schemaMaker struct {
	ctx    context.Context
	s      *core.Snapshot
	hidden map[graph.ID]bool // nodes and edges

	types  map[string]int
	names  []string           // of types, by the numbers in of
	number map[string]int32   // likewise
	of     map[graph.ID]int32 // types of the nodes that are seen
	props  map[string]*propertyTally
	edges  map[string]*edgeTally
	out    Schema
}

type propertyTally struct {
	count        int
	kinds, types map[string]int
	examples     []ipld.Value
}

type edgeTally struct {
	count    int
	from, to map[string]int
}

// SchemaOf returns the schema of a snapshot, at most limit names in each list. It reads each node and the list of edges
// once; progress, if given, receives the number of nodes read.
func SchemaOf(ctx context.Context, s *core.Snapshot, limit int, progress func(done int)) (*Schema, error) {
	m := schemaMaker{
		ctx: ctx, s: s, hidden: map[graph.ID]bool{}, types: map[string]int{}, number: map[string]int32{},
		of: map[graph.ID]int32{}, props: map[string]*propertyTally{}, edges: map[string]*edgeTally{},
	}
	for _, on := range []graph.Target{graph.OnNode, graph.OnEdge} {
		for mark, err := range s.Marks(ctx, on) {
			if err != nil {
				return nil, err
			}
			if mark.State.Hides() {
				m.hidden[mark.ID] = true
			}
		}
	}
	for e, err := range s.Nodes(ctx, graph.ID{}) {
		if err != nil {
			return nil, err
		}
		m.node(e.Node)
		progress(m.out.Nodes)
	}
	if err := m.links(); err != nil {
		return nil, err
	}
	return m.schema(limit), nil
}

func (m *schemaMaker) node(n *graph.Node) {
	if m.hidden[n.ID] || n.Type == state.RedactedType {
		return
	}
	m.out.Nodes++
	if _, known := m.types[n.Type]; !known {
		if len(m.types) == MaxSchema {
			m.out.Untold++
			return
		}
		m.number[n.Type] = int32(len(m.names))
		m.names = append(m.names, n.Type)
	}
	m.types[n.Type]++
	m.of[n.ID] = m.number[n.Type]
	for _, p := range n.Props {
		t := m.props[p.Key]
		if t == nil {
			if len(m.props) == MaxSchema {
				m.out.Untold++
				continue
			}
			t = &propertyTally{kinds: map[string]int{}, types: map[string]int{}}
			m.props[p.Key] = t
		}
		t.count++
		t.kinds[p.Value.Kind().String()]++
		t.types[n.Type]++
		t.show(p)
	}
}

// show keeps a value as an example, if there is room and it is fit to be one.
func (t *propertyTally) show(p ipld.Entry) {
	if len(t.examples) == schemaExamples || len(guard.Node(&graph.Node{Props: []ipld.Entry{p}})) > 0 {
		return
	}
	v := p.Value
	said := v.Text()
	if v.Kind() != ipld.String {
		said = string(ipld.AppendJSON(nil, v))
		if len(said) > exampleBytes {
			return
		}
	}
	if cut := text.FirstScalars(said, exampleScalars); v.Kind() == ipld.String && len(cut) < len(said) {
		v = ipld.StringValue(cut + "…")
	}
	if !slices.ContainsFunc(t.examples, v.Equal) {
		t.examples = append(t.examples, v)
	}
}

func (m *schemaMaker) links() error {
	for kv, err := range m.s.Adjacency().Out.Scan(m.ctx, nil, nil) {
		if err != nil {
			return fmt.Errorf("count edges: %w", err)
		}
		src, e, err := adjacency.Parse(kv.Key, kv.Value)
		if err != nil {
			return fmt.Errorf("count edges: %w", err)
		}
		from, ok := m.of[src]
		to, both := m.of[e.Other]
		if !ok || !both || m.hidden[e.Edge] {
			continue
		}
		m.out.Edges++
		t := m.edges[e.Type]
		if t == nil {
			if len(m.edges) == MaxSchema {
				m.out.Untold++
				continue
			}
			t = &edgeTally{from: map[string]int{}, to: map[string]int{}}
			m.edges[e.Type] = t
		}
		t.count++
		t.from[m.names[from]]++
		t.to[m.names[to]]++
	}
	return nil
}

func (m *schemaMaker) schema(limit int) *Schema {
	out := &m.out
	out.NodeTypes, out.MoreNodes = mostFrequent(m.types, limit)
	props := map[string]int{}
	for name, t := range m.props {
		props[name] = t.count
	}
	top, more := mostFrequent(props, limit)
	out.MoreProps = more
	for _, c := range top {
		t := m.props[c.Type]
		p := SchemaProperty{Name: c.Type, Count: c.Count}
		p.Types, p.MoreTypes = mostFrequent(t.types, schemaKinds)
		kinds, _ := mostFrequent(t.kinds, schemaKinds)
		for _, k := range kinds {
			p.Kinds = append(p.Kinds, k.Type)
		}
		for _, v := range t.examples {
			p.Examples = append(p.Examples, ipld.AppendJSON(nil, v))
		}
		out.Properties = append(out.Properties, p)
	}
	edges := map[string]int{}
	for name, t := range m.edges {
		edges[name] = t.count
	}
	top, out.MoreEdges = mostFrequent(edges, limit)
	for _, c := range top {
		t := m.edges[c.Type]
		e := SchemaEdges{Type: c.Type, Count: c.Count}
		e.From, e.MoreFrom = mostFrequent(t.from, schemaKinds)
		e.To, e.MoreTo = mostFrequent(t.to, schemaKinds)
		out.EdgeTypes = append(out.EdgeTypes, e)
	}
	return out
}

// mostFrequent returns the most frequent names, and how many follow.
func mostFrequent(of map[string]int, most int) (list []TypeCount, more int) {
	for name, n := range of {
		list = append(list, TypeCount{name, n})
	}
	slices.SortFunc(list, func(a, b TypeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Type, b.Type))
	})
	more = max(0, len(list)-most)
	return list[:len(list)-more], more
}
