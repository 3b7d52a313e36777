package rank

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/view/index"
)

// TitlesIn returns the nodes whose titles (short summaries) stand in a text, in id order: clause 10.
func TitlesIn(ctx context.Context, s *core.Snapshot, text string) (ids []graph.ID, err error) {
	if !s.Id.Defined() {
		return nil, nil
	}
	err = s.WithIndex(ctx, func(x *index.Index) (err error) {
		ids, err = x.TitlesIn(ctx, text)
		return err
	})
	return ids, err
}

// Texts returns the best k nodes by the words of a text, of those that accept takes, in the order
// (score descending, id ascending): the text lane of clause 9.1 and no more of a retrieval. It costs
// the less the smaller k is. What marks hide is accept's affair. For accept see retrieve.Accept.
func Texts(
	ctx context.Context, s *core.Snapshot, text string, accept source.Accept, k int,
) (found []source.Hit, err error) {
	if !s.Id.Defined() || k < 1 {
		return nil, nil
	}
	err = s.WithIndex(ctx, func(x *index.Index) error {
		got, err := newIndexView(s, x).Text(ctx, source.TextQuery{Text: text}, accept, k)
		found = got.Hits
		return err
	})
	return found, err
}
