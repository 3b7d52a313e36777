package core

import (
	"context"

	"github.com/mnem-project/mnem/dense"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/segment"
)

// Dense returns the index of the snapshot's dense vectors, nil without any embedding.
func (s *Snapshot) Dense(ctx context.Context) (*dense.Index, error) {
	r, root := s.Repo, s.State.Vectors.Root()
	if s.State.Vectors.Len() == 0 {
		return nil, nil
	}
	return indexOf(ctx, s, &r.dense, view.VectorsKind(r.Derived()),
		func(blocks segment.Blocks, manifest ipld.CID) (*dense.Index, error) {
			return dense.Open(ctx, blocks, manifest, root, r.Rows)
		})
}
