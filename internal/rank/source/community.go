package source

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/view/community"
)

// Grouped is the ability of a Graph whose communities are known.
type Grouped interface {
	// Community returns the community that a node is in, nil if it is in none.
	Community(ctx context.Context, id graph.ID) (*Community, error)
}

// Community is a set of nodes that edges hold together: clause 20.1. It must not be changed.
type Community struct {
	Number  int // from 0, of all communities of the graph
	Members []community.Member
}
