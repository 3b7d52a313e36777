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
	Commit ipld.CID `json:"commit" shape:"null"`
	memory.Schema
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
	return &Schema{snap.CID(), *got}, nil
}
