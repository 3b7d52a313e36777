package repo

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
)

// TitlesIn returns the nodes whose titles (short summaries) stand in a text, in id order: clause 10.
func (s *Snapshot) TitlesIn(ctx context.Context, text string) (ids []graph.ID, err error) {
	if !s.id.Defined() {
		return nil, nil
	}
	err = s.withIndex(ctx, func(x *index.Index) (err error) {
		ids, err = x.TitlesIn(ctx, text)
		return err
	})
	return ids, err
}
