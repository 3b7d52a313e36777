package upkeep

import (
	"context"

	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// SchemaRequest asks what a memory can be asked for.
type SchemaRequest struct {
	Limit int `op:",remote" default:"50" doc:"at most {N} names in each list"`
	verb.AtRevision
}

// Schema is what predicates, types and edges there are.
type Schema struct {
	Commit     ipld.CID                  `json:"commit" shape:"null"`
	Nodes      int                       `json:"nodes"`
	Edges      int                       `json:"edges"`
	NodeTypes  verb.List[TypeCount]      `json:"node_types"`
	MoreNodes  int                       `json:"more_node_types"`
	Properties verb.List[SchemaProperty] `json:"properties"`
	MoreProps  int                       `json:"more_properties"`
	EdgeTypes  verb.List[SchemaEdges]    `json:"edge_types"`
	MoreEdges  int                       `json:"more_edge_types"`
	Untold     int                       `json:"untold"` // nodes and properties with names beyond what is told apart
}

// SchemaProperty is a property, by the name that a predicate calls it.
type SchemaProperty struct {
	Name      string               `json:"name"`
	Count     int                  `json:"count"`
	Kinds     verb.List[string]    `json:"kinds"` // of its values, the most frequent first
	Types     verb.List[TypeCount] `json:"types"` // of its nodes
	MoreTypes int                  `json:"more_types"`
	Examples  verb.List[verb.Raw]  `json:"examples"`
}

// SchemaEdges are the edges of a type: out.TYPE of a predicate is of nodes like From, in.TYPE of those like To.
type SchemaEdges struct {
	Type     string               `json:"type"`
	Count    int                  `json:"count"`
	From     verb.List[TypeCount] `json:"from"`
	MoreFrom int                  `json:"more_from"`
	To       verb.List[TypeCount] `json:"to"`
	MoreTo   int                  `json:"more_to"`
}

// maxSchemaNames bounds each list of an answer.
const maxSchemaNames = 1000

// SchemaVerb tells what can be asked for.
var SchemaVerb = verb.Define(verb.Spec{
	Command: "schema", Right: verb.NoRight, Group: "read", Effect: verb.Reads, Pure: true,
	Title: "List types, properties and edge types",
	Doc: "List what queries on a commit can refer to: node types, property names with the kinds of their\n" +
		"values and examples, edge types with the node types at their ends; each with its count, most frequent\n" +
		"first. --type, --edge-type and --where take these names.\n\n" +
		"Only visible nodes count, and examples never include what looks like a credential. Every node is read\n" +
		"once.",
	Example: "  mnem schema\n  mnem schema --limit 5 --json\n  mnem schema --at HEAD~1",
}, schemaOf)

// Check refuses what is out of bounds.
func (q *SchemaRequest) Check() error { return verb.CheckRange("limit", q.Limit, 1, maxSchemaNames) }

func schemaOf(ctx context.Context, s *verb.Service, q *SchemaRequest) (*Schema, error) {
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	progress, done := s.Host.Progress()
	defer done()
	all, _, _, _ := snap.Sizes()
	got, err := memory.SchemaOf(ctx, snap, q.Limit, func(n int) { progress("reading nodes", n, int(all)) })
	if err != nil {
		return nil, err
	}
	out := &Schema{
		Commit: snap.CID(), Nodes: got.Nodes, Edges: got.Edges, MoreProps: got.OtherProperties,
		MoreEdges: got.OtherEdgeTypes, Untold: got.Untold,
	}
	out.NodeTypes, out.MoreNodes = tallied(got.NodeTypes)
	for _, p := range got.Properties {
		one := SchemaProperty{Name: p.Name, Count: p.Count}
		for _, k := range p.Kinds.List {
			one.Kinds = append(one.Kinds, k.Name)
		}
		one.Types, one.MoreTypes = tallied(p.Types)
		for _, v := range p.Examples {
			one.Examples = append(one.Examples, verb.Value(&v))
		}
		out.Properties = append(out.Properties, one)
	}
	for _, e := range got.EdgeTypes {
		one := SchemaEdges{Type: e.Name, Count: e.Count}
		one.From, one.MoreFrom = tallied(e.From)
		one.To, one.MoreTo = tallied(e.To)
		out.EdgeTypes = append(out.EdgeTypes, one)
	}
	return out, nil
}

func tallied(t memory.Tally) (list verb.List[TypeCount], more int) {
	for _, c := range t.List {
		list = append(list, TypeCount{c.Name, c.Count})
	}
	return list, t.Others
}
