package upkeep

import (
	"context"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// Schema lists the predicates, types and edges of a commit.
type Schema struct {
	Commit ipld.CID `json:"commit" shape:"null"`
	memory.Schema
}

// maxSchemaNames bounds each list of an answer.
const maxSchemaNames = 1000

// schemaOf lists the names that requests to a snapshot can use.
func schemaOf(ctx context.Context, s *verb.Service, snap *core.Snapshot, limit int) (*Schema, error) {
	progress, done := s.Host.Progress()
	defer done()
	all, _, _, _ := snap.Sizes()
	got, err := memory.SchemaOf(ctx, snap, limit, func(n int) { progress("reading nodes", n, int(all)) })
	if err != nil {
		return nil, err
	}
	return &Schema{snap.CID(), *got}, nil
}
