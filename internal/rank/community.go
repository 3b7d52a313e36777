package rank

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/retrieve"
)

// Community makes the view one of retrieve.Grouped.
func (g graphView) Community(ctx context.Context, id graph.ID) (*retrieve.Community, error) {
	p, err := outline.Communities(ctx, g.s)
	if err != nil {
		return nil, err
	}
	number, ok := p.Of(id)
	if !ok {
		return nil, nil
	}
	return &retrieve.Community{Number: number, Members: p.Members(number)}, nil
}
